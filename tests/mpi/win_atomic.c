/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * One cell, by all ways at once: origins of this host and of others, the owner by MPI
 * calls, threads beside each other, single elements and arrays, elements that
 * only the owner may update. No update is lost, whatever the window; and no lock
 * lets two in.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"

#define TURNS 300
#define THREADS 2
#define MEMBERS 75
#define ALONE 41

struct cells {
	long sum, fetched, swapped, bits;
	double real;
	int array[MEMBERS];
	short shorts[MEMBERS];
	long guarded[2]; /* by an exclusive lock */
	uint64_t stored[2];
	long double longer;
	struct {
		double v;
		int i;
	} least;
};

static struct cells *mine;
static MPI_Win win;
static long highest[THREADS];

#define AT(field) ((MPI_Aint)offsetof(struct cells, field))

/* Every value is fetched once: those of one thread only grow. */
static void fetch(int id)
{
	long one = 1, old = -1;

	OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, AT(fetched), MPI_SUM,
			    win));
	OK(MPI_Win_flush(0, win));
	CHECK(old >= highest[id]);
	highest[id] = old + 1;
}

/* Adding by compare and swap. */
static void swap(void)
{
	long now = 0, next, old;

	for (;;) {
		next = now + 1;
		OK(MPI_Compare_and_swap(&next, &now, &old, MPI_LONG, 0,
					AT(swapped), win));
		OK(MPI_Win_flush(0, win));
		if (old == now)
			return;
		now = old;
	}
}

static void add_ones(const void *ones, MPI_Datatype t, MPI_Aint all,
		     MPI_Aint one)
{
	OK(MPI_Accumulate(ones, MEMBERS, t, 0, all, MEMBERS, t, MPI_SUM, win));
	OK(MPI_Accumulate(ones, 1, t, 0, one, 1, t, MPI_SUM, win));
}

/* Neighbours together, by one exchange, and one of them alone. */
static void members(void)
{
	int ones[MEMBERS];
	short short_ones[MEMBERS];

	for (int i = 0; i < MEMBERS; i++)
		ones[i] = short_ones[i] = 1;
	add_ones(ones, MPI_INT, AT(array), AT(array[ALONE]));
	add_ones(short_ones, MPI_SHORT, AT(shorts), AT(shorts[ALONE]));
}

static bool owner_does_all;

/*
 * Numbers stored and read as bytes: each of 8 is whole. Both are, where the owner does
 * all operations.
 */
static void store(int i)
{
	uint64_t all = (uint64_t)(rank * TURNS + i) % 255 * 0x0101010101010101u;
	uint64_t both[2] = { all, all }, now[2];

	OK(MPI_Accumulate(both, sizeof(both), MPI_BYTE, 0, AT(stored),
			  sizeof(both), MPI_BYTE, MPI_REPLACE, win));
	OK(MPI_Get_accumulate(NULL, 0, MPI_BYTE, now, sizeof(now), MPI_BYTE, 0,
			      AT(stored), sizeof(now), MPI_BYTE, MPI_NO_OP,
			      win));
	OK(MPI_Win_flush(0, win));
	EQUAL(now[0], now[0] % 256 * 0x0101010101010101u);
	EQUAL(now[1], now[1] % 256 * 0x0101010101010101u);
	if (owner_does_all)
		EQUAL(now[0], now[1]);
}

static void *hammer(void *arg)
{
	int id = *(int *)arg;
	struct {
		double v;
		int i;
	} pair;
	long one = 1, bit = 1L << (rank * THREADS + id);
	long double ld = 1;
	double half = 0.5;

	for (int i = 0; i < TURNS; i++) {
		OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, AT(sum), 1, MPI_LONG,
				  MPI_SUM, win));
		OK(MPI_Accumulate(&half, 1, MPI_DOUBLE, 0, AT(real), 1,
				  MPI_DOUBLE, MPI_SUM, win));
		members();
		store(i);
		OK(MPI_Accumulate(&bit, 1, MPI_LONG, 0, AT(bits), 1, MPI_LONG,
				  MPI_BXOR, win));
		if (i % 10 == 0) {
			pair.v = 1000 - rank - i;
			pair.i = rank;
			OK(MPI_Accumulate(&ld, 1, MPI_LONG_DOUBLE, 0,
					  AT(longer), 1, MPI_LONG_DOUBLE,
					  MPI_SUM, win));
			OK(MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, 0,
					  AT(least), 1, MPI_DOUBLE_INT,
					  MPI_MINLOC, win));
			fetch(id);
			swap();
		}
	}
	OK(MPI_Win_flush(0, win));
	return NULL;
}

