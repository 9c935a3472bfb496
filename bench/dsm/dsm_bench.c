/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "dsm_bench.h"

#include <mpi.h>
#include <o2g.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static long sequential_counter[16];

static void check(int result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, o2g_strerror(result));
	exit(1);
}

void all_here(struct run *run)
{
	if (run->region)
		check(o2g_dsm_barrier(run->region, 0, 0), "barrier");
}

void take_lock(struct run *run, uint64_t name)
{
	if (run->region)
		check(o2g_dsm_lock(run->region, name), "lock");
}

void give_lock(struct run *run, uint64_t name)
{
	if (run->region)
		check(o2g_dsm_unlock(run->region, name), "unlock");
}

long next_number(struct run *run, uint64_t counter)
{
	int64_t n;

	if (!run->region)
		return sequential_counter[counter % 16]++;
	check(o2g_dsm_add(run->region, counter, 1, &n), "counter");
	return (long)n;
}

void my_part(const struct run *run, long n, long *from, long *to)
{
	*from = n * run->rank / run->size;
	*to = n * (run->rank + 1) / run->size;
}

/* The parts in bytes. */
static void count_parts(const struct run *run, long n, size_t each, int *counts,
			int *starts)
{
	for (int i = 0; i < run->size; i++) {
		long from = n * i / run->size, to = n * (i + 1) / run->size;

		counts[i] = (int)((size_t)(to - from) * each);
		starts[i] = (int)((size_t)from * each);
	}
}

void deal(const struct run *run, void *at, long n, size_t each)
{
	int counts[O2G_DSM_NODES], starts[O2G_DSM_NODES];

	count_parts(run, n, each, counts, starts);
	MPI_Scatterv(at, counts, starts, MPI_BYTE,
		     run->rank ? (char *)at + starts[run->rank] : MPI_IN_PLACE,
		     counts[run->rank], MPI_BYTE, 0, MPI_COMM_WORLD);
}

void collect(const struct run *run, void *at, long n, size_t each)
{
	int counts[O2G_DSM_NODES], starts[O2G_DSM_NODES];

	count_parts(run, n, each, counts, starts);
	MPI_Gatherv(run->rank ? (char *)at + starts[run->rank] : MPI_IN_PLACE,
		    counts[run->rank], MPI_BYTE, at, counts, starts, MPI_BYTE,
		    0, MPI_COMM_WORLD);
}

double noise(uint64_t i)
{
	i += 0x9e3779b97f4a7c15ull;
	i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9ull;
	i = (i ^ i >> 27) * 0x94d049bb133111ebull;
	return (double)((i ^ i >> 31) >> 11) / (double)(1ull << 53);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Of a region that lies at @base, what is here. */
static double resident(const char *base, size_t bytes)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long from = 0, to = 0, kib, sum = 0,
		      first = (unsigned long)base;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx ", &from, &to) != 2 &&
		    sscanf(line, "Rss: %lu", &kib) == 1 && from >= first &&
		    to <= first + bytes)
			sum += kib;
	if (f)
		fclose(f);
	return (double)sum / 1024;
}

/* What a run has taken. */
struct cost {
	double cpu, mib;	 /* of all processes; of each, on average */
	double faults, messages; /* of all */
};

static double timed(struct run *run)
{
	double start;

	if (!run->rank)
		program.fill(run);
	all_here(run);
	start = now();
	program.work(run);
	all_here(run);
	return now() - start;
}

static char *ordinary_memory(long n)
{
	char *at = aligned_alloc(O2G_DSM_PAGE,
				 (program.bytes(n) + O2G_DSM_PAGE - 1) /
					 O2G_DSM_PAGE * O2G_DSM_PAGE);

	if (!at)
		exit(1);
	memset(at, 0, program.bytes(n));
	return at;
}

/* By the first process, on ordinary memory; the others wait. */
static double sequential(long n, char **memory, double *work)
{
	struct run run = { .n = n, .size = 1 };
	double seconds;

	memset(sequential_counter, 0, sizeof(sequential_counter));
	run.memory = *memory = ordinary_memory(n);
	*work = cpu();
	seconds = timed(&run);
	*work = cpu() - *work;
	return seconds;
}

static void must_be(const struct run *run, const char *expected)
{
	size_t bytes, at = program.result(run->n, &bytes);

	if (run->rank || !memcmp(run->memory + at, expected + at, bytes))
		return;
	fprintf(stderr, "%s: not the sequential result with %s\n", program.name,
		run->region ? "shared memory" : "messages");
	exit(1);
}

static double messages(long n, const char *expected)
{
	struct run run = { .n = n,
			   .rank = o2g_dsm_rank(),
			   .size = o2g_dsm_size(),
			   .memory = ordinary_memory(n) };
	double start;

	if (!run.rank)
		program.fill(&run);
	MPI_Barrier(MPI_COMM_WORLD);
	start = now();
	program.messages(&run);
	MPI_Barrier(MPI_COMM_WORLD);
	start = now() - start;
	must_be(&run, expected);
	free(run.memory);
	return start;
}

/* All add up theirs. */
static void add_up(const struct run *run, double work, struct cost *cost)
{
	struct o2g_dsm_stats s;
	double mine[4];

	check(o2g_dsm_stats(run->region, &s), "stats");
	mine[0] = work;
	mine[1] = resident(run->memory, o2g_dsm_bytes(run->region)) / run->size;
	mine[2] = (double)(s.read_faults + s.write_faults);
	mine[3] = (double)s.messages;
	MPI_Allreduce(MPI_IN_PLACE, mine, 4, MPI_DOUBLE, MPI_SUM,
		      MPI_COMM_WORLD);
	*cost = (struct cost){ mine[0], mine[1], mine[2], mine[3] };
}

static double shared(long n, int number, const char *expected,
		     struct cost *cost)
{
	struct run run = { .n = n,
			   .rank = o2g_dsm_rank(),
			   .size = o2g_dsm_size() };
	char name[32];
	double seconds, work;

	snprintf(name, sizeof(name), "run %d", number);
	check(o2g_dsm_create(name, program.bytes(n), 0, &run.region), name);
	run.memory = o2g_dsm_base(run.region);
	work = cpu();
	seconds = timed(&run);
	add_up(&run, cpu() - work, cost);
	must_be(&run, expected);
	check(o2g_dsm_close(run.region), "close");
	return seconds;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : program.n;
	int times = argc > 2 ? atoi(argv[2]) : 3;
	struct cost cost = { 0 };
	double alone = 0, best = 0, mpi = 0, work = 0;
	char *expected = NULL;

	check(o2g_dsm_init(), "init");
	if (!o2g_dsm_rank())
		alone = sequential(n, &expected, &work);
	for (int i = 0; i < times; i++) {
		double s = shared(n, i, expected, &cost);

		if (!i || s < best)
			best = s;
		s = messages(n, expected);
		if (!i || s < mpi)
			mpi = s;
	}
	if (!o2g_dsm_rank())
		printf("%-8s n %ld processes %d sequential %.4f s shared %.4f s messages %.4f s speedup %.2f faults %.0f messages %.0f cpu %.4f s for %.4f s memory %.2f MiB\n",
		       program.name, n, o2g_dsm_size(), alone, best, mpi,
		       alone / best, cost.faults, cost.messages, cost.cpu, work,
		       cost.mib);
	free(expected);
	check(o2g_dsm_finalize(), "finalize");
	return 0;
}
