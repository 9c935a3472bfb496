// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What a rank costs: the time in MPI_Init, its memory and its sockets, before
 * and after it has talked to all others.
 */
#include "perf.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count_sockets(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int sockets = 0;

	while (dir && (entry = readdir(dir))) {
		char target[64];
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target,
					 sizeof(target));

		sockets += len > 7 && !strncmp(target, "socket:", 7);
	}
	if (dir)
		closedir(dir);
	return sockets;
}

static double mean_over_ranks(const struct perf *p, double value)
{
	double sum;

	MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum / p->ranks;
}

/* The first exchange with everybody, which makes all connections. */
static double first_alltoall(const struct perf *p)
{
	char *send = perf_alloc(p->ranks), *recv = perf_alloc(p->ranks);
	double start;

	MPI_Barrier(MPI_COMM_WORLD);
	start = perf_now();
	MPI_Alltoall(send, 1, MPI_BYTE, recv, 1, MPI_BYTE, MPI_COMM_WORLD);
	start = perf_now() - start;
	/* Algorithms may talk to fewer; this talks to each. */
	for (int i = 1; i < p->ranks; i++)
		MPI_Sendrecv(send, 1, MPI_BYTE, (p->rank + i) % p->ranks, 1,
			     recv, 1, MPI_BYTE,
			     (p->rank - i + p->ranks) % p->ranks, 1,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	free(send);
	free(recv);
	return start;
}

static void run(struct perf *p)
{
	double memory0 = perf_memory("VmRSS"), first, memory1;
	int sockets0 = count_sockets(), sockets1;

	first = first_alltoall(p);
	memory1 = perf_memory("VmRSS");
	sockets1 = count_sockets();
	perf_cell(p, "size", p->ranks);
	perf_cell(p, "init ms", perf_max_over_ranks(p->init_time) * 1e3);
	perf_cell(p, "alltoall ms", perf_max_over_ranks(first) * 1e3);
	perf_cell(p, "MiB", mean_over_ranks(p, memory0) / (1 << 20));
	perf_cell(p, "MiB after", mean_over_ranks(p, memory1) / (1 << 20));
	perf_cell(p, "sockets", mean_over_ranks(p, sockets0));
	perf_cell(p, "sockets after", mean_over_ranks(p, sockets1));
	perf_row_end(p);
}

const struct perf_command perf_startup = {
	.name = "startup",
	.help = "MPI_Init, memory and sockets of a rank",
	.run = run,
	.min_ranks = 1,
};
