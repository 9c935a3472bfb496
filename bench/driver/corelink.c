// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * How far two cores are from each other now: nanoseconds for a cache line to go
 * from one to the other, the best of some tries. In a virtual machine this
 * changes while one watches, as the cores are moved; what shared memory can do
 * changes with it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { TURNS = 2000, TRIES = 20 };

static _Alignas(64) atomic_int ball;

static void pin(int nth)
{
	cpu_set_t allowed, one;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	nth %= CPU_COUNT(&allowed);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && nth-- == 0)
			CPU_SET(cpu, &one);
	pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

/* Each player waits for its parity and passes the ball on. */
static void play(int parity)
{
	for (int i = parity; i < 2 * TURNS; i += 2) {
		while (atomic_load_explicit(&ball, memory_order_acquire) != i)
			;
		atomic_store_explicit(&ball, i + 1, memory_order_release);
	}
}

static pthread_barrier_t start;

static void *other(void *arg)
{
	(void)arg;
	pin(1);
	for (int i = 0; i < TRIES; i++) {
		pthread_barrier_wait(&start);
		play(1);
		pthread_barrier_wait(&start);
	}
	return NULL;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(void)
{
	double best = 1e9, t;
	cpu_set_t allowed;
	pthread_t thread;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	if (CPU_COUNT(&allowed) < 2) {
		puts("0");
		return 0;
	}
	pthread_barrier_init(&start, NULL, 2);
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	pin(0);
	for (int i = 0; i < TRIES; i++) {
		atomic_store(&ball, 0);
		pthread_barrier_wait(&start);
		t = now_ns();
		play(0);
		pthread_barrier_wait(&start);
		t = (now_ns() - t) / (2 * TURNS);
		best = t < best ? t : best;
	}
	pthread_join(thread, NULL);
	printf("%.0f\n", best);
	return 0;
}
