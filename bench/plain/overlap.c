// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * overlap SIZES [NAMESPACE NAMESPACE]: what bench/perf/overlap.c measures,
 * without any MPI. One process sends, the other receives, both compute; a
 * second thread of each does nothing but send() the bytes, or poll() and recv()
 * them. The kernel wakes it for each 512 KiB (SO_RCVLOWAT). Fewer than 1 MiB
 * count as 1 MiB.
 */
#define _GNU_SOURCE
#include "plain.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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

/* --- the thread --- */

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

static void measure(struct overlap *o, size_t size, double speed)
{
	double share;

	o->size = size < LEAST ? LEAST : size;
	o->data = malloc(o->size);
	plain_check(o->data != NULL, "memory");
	memset(o->data, 1, o->size);
	share = hidden(o, speed);
	if (o->pair.side == 0)
		plain_row(size, "hidden%", share * 100);
	free(o->data);
}

int main(int argc, char **argv)
{
	static struct overlap o;
	pthread_t thread;
	size_t sizes[16];
	double speed;
	int n;

	plain_check(argc == 2 || argc == 4,
		    "usage: overlap SIZES [NAMESPACE NAMESPACE]");
	n = plain_sizes(argv[1], sizes, 16);
	o.pair = plain_pair(argc == 4 ? argv + 2 : NULL);
	sem_init(&o.go, 0, 0);
	sem_init(&o.done, 0, 0);
	plain_check(!pthread_create(&thread, NULL, carry, &o), "a thread");
	speed = work_speed(&o);
	for (int i = 0; i < n; i++)
		measure(&o, sizes[i], speed);
	return 0;
}
