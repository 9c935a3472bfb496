// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What a match costs when many others wait in the queue.
 *
 *	posted		rank 1 posts N receives with tags 0 to N - 1; the
 *			messages come in the reverse order, one at a time, each
 *			answered: half the round trip
 *	unexpected	rank 0 sends N messages with tags 0 to N - 1; when all
 *			are there, rank 1 receives them in the reverse order:
 *			time per receive
 *
 * One message at a time makes depth 1 and depth 100,000 do exactly the same
 * but for the queue. The median over blocks of 64 messages counts (at depth 1
 * a block is one message).
 *
 * Implementations that search a list would take hours: when the time limit is
 * reached, what is left is received in the queue's order, unmeasured.
 */
#include "perf.h"

#include <stdlib.h>

enum {
	TAG_ANSWER = 1 << 20,
	TAG_LAST,
	BLOCK = 64,
	MAX_BLOCKS = 10000,
};

struct depth {
	int rank;
	long n;
	double limit;
	MPI_Request *req;
	uint64_t *data;
	double blocks[MAX_BLOCKS]; /* seconds per message */
	int n_blocks;
};

/* Ends the block that began at *start, and begins the next. */
static void end_block(struct depth *d, double *start, int messages)
{
	double now = perf_now();

	if (d->n_blocks < MAX_BLOCKS)
		d->blocks[d->n_blocks++] = (now - *start) / messages;
	*start = perf_now();
}

static void check_word(uint64_t got, long tag)
{
	if (got != perf_hash(tag))
		perf_fail("wrong data in the message with tag %ld", tag);
}

/* posted */

static void posted_sender(struct depth *d)
{
	double start = perf_now();
	long tag = d->n;
	int more = 1, messages = 0;

	while (more) {
		tag--;
		MPI_Send(&d->data[tag], 8, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
		MPI_Recv(&more, 1, MPI_INT, 1, TAG_ANSWER, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		messages++;
		if (tag % BLOCK == 0) {
			end_block(d, &start, 2 * messages);
			messages = 0;
		}
	}
	for (long i = 0; i < tag; i++)
		MPI_Send(&d->data[i], 8, MPI_BYTE, 1, i, MPI_COMM_WORLD);
}

static void posted_receiver(struct depth *d)
{
	double end = perf_now() + d->limit;
	long tag = d->n;
	int more = 1;

	while (more) {
		MPI_Wait(&d->req[--tag], MPI_STATUS_IGNORE);
		more = tag > 0 && (tag % BLOCK || perf_now() < end);
		MPI_Send(&more, 1, MPI_INT, 0, TAG_ANSWER, MPI_COMM_WORLD);
	}
	MPI_Waitall(tag, d->req, MPI_STATUSES_IGNORE);
	for (tag = 0; tag < d->n; tag++)
		check_word(d->data[tag], tag);
}

static void posted(struct depth *d)
{
	for (long i = 0; i < d->n; i++)
		d->data[i] = d->rank ? 0 : perf_hash(i);
	for (long i = 0; d->rank == 1 && i < d->n; i++)
		MPI_Irecv(&d->data[i], 8, MPI_BYTE, 0, i, MPI_COMM_WORLD,
			  &d->req[i]);
	MPI_Barrier(MPI_COMM_WORLD);
	if (d->rank == 0)
		posted_sender(d);
	else if (d->rank == 1)
		posted_receiver(d);
}

/* unexpected */

static void unexpected_sender(struct depth *d)
{
	for (long i = 0; i < d->n; i++)
		MPI_Isend(&d->data[i], 8, MPI_BYTE, 1, i, MPI_COMM_WORLD,
			  &d->req[i]);
	MPI_Isend(NULL, 0, MPI_BYTE, 1, TAG_LAST, MPI_COMM_WORLD,
		  &d->req[d->n]);
	MPI_Waitall(d->n + 1, d->req, MPI_STATUSES_IGNORE);
}

static void recv_tag(long tag)
{
	uint64_t word = 0;

	MPI_Recv(&word, 8, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	check_word(word, tag);
}

static void unexpected_receiver(struct depth *d)
{
	double start, end;
	long tag = d->n;
	int messages = 0;

	/* Messages do not overtake: after the last, all are there. */
	MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_LAST, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	start = perf_now();
	end = start + d->limit;
	do {
		recv_tag(--tag);
		messages++;
		if (tag % BLOCK == 0) {
			end_block(d, &start, messages);
			messages = 0;
		}
	} while (tag && (tag % BLOCK || start < end));
	for (long i = 0; i < tag; i++)
		recv_tag(i);
}

static void unexpected(struct depth *d)
{
	for (long i = 0; i < d->n; i++)
		d->data[i] = perf_hash(i);
	MPI_Barrier(MPI_COMM_WORLD);
	if (d->rank == 0)
		unexpected_sender(d);
	else if (d->rank == 1)
		unexpected_receiver(d);
}

/* Shallow queues are filled again and again until 20,000 were matched. */
static double repeat(struct depth *d, void (*once)(struct depth *))
{
	long reps = 20000 / d->n;
	double median = 0;

	if (reps < 3)
		reps = 3;
	if (reps > 1000)
		reps = 1000;
	d->n_blocks = 0;
	while (reps--)
		once(d);
	if (d->n_blocks)
		median = perf_median(d->blocks, d->n_blocks);
	return perf_max_over_ranks(median);
}

static long limit_ms = 1000;

static const struct perf_option options[] = {
	{ "limit-ms", &limit_ms, "time for one depth, once" },
	{ 0 },
};

static void run(struct perf *p)
{
	static struct depth d;
	double t_posted, t_unexpected;

	for (int i = 0; i < p->n_sizes; i++) {
		d.rank = p->rank;
		d.n = p->sizes[i];
		if (d.n < 1 || d.n > TAG_ANSWER)
			perf_fail("depths are between 1 and %d", TAG_ANSWER);
		d.limit = limit_ms * 1e-3;
		d.req = perf_alloc((d.n + 1) * sizeof(*d.req));
		d.data = perf_alloc(d.n * sizeof(*d.data));
		t_posted = repeat(&d, posted);
		t_unexpected = repeat(&d, unexpected);
		perf_cell(p, "size", d.n);
		perf_cell(p, "posted us", t_posted * 1e6);
		perf_cell(p, "unexpected us", t_unexpected * 1e6);
		perf_row_end(p);
		free(d.req);
		free(d.data);
	}
}

const struct perf_command perf_depth = {
	.name = "depth",
	.help = "a match with so many others in the queue",
	.run = run,
	.options = options,
	.sizes = "1,10,100,1000,10000,100000",
	.min_ranks = 2,
};
