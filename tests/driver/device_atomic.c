/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Atomic operations that the driver does, over TCP and between endpoints of one host: one
 * cell that everybody updates at once, and a target that computes and calls nothing.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

#define TIMES 2000
#define SUM 2
#define U64 7
#define KEY 99

static void share(struct dev *d, void *p, size_t len)
{
	struct o2gd_mem m = { .addr = (uintptr_t)p,
			      .len = len,
			      .access = O2GD_READ | O2GD_WRITE,
			      .key = KEY };

	CHECK(dev_call(d, O2GD_MEM_ADD, &m) == 0);
}

/* Waits for the answer; what was there before. */
static uint64_t atomic(struct dev *d, uint32_t peer, uint64_t op,
		       const uint64_t *operands, uint64_t len)
{
	struct o2gd_sqe e = { .op = O2GD_OP_ATOMIC,
			      .flags = O2GD_FETCH_OLD,
			      .slot = 1,
			      .peer = peer,
			      .tag = O2GD_ATOMIC(op, U64),
			      .addr = (uintptr_t)operands,
			      .len = len,
			      .key = KEY };
	uint64_t old = 0;
	struct o2gd_cqe c;

	CHECK(dev_call(d, O2GD_SUBMIT, &e) == 0);
	c = dev_next(d, (unsigned char *)&old, sizeof(old));
	CHECK(c.slot == 1 && c.status == 0 && c.length == 8);
	return old;
}

/* --- one cell --- */

static uint64_t *cell;
static bool stop;

/* Each until it is told to stop; how often. */
static void *add_here(void *arg)
{
	uint64_t n = 0;

	(void)arg;
	for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++)
		__atomic_fetch_add(cell, 1, __ATOMIC_SEQ_CST);
	return (void *)n;
}

static void *swap_here(void *arg)
{
	uint64_t n = 0, seen = 0;

	(void)arg;
	for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++)
		while (!__atomic_compare_exchange_n(cell, &seen, seen + 1,
						    false, __ATOMIC_SEQ_CST,
						    __ATOMIC_SEQ_CST))
			;
	return (void *)n;
}

/* The owner by instructions, in two ways; the other through the driver. */
static void one_cell(void)
{
	static _Alignas(4096) uint64_t memory[512];
	uint64_t one = 1, sum = TIMES, pair[2];
	pthread_t thread[2];
	void *n;

	cell = memory;
	open_pair();
	share(&b, memory, sizeof(memory));
	CHECK(!pthread_create(&thread[0], NULL, add_here, NULL));
	CHECK(!pthread_create(&thread[1], NULL, swap_here, NULL));
	for (int i = 0; i < TIMES; i++)
		atomic(&a, 1, SUM, &one, 8);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++) {
		CHECK(!pthread_join(thread[i], &n));
		CHECK(n);
		sum += (uint64_t)n;
	}
	CHECK(*cell == sum);
	for (pair[0] = sum; pair[0] < sum + TIMES; pair[0]++) {
		pair[1] = pair[0] + 1;
		CHECK(atomic(&a, 1, O2GD_CAS, pair, 16) == pair[0]);
		CHECK(atomic(&a, 1, O2GD_CAS, pair, 16) == pair[1]);
	}
	CHECK(*cell == sum + TIMES);
	close_pair();
}

/* --- a target that computes --- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *x, const void *y)
{
	const double *p = x, *q = y;

	return (*p > *q) - (*p < *q);
}

/* In another process, which sets up @b; then it computes, until it is told to end. */
static void target(int socket, volatile uint64_t *shared, bool computes)
{
	dev_open(&b, 1, 2, 16);
	CHECK(dev_register(&b, 0, socket) == 0);
	share(&b, (void *)shared, 4096);
	shared[1] = 1;
	while (!shared[2])
		if (!computes)
			usleep(1000);
	_exit(0);
}

static double median_of(bool computes)
{
	volatile uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static double took[TIMES];
	const uint64_t one = 1;
	int tcp[2], status;
	pid_t pid;

	CHECK(shared != MAP_FAILED);
	dev_tcp_pair(tcp);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		target(tcp[1], shared, computes);
	close(tcp[1]);
	while (!shared[1])
		usleep(1000);
	dev_open(&a, 0, 2, 16);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	for (int i = 0; i < TIMES; i++) {
		double start = now();

		CHECK(atomic(&a, 1, SUM, &one, 8) == (uint64_t)i);
		took[i] = now() - start;
	}
	CHECK(shared[0] == TIMES);
	shared[2] = 1;
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	dev_close(&a);
	close(tcp[0]);
	munmap((void *)shared, 4096);
	qsort(took, TIMES, sizeof(took[0]), compare);
	return took[TIMES / 2];
}

/* It is served as soon as one that sleeps; a scheduler's tick would be 4,000 us. */
static void computing_target(void)
{
	double sleeps = median_of(false), computes = median_of(true);

	printf("# fetch-and-add, us: %.1f, target computes: %.1f\n", sleeps,
	       computes);
	CHECK(computes < 2 * sleeps + 50);
}

static const struct dev_case cases[] = {
	DEV_CASE(one_cell),
	DEV_CASE(computing_target),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
