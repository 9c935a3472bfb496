/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Many collectives under way at once: nonblocking ones begun in the same order
 * and completed in another one at each rank, persistent ones even started in
 * another one at each rank, with messages and blocking collectives between.
 * Types, operations and arrays are gone as soon as the standard allows it.
 */
#include "check.h"

#define N 48	 /* under way */
#define COUNT 37 /* elements of each */
#define KINDS 6

struct one {
	int in[COUNT * 16], out[COUNT * 16];
	int counts[16], displs[16];
};

static struct one all[N];
static MPI_Request reqs[N];
static unsigned seed;

static int value(int from, int to, int which, int i)
{
	return from * 10007 + to * 101 + which * 7 + i;
}

static int draw(int n)
{
	seed = seed * 1103515245u + 12345u;
	return (int)(seed >> 16) % n;
}

static void sum_fn(void *in, void *inout, int *len, MPI_Datatype *t)
{
	for (int i = 0; i < *len; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void prepare(struct one *o, int which)
{
	for (int to = 0; to < size; to++)
		for (int i = 0; i < COUNT; i++)
			o->in[to * COUNT + i] = value(rank, to, which, i);
	memset(o->out, 0xff, sizeof(o->out));
	for (int i = 0; i < size; i++) {
		o->counts[i] = COUNT;
		o->displs[i] = i * COUNT;
	}
	if (which % KINDS == 2 && rank == which % size)
		memcpy(o->out, o->in, COUNT * sizeof(int));
}

static void begin(int which, int persistent)
{
	struct one *o = &all[which];
	MPI_Request *q = &reqs[which];
	MPI_Comm c = MPI_COMM_WORLD;
	int root = which % size;
	MPI_Datatype t;
	MPI_Op op;

	MPI_Type_contiguous(1, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Op_create(sum_fn, 1, &op);
#define BEGIN(now, init, ...)                                \
	if (persistent)                                      \
		CHECK(!init(__VA_ARGS__, MPI_INFO_NULL, q)); \
	else                                                 \
		CHECK(!now(__VA_ARGS__, q))
	switch (which % KINDS) {
	case 0:
		BEGIN(MPI_Ibarrier, MPI_Barrier_init, c);
		break;
	case 1:
		BEGIN(MPI_Iallreduce, MPI_Allreduce_init, o->in, o->out, COUNT,
		      t, op, c);
		break;
	case 2:
		BEGIN(MPI_Ibcast, MPI_Bcast_init, o->out, COUNT, t, root, c);
		break;
	case 3:
		BEGIN(MPI_Ialltoallv, MPI_Alltoallv_init, o->in, o->counts,
		      o->displs, t, o->out, o->counts, o->displs, t, c);
		break;
	case 4:
		BEGIN(MPI_Igather, MPI_Gather_init, o->in, COUNT, t, o->out,
		      COUNT, t, root, c);
		break;
	case 5:
		BEGIN(MPI_Iallgather, MPI_Allgather_init, o->in, COUNT, t,
		      o->out, COUNT, t, c);
		break;
	}
	MPI_Type_free(&t);
	MPI_Op_free(&op);
}

static void check(int which)
{
	struct one *o = &all[which];
	int root = which % size;

	for (int i = 0; i < COUNT * size; i++) {
		int from = i / COUNT, k = i % COUNT, want;

		switch (which % KINDS) {
		case 1:
			want = 0;
			for (int r = 0; r < size; r++)
				want += value(r, 0, which, k);
			if (from == 0)
				CHECK(o->out[i] == want);
			break;
		case 2:
			if (from == 0)
				CHECK(o->out[i] == value(root, 0, which, k));
			break;
		case 3:
			CHECK(o->out[i] == value(from, rank, which, k));
			break;
		case 4:
			if (rank == root)
				CHECK(o->out[i] == value(from, 0, which, k));
			break;
		case 5:
			CHECK(o->out[i] == value(from, 0, which, k));
			break;
		}
	}
}

/* Complete all, by one of several ways, in an order of this rank. */
static void complete(void)
{
	int indices[N], n, left = N, which;

	if (draw(3) == 0) {
		CHECK(!MPI_Waitall(N, reqs, MPI_STATUSES_IGNORE));
		left = 0;
	}
	while (left) {
		switch (draw(4)) {
		case 0:
			CHECK(!MPI_Waitany(N, reqs, &which, MPI_STATUS_IGNORE));
			left--;
			break;
		case 1:
			CHECK(!MPI_Testsome(N, reqs, &n, indices,
					    MPI_STATUSES_IGNORE));
			left -= n == MPI_UNDEFINED ? 0 : n;
			break;
		case 2:
			CHECK(!MPI_Waitsome(N, reqs, &n, indices,
					    MPI_STATUSES_IGNORE));
			left -= n == MPI_UNDEFINED ? 0 : n;
			break;
		case 3:
			for (which = draw(N); left; which = draw(N)) {
				int flag;

				CHECK(!MPI_Request_get_status(
					reqs[which], &flag, MPI_STATUS_IGNORE));
				if (flag)
					break;
			}
			break;
		}
	}
	for (int i = 0; i < N; i++)
		check(i);
}

/* Among what is under way: messages around the ring, and a blocking call. */
static void disturb(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	int out = rank, in = -1, sum;

	CHECK(!MPI_Sendrecv(&out, 1, MPI_INT, next, 3, &in, 1, MPI_INT, before,
			    3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(in == before);
	CHECK(!MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == size * (size - 1) / 2);
}

static void nonblocking(void)
{
	for (int i = 0; i < N; i++) {
		prepare(&all[i], i);
		begin(i, 0);
		if (i % 10 == 9)
			disturb();
	}
	disturb();
	complete();
}

static void persistent(void)
{
	int order[N];

	for (int i = 0; i < N; i++) {
		begin(i, 1);
		order[i] = i;
	}
	for (int round = 0; round < 3; round++) {
		for (int i = N - 1; i > 0; i--) {
			int j = draw(i + 1), k = order[i];

			order[i] = order[j];
			order[j] = k;
		}
		for (int i = 0; i < N; i++)
			prepare(&all[i], i);
		if (round == 2)
			CHECK(!MPI_Startall(N, reqs));
		for (int i = 0; round < 2 && i < N; i++) {
			CHECK(!MPI_Start(&reqs[order[i]]));
			if (i == N / 2)
				disturb();
		}
		complete();
	}
	for (int i = 0; i < N; i++)
		CHECK(!MPI_Request_free(&reqs[i]));
}

/* Duplicates that come into being at the same time. */
static void duplicates(void)
{
	MPI_Comm c[8];
	MPI_Request q[8];
	int flag, sum;

	for (int i = 0; i < 8; i++) {
		CHECK(!MPI_Comm_idup(MPI_COMM_WORLD, &c[i], &q[i]));
		if (i == 4)
			disturb();
	}
	for (int i = 7; i >= 0; i--)
		CHECK(!MPI_Wait(&q[i], MPI_STATUS_IGNORE));
	for (int i = 0; i < 8; i++) {
		CHECK(!MPI_Comm_compare(c[i], MPI_COMM_WORLD, &flag));
		CHECK(flag == MPI_CONGRUENT);
		CHECK(!MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c[i],
				      &q[i]));
		CHECK(!MPI_Wait(&q[i], MPI_STATUS_IGNORE));
		CHECK(sum == size * (size - 1) / 2);
		CHECK(!MPI_Comm_free(&c[i]));
	}
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	CHECK(size <= 16);
	seed = 1000u + (unsigned)rank;
	for (int i = 0; i < 4; i++) {
		nonblocking();
		persistent();
		duplicates();
	}
	return finish();
}
