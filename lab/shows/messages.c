// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * messages WAY COUNT: how many instructions a message of 8 bytes takes, of the
 * whole machine: both ranks and the kernel. Plain MPI, compiled with each MPI.
 *
 *	late	 by the clock: a rank sends, and half a millisecond later receives
 *		 what the other has sent in between, so no waiting is in it. The
 *		 cost of sleeping alone is taken off
 *	posted	 the same, with the receive posted before the message is sent
 *	pingpong one at a time; what a rank does while it waits is in it
 *	stream	 64 under way, receives posted before
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mark.h"

enum { WINDOW = 64, TAG = 1 };

static int rank;

typedef void way(long times);

/* A quarter of a millisecond is a tick; rank 1 is one tick behind. */
static void until(long long start, long tick)
{
	long long ns = start + (tick + rank) * 250000ll;
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Soon, and the same for both. */
static long long start_together(void)
{
	struct timespec t;
	long long ns;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns = t.tv_sec * 1000000000ll + t.tv_nsec + 20000000;
	MPI_Bcast(&ns, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	return ns;
}

enum talk { NONE, LATE, POSTED };

static void by_the_clock(long times, enum talk talk)
{
	long long start = start_together();
	MPI_Request req = MPI_REQUEST_NULL;
	char in[8], out[8] = "";

	for (long i = 0; i < times; i++) {
		if (talk == POSTED)
			MPI_Irecv(in, 8, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD,
				  &req);
		until(start, 4 * i);
		if (talk)
			MPI_Send(out, 8, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD);
		until(start, 4 * i + 2);
		if (talk == LATE)
			MPI_Recv(in, 8, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		if (talk == POSTED)
			MPI_Wait(&req, MPI_STATUS_IGNORE);
	}
}

static void naps(long times)
{
	by_the_clock(times, NONE);
}

static void late(long times)
{
	by_the_clock(times, LATE);
}

static void posted(long times)
{
	by_the_clock(times, POSTED);
}

static void pingpong(long times)
{
	char in[8], out[8] = "";

	while (times--) {
		if (rank == 0)
			MPI_Send(out, 8, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
		MPI_Recv(in, 8, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(out, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
	}
}

static void stream(long times)
{
	static char in[WINDOW][8], out[WINDOW][8];
	MPI_Request req[WINDOW];

	for (long done = 0; done < times; done += WINDOW) {
		for (int i = 0; i < WINDOW; i++) {
			if (rank == 0)
				MPI_Isend(out[i], 8, MPI_BYTE, 1, TAG,
					  MPI_COMM_WORLD, &req[i]);
			else
				MPI_Irecv(in[i], 8, MPI_BYTE, 0, TAG,
					  MPI_COMM_WORLD, &req[i]);
		}
		MPI_Waitall(WINDOW, req, MPI_STATUSES_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Of programs and of the kernel, in that order. */
static void count(way *w, long times, double to[2])
{
	unsigned long long user, kernel;

	w(times / 10 + 1); /* connections, credit, caches */
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		lab_count_begin();
	w(times);
	if (rank == 0 && !lab_count_end(&user, &kernel)) {
		fprintf(stderr,
			"messages: nobody counts here: lab/vm run --count\n");
		MPI_Abort(MPI_COMM_WORLD, 77);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	to[0] = rank ? 0 : user;
	to[1] = rank ? 0 : kernel;
}

int main(int argc, char **argv)
{
	double all[2], idle[2] = { 0 };
	long times, messages;
	way *w = NULL;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	times = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	if (argc == 3)
		w = !strcmp(argv[1], "late")	 ? late :
		    !strcmp(argv[1], "posted")	 ? posted :
		    !strcmp(argv[1], "stream")	 ? stream :
		    !strcmp(argv[1], "pingpong") ? pingpong :
						   NULL;
	if (!w || times < 1) {
		fprintf(stderr,
			"usage: messages late|posted|pingpong|stream COUNT\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	messages = w == stream ? (times + WINDOW - 1) / WINDOW * WINDOW :
				 2 * times;
	if (w == late || w == posted)
		count(naps, times, idle);
	count(w, times, all);
	if (rank == 0)
		printf("{\"way\": \"%s\", \"messages\": %ld, \"programs\": %.0f, "
		       "\"kernel\": %.0f}\n",
		       argv[1], messages, (all[0] - idle[0]) / messages,
		       (all[1] - idle[1]) / messages);
	MPI_Finalize();
	return 0;
}
