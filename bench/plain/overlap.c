// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * overlap [--clock] SIZES [NAMESPACE NAMESPACE]: what bench/perf/overlap.c measures,
 * without any MPI. One process sends, the other receives, both compute; a
 * second thread of each does nothing but send() the bytes, or poll() and recv()
 * them. The kernel wakes it for each 512 KiB (SO_RCVLOWAT). Fewer than 1 MiB
 * count as 1 MiB.
 *
 * With --clock both compute by the clock, twice as long as one message takes alone, on
 * the core that their thread needs; nothing counts as 1 MiB, the thread asks for short
 * turns, and median and worst of the runs are printed, as by bench/perf with that option.
 */
#define _GNU_SOURCE
#include "plain.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEAST = 1 << 20, WAKE = 512 << 10, MOST_REPS = 200, FIRST_REPS = 11 };
#define SECONDS 1.2 /* for each size, about */
#define WORK 1.5    /* computation, for each part of communication */

struct overlap {
	struct plain_pair pair;
	sem_t go;
	sem_t done;
	char *data;
	size_t size;
};

static volatile double sink;
static int by_clock;

/* --- the thread --- */

/* As little at a time as the kernel allows, and soon (Linux 6.12). */
static void ask_for_short_turns(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr),
		   .policy = SCHED_OTHER,
		   .runtime = 100000 };

	syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void wake_at(int fd, size_t bytes)
{
	int n = bytes < WAKE ? (int)bytes : WAKE;

	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &n, sizeof(n));
}

static void receive(struct overlap *o)
{
	struct pollfd watched = { .fd = o->pair.fd, .events = POLLIN };
	size_t have = 0;
	ssize_t n;

	while (have < o->size) {
		wake_at(o->pair.fd, o->size - have);
		poll(&watched, 1, -1);
		n = recv(o->pair.fd, o->data + have, o->size - have,
			 MSG_DONTWAIT);
		plain_check(n != 0, "receiving");
		have += n > 0 ? (size_t)n : 0;
	}
}

static void *carry(void *arg)
{
	struct overlap *o = arg;

	if (by_clock)
		ask_for_short_turns();
	for (;;) {
		sem_wait(&o->go);
		if (o->pair.side)
			receive(o);
		else
			plain_send(o->pair.fd, o->data, o->size);
		sem_post(&o->done);
	}
	return NULL;
}

/* --- the program --- */

#ifdef __clang__
#define OPAQUE __attribute__((noinline))
#else
#define OPAQUE __attribute__((noipa))
#endif

/* Opaque, so that the compiler moves it past no other call. */
static OPAQUE double compute(long work)
{
	double x = 1;

	__asm__ volatile("" : "+r"(work));
	for (long i = 0; i < work; i++)
		x = x * 0.999 + 1;
	return x;
}

static double run(struct overlap *o, int comm, long work)
{
	double start;

	plain_meet(&o->pair, 0);
	start = plain_now();
	if (comm)
		sem_post(&o->go);
	sink = compute(work);
	if (comm)
		sem_wait(&o->done);
	return plain_meet(&o->pair, plain_now() - start);
}

/* Units of work per second with both at it; the best of some tries. */
static double work_speed(struct overlap *o)
{
	const long work = 3000000;
	double best = 0, speed;

	for (int i = 0; i < 20; i++) {
		speed = work / run(o, 0, work);
		best = speed > best ? speed : best;
	}
	return best;
}

static double hidden(struct overlap *o, double speed)
{
	double comm[MOST_REPS], comp[MOST_REPS], total[MOST_REPS], c;
	long work;
	int reps;

	for (int i = 0; i < FIRST_REPS; i++)
		comm[i] = run(o, 1, 0);
	c = plain_meet(&o->pair, plain_median(comm, FIRST_REPS));
	work = (long)(c * WORK * speed) + 1;
	reps = (int)(SECONDS / (c * (2 + 2 * WORK)));
	reps = reps > MOST_REPS ? MOST_REPS : reps < 5 ? 5 : reps;
	for (int i = 0; i < reps; i++) {
		comm[i] = run(o, 1, 0);
		comp[i] = run(o, 0, work);
		total[i] = run(o, 1, work);
	}
	c = plain_median(comm, reps);
	return (c + plain_median(comp, reps) - plain_median(total, reps)) / c;
}

/* The share of the message's time that is not seen after the computation. */
static double hidden_once(struct overlap *o, double alone)
{
	double start, seen;

	plain_meet(&o->pair, 0);
	start = plain_now();
	sem_post(&o->go);
	while (plain_now() < start + 2 * alone)
		sink = compute(100);
	sem_wait(&o->done);
	seen = plain_now() - start - 2 * alone;
	return 1 - plain_meet(&o->pair, seen) / alone;
}

static double hidden_by_clock(struct overlap *o, double *worst)
{
	double t[FIRST_REPS], alone;

	for (int i = 0; i < FIRST_REPS; i++)
		t[i] = run(o, 1, 0);
	alone = plain_meet(&o->pair, plain_median(t, FIRST_REPS));
	for (int i = 0; i < FIRST_REPS; i++)
		t[i] = hidden_once(o, alone);
	alone = plain_median(t, FIRST_REPS); /* and sorted */
	*worst = t[0];
	return alone;
}

static void measure(struct overlap *o, size_t size, double speed)
{
	double share, worst = 0;

	o->size = size < LEAST && !by_clock ? LEAST : size;
	o->data = malloc(o->size);
	plain_check(o->data != NULL, "memory");
	memset(o->data, 1, o->size);
	share = by_clock ? hidden_by_clock(o, &worst) : hidden(o, speed);
	if (o->pair.side == 0)
		plain_row(size, "hidden%", share * 100);
	if (o->pair.side == 0 && by_clock)
		plain_row(size, "worst%", worst * 100);
	free(o->data);
}

int main(int argc, char **argv)
{
	static struct overlap o;
	pthread_t thread;
	size_t sizes[16];
	double speed = 0;
	int n;

	by_clock = argc > 1 && !strcmp(argv[1], "--clock");
	argc -= by_clock;
	argv += by_clock;
	plain_check(argc == 2 || argc == 4,
		    "usage: overlap [--clock] SIZES [NAMESPACE NAMESPACE]");
	n = plain_sizes(argv[1], sizes, 16);
	o.pair = plain_pair(argc == 4 ? argv + 2 : NULL);
	sem_init(&o.go, 0, 0);
	sem_init(&o.done, 0, 0);
	plain_check(!pthread_create(&thread, NULL, carry, &o), "a thread");
	if (!by_clock)
		speed = work_speed(&o);
	for (int i = 0; i < n; i++)
		measure(&o, sizes[i], speed);
	return 0;
}
