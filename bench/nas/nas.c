// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "nas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char class_names[] = "SWAB";

void nas_fail(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "nas: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	MPI_Abort(MPI_COMM_WORLD, 2);
	abort();
}

static void parse(struct nas *n, const char *word)
{
	const char *at;

	if (!strcmp(word, "--json")) {
		n->json = true;
		return;
	}
	at = strlen(word) == 1 ? strchr(class_names, word[0]) : NULL;
	if (!at)
		nas_fail("'%s' is neither a class (S, W, A or B) nor --json",
			 word);
	n->class = at - class_names;
}

void nas_start(struct nas *n, int *argc, char ***argv, const char *name)
{
	MPI_Init(argc, argv);
	*n = (struct nas){ .name = name, .class = NAS_S };
	MPI_Comm_rank(MPI_COMM_WORLD, &n->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n->ranks);
	for (int i = 1; i < *argc; i++)
		parse(n, (*argv)[i]);
	if (n->rank == 0 && !n->json)
		printf("\n NAS Parallel Benchmarks (O2G's) -- %s Benchmark, "
		       "class %c, %d processes\n",
		       name, class_names[n->class], n->ranks);
}

static void print_size(const double *size)
{
	char text[64];
	int len = 0;

	for (int i = 0; i < 3 && size[i] > 0; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%.0f",
				i ? " x " : "", size[i]);
	printf(" Size            = %24s\n", text);
}

static void print_text(const struct nas *n, const struct nas_result *r,
		       double mops)
{
	printf("\n %s Benchmark Completed.\n", n->name);
	printf(" Class           = %24c\n", class_names[n->class]);
	print_size(r->size);
	printf(" Iterations      = %24d\n", r->iterations);
	printf(" Time in seconds = %24.3f\n", r->seconds);
	printf(" Total processes = %24d\n", n->ranks);
	printf(" Mop/s total     = %24.2f\n", mops);
	printf(" Mop/s/process   = %24.2f\n", mops / n->ranks);
	printf(" Operation type  = %24s\n", r->operation);
	printf(" Verification    = %24s\n",
	       r->verified ? "SUCCESSFUL" : "UNSUCCESSFUL");
}

static void print_json(const struct nas *n, const struct nas_result *r,
		       double mops)
{
	printf("{\"bench\":\"nas-%s\",\"class\":\"%c\",\"ranks\":%d,"
	       "\"seconds\":%.6f,\"Mop/s\":%.6g,\"verified\":%d}\n",
	       n->name, class_names[n->class], n->ranks, r->seconds, mops,
	       r->verified);
}

int nas_finish(struct nas *n, const struct nas_result *r)
{
	int good = r->verified;
	double mops = r->operations / r->seconds * 1e-6;

	if (n->rank == 0)
		(n->json ? print_json : print_text)(n, r, mops);
	/* Rank 0 judges; an exit code of one rank ends the job alike. */
	MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Finalize();
	return !good;
}

int nas_log2(long power_of_two)
{
	int n = 0;

	while (power_of_two > 1l << n)
		n++;
	return n;
}

void nas_need_power_of_two(const struct nas *n, int most)
{
	if (n->ranks & (n->ranks - 1) || n->ranks > most)
		nas_fail("%s of class %c runs on 1, 2, 4, ... up to %d ranks, "
			 "not on %d",
			 n->name, class_names[n->class], most, n->ranks);
}

double nas_clock_start(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Wtime();
}

double nas_clock_stop(double start)
{
	double seconds = MPI_Wtime() - start, slowest;

	MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX,
		      MPI_COMM_WORLD);
	return slowest;
}

void *nas_alloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		nas_fail("no memory for %zu times %zu bytes", count, size);
	return p;
}

uint64_t nas_skip(uint64_t seed, uint64_t numbers)
{
	for (uint64_t a = NAS_MULTIPLIER; numbers; numbers >>= 1) {
		if (numbers & 1)
			seed = nas_times(a, seed);
		a = nas_times(a, a);
	}
	return seed;
}
