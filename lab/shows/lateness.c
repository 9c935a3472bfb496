// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * lateness SECONDS: what is left for an ordinary program beside the traffic of
 * others. It sleeps for a millisecond at a time and looks how much too late it
 * was woken; in between it counts, as a measure of the time it got.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 100000, WORK_NS = 200000 };

static long lateness[MOST];

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

static long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long end = now_ns() +
		   strtol(argc > 1 ? argv[1] : "5", NULL, 10) * 1000000000l;
	long n = 0, wall = 0, cpu;

	while (now_ns() < end && n < MOST) {
		struct timespec t = { 0, 1000000 };
		long start = now_ns();

		nanosleep(&t, NULL);
		lateness[n++] = (now_ns() - start - 1000000) / 1000;
		/* WORK_NS of its own time: how long does that take? */
		start = now_ns();
		cpu = cpu_ns();
		while (cpu_ns() - cpu < WORK_NS)
			;
		wall += now_ns() - start;
	}
	qsort(lateness, (size_t)n, sizeof(lateness[0]), compare);
	printf("{\"naps\": %ld, \"late median us\": %ld, \"late p99 us\": %ld, "
	       "\"late max us\": %ld, \"got%%\": %.0f}\n",
	       n, lateness[n / 2], lateness[n * 99 / 100], lateness[n - 1],
	       100.0 * n * WORK_NS / wall);
	return 0;
}
