// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Many messages under way at once, acknowledged as a whole: bandwidth in one
 * and in both directions, and how many messages a second. Rank r of the first
 * half sends to its partner in the second half.
 */
#include "perf.h"

#include <stdlib.h>

enum { TAG_DATA = 1, TAG_DONE = 2 };

static const long most_bytes = 64l << 20; /* of buffers for one direction */

struct window {
	int peer; /* -1 takes no part */
	bool sends, receives;
	int depth; /* messages under way at once */
	int size;
	char *out, *in; /* depth buffers each, one after the other */
	MPI_Request *req;
};

static long window = 64;
static long pairs; /* 0: as many as there are */

static const struct perf_option options[] = {
	{ "window", &window, "messages under way at once" },
	{ "pairs", &pairs, "pairs of ranks; 0: all there are" },
	{ 0 },
};

static void window_init(struct window *w, struct perf *p, int size, bool both)
{
	int half = p->ranks / 2, place = p->rank % half;
	bool first = p->rank < half;

	*w = (struct window){ .peer = -1, .depth = window, .size = size };
	if (window < 1)
		perf_fail("--window is 1 or more");
	if (size && w->depth > most_bytes / size)
		w->depth = most_bytes / size ? most_bytes / size : 1;
	if (p->rank < 2 * half && (!pairs || place < pairs)) {
		w->peer = first ? p->rank + half : p->rank - half;
		w->sends = first || both;
		w->receives = !first || both;
	}
	w->out = perf_alloc(w->sends ? (size_t)w->depth * size : 0);
	w->in = perf_alloc(w->receives ? (size_t)w->depth * size : 0);
	w->req = perf_alloc(2 * w->depth * sizeof(*w->req));
}

static void window_cleanup(struct window *w)
{
	free(w->req);
	free(w->in);
	free(w->out);
}

static void once(struct window *w)
{
	int n = 0;

	for (int i = 0; w->receives && i < w->depth; i++)
		MPI_Irecv(w->in + (size_t)i * w->size, w->size, MPI_BYTE,
			  w->peer, TAG_DATA, MPI_COMM_WORLD, &w->req[n++]);
	for (int i = 0; w->sends && i < w->depth; i++)
		MPI_Isend(w->out + (size_t)i * w->size, w->size, MPI_BYTE,
			  w->peer, TAG_DATA, MPI_COMM_WORLD, &w->req[n++]);
	MPI_Waitall(n, w->req, MPI_STATUSES_IGNORE);
	if (w->sends && w->receives)
		return;
	if (w->sends)
		MPI_Recv(NULL, 0, MPI_BYTE, w->peer, TAG_DONE, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	else
		MPI_Send(NULL, 0, MPI_BYTE, w->peer, TAG_DONE, MPI_COMM_WORLD);
}

static void step(void *arg, long times)
{
	struct window *w = arg;

	for (long i = 0; w->peer >= 0 && i < times; i++)
		once(w);
}

static void check_once(struct window *w)
{
	for (int i = 0; w->sends && i < w->depth; i++)
		perf_fill(w->out + (size_t)i * w->size, w->size, 1000 + i);
	step(w, 1);
	for (int i = 0; w->receives && i < w->depth; i++)
		perf_check(w->in + (size_t)i * w->size, w->size, 1000 + i);
}

/* Seconds per window, and how many messages it is over all pairs. */
static double measure(struct perf *p, int size, bool both, double *messages)
{
	struct window w;
	struct perf_time t;
	int used = p->ranks / 2;

	window_init(&w, p, size, both);
	if (p->check)
		check_once(&w);
	t = perf_measure(p, step, &w);
	if (pairs && pairs < used)
		used = pairs;
	*messages = (double)used * w.depth * (both ? 2 : 1);
	window_cleanup(&w);
	return perf_max_over_ranks(t.usual);
}

static void bandwidth(struct perf *p, bool both)
{
	p->samples = 0; /* what a window takes says nothing of a message */
	for (int i = 0; i < p->n_sizes; i++) {
		double messages;
		double t = measure(p, p->sizes[i], both, &messages);

		perf_cell(p, "size", p->sizes[i]);
		perf_cell(p, "MB/s", p->sizes[i] * messages / t * 1e-6);
		perf_cell(p, "Mmsg/s", messages / t * 1e-6);
		perf_row_end(p);
	}
}

static void run_one_way(struct perf *p)
{
	bandwidth(p, false);
}

static void run_both_ways(struct perf *p)
{
	bandwidth(p, true);
}

const struct perf_command perf_bandwidth = {
	.name = "bandwidth",
	.help = "bytes per second, many messages under way",
	.run = run_one_way,
	.options = options,
	.sizes = "1:4M",
	.min_ranks = 2,
};

const struct perf_command perf_bidirectional = {
	.name = "bidirectional",
	.help = "the same, both ways at once",
	.run = run_both_ways,
	.options = options,
	.sizes = "1:4M",
	.min_ranks = 2,
};

const struct perf_command perf_rate = {
	.name = "rate",
	.help = "small messages per second, over all pairs",
	.run = run_one_way,
	.options = options,
	.sizes = "0,8,64",
	.min_ranks = 2,
};
