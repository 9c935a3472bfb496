// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The share of a core that a rank uses while it is blocked in MPI_Recv. */
#include "perf.h"

#include <time.h>

static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* Rank 1 waits for a message that rank 0 sends after its sleep. */
static double share_of_core(struct perf *p, long ms)
{
	double start, cpu, share = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	if (p->rank == 0) {
		sleep_ms(ms);
		MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
	} else if (p->rank == 1) {
		start = perf_now();
		cpu = perf_cpu_process();
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		cpu = perf_cpu_process() - cpu;
		share = cpu / (perf_now() - start);
	}
	return perf_max_over_ranks(share);
}

static long ms = 10000;

static const struct perf_option options[] = {
	{ "ms", &ms, "how long the rank waits" },
	{ 0 },
};

static void run(struct perf *p)
{
	double share = share_of_core(p, ms);

	perf_cell(p, "ms", ms);
	perf_cell(p, "cpu %", share * 100);
	perf_row_end(p);
}

const struct perf_command perf_idle = {
	.name = "idle",
	.help = "the share of a core that a rank blocked in MPI_Recv uses",
	.run = run,
	.options = options,
	.min_ranks = 2,
};
