/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Nonblocking and persistent collectives go on without the program: while it
 * computes, and while it waits for something else. The results are looked for in
 * memory, with no MPI call between.
 */
#include <stdatomic.h>
#include <time.h>

#include "check.h"

#define LONG 300000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Compute until *p is @want; how often it was looked at. */
static void compute_until(const int *p, int want)
{
	double end = now() + 20;
	volatile double x = 1;

	while (__atomic_load_n(p, __ATOMIC_ACQUIRE) != want) {
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
		if (now() > end) {
			fprintf(stderr, "rank %d: nothing came in 20 s\n",
				rank);
			MPI_Abort(WORLD, 1);
		}
	}
}

static void while_computing(void)
{
	static int in[LONG], out[LONG];
	int one = rank + 1, sum = -1, total = size * (size + 1) / 2, data = -1;
	int count = 8;
	MPI_Request q;

	OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD, &q));
	compute_until(&sum, total);
	OK(MPI_Wait(&q, IGNORE));
	if (rank == size - 1)
		data = 4711;
	OK(MPI_Ibcast(&data, 1, MPI_INT, size - 1, WORLD, &q));
	compute_until(&data, 4711);
	OK(MPI_Wait(&q, IGNORE));
	/* a long one, in several steps */
	for (int i = 0; i < LONG; i++)
		in[i] = rank + i;
	out[LONG - 1] = out[0] = -1;
	OK(MPI_Iallreduce(in, out, LONG, MPI_INT, MPI_SUM, WORLD, &q));
	compute_until(&out[LONG - 1],
		      size * (LONG - 1) + size * (size - 1) / 2);
	compute_until(&out[0], size * (size - 1) / 2);
	OK(MPI_Wait(&q, IGNORE));
	OK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD,
			      MPI_INFO_NULL, &q));
	while (count--) {
		__atomic_store_n(&sum, -1, __ATOMIC_RELEASE);
		OK(MPI_Start(&q));
		compute_until(&sum, total);
		OK(MPI_Wait(&q, IGNORE));
	}
	OK(MPI_Request_free(&q));
}

/* Rank 0 is late with the collective but answers a message that the others wait
 * for only when it has ended: they must make it end from inside MPI_Recv. */
static void while_waiting(void)
{
	int one = 1, sum = -1, token = 0;
	MPI_Request q;

	OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD, &q));
	if (rank == 0) {
		OK(MPI_Wait(&q, IGNORE));
		for (int i = 1; i < size; i++)
			OK(MPI_Send(&token, 1, MPI_INT, i, 7, WORLD));
	} else {
		OK(MPI_Recv(&token, 1, MPI_INT, 0, 7, WORLD, IGNORE));
		OK(MPI_Wait(&q, IGNORE));
	}
	EQUAL(sum, size);
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	while_computing();
	for (int i = 0; i < 20; i++)
		while_waiting();
	return finish();
}
