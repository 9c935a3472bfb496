// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#define _GNU_SOURCE
#include "bench_common.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bench_fail(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "bench: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

/* time */

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static double cpu_time(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

double bench_cpu_process(void)
{
	return cpu_time(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_cpu_thread(void)
{
	return cpu_time(CLOCK_THREAD_CPUTIME_ID);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, int n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n % 2 ? values[n / 2]
		     : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double bench_max_over_ranks(double value)
{
	double max;

	MPI_Allreduce(&value, &max, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return max;
}

static double time_step(bench_step *step, void *arg, long times)
{
	double start;

	MPI_Barrier(MPI_COMM_WORLD);
	start = bench_now();
	step(arg, times);
	return bench_now() - start;
}

/* How often per repetition; all ranks get rank 0's answer. */
static long calibrate(struct bench *b, bench_step *step, void *arg)
{
	long times = 1;
	double t;

	for (;;) {
		t = time_step(step, arg, times);
		MPI_Bcast(&t, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		if (t >= b->rep_time / 2 || times >= 1L << 28)
			break;
		/* The first calls are slow: grow step by step. */
		times *= t < b->rep_time / 16 ? 8 : 2;
	}
	times = times * (b->rep_time / t);
	return times > 0 ? times : 1;
}

double bench_measure(struct bench *b, bench_step *step, void *arg)
{
	double values[BENCH_MAX_REPS];
	long times = calibrate(b, step, arg);
	double median;

	for (int i = 0; i < b->reps; i++)
		values[i] = time_step(step, arg, times) / times;
	median = bench_median(values, b->reps);
	return b->best ? values[0] : median;
}

/* options */

static long parse_number(const char *text, const char **end)
{
	char *rest;
	long value = strtol(text, &rest, 10);

	if (rest == text || value < 0)
		bench_fail("'%s' is not a number (like 8, 16k or 4M)", text);
	if (*rest == 'k' || *rest == 'K') {
		value <<= 10;
		rest++;
	} else if (*rest == 'm' || *rest == 'M') {
		value <<= 20;
		rest++;
	}
	*end = rest;
	return value;
}

static long parse_whole(const char *text)
{
	const char *end;
	long value = parse_number(text, &end);

	if (*end)
		bench_fail("'%s' is not a number (like 8, 16k or 4M)", text);
	return value;
}

static void parse_sizes(struct bench *b, const char *text)
{
	b->n_sizes = 0;
	while (*text) {
		if (b->n_sizes == BENCH_MAX_SIZES)
			bench_fail("more than %d sizes", BENCH_MAX_SIZES);
		b->sizes[b->n_sizes++] = parse_number(text, &text);
		if (*text && *text++ != ',')
			bench_fail("sizes are written like 8,16k,4M");
	}
}

static void usage(struct bench *b, const struct bench_opt *opts)
{
	if (b->rank == 0) {
		printf("usage: mpiexec -n N %s [OPTION VALUE]...\n", b->name);
		if (b->n_sizes)
			printf("  --sizes LIST  like 8,16k,4M\n");
		printf("  --reps N      repetitions; the median counts\n"
		       "  --rep-ms N    length of one repetition\n"
		       "  --best 1      the best counts, for a busy machine\n"
		       "  --pin 1       keep rank N on core N\n"
		       "  --json 1      one JSON object per row\n");
		for (; opts && opts->name; opts++)
			printf("  --%s N  %s (%ld)\n", opts->name, opts->help,
			       *opts->value);
	}
	MPI_Finalize();
	exit(0);
}

static bool set_own(const struct bench_opt *opts, const char *name,
		    const char *value)
{
	for (; opts && opts->name; opts++) {
		if (strcmp(opts->name, name))
			continue;
		*opts->value = parse_whole(value);
		return true;
	}
	return false;
}

static void set_option(struct bench *b, const struct bench_opt *opts,
		       const char *name, const char *value)
{
	if (strncmp(name, "--", 2) || !value)
		bench_fail("%s needs a value, see %s --help 1", name, b->name);
	name += 2;
	if (!strcmp(name, "sizes") && b->n_sizes)
		parse_sizes(b, value);
	else if (!strcmp(name, "reps"))
		b->reps = parse_whole(value);
	else if (!strcmp(name, "rep-ms"))
		b->rep_time = parse_whole(value) * 1e-3;
	else if (!strcmp(name, "pin"))
		b->pin = parse_whole(value);
	else if (!strcmp(name, "best"))
		b->best = parse_whole(value);
	else if (!strcmp(name, "json"))
		b->json = parse_whole(value);
	else if (!set_own(opts, name, value))
		bench_fail("no option --%s, see %s --help 1", name, b->name);
}

static void print_parameters(struct bench *b, const struct bench_opt *opts)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int len;

	if (b->rank || b->json)
		return;
	MPI_Get_library_version(version, &len);
	version[strcspn(version, ",\n")] = '\0';
	printf("# %s, %d ranks, %s of %d x %g ms, %s", b->name, b->ranks,
	       b->best ? "best" : "median", b->reps, b->rep_time * 1e3,
	       version);
	if (b->pin)
		printf(", pinned");
	for (; opts && opts->name; opts++)
		printf(", %s %ld", opts->name, *opts->value);
	printf("\n");
}

/*
 * Done here and not by the launcher: the launchers cannot know that two
 * network namespaces share the cores. Only the calling thread is pinned, not
 * the threads that MPI_Init made.
 */
static void pin_to_core(int rank)
{
	cpu_set_t allowed, one;
	int n, nth;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	n = CPU_COUNT(&allowed);
	nth = rank % n;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || nth--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

void bench_start(struct bench *b, int *argc, char ***argv, const char *name,
		 int min_ranks, const char *sizes, const struct bench_opt *opts)
{
	MPI_Init(argc, argv);
	*b = (struct bench){.name = name, .reps = 11, .rep_time = 0.02};
	MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
	parse_sizes(b, sizes);
	if (*argc > 1 && !strcmp((*argv)[1], "--help"))
		usage(b, opts);
	for (int i = 1; i < *argc; i += 2)
		set_option(b, opts, (*argv)[i], (*argv)[i + 1]);
	if (b->reps < 1 || b->reps > BENCH_MAX_REPS)
		bench_fail("--reps is between 1 and %d", BENCH_MAX_REPS);
	if (b->ranks < min_ranks)
		bench_fail("%s needs %d ranks: mpiexec -n %d %s", name,
			   min_ranks, min_ranks, (*argv)[0]);
	if (b->pin)
		pin_to_core(b->rank);
	print_parameters(b, opts);
}

int bench_stop(struct bench *b)
{
	(void)b;
	MPI_Finalize();
	return 0;
}

/* output */

static void print_titles(va_list ap)
{
	const char *title;

	while ((title = va_arg(ap, const char *))) {
		va_arg(ap, double);
		printf("%14s", title);
	}
	printf("\n");
}

static void print_values(va_list ap)
{
	double value;

	while (va_arg(ap, const char *)) {
		value = va_arg(ap, double);
		if (value == (long)value)
			printf("%14ld", (long)value);
		else
			printf("%14.3f", value);
	}
	printf("\n");
}

static void print_json(const char *name, va_list ap)
{
	const char *title;

	printf("{\"bench\":\"%s\"", name);
	while ((title = va_arg(ap, const char *)))
		printf(",\"%s\":%.9g", title, va_arg(ap, double));
	printf("}\n");
}

void bench_row(struct bench *b, ...)
{
	va_list ap;

	if (b->rank)
		return;
	if (!b->titled && !b->json) {
		va_start(ap, b);
		print_titles(ap);
		va_end(ap);
		b->titled = true;
	}
	va_start(ap, b);
	if (b->json)
		print_json(b->name, ap);
	else
		print_values(ap);
	va_end(ap);
	fflush(stdout);
}

/* memory */

void *bench_alloc(size_t size)
{
	void *p;

	size = (size + 4095) & ~(size_t)4095;
	if (posix_memalign(&p, 4096, size ? size : 4096))
		bench_fail("no memory for %zu bytes", size);
	memset(p, 1, size ? size : 4096);
	return p;
}

/* The finalizer of splitmix64: a different word for every number. */
uint64_t bench_hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint8_t pattern(uint64_t seed, size_t i)
{
	return bench_hash(seed + i / 8) >> i % 8 * 8;
}

void bench_fill(void *buf, size_t size, uint64_t seed)
{
	uint8_t *p = buf;

	for (size_t i = 0; i < size; i++)
		p[i] = pattern(seed, i);
}

void bench_check(const void *buf, size_t size, uint64_t seed)
{
	const uint8_t *p = buf;

	for (size_t i = 0; i < size; i++)
		if (p[i] != pattern(seed, i))
			bench_fail("wrong data: byte %zu of %zu is %u", i, size,
				   p[i]);
}
