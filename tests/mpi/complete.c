/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Every form of wait and test, with null and inactive requests among them. */
#include "check.h"

#define N 16

static int in[N], out[N];
static MPI_Request r[N];
static MPI_Status s[N];

/* Rank 0 has posted N receives from rank 1, every third handle is null. */
static void post(void)
{
	for (int i = 0; i < N; i++) {
		r[i] = MPI_REQUEST_NULL;
		in[i] = -1;
		if (i % 3 == 2)
			continue;
		if (rank == 0)
			OK(MPI_Irecv(&in[i], 1, MPI_INT, 1, i, WORLD, &r[i]));
	}
	MPI_Barrier(WORLD);
}

static void send_one(int i)
{
	out[i] = 1000 + i;
	if (rank == 1 && i % 3 != 2)
		OK(MPI_Send(&out[i], 1, MPI_INT, 0, i, WORLD));
}

static void check_one(int i, const MPI_Status *st)
{
	EQUAL(in[i], 1000 + i);
	EQUAL(st->MPI_SOURCE, 1);
	EQUAL(st->MPI_TAG, i);
	EQUAL(count_of(st, MPI_INT), 1);
	CHECK(r[i] == MPI_REQUEST_NULL);
}

static void check_all(void)
{
	for (int i = 0; i < N; i++) {
		if (i % 3 == 2)
			CHECK(is_empty(&s[i]));
		else
			check_one(i, &s[i]);
	}
}

static void all(int test)
{
	int flag = 0;

	post();
	if (test && rank == 0) {
		OK(MPI_Testall(N, r, &flag, s));
		CHECK(!flag);
		CHECK(r[0] != MPI_REQUEST_NULL);
	}
	MPI_Barrier(WORLD);
	for (int i = N - 1; i >= 0; i--)
		send_one(i);
	if (rank)
		return;
	s[1].MPI_ERROR = 4711;
	if (!test)
		OK(MPI_Waitall(N, r, s));
	while (test && !flag)
		OK(MPI_Testall(N, r, &flag, s));
	check_all();
	EQUAL(s[1].MPI_ERROR, 4711); /* no error: left alone */
}

static void any(int test)
{
	int index, flag = 1, left = 0;

	post();
	for (int i = 0; i < N; i++)
		left += i % 3 != 2;
	if (test && rank == 0) {
		OK(MPI_Testany(N, r, &index, &flag, s));
		CHECK(!flag);
		EQUAL(index, MPI_UNDEFINED);
	}
	MPI_Barrier(WORLD);
	for (int i = N - 1; i >= 0; i--)
		send_one(i);
	while (rank == 0 && left) {
		if (test)
			OK(MPI_Testany(N, r, &index, &flag, s));
		else
			OK(MPI_Waitany(N, r, &index, s));
		if (!flag)
			continue;
		CHECK(index >= 0 && index < N);
		check_one(index, &s[0]);
		left--;
	}
	if (rank)
		return;
	OK(MPI_Waitany(N, r, &index, s));
	EQUAL(index, MPI_UNDEFINED);
	CHECK(is_empty(&s[0]));
	flag = 0;
	OK(MPI_Testany(N, r, &index, &flag, s));
	CHECK(flag && index == MPI_UNDEFINED && is_empty(&s[0]));
}

static void some(int test)
{
	int idx[N], n, left = 0;

	post();
	for (int i = 0; i < N; i++)
		left += i % 3 != 2;
	if (test && rank == 0) {
		OK(MPI_Testsome(N, r, &n, idx, s));
		EQUAL(n, 0);
	}
	MPI_Barrier(WORLD);
	for (int i = N - 1; i >= 0; i--)
		send_one(i);
	while (rank == 0 && left) {
		if (test)
			OK(MPI_Testsome(N, r, &n, idx, s));
		else
			OK(MPI_Waitsome(N, r, &n, idx, s));
		CHECK(test || n > 0);
		for (int k = 0; k < n; k++)
			check_one(idx[k], &s[k]);
		left -= n;
	}
	if (rank)
		return;
	EQUAL(left, 0);
	OK(MPI_Waitsome(N, r, &n, idx, s));
	EQUAL(n, MPI_UNDEFINED);
	OK(MPI_Testsome(N, r, &n, idx, s));
	EQUAL(n, MPI_UNDEFINED);
}

static void single(void)
{
	int flag = 0;

	post();
	if (rank == 0) {
		OK(MPI_Test(&r[0], &flag, s));
		CHECK(!flag && r[0] != MPI_REQUEST_NULL);
	}
	MPI_Barrier(WORLD);
	for (int i = 0; i < N; i++)
		send_one(i);
	if (rank)
		return;
	while (!flag)
		OK(MPI_Test(&r[0], &flag, &s[0]));
	check_one(0, &s[0]);
	for (int i = 1; i < N; i++)
		OK(MPI_Wait(&r[i], &s[i]));
	check_all();
	flag = 0;
	OK(MPI_Test(&r[0], &flag, &s[0]));
	CHECK(flag && is_empty(&s[0]));
}

