/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Memory of rank 1 that rank 0 writes to and reads: a window of MPI. All ranks open
 * and close it together.
 */
#ifndef PERF_RMA_WINDOW_H
#define PERF_RMA_WINDOW_H

#include "perf.h"

struct perf_window;

struct perf_window *perf_window_open(size_t size);
void perf_window_close(struct perf_window *w);
void *perf_window_memory(struct perf_window *w);

/* Rank 0 */
void perf_window_transfer(struct perf_window *w, void *local, size_t size,
			  bool get);
void perf_window_flush(struct perf_window *w);	 /* completes all transfers */
void perf_window_release(struct perf_window *w); /* rank 1 may go on */

/* Rank 1: waits until it is released. */
void perf_window_attend(struct perf_window *w);

/* Sees what others wrote, and shows them what was written here. */
void perf_window_sync(struct perf_window *w);

#endif
