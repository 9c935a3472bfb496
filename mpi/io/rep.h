/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Data representations: native and internal are bytes as they are in memory;
 * external32 and those of the program are converted on the way.
 */
#ifndef MPII_IO_REP_H
#define MPII_IO_REP_H

#include "datatype/datatype.h"

struct io_rep;
extern const struct io_rep io_native;

/* NULL: there is none of this name. */
const struct io_rep *io_rep_find(const char *name);
const char *io_rep_name(const struct io_rep *rep);
/* Is data different in the file and in memory? */
bool io_rep_converts(const struct io_rep *rep);
/* ... without functions of the program? */
bool io_rep_is_ours(const struct io_rep *rep);
/* The type as it lies in the file, held. MPI code, words recorded. */
int io_rep_layout(const struct io_rep *rep, struct mpii_type *t,
		  struct mpii_type **layout);

/* Bytes of count instances in the file. MPI code. */
int io_rep_size(const struct io_rep *rep, struct mpii_type *t, MPI_Count count,
		MPI_Count *bytes);
/* From the program's buffer to the form of the file. MPI code. */
int io_rep_out(const struct io_rep *rep, struct mpii_type *t, const void *buf,
	       MPI_Count count, void *file);
/* Back, as much as @bytes of the file's form hold; *native is how many bytes of
 * the type's data that was. */
int io_rep_in(const struct io_rep *rep, struct mpii_type *t, void *buf,
	      MPI_Count count, void *file, MPI_Count bytes, MPI_Count *native);

#endif
