// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The share of a core that a rank uses while it is blocked in MPI_Recv. */
#include "bench_common.h"

#include <time.h>

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Rank 1 waits for a message that rank 0 sends after its sleep. */
static double share_of_core(struct bench *b, long ms)
{
	double start, cpu, share = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	if (b->rank == 0) {
		sleep_ms(ms);
		MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
	} else if (b->rank == 1) {
		start = bench_now();
		cpu = bench_cpu_process();
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		cpu = bench_cpu_process() - cpu;
		share = cpu / (bench_now() - start);
	}
	return bench_max_over_ranks(share);
}

int main(int argc, char **argv)
{
	struct bench b;
	long ms = 10000;
	const struct bench_opt opts[] = {
		{"ms", &ms, "how long the rank waits"},
		{0},
	};
	double share;

	bench_start(&b, &argc, &argv, "idle", 2, "", opts);
	share = share_of_core(&b, ms);
	bench_row(&b, "ms", (double)ms, "cpu %", share * 100, NULL);
	return bench_stop(&b);
}
