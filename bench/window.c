// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "window.h"

#include <stdlib.h>

void window_init(struct window *w, int rank, int depth, int size)
{
	w->rank = rank;
	w->depth = depth;
	w->size = size;
	w->buf = bench_alloc((size_t)depth * size);
	w->req = bench_alloc(depth * sizeof(*w->req));
}

void window_cleanup(struct window *w)
{
	free(w->req);
	free(w->buf);
}

static char *slot(struct window *w, int i)
{
	return w->buf + (size_t)i * w->size;
}

static void send_window(struct window *w)
{
	for (int i = 0; i < w->depth; i++)
		MPI_Isend(slot(w, i), w->size, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
			  &w->req[i]);
	MPI_Waitall(w->depth, w->req, MPI_STATUSES_IGNORE);
	MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void recv_window(struct window *w)
{
	for (int i = 0; i < w->depth; i++)
		MPI_Irecv(slot(w, i), w->size, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
			  &w->req[i]);
	MPI_Waitall(w->depth, w->req, MPI_STATUSES_IGNORE);
	MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
}

void window_step(void *arg, long times)
{
	struct window *w = arg;

	for (long i = 0; i < times; i++) {
		if (w->rank == 0)
			send_window(w);
		else if (w->rank == 1)
			recv_window(w);
	}
}

void window_check(struct window *w)
{
	for (int i = 0; i < w->depth; i++)
		bench_fill(slot(w, i), w->size, w->rank ? ~0ul : (unsigned)i);
	window_step(w, 1);
	for (int i = 0; w->rank == 1 && i < w->depth; i++)
		bench_check(slot(w, i), w->size, i);
}