static void by_accumulates(int threads)
{
	pthread_t t[THREADS];
	int ids[THREADS] = { 0, 1 };
	long n = (long)size * threads;

	memset(highest, 0, sizeof(highest));
	OK(MPI_Win_lock_all(0, win));
	for (int i = 1; i < threads; i++)
		CHECK(!pthread_create(&t[i], NULL, hammer, &ids[i]));
	hammer(&ids[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Barrier(WORLD));
	if (rank == 0) {
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
		EQUAL(mine->sum, n * TURNS);
		EQUAL(mine->fetched, n * (TURNS / 10));
		EQUAL(mine->swapped, n * (TURNS / 10));
		EQUAL(mine->bits, 0);
		CHECK(mine->real == 0.5 * (double)(n * TURNS));
		CHECK(mine->longer == n * (TURNS / 10));
		CHECK(mine->least.v == 1000 - (size - 1) - (TURNS - 10));
		EQUAL(mine->least.i, size - 1);
		for (int i = 0; i < MEMBERS; i++) {
			EQUAL(mine->array[i], n * TURNS * (1 + (i == ALONE)));
			EQUAL(mine->shorts[i], n * TURNS * (1 + (i == ALONE)));
		}
		OK(MPI_Win_unlock(0, win));
	}
}

/* Two cells that are the same whenever a lock is held. */
static void by_locks(void)
{
	long now[2];

	for (int i = 0; i < 50; i++) {
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
		OK(MPI_Get(now, 2, MPI_LONG, 0, AT(guarded), 2, MPI_LONG, win));
		OK(MPI_Win_flush(0, win));
		EQUAL(now[0], now[1]);
		now[0]++;
		OK(MPI_Put(now, 1, MPI_LONG, 0, AT(guarded), 1, MPI_LONG, win));
		OK(MPI_Win_flush(0, win));
		OK(MPI_Put(now, 1, MPI_LONG, 0, AT(guarded) + 8, 1, MPI_LONG,
			   win));
		OK(MPI_Win_unlock(0, win));
		OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
		OK(MPI_Get(now, 2, MPI_LONG, 0, AT(guarded), 2, MPI_LONG, win));
		OK(MPI_Win_unlock(0, win));
		EQUAL(now[0], now[1]);
	}
	OK(MPI_Barrier(WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	OK(MPI_Get(now, 2, MPI_LONG, 0, AT(guarded), 2, MPI_LONG, win));
	OK(MPI_Win_unlock(0, win));
	EQUAL(now[0], 50 * size);
}

int main(int argc, char **argv)
{
	MPI_Info unordered;
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	EQUAL(provided, MPI_THREAD_MULTIPLE);
	OK(MPI_Info_create(&unordered));
	OK(MPI_Info_set(unordered, "accumulate_ordering", "none"));
	for (int kind = 0; kind < 4; kind++) {
		if (kind % 2 == 0) {
			OK(MPI_Win_allocate(sizeof(*mine), 1,
					    kind ? unordered : MPI_INFO_NULL,
					    WORLD, &mine, &win));
		} else {
			OK(MPI_Alloc_mem(sizeof(*mine), MPI_INFO_NULL, &mine));
			OK(MPI_Win_create(mine, sizeof(*mine), 1, MPI_INFO_NULL,
					  WORLD, &win));
		}
		owner_does_all = kind % 2;
		memset(mine, 0, sizeof(*mine));
		mine->least.v = 1e9;
		OK(MPI_Barrier(WORLD));
		by_accumulates(kind < 2 ? 1 : THREADS);
		by_locks();
		OK(MPI_Win_free(&win));
		if (kind % 2)
			OK(MPI_Free_mem(mine));
	}
	OK(MPI_Info_free(&unordered));
	return finish();
}
