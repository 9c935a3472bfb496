// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * From the start of a job until its ranks have met: MPI_Init and five allreduces, and
 * what a rank holds in memory then. Pages that ranks share count in parts (PSS), so
 * that the sum over all ranks is what the job takes from the machine.
 */
#include "perf.h"

#include <stdio.h>
#include <string.h>

enum { ALLREDUCES = 5 };

static long since_us;

static const struct perf_option options[] = {
	{ "since-us", &since_us,
	  "when the job was started, by the monotonic clock" },
	{ 0 },
};

/* In bytes; 0 where the kernel does not say. */
static double memory_share(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pss: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb * 1024.0;
}

static double sum_over_ranks(double value)
{
	double sum;

	MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

static void run(struct perf *p)
{
	double start = perf_now(), met, ready, memory;
	double sum;

	for (int i = 0; i < ALLREDUCES; i++)
		sum = sum_over_ranks(1);
	met = perf_now();
	if (sum != p->ranks)
		perf_fail("%g ranks of %d have met", sum, p->ranks);
	ready = since_us ? met - since_us * 1e-6 : p->init_time + met - start;
	ready = perf_max_over_ranks(ready);
	memory = memory_share(); /* all have met, and none has gone */
	perf_cell(p, "size", p->ranks);
	perf_cell(p, "ready s", ready);
	perf_cell(p, "init s", perf_max_over_ranks(p->init_time));
	perf_cell(p, "allreduces s", perf_max_over_ranks(met - start));
	perf_cell(p, "MB a rank", sum_over_ranks(memory) / p->ranks / 1e6);
	perf_cell(p, "MB most", perf_max_over_ranks(memory) / 1e6);
	perf_row_end(p);
}

const struct perf_command perf_launch = {
	.name = "launch",
	.help = "MPI_Init and five allreduces; a rank's share of the memory",
	.run = run,
	.options = options,
	.min_ranks = 1,
};