/* Looking at a request leaves it. */
static void get_status(void)
{
	MPI_Request q[3];
	int flag = 0, n, idx[3], index;

	for (int k = 0; k < 2; k++) {
		in[k] = -1;
		if (rank == 0)
			OK(MPI_Irecv(&in[k], 1, MPI_INT, 1, k, WORLD, &q[k]));
	}
	q[2] = MPI_REQUEST_NULL;
	MPI_Barrier(WORLD);
	if (rank == 0) {
		OK(MPI_Request_get_status(q[0], &flag, s));
		CHECK(!flag);
		OK(MPI_Request_get_status(q[2], &flag, s));
		CHECK(flag && is_empty(s));
		OK(MPI_Request_get_status_any(3, q, &index, &flag, s));
		CHECK(!flag);
		OK(MPI_Request_get_status_some(3, q, &n, idx, s));
		EQUAL(n, 0);
	}
	MPI_Barrier(WORLD);
	out[0] = out[1] = 5;
	for (int k = 0; rank == 1 && k < 2; k++)
		OK(MPI_Send(&out[k], 1, MPI_INT, 0, k, WORLD));
	if (rank)
		return;
	for (flag = 0; !flag;)
		OK(MPI_Request_get_status_all(3, q, &flag, s));
	EQUAL(s[1].MPI_TAG, 1);
	CHECK(is_empty(&s[2]));
	OK(MPI_Request_get_status(q[0], &flag, s));
	CHECK(flag && s[0].MPI_SOURCE == 1 && q[0] != MPI_REQUEST_NULL);
	OK(MPI_Request_get_status_any(3, q, &index, &flag, s));
	CHECK(flag && index == 0);
	OK(MPI_Request_get_status_some(3, q, &n, idx, s));
	EQUAL(n, 2);
	EQUAL(idx[1], 1);
	OK(MPI_Waitall(3, q, s));
	EQUAL(s[0].MPI_SOURCE, 1);
	EQUAL(s[1].MPI_TAG, 1);
	EQUAL(in[0] + in[1], 10);
	OK(MPI_Request_get_status_all(0, NULL, &flag, s));
	CHECK(flag);
}

/* An empty status has tag = MPI_ANY_TAG, source = MPI_ANY_SOURCE and error =
 * MPI_SUCCESS, and counts no elements: all of that where nothing is active. */
static void empty(void)
{
	MPI_Request q = MPI_REQUEST_NULL;
	int flag = 0, index = 0;

#define EMPTY(call)                          \
	do {                                 \
		memset(s, 0x55, sizeof(*s)); \
		OK(call);                    \
		CHECK(is_empty(s));          \
		EQUAL(s->MPI_ERROR, 0);      \
	} while (0)
	EMPTY(MPI_Wait(&q, s));
	EMPTY(MPI_Test(&q, &flag, s));
	EMPTY(MPI_Waitany(1, &q, &index, s));
	EMPTY(MPI_Testany(1, &q, &index, &flag, s));
	EMPTY(MPI_Request_get_status(q, &flag, s));
	EMPTY(MPI_Request_get_status_any(1, &q, &index, &flag, s));
	EMPTY(MPI_Request_get_status_any(0, NULL, &index, &flag, s));
#undef EMPTY
}

/* Given up, but still delivered. */
static void give_up(void)
{
	static char big[300000];
	MPI_Request q;

	fill(big, sizeof(big), 3);
	if (rank == 0) {
		OK(MPI_Isend(big, sizeof(big), MPI_BYTE, 1, 8, WORLD, &q));
		OK(MPI_Request_free(&q));
		CHECK(q == MPI_REQUEST_NULL);
		OK(MPI_Irecv(in, 1, MPI_INT, 1, 8, WORLD, &q));
		OK(MPI_Request_free(&q));
		OK(MPI_Recv(NULL, 0, MPI_INT, 1, 9, WORLD, IGNORE));
		EQUAL(in[0], 77); /* same sender, sent before */
	} else if (rank == 1) {
		memset(big, 0, sizeof(big));
		OK(MPI_Recv(big, sizeof(big), MPI_BYTE, 0, 8, WORLD, IGNORE));
		CHECK(filled(big, sizeof(big), 3));
		out[0] = 77;
		OK(MPI_Send(out, 1, MPI_INT, 0, 8, WORLD));
		OK(MPI_Send(NULL, 0, MPI_INT, 0, 9, WORLD));
	}
	MPI_Barrier(WORLD);
	/* Never answered: the end must come all the same. */
	OK(MPI_Irecv(in, 1, MPI_INT, (rank + 1) % size, 555, WORLD, &q));
	OK(MPI_Request_free(&q));
	OK(MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 556, WORLD, &q));
	OK(MPI_Request_free(&q));
}

int main(int argc, char **argv)
{
	int flag = 0;

	start(&argc, &argv);
	CHECK(size >= 2);
	empty();
	OK(MPI_Waitall(0, NULL, NULL));
	OK(MPI_Testall(0, NULL, &flag, NULL));
	CHECK(flag);
	for (int test = 0; test < 2; test++) {
		all(test);
		any(test);
		some(test);
	}
	single();
	get_status();
	give_up();
	return finish();
}
