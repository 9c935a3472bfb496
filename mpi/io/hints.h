/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Hints of files. */
#ifndef MPII_IO_HINTS_H
#define MPII_IO_HINTS_H

#include "mpii.h"

struct mpii_info;
struct mpii_file;

enum io_when { IO_AUTOMATIC, IO_ENABLE, IO_DISABLE };

/* As decided by rank 0 for all: values are sent as they are. */
struct io_hints {
	MPI_Count cb_buffer_size;     /* of an aggregator */
	MPI_Count ind_rd_buffer_size; /* for sieving */
	MPI_Count striping_unit;      /* file domains begin at its multiples */
	int cb_nodes;		      /* aggregators; 0: chosen */
	int cb_per_host;	      /* ... at most on one host */
	int cb_write, cb_read;	      /* enum io_when */
	int ds_read;	  /* writes never touch what lies between pieces */
	int file_perm;	  /* of a new file */
	int access_style; /* a bit for each of the standard's words */
};

/* Those of the standard's words for access_style that the system is told. */
enum io_style {
	IO_READ_ONCE = 1 << 0,
	IO_SEQUENTIAL = 1 << 1,
	IO_RANDOM = 1 << 2,
};

/* What is taken where the program says nothing. */
void io_hints_default(struct io_hints *h);
/* Takes from @info what is known and valid, and leaves the rest. */
void io_hints_take(struct io_hints *h, const struct mpii_info *info);
/* The same for a file, by all ranks together: those of rank 0 count. NULL: it has
 * none to give. MPI code with words. */
int io_hints_set(struct mpii_file *f, const struct mpii_info *info);
/* All that is in use, to an info that no other thread knows. False: no memory. */
bool io_hints_describe(const struct mpii_file *f, struct mpii_info *info);

#endif
