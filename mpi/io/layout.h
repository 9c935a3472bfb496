/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Datatypes as they lie in files whose basic types have other sizes. */
#ifndef MPII_IO_LAYOUT_H
#define MPII_IO_LAYOUT_H

#include "datatype/datatype.h"

/* The size of a predefined type in the file, or an MPI code with words. */
struct io_sizes {
	int (*size)(const struct io_sizes *s, struct mpii_type *basic,
		    MPI_Count *bytes);
	const void *arg;
};

/*
 * As if the type had been made of types of those sizes, by the same calls:
 * what was given in bytes stays, what was given in extents changes. Held; the
 * type itself if nothing does. MPI code with words.
 */
int io_layout_make(const struct io_sizes *s, struct mpii_type *t,
		   struct mpii_type **layout);

#endif
