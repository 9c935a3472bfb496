/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* A window of messages from rank 0 to rank 1, acknowledged as a whole. */
#ifndef BENCH_WINDOW_H
#define BENCH_WINDOW_H

#include "bench_common.h"

struct window {
	int rank;
	int depth; /* messages under way at once */
	int size;
	char *buf; /* depth buffers, one after the other */
	MPI_Request *req;
};

void window_init(struct window *w, int rank, int depth, int size);
void window_cleanup(struct window *w);

/* A bench_step: one window per time. */
void window_step(void *arg, long times);
/* One window with known data, checked. */
void window_check(struct window *w);

#endif
