// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#define _GNU_SOURCE
#include "perf.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct perf_command perf_latency, perf_bandwidth,
	perf_bidirectional, perf_rate, perf_overlap, perf_depth, perf_incast,
	perf_idle, perf_calls, perf_instructions, perf_flood, perf_startup,
	perf_launch, perf_vector, perf_face, perf_struct, perf_io,
	perf_io_mixed, perf_io_cube, perf_io_append, perf_io_overlap;

/* Missing where an MPI has no windows, as an older one of ours. */
extern const struct perf_command perf_put __attribute__((weak));
extern const struct perf_command perf_get __attribute__((weak));
extern const struct perf_command perf_onesided __attribute__((weak));
extern const struct perf_command perf_accumulate __attribute__((weak));
extern const struct perf_command perf_epochs __attribute__((weak));
/* ... or no dynamic processes. */
extern const struct perf_command perf_spawn __attribute__((weak));
extern const struct perf_command perf_connect __attribute__((weak));
extern const struct perf_command perf_inter __attribute__((weak));

static const struct perf_command *const commands[] = {
	&perf_latency,	 &perf_bandwidth,  &perf_bidirectional,
	&perf_rate,	 &perf_overlap,	   &perf_depth,
	&perf_incast,	 &perf_put,	   &perf_get,
	&perf_vector,	 &perf_face,	   &perf_struct,
	&perf_idle,	 &perf_calls,	   &perf_instructions,
	&perf_flood,	 &perf_startup,	   &perf_launch,
	&perf_onesided,	 &perf_accumulate, &perf_epochs,
	&perf_io,	 &perf_io_mixed,   &perf_io_cube,
	&perf_io_append, &perf_spawn,	   &perf_connect,
	&perf_inter,	 &perf_io_overlap,
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

void perf_fail(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "perf: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

static const struct perf_command *find(const char *name)
{
	const struct perf_command *c;

	for (size_t i = 0; i < N_COMMANDS; i++)
		if (commands[i] && !strcmp(commands[i]->name, name))
			return commands[i];
	for (c = perf_collectives; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static void print_usage(void)
{
	const struct perf_command *c;

	printf("usage: perf COMMAND [--OPTION [VALUE]]...\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (commands[i])
			printf("  %-22s %s\n", commands[i]->name,
			       commands[i]->help);
	printf("\nand the time of a collective:\n\n");
	for (c = perf_collectives; c->name; c++)
		printf("  %-22s %s\n", c->name, c->help);
	printf("\nperf COMMAND --help lists the options.\n");
}

/* The same mistake is found by every rank, but told by one. */
static void stop(struct perf *p, const struct perf_command *c,
		 const char *wrong)
{
	if (p->rank == 0 && wrong)
		fprintf(stderr,
			"perf: there is no command \"%s\"; "
			"perf --help lists them\n",
			wrong);
	else if (p->rank == 0 && c)
		perf_options_print(c);
	else if (p->rank == 0)
		print_usage();
	MPI_Finalize();
	exit(wrong ? 2 : 0);
}

static bool asks_for_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h") ||
	       !strcmp(word, "help");
}

static void choose(struct perf *p, int argc, char **argv)
{
	if (argc < 2 || asks_for_help(argv[1]))
		stop(p, NULL, NULL);
	p->command = find(argv[1]);
	if (!p->command)
		stop(p, NULL, argv[1]);
	for (int i = 2; i < argc; i++)
		if (asks_for_help(argv[i]))
			stop(p, p->command, NULL);
}

/*
 * Done here and not by the launcher: the launchers cannot know that network
 * namespaces share the cores. Only the calling thread is pinned, not the
 * threads that MPI_Init made.
 */
static void pin_to_core(int rank)
{
	cpu_set_t allowed, one;
	int nth;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	nth = rank % CPU_COUNT(&allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || nth--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static bool was_spawned(const struct perf *p)
{
	MPI_Comm parent = MPI_COMM_NULL;

	if (p->command->spawned)
		MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL)
		return false;
	p->command->spawned(parent);
	return true;
}

static void run(struct perf *p, int argc, char **argv)
{
	perf_options_parse(p, argc, argv);
	if (p->ranks < p->command->min_ranks)
		perf_fail("%s needs %d ranks: mpiexec -n %d ...",
			  p->command->name, p->command->min_ranks,
			  p->command->min_ranks);
	if (p->pin)
		pin_to_core(p->rank);
	perf_print_parameters(p);
	p->command->run(p);
}

int main(int argc, char **argv)
{
	struct perf p = { .reps = 11, .rep_time = 0.02, .samples = 1000 };

	p.init_time = perf_now();
	MPI_Init(&argc, &argv);
	p.init_time = perf_now() - p.init_time;
	MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
	choose(&p, argc, argv);
	if (!was_spawned(&p))
		run(&p, argc - 2, argv + 2);
	MPI_Finalize();
	return 0;
}
