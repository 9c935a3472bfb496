/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The shortest way through n towns and back, by branch and bound: beginnings of three
 * towns are numbered, and a shared counter deals them out; the bound is shared, read
 * often and written seldom.
 */
#include "dsm_bench.h"

#include <mpi.h>
#include <stdlib.h>

#define MOST 16

struct shared {
	int best;
	int pad[1023];
	int distance[MOST][MOST];
};

struct search {
	const struct shared *shared; /* with messages: our own copy */
	struct run *run;
	MPI_Win *window; /* with messages: the first one's */
	int n, distance[MOST][MOST];
};

static size_t bytes(long n)
{
	return sizeof(struct shared);
}

static void fill(struct run *run)
{
	struct shared *s = (struct shared *)run->memory;

	if (run->n > MOST || run->n < 5)
		abort();
	s->best = 1 << 30;
	for (int i = 0; i < run->n; i++)
		for (int j = 0; j < i; j++)
			s->distance[i][j] = s->distance[j][i] =
				10 +
				(int)(1000 * noise((uint64_t)(100 * i + j)));
}

static int bound(const struct search *s)
{
	return __atomic_load_n(&s->shared->best, __ATOMIC_RELAXED);
}

/* The shortest that anybody has, which is with the first. */
static void tell(struct search *s, int length)
{
	struct shared *mine = (struct shared *)s->run->memory;
	int before;

	MPI_Fetch_and_op(&length, &before, MPI_INT, 0, 0, MPI_MIN, *s->window);
	MPI_Win_flush(0, *s->window);
	mine->best = before < length ? before : length;
}

static void improve(struct search *s, int length)
{
	struct shared *shared = (struct shared *)s->run->memory;

	if (s->window) {
		tell(s, length);
		return;
	}
	take_lock(s->run, 1);
	if (length < shared->best)
		__atomic_store_n(&shared->best, length, __ATOMIC_RELAXED);
	give_lock(s->run, 1);
}

static void go_on(struct search *s, int town, unsigned seen, int length)
{
	if (length >= bound(s))
		return;
	if (seen == (1u << s->n) - 1) {
		if (length + s->distance[town][0] < bound(s))
			improve(s, length + s->distance[town][0]);
		return;
	}
	for (int next = 1; next < s->n; next++)
		if (!(seen >> next & 1))
			go_on(s, next, seen | 1u << next,
			      length + s->distance[town][next]);
}

static int next_job(struct search *s)
{
	int one = 1, job;

	if (!s->window)
		return (int)next_number(s->run, 2);
	MPI_Fetch_and_op(&one, &job, MPI_INT, 0, 1, MPI_SUM, *s->window);
	MPI_Win_flush(0, *s->window);
	tell(s, s->shared->best); /* and hear */
	return job;
}

static void search(struct run *run, MPI_Win *window)
{
	struct search s = { (struct shared *)run->memory,
			    run,
			    window,
			    (int)run->n,
			    { { 0 } } };
	int m = s.n - 1;

	for (int i = 0; i < s.n; i++)
		for (int j = 0; j < s.n; j++)
			s.distance[i][j] = s.shared->distance[i][j];
	for (;;) {
		int job = next_job(&s), a = 1 + job / m, b = 1 + job % m;

		if (job >= m * m)
			return;
		if (a != b)
			go_on(&s, b, 1u | 1u << a | 1u << b,
			      s.distance[0][a] + s.distance[a][b]);
	}
}

static void work(struct run *run)
{
	search(run, NULL);
}

/* The bound and the number of the next beginning are in a window of the first. */
static void messages(struct run *run)
{
	struct shared *s = (struct shared *)run->memory;
	MPI_Win window;
	int *at;

	MPI_Bcast(s, (int)sizeof(*s), MPI_BYTE, 0, MPI_COMM_WORLD);
	MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &at, &window);
	at[0] = s->best;
	at[1] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, window);
	search(run, &window);
	MPI_Win_unlock_all(window);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!run->rank)
		s->best = at[0];
	MPI_Win_free(&window);
}

static size_t result(long n, size_t *len)
{
	*len = sizeof(int);
	return 0;
}

const struct program program = {
	"tsp", 13, bytes, fill, work, messages, result
};
