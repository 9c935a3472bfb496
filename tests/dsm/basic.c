/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Every call of o2g_dsm.h, and MPI from and into shared pages. */
#include "dsm_test.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define PAGES 64

static struct o2g_dsm *r;
static int rank, size;

static void wrong_arguments(void)
{
	struct o2g_dsm *other = NULL;
	char name[100];
	void *p;

	memset(name, 'n', sizeof(name));
	name[99] = '\0';
	CHECK(o2g_dsm_create(name, 4096, 0, &other) == -EINVAL);
	CHECK(o2g_dsm_create("", 4096, 0, &other) == -EINVAL);
	CHECK(o2g_dsm_create("none", 0, 0, &other) == -EINVAL);
	CHECK(o2g_dsm_create("none", 4096, 8, &other) == -EINVAL);
	CHECK(o2g_dsm_create("basic", PAGES * 4096, 0, &other) == -EEXIST);
	CHECK(o2g_dsm_join("there is none", &other) == -ENOENT);
	CHECK(o2g_dsm_join("basic", &other) == -EEXIST);
	CHECK(o2g_dsm_alloc(r, 1, 3, &p) == -EINVAL);
	CHECK(o2g_dsm_alloc(r, 1 << 30, 0, &p) == -ENOMEM);
	CHECK(o2g_dsm_free(r, (char *)o2g_dsm_base(r) + 1) == -EINVAL);
	CHECK(o2g_dsm_free(r, NULL) == 0);
	CHECK(o2g_dsm_prefetch(r, &other, 8) == -EINVAL);
	CHECK(o2g_dsm_prefetch(r, o2g_dsm_base(r), PAGES * 4096 + 1) ==
	      -EINVAL);
	CHECK(o2g_dsm_unlock(r, 99) == -EPERM);
	CHECK(o2g_dsm_init() == -EALREADY);
	CHECK(o2g_dsm_finalize() == -EBUSY);
}

/* Each writes its part of every page, all read all of it. */
static void pages(void)
{
	int *at = o2g_dsm_base(r);

	for (int page = 0; page < PAGES; page++)
		at[page * 1024 + rank] = 1000 * page + rank;
	OK(o2g_dsm_barrier(r, 0, 0));
	for (int page = 0; page < PAGES; page++)
		for (int i = 0; i < size; i++)
			CHECK(at[page * 1024 + i] == 1000 * page + i);
	OK(o2g_dsm_barrier(r, 0, 0));
}

static void memory(void)
{
	void *a, *b, *c;
	int64_t n;

	OK(o2g_dsm_alloc(r, 100, 0, &a));
	OK(o2g_dsm_alloc(r, 5000, 0, &b));
	OK(o2g_dsm_alloc(r, 64, 1024, &c));
	CHECK((uintptr_t)b % 4096 == 0 && (uintptr_t)c % 1024 == 0);
	memset(a, rank + 1, 100);
	memset(b, rank + 1, 5000);
	OK(o2g_dsm_barrier(r, 0, 0));
	for (int i = 0; i < 5000; i++)
		CHECK(((char *)b)[i] == rank + 1 &&
		      ((char *)a)[i % 100] == rank + 1);
	OK(o2g_dsm_barrier(r, 0, 0));
	/* What one has is freed by another. */
	OK(o2g_dsm_add(r, 5, 1, &n));
	CHECK(n >= 0 && n < size);
	MPI_Sendrecv_replace(&a, sizeof(a), MPI_BYTE, (rank + 1) % size, 0,
			     (rank + size - 1) % size, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	OK(o2g_dsm_free(r, a));
	OK(o2g_dsm_free(r, b));
	OK(o2g_dsm_free(r, c));
	CHECK(o2g_dsm_free(r, b) == -EINVAL || size > 1);
	OK(o2g_dsm_barrier(r, 0, 0));
	/* All is one piece again. */
	if (!rank) {
		OK(o2g_dsm_alloc(r, PAGES * 4096, 0, &a));
		OK(o2g_dsm_free(r, a));
	}
	OK(o2g_dsm_barrier(r, 0, 0));
}

#define THREADS 3
#define TURNS 40

/* A counter that only a lock protects. */
static void *locked(void *arg)
{
	volatile long *n = o2g_dsm_base(r);

	for (int i = 0; i < TURNS; i++) {
		OK(o2g_dsm_lock(r, 7));
		(*n)++;
		OK(o2g_dsm_unlock(r, 7));
		OK(o2g_dsm_add(r, 6, 2, NULL));
	}
	OK(o2g_dsm_barrier(r, 1, (unsigned)(THREADS * size)));
	CHECK(*n == (long)THREADS * TURNS * size);
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];
	int64_t n;

	if (!rank)
		*(long *)o2g_dsm_base(r) = 0;
	OK(o2g_dsm_barrier(r, 0, 0));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&t[i], NULL, locked, NULL));
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	OK(o2g_dsm_add(r, 6, 0, &n));
	CHECK(n == 2L * THREADS * TURNS * size);
	OK(o2g_dsm_barrier(r, 0, 0));
}

/* A token goes round, and whoever does not have it sleeps. */
static void conditions(void)
{
	volatile int *turn = (int *)o2g_dsm_base(r) + 2048;

	if (!rank)
		*turn = 0;
	OK(o2g_dsm_barrier(r, 0, 0));
	for (int i = 0; i < 10; i++) {
		OK(o2g_dsm_lock(r, 11));
		while (*turn % size != rank)
			OK(o2g_dsm_wait(r, 12, 11));
		(*turn)++;
		OK(o2g_dsm_broadcast(r, 12));
		OK(o2g_dsm_unlock(r, 11));
	}
	OK(o2g_dsm_barrier(r, 0, 0));
	CHECK(*turn == 10 * size);
	OK(o2g_dsm_barrier(r, 0, 0));
	if (!rank) {
		OK(o2g_dsm_lock(r, 11));
		CHECK(o2g_dsm_trylock(r, 11) == -EBUSY);
		OK(o2g_dsm_signal(r, 12));
		OK(o2g_dsm_unlock(r, 11));
		OK(o2g_dsm_trylock(r, 11));
		OK(o2g_dsm_unlock(r, 11));
	}
}

