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
#include "bench_common.h"

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

/* A line of /proc/self/status that counts kB, in bytes. */
static double status_bytes(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kb = atol(line + strlen(name) + 1);
	if (f)
		fclose(f);
	if (kb < 0)
		bench_fail("no %s in /proc/self/status", name);
	return kb * 1024.0;
}

/* Makes VmHWM start again from what is used now. */
static void reset_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");

	if (!f || fputs("5", f) < 0 || fclose(f))
		bench_fail("cannot write /proc/self/clear_refs");
}

static void send_all(struct flood *f)
{
	long words = f->messages + f->size / 8;
	uint64_t *data = bench_alloc(words * sizeof(*data));
	MPI_Request *req = bench_alloc(f->messages * sizeof(*req));

	for (long i = 0; i < words; i++)
		data[i] = bench_hash(i);
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
	uint64_t *buf = bench_alloc(f->size);

	for (long i = 0; i < f->messages; i++) {
		MPI_Recv(buf, f->size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		for (int k = 0; k < f->size / 8; k++)
			if (buf[k] != bench_hash(i + k))
				bench_fail("message %ld is not what came %ldth",
					   i, i);
	}
	free(buf);
}

/* How far the peak rose above what was used before, in bytes. */
static double receive(struct flood *f)
{
	double before;

	reset_peak();
	before = status_bytes("VmHWM");
	MPI_Barrier(MPI_COMM_WORLD);
	usleep(f->sleep_ms * 1000);
	if (f->last)
		recv_last();
	recv_all(f);
	if (!f->last)
		recv_last();
	return status_bytes("VmHWM") - before;
}

int main(int argc, char **argv)
{
	struct bench b;
	struct flood f = {.messages = 1000000, .sleep_ms = 3000};
	const struct bench_opt opts[] = {
		{"messages", &f.messages, "how many"},
		{"sleep-ms", &f.sleep_ms, "how long the receiver sleeps"},
		{"last", &f.last, "1: the receiver asks for the last one first"},
		{0},
	};
	double growth = 0, start;

	bench_start(&b, &argc, &argv, "flood", 2, "4k", opts);
	f.size = b.sizes[0] & ~7;
	start = bench_now();
	if (b.rank == 0)
		send_all(&f);
	else if (b.rank == 1)
		growth = receive(&f);
	else
		MPI_Barrier(MPI_COMM_WORLD);
	growth = bench_max_over_ranks(growth);
	bench_row(&b, "size", (double)f.size, "messages", (double)f.messages,
		  "growth MiB", growth / (1 << 20), "seconds",
		  bench_now() - start, NULL);
	return bench_stop(&b);
}
