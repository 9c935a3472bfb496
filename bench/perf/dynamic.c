// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Processes that come and meet: MPI_Comm_spawn, MPI_Comm_accept with MPI_Comm_connect,
 * and half a round trip over what these give, in turns with MPI_COMM_WORLD. A process
 * that was spawned is this program again, with the same arguments.
 */
#ifndef PERF_NO_DYNAMIC /* an MPI that cannot do it */

#include "perf.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long children = 1;
static long trips = 2000;

static const struct perf_option spawn_options[] = {
	{ "children", &children, "processes that are spawned at once" },
	{ 0 },
};

static const struct perf_option inter_options[] = {
	{ "trips", &trips, "round trips before the other one's turn" },
	{ 0 },
};

/* Two phases of something that is done p->reps times. */
struct phases {
	double first[PERF_MAX_REPS], second[PERF_MAX_REPS];
};

static void print_phases(struct perf *p, struct phases *t, long size,
			 const char *first, const char *second, double scale)
{
	perf_cell(p, "size", size);
	perf_cell(p, first, perf_median(t->first, p->reps) * scale);
	perf_cell(p, second, perf_median(t->second, p->reps) * scale);
	perf_row_end(p);
}

/* --- spawn --- */

/* Until all of them have been heard of: that is when they can be worked with. */
static void spawn_once(char *program, struct phases *t, int i)
{
	char *args[] = { (char *)"spawn", NULL };
	double start = perf_now(), met;
	MPI_Comm inter;

	if (MPI_Comm_spawn(program, args, children, MPI_INFO_NULL, 0,
			   MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE))
		perf_fail("%ld processes cannot be spawned", children);
	MPI_Barrier(inter);
	met = perf_now();
	MPI_Comm_disconnect(&inter);
	if (i < 0)
		return;
	t->first[i] = met - start;
	t->second[i] = perf_now() - met;
}

static void run_spawn(struct perf *p)
{
	char program[PATH_MAX] = "";
	struct phases t;

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		perf_fail("/proc/self/exe cannot be read");
	for (int i = -1; i < p->reps && p->rank == 0; i++)
		spawn_once(program, &t, i);
	print_phases(p, &t, children, "spawn ms", "disconnect ms", 1e3);
}

static void be_spawned(MPI_Comm parent)
{
	MPI_Barrier(parent);
	MPI_Comm_disconnect(&parent);
}

/* --- accept and connect --- */

/* Ranks 0 and 1, each for itself. */
static MPI_Comm meet(int rank, char *port)
{
	MPI_Comm inter = MPI_COMM_NULL;

	if (rank == 0)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
	else if (rank == 1)
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
	return inter;
}

static void open_port(int rank, char *port)
{
	memset(port, 0, MPI_MAX_PORT_NAME);
	if (rank == 0)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
}

MPI_Comm perf_meet(int rank)
{
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm inter;

	open_port(rank, port);
	inter = meet(rank, port);
	if (rank == 0)
		MPI_Close_port(port);
	return inter;
}

static void meet_once(struct perf *p, char *port, struct phases *t, int i)
{
	double start, met;
	MPI_Comm inter;

	MPI_Barrier(MPI_COMM_WORLD);
	start = perf_now();
	inter = meet(p->rank, port);
	if (inter == MPI_COMM_NULL)
		return;
	MPI_Barrier(inter);
	met = perf_now();
	MPI_Comm_disconnect(&inter);
	if (i < 0)
		return;
	t->first[i] = met - start;
	t->second[i] = perf_now() - met;
}

static void run_connect(struct perf *p)
{
	char port[MPI_MAX_PORT_NAME];
	struct phases t = { 0 };

	open_port(p->rank, port);
	for (int i = -1; i < p->reps; i++)
		meet_once(p, port, &t, i);
	print_phases(p, &t, 0, "connect us", "disconnect us", 1e6);
	if (p->rank == 0)
		MPI_Close_port(port);
}

/* --- half a round trip --- */

/* Seconds of half a trip. */
static double pingpong(int rank, char *buf, int size, int peer, MPI_Comm comm)
{
	double start = perf_now();

	for (long i = 0; i < trips; i++) {
		if (rank == 0)
			MPI_Send(buf, size, MPI_BYTE, peer, 1, comm);
		MPI_Recv(buf, size, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(buf, size, MPI_BYTE, peer, 1, comm);
	}
	return (perf_now() - start) / trips / 2;
}

static void run_inter(struct perf *p)
{
	MPI_Comm inter = perf_meet(p->rank);
	struct phases t = { 0 };
	char *buf;

	for (int n = 0; n < p->n_sizes; n++) {
		buf = perf_alloc(p->sizes[n]);
		for (int i = 0; i < p->reps && inter != MPI_COMM_NULL; i++) {
			t.first[i] =
				pingpong(p->rank, buf, p->sizes[n], 0, inter);
			t.second[i] = pingpong(p->rank, buf, p->sizes[n],
					       !p->rank, MPI_COMM_WORLD);
		}
		print_phases(p, &t, p->sizes[n], "usec", "world usec", 1e6);
		free(buf);
	}
	if (inter != MPI_COMM_NULL)
		MPI_Comm_disconnect(&inter);
}

const struct perf_command perf_spawn = {
	.name = "spawn",
	.help = "MPI_Comm_spawn, until all have answered, and the parting, ms",
	.run = run_spawn,
	.spawned = be_spawned,
	.options = spawn_options,
	.min_ranks = 1,
};

const struct perf_command perf_connect = {
	.name = "connect",
	.help = "MPI_Comm_accept and MPI_Comm_connect of ranks 0 and 1, us",
	.run = run_connect,
	.min_ranks = 2,
};

const struct perf_command perf_inter = {
	.name = "inter",
	.help = "latency between ranks that have met at a port, and in the world",
	.run = run_inter,
	.options = inter_options,
	.sizes = "8",
	.min_ranks = 2,
};

#endif