static void hints(void)
{
	char *mine = (char *)o2g_dsm_base(r) + 8 * 4096 * (rank % 8);
	struct o2g_dsm_stats before, after;
	struct o2g_dsm_page hot[4];

	OK(o2g_dsm_home_here(r, mine, 4 * 4096));
	OK(o2g_dsm_will_write(r, mine + 4 * 4096, 4096));
	OK(o2g_dsm_touch(r, mine, 5 * 4096, 1));
	OK(o2g_dsm_stats(r, &before));
	memset(mine, rank, 5 * 4096);
	OK(o2g_dsm_stats(r, &after));
	CHECK(size > 8 || before.write_faults == after.write_faults);
	OK(o2g_dsm_barrier(r, 0, 0));
	mine = (char *)o2g_dsm_base(r) + 8 * 4096 * ((rank + 1) % size % 8);
	OK(o2g_dsm_prefetch(r, mine, 4 * 4096));
	OK(o2g_dsm_touch(r, mine, 4 * 4096, 0));
	CHECK(mine[4096] == (rank + 1) % size || size > 8);
	OK(o2g_dsm_stats(r, &after));
	CHECK(size == 1 || (after.messages > 0 && after.bytes > 0));
	CHECK(o2g_dsm_hottest(r, hot, 4) >= 0);
	OK(o2g_dsm_barrier(r, 0, 0));
}

/* From and into shared pages that another rank has; long enough for every protocol. */
static void with_mpi(void)
{
	int n = 16 * 1024, *at = (int *)o2g_dsm_base(r),
	    next = (rank + 1) % size, prev = (rank + size - 1) % size, *local;

	if (size < 2 || (long)n * size * 4 > PAGES * 4096L)
		n = PAGES * 1024 / size / 2;
	local = malloc((size_t)n * sizeof(int));
	for (int turn = 0; turn < 4; turn++) {
		/* the neighbour has touched it last */
		for (int i = 0; i < n; i++)
			at[next * n + i] = 100 * turn + next;
		OK(o2g_dsm_barrier(r, 0, 0));
		MPI_Sendrecv(at + rank * n, n, MPI_INT, next, 1, local, n,
			     MPI_INT, prev, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		for (int i = 0; i < n; i++)
			CHECK(local[i] == 100 * turn + prev);
		OK(o2g_dsm_barrier(r, 0, 0));
		for (int i = 0; i < n; i++)
			local[i] = -turn - rank;
		MPI_Sendrecv(local, n, MPI_INT, next, 2, at + rank * n, n,
			     MPI_INT, prev, 2, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		OK(o2g_dsm_barrier(r, 0, 0));
		for (int i = 0; i < n; i++)
			CHECK(at[next * n + i] == -turn - rank);
		OK(o2g_dsm_barrier(r, 0, 0));
	}
	free(local);
}

static void later(void)
{
	struct o2g_dsm *l;

	if (!rank) {
		OK(o2g_dsm_create("later", 8 * 4096, O2G_DSM_ALONE, &l));
		*(int *)o2g_dsm_base(l) = 42;
		MPI_Barrier(MPI_COMM_WORLD);
	} else {
		MPI_Barrier(MPI_COMM_WORLD);
		OK(o2g_dsm_join("later", &l));
		CHECK(*(int *)o2g_dsm_base(l) == 42);
		((int *)o2g_dsm_base(l))[rank] = rank;
	}
	OK(o2g_dsm_add(l, 1, 1, NULL));
	OK(o2g_dsm_barrier(l, 1, (unsigned)size));
	for (int i = 1; i < size; i++)
		CHECK(((int *)o2g_dsm_base(l))[i] == i);
	OK(o2g_dsm_close(l));
}

/* Places come again: with O2G_DSM_BASE near the top, soon. */
static void again_and_again(void)
{
	struct o2g_dsm *some[8];
	char name[32];

	for (int i = 0; i < 24; i++) {
		snprintf(name, sizeof(name), "again %d", i % 8);
		if (i >= 8)
			OK(o2g_dsm_close(some[i % 8]));
		OK(o2g_dsm_create(name, 4096, 0, &some[i % 8]));
		CHECK((uintptr_t)o2g_dsm_base(some[i % 8]) < 112ull << 40);
		CHECK(*(int *)o2g_dsm_base(some[i % 8]) == 0);
		OK(o2g_dsm_barrier(some[i % 8], 0, 0));
		*(int *)o2g_dsm_base(some[i % 8]) = i;
	}
	for (int i = 0; i < 8; i++)
		OK(o2g_dsm_close(some[i]));
}

int main(int argc, char **argv)
{
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	OK(o2g_dsm_init());
	rank = o2g_dsm_rank();
	size = o2g_dsm_size();
	for (int again = 0; again < 2; again++) {
		OK(o2g_dsm_create("basic", PAGES * 4096 - 5, 0, &r));
		CHECK(o2g_dsm_bytes(r) == PAGES * 4096);
		wrong_arguments();
		pages();
		memory();
		threads();
		conditions();
		hints();
		with_mpi();
		later();
		OK(o2g_dsm_close(r));
	}
	again_and_again();
	OK(o2g_dsm_finalize());
	MPI_Finalize();
	return 0;
}
