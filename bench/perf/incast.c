// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * All other ranks send to rank 0 at once, a few messages each; rank 0 tells
 * them when to start the next round. With --any it asks for messages from
 * anybody, and does not say from whom.
 */
#include "perf.h"

#include <stdlib.h>

enum { TAG_DATA = 1, TAG_START = 2 };

static long window = 4, any;

static const struct perf_option options[] = {
	{ "window", &window, "messages of each sender under way" },
	{ "any", &any, "1: received from MPI_ANY_SOURCE" },
	{ 0 },
};

struct incast {
	int rank, senders, size;
	char *buf; /* rank 0: one for each message */
	MPI_Request *req;
};

static char *buffer_of(struct incast *n, int sender, long message)
{
	return n->buf + (sender * window + message) * n->size;
}

static void receive_round(struct incast *n)
{
	int count = 0;

	for (int s = 0; s < n->senders; s++)
		for (long i = 0; i < window; i++)
			MPI_Irecv(buffer_of(n, s, i), n->size, MPI_BYTE,
				  any ? MPI_ANY_SOURCE : s + 1, TAG_DATA,
				  MPI_COMM_WORLD, &n->req[count++]);
	for (int s = 0; s < n->senders; s++)
		MPI_Send(NULL, 0, MPI_BYTE, s + 1, TAG_START, MPI_COMM_WORLD);
	MPI_Waitall(count, n->req, MPI_STATUSES_IGNORE);
}

static void send_round(struct incast *n)
{
	MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_START, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	for (long i = 0; i < window; i++)
		MPI_Isend(n->buf, n->size, MPI_BYTE, 0, TAG_DATA,
			  MPI_COMM_WORLD, &n->req[i]);
	MPI_Waitall(window, n->req, MPI_STATUSES_IGNORE);
}

static void step(void *arg, long times)
{
	struct incast *n = arg;

	for (long i = 0; i < times; i++)
		(n->rank ? send_round : receive_round)(n);
}

static void check_once(struct incast *n)
{
	perf_fill(n->buf, n->size, n->rank);
	step(n, 1);
	for (int s = 0; !n->rank && !any && s < n->senders; s++)
		for (long i = 0; i < window; i++)
			perf_check(buffer_of(n, s, i), n->size, s + 1);
}

static void run(struct perf *p)
{
	struct incast n = { .rank = p->rank, .senders = p->ranks - 1 };
	double messages = (double)n.senders * window;

	if (window < 1)
		perf_fail("--window is 1 or more");
	for (int i = 0; i < p->n_sizes; i++) {
		struct perf_time t;

		n.size = p->sizes[i];
		n.buf = perf_alloc(n.size * (n.rank ? 1 : (size_t)messages));
		n.req = perf_alloc((n.rank ? window : messages) *
				   sizeof(*n.req));
		if (p->check)
			check_once(&n);
		t = perf_measure(p, step, &n);
		perf_cell(p, "size", n.size);
		perf_cell(p, "senders", n.senders);
		perf_cell(p, "MB/s", n.size * messages / t.usual * 1e-6);
		perf_cell(p, "Mmsg/s", messages / t.usual * 1e-6);
		perf_cells_percentiles(p, &t, 1);
		perf_row_end(p);
		free(n.req);
		free(n.buf);
	}
}

const struct perf_command perf_incast = {
	.name = "incast",
	.help = "all ranks send to rank 0 at once",
	.run = run,
	.options = options,
	.sizes = "8,1k,64k,1M",
	.min_ranks = 2,
};
