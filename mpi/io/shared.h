/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The shared file pointer. Functions return MPI codes with words recorded. */
#ifndef MPII_IO_SHARED_H
#define MPII_IO_SHARED_H

#include "io/file.h"

struct coll;

/* All ranks together, when the file is opened; it starts at @at. */
int io_shared_init(struct mpii_file *f, MPI_Offset at);
void io_shared_free(struct mpii_file *f);
/* All ranks together, before they meet again. */
void io_shared_set(struct mpii_file *f, MPI_Offset at);
/* Does this rank know that it is not at 0? */
bool io_shared_moved(const struct mpii_file *f);
/* Move on by @etypes; *at is where it was. */
int io_shared_advance(struct mpii_file *f, MPI_Offset etypes, MPI_Offset *at);
/* The same once for all, in a collective call. */
int io_shared_advance_all(const struct coll *k, struct mpii_file *f,
			  MPI_Offset etypes, MPI_Offset *at);
/* The byte of the file that it points to. */
int io_shared_byte(struct mpii_file *f, MPI_Offset *byte);

#endif
