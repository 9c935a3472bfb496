// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* perf_window as a window of MPI, locked once for all of its life. */
#include "rma_window.h"

#include <stdlib.h>

#ifndef PERF_NO_WINDOW

struct perf_window {
	MPI_Win win;
	void *memory;
};

struct perf_window *perf_window_open(size_t size)
{
	struct perf_window *w = malloc(sizeof(*w));

	if (!w)
		perf_fail("no memory for a window");
	MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w->memory,
			 &w->win);
	MPI_Win_lock_all(0, w->win);
	return w;
}

void perf_window_close(struct perf_window *w)
{
	MPI_Win_unlock_all(w->win);
	MPI_Win_free(&w->win);
	free(w);
}

void *perf_window_memory(struct perf_window *w)
{
	return w->memory;
}

void perf_window_transfer(struct perf_window *w, void *local, size_t size,
			  bool get)
{
	if (get)
		MPI_Get(local, size, MPI_BYTE, 1, 0, size, MPI_BYTE, w->win);
	else
		MPI_Put(local, size, MPI_BYTE, 1, 0, size, MPI_BYTE, w->win);
}

void perf_window_flush(struct perf_window *w)
{
	MPI_Win_flush(1, w->win);
}

/* Rank 1 attends in the barrier that follows. */
void perf_window_release(struct perf_window *w)
{
	(void)w;
}

void perf_window_attend(struct perf_window *w)
{
	(void)w;
}

void perf_window_sync(struct perf_window *w)
{
	MPI_Win_sync(w->win);
}

#endif
