// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Rank 0 sends as much as it can to a rank 1 that sleeps; then rank 1 takes
 * everything and checks that each message arrived, in order, with its data.
 * Reported is how far the memory of rank 1 grew.
 *
 * With --last 1, rank 1 first asks for the last message, which makes every
 * other one unexpected, however long it takes.
 *
 * All sends are under way at once. Message i is words i to i + size / 8 of one
 * array, so a million different messages need 8 MB and not 4 GB.
 */
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 1, TAG_LAST = 2 };

struct flood {
	long messages;
	int size;
	long sleep_ms;
	long last;
};

static struct flood flood = { .messages = 1000000, .sleep_ms = 3000 };

static const struct perf_option options[] = {
	{ "messages", &flood.messages, "how many" },
	{ "sleep-ms", &flood.sleep_ms, "how long the receiver sleeps" },
	{ "last", &flood.last, "1: the receiver asks for the last one first" },
	{ 0 },
};

/* Makes VmHWM start again from what is used now. */
static void reset_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");

	if (!f || fputs("5", f) < 0 || fclose(f))
		perf_fail("cannot write /proc/self/clear_refs");
}

static void send_all(struct flood *f)
{
	long words = f->messages + f->size / 8;
	uint64_t *data = perf_alloc(words * sizeof(*data));
	MPI_Request *req = perf_alloc(f->messages * sizeof(*req));

	for (long i = 0; i < words; i++)
		data[i] = perf_hash(i);
	MPI_Barrier(MPI_COMM_WORLD);
	for (long i = 0; i < f->messages; i++)
		MPI_Isend(&data[i], f->size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD,
			  &req[i]);
	MPI_Send(NULL, 0, MPI_BYTE, 1, TAG_LAST, MPI_COMM_WORLD);
	MPI_Waitall(f->messages, req, MPI_STATUSES_IGNORE);
	free(req);
	free(data);
}

static void recv_last(void)
{
	MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_LAST, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
}

static void recv_all(struct flood *f)
{
	uint64_t *buf = perf_alloc(f->size);

	for (long i = 0; i < f->messages; i++) {
		MPI_Recv(buf, f->size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		for (int k = 0; k < f->size / 8; k++)
			if (buf[k] != perf_hash(i + k))
				perf_fail("message %ld is not what came %ldth",
					  i, i);
	}
	free(buf);
}

/* How far the peak rose above what was used before, in bytes. */
static double receive(struct flood *f)
{
	double before;

	reset_peak();
	before = perf_memory("VmHWM");
	MPI_Barrier(MPI_COMM_WORLD);
	usleep(f->sleep_ms * 1000);
	if (f->last)
		recv_last();
	recv_all(f);
	if (!f->last)
		recv_last();
	return perf_memory("VmHWM") - before;
}

static void run(struct perf *p)
{
	double growth = 0, start = perf_now();

	flood.size = p->sizes[0] & ~7;
	if (p->rank == 0)
		send_all(&flood);
	else if (p->rank == 1)
		growth = receive(&flood);
	else
		MPI_Barrier(MPI_COMM_WORLD);
	growth = perf_max_over_ranks(growth);
	perf_cell(p, "size", flood.size);
	perf_cell(p, "messages", flood.messages);
	perf_cell(p, "growth MiB", growth / (1 << 20));
	perf_cell(p, "seconds", perf_now() - start);
	perf_row_end(p);
}

const struct perf_command perf_flood = {
	.name = "flood",
	.help = "how far a sleeping receiver's memory grows",
	.run = run,
	.options = options,
	.sizes = "4k",
	.min_ranks = 2,
};
