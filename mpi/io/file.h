/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Files: what error handlers need of them. */
#ifndef MPII_IO_FILE_H
#define MPII_IO_FILE_H

#include "mpii.h"

struct mpii_errh;

struct mpii_file {
	struct mpii_obj obj;
	MPI_File handle;
	struct mpii_errh *errh; /* first, that of MPI_FILE_NULL */
};

/* NULL: not a file. */
static inline struct mpii_file *mpii_file_get(MPI_File h)
{
	struct mpii_file *f = (struct mpii_file *)h;

	return (uintptr_t)h >= MPII_PREDEFINED_END && !mpii_misaligned(h) &&
			       f->obj.magic == MPII_FILE ?
		       f :
		       NULL;
}

#endif
