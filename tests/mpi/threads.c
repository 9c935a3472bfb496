/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_THREAD_MULTIPLE: threads that send, receive, probe and wait at once, each
 * pair with its own tag; threads that make communicators at once, on different
 * parents and in an order that would end in a deadlock if one of them held
 * something while it waits for others.
 */
#include "check.h"

#include <pthread.h>

#define THREADS 4
#define TURNS 300

static MPI_Comm parent[THREADS];

/* The same thread of the next rank gets a message, that of the previous one
 * sends us one. */
static void *talk(void *arg)
{
	int t = (int)(MPI_Aint)arg, x, y;
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	static char big[THREADS][2][50000];
	MPI_Request q[2];
	MPI_Status s;
	MPI_Message m;

	for (int i = 0; i < TURNS; i++) {
		x = i * 1000 + rank * 10 + t;
		switch (i % 4) {
		case 0:
			OK(MPI_Sendrecv(&x, 1, MPI_INT, next, t, &y, 1, MPI_INT,
					prev, t, WORLD, &s));
			break;
		case 1:
			OK(MPI_Irecv(&y, 1, MPI_INT, prev, t, WORLD, &q[0]));
			OK(MPI_Isend(&x, 1, MPI_INT, next, t, WORLD, &q[1]));
			OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
			break;
		case 2:
			OK(MPI_Isend(&x, 1, MPI_INT, next, t, WORLD, &q[0]));
			OK(MPI_Mprobe(MPI_ANY_SOURCE, t, WORLD, &m, &s));
			EQUAL(s.MPI_SOURCE, prev);
			OK(MPI_Mrecv(&y, 1, MPI_INT, &m, IGNORE));
			OK(MPI_Wait(&q[0], IGNORE));
			break;
		default: /* large, so that it needs answers */
			fill(big[t][0], 50000, x);
			OK(MPI_Irecv(big[t][1], 50000, MPI_BYTE, prev, t, WORLD,
				     &q[0]));
			OK(MPI_Send(big[t][0], 50000, MPI_BYTE, next, t,
				    WORLD));
			OK(MPI_Wait(&q[0], IGNORE));
			y = i * 1000 + prev * 10 + t;
			CHECK(filled(big[t][1], 50000, y));
		}
		EQUAL(y, i * 1000 + prev * 10 + t);
	}
	return NULL;
}

/* Every thread makes communicators from its own parent. */
static void *create(void *arg)
{
	int t = (int)(MPI_Aint)arg, x, me, n;
	MPI_Comm d, e;

	for (int i = 0; i < 30; i++) {
		OK(MPI_Comm_dup(parent[t], &d));
		OK(MPI_Comm_split(d, (rank + i) % 2, rank, &e));
		OK(MPI_Comm_rank(e, &me));
		OK(MPI_Comm_size(e, &n));
		x = -1;
		OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, t, &x, 1,
				MPI_INT, (me + n - 1) % n, t, e, IGNORE));
		EQUAL(x, (me + n - 1) % n);
		OK(MPI_Comm_free(&e));
		OK(MPI_Comm_free(&d));
	}
	return NULL;
}

/*
 * Thread 0 of rank 0 waits in a dup that rank 1 joins only after it got a
 * message, which thread 1 of rank 0 sends after another dup with rank 1's
 * thread 1. Holding the table of contexts while waiting would hang here.
 */
static void *first(void *arg)
{
	MPI_Comm d;
	int x;

	if (rank == 1)
		OK(MPI_Recv(&x, 1, MPI_INT, 0, 99, WORLD, IGNORE));
	OK(MPI_Comm_dup(parent[0], &d));
	OK(MPI_Comm_free(&d));
	return NULL;
}

static void *second(void *arg)
{
	MPI_Comm d;
	int x = 0;

	OK(MPI_Comm_dup(parent[1], &d));
	if (rank == 0 && size > 1)
		OK(MPI_Send(&x, 1, MPI_INT, 1, 99, WORLD));
	OK(MPI_Comm_free(&d));
	return NULL;
}

static void run(void *(*fn)(void *), int n)
{
	pthread_t t[THREADS];

	for (int i = 0; i < n; i++)
		CHECK(!pthread_create(&t[i], NULL, fn, (void *)(MPI_Aint)i));
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void *not_main(void *arg)
{
	int flag;

	OK(MPI_Is_thread_main(&flag));
	CHECK(!flag);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t a, b;
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	EQUAL(level, MPI_THREAD_MULTIPLE);
	OK(MPI_Query_thread(&level));
	EQUAL(level, MPI_THREAD_MULTIPLE);
	run(not_main, 1);
	for (int i = 0; i < THREADS; i++)
		OK(MPI_Comm_dup(WORLD, &parent[i]));
	run(talk, THREADS);
	run(create, THREADS);
	for (int i = 0; i < 10; i++) {
		pthread_create(&a, NULL, first, NULL);
		pthread_create(&b, NULL, second, NULL);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
	}
	for (int i = 0; i < THREADS; i++)
		OK(MPI_Comm_free(&parent[i]));
	return finish();
}
