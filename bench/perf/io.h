/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the measurements of files share. */
#ifndef PERF_IO_H
#define PERF_IO_H

#include "perf.h"

#include <stdio.h>

struct io_file {
	int rank, ranks;
	char name[512];
	MPI_File f;
	FILE *plain; /* the same file */
	char *buf;
	long bytes; /* of this rank */
	MPI_Offset at;
};

extern long io_sync; /* each write is followed by a sync */

void io_fail_if(int err, const char *what);
/* One for all; it is gone when it is closed. */
void io_open_file(struct perf *p, struct io_file *x);
void io_close_file(struct io_file *x);
void io_set_view(struct io_file *x, MPI_Offset disp, MPI_Datatype t);
/* Every rank has each Nth block. */
void io_view_in_turns(struct io_file *x, long block_bytes);
/* MB/s of all ranks. */
double io_rate(struct perf *p, struct io_file *x, perf_step *step);
/* Collective write and read of x->bytes by the view: two cells. */
void io_measure_all(struct perf *p, struct io_file *x);

#endif
