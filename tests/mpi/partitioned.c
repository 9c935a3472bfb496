/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Partitioned messages: any division on either side, many rounds, partitions
 * marked ready by several threads in any order, matching in the order of the
 * init calls, and wrong arguments.
 */
#include <pthread.h>
#include <stdbool.h>

#include "check.h"

#define THREADS 3
#define ROUNDS 5

static int peer; /* even ranks send to the next one */

static bool sends(void)
{
	return rank % 2 == 0;
}

/* --- several threads --- */

struct work {
	pthread_t thread;
	MPI_Request req;
	int *data;
	int first, partitions, count, round;
};

static void *mark(void *arg)
{
	struct work *w = arg;

	/* backwards, and interleaved with the other threads */
	for (int i = w->partitions - 1 - w->first; i >= 0; i -= THREADS) {
		for (int k = 0; k < w->count; k++)
			w->data[i * w->count + k] =
				w->round * 1000003 + i * w->count + k;
		OK(MPI_Pready(i, w->req));
	}
	return NULL;
}

static void send_round(MPI_Request *req, int *data, int partitions, int count,
		       int round)
{
	struct work w[THREADS];

	OK(MPI_Start(req));
	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct work){ .req = *req,
				      .data = data,
				      .first = i,
				      .partitions = partitions,
				      .count = count,
				      .round = round };
		CHECK(!pthread_create(&w[i].thread, NULL, mark, &w[i]));
	}
	OK(MPI_Wait(req, IGNORE));
	for (int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
}

static void recv_round(MPI_Request *req, int *data, int partitions, int n,
		       int round)
{
	int flag = 0, bytes, per = n / partitions;
	MPI_Status st;

	memset(data, 0xff, n * sizeof(*data));
	OK(MPI_Start(req));
	for (int i = 0; i < partitions; i++) {
		do
			OK(MPI_Parrived(*req, i, &flag));
		while (!flag);
		for (int k = i * per; k < (i + 1) * per; k++)
			EQUAL(data[k], round * 1000003 + k);
	}
	OK(MPI_Wait(req, &st));
	EQUAL(st.MPI_SOURCE, peer);
	EQUAL(st.MPI_TAG, 7);
	OK(MPI_Get_count(&st, MPI_BYTE, &bytes));
	EQUAL(bytes, n * sizeof(int));
	/* inactive again: everything has arrived */
	OK(MPI_Parrived(*req, 0, &flag));
	EQUAL(flag, 1);
}

static void divided(int n, int mine, int theirs)
{
	int *data = calloc(n, sizeof(*data));
	MPI_Request req;

	if (sends())
		OK(MPI_Psend_init(data, mine, n / mine, MPI_INT, peer, 7, WORLD,
				  MPI_INFO_NULL, &req));
	else
		OK(MPI_Precv_init(data, theirs, n / theirs, MPI_INT, peer, 7,
				  WORLD, MPI_INFO_NULL, &req));
	for (int round = 0; round < ROUNDS; round++) {
		if (sends())
			send_round(&req, data, mine, n / mine, round);
		else
			recv_round(&req, data, theirs, n, round);
	}
	OK(MPI_Request_free(&req));
	free(data);
}

/* --- datatypes --- */

/* Messages of 3 ints into pairs of ints with a gap behind each. */
static void uneven(void)
{
	int data[24], out[36], flag = 0;
	MPI_Datatype pair, gapped;
	MPI_Request req;

	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &gapped));
	OK(MPI_Type_commit(&gapped));
	if (sends()) {
		for (int i = 0; i < 24; i++)
			data[i] = i;
		OK(MPI_Psend_init(data, 8, 3, MPI_INT, peer, 8, WORLD,
				  MPI_INFO_NULL, &req));
	} else {
		memset(out, 0xff, sizeof(out));
		OK(MPI_Precv_init(out, 3, 4, gapped, peer, 8, WORLD,
				  MPI_INFO_NULL, &req));
	}
	OK(MPI_Start(&req));
	if (sends()) {
		OK(MPI_Pready_range(1, 3, req));
		OK(MPI_Pready_list(5, (int[]){ 7, 0, 4, 6, 5 }, req));
	} else {
		while (!flag)
			OK(MPI_Parrived(req, 1, &flag));
		EQUAL(out[12], 8);
		EQUAL(out[22], 15);
	}
	OK(MPI_Wait(&req, IGNORE));
	for (int i = 0; !sends() && i < 36; i++)
		EQUAL(out[i], i % 3 == 2 ? -1 : i / 3 * 2 + i % 3);
	OK(MPI_Request_free(&req));
	OK(MPI_Type_free(&gapped));
	OK(MPI_Type_free(&pair));
}

/* --- matching --- */

/* Several with one tag: first with first. Some start before they are matched. */
static void in_order(void)
{
	MPI_Request req[4];
	int v[4] = { -1, -1, -1, -1 };

	if (!sends())
		MPI_Barrier(WORLD); /* announcements are there, or not yet */
	for (int i = 0; i < 4; i++) {
		if (sends())
			OK(MPI_Psend_init(&v[i], 1, 1, MPI_INT, peer, 9, WORLD,
					  MPI_INFO_NULL, &req[i]));
		else
			OK(MPI_Precv_init(&v[i], 1, 1, MPI_INT, peer, 9, WORLD,
					  MPI_INFO_NULL, &req[i]));
	}
	OK(MPI_Startall(4, req));
	if (sends()) {
		for (int i = 3; i >= 0; i--) {
			v[i] = 100 + i;
			OK(MPI_Pready(0, req[i]));
		}
		MPI_Barrier(WORLD);
	}
	OK(MPI_Waitall(4, req, MPI_STATUSES_IGNORE));
	for (int i = 0; i < 4; i++) {
		EQUAL(v[i], 100 + i);
		OK(MPI_Request_free(&req[i]));
	}
}

static void nobody(void)
{
	MPI_Request req[2];
	MPI_Status st[2];
	int v = 3, flag;

	OK(MPI_Psend_init(&v, 2, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD,
			  MPI_INFO_NULL, &req[0]));
	OK(MPI_Precv_init(&v, 2, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD,
			  MPI_INFO_NULL, &req[1]));
	OK(MPI_Startall(2, req));
	OK(MPI_Pready_range(0, 1, req[0]));
	OK(MPI_Parrived(req[1], 1, &flag));
	EQUAL(flag, 1);
	OK(MPI_Waitall(2, req, st));
	EQUAL(st[1].MPI_SOURCE, MPI_PROC_NULL);
	EQUAL(v, 3);
	OK(MPI_Request_free(&req[0]));
	OK(MPI_Request_free(&req[1]));
}

/*
 * A partition has arrived, and the operation is complete, after the sender has
 * started it and marked it ready, also when there is no data in it. Only for a
 * request that is null or inactive MPI_Parrived says true at once.
 */
static void no_data(int mine, int theirs)
{
	MPI_Request req;
	int v, flag = 0;

	if (sends())
		OK(MPI_Psend_init(&v, mine, 0, MPI_INT, peer, 12, WORLD,
				  MPI_INFO_NULL, &req));
	else
		OK(MPI_Precv_init(&v, theirs, 0, MPI_INT, peer, 12, WORLD,
				  MPI_INFO_NULL, &req));
	MPI_Barrier(WORLD); /* the two have met, unless the network is slow */
	if (sends()) {
		MPI_Barrier(WORLD);
		OK(MPI_Start(&req));
		OK(MPI_Pready_range(0, mine - 1, req));
	} else {
		OK(MPI_Parrived(req, 0, &flag));
		EQUAL(flag, 1);
		OK(MPI_Start(&req));
		for (int i = 0; i < 200 * theirs; i++) {
			OK(MPI_Parrived(req, i % theirs, &flag));
			EQUAL(flag, 0);
		}
		OK(MPI_Test(&req, &flag, IGNORE));
		EQUAL(flag, 0);
		MPI_Barrier(WORLD);
		for (int i = 0; i < theirs; i++)
			do
				OK(MPI_Parrived(req, i, &flag));
			while (!flag);
	}
	OK(MPI_Wait(&req, IGNORE));
	OK(MPI_Request_free(&req));
	flag = 0;
	OK(MPI_Parrived(req, 0, &flag)); /* null now */
	EQUAL(flag, 1);
}

/* --- wrong arguments --- */

static void wrong_init(void)
{
	MPI_Request req;
	int v = 0;

	FAILS(MPI_Psend_init(&v, -1, 1, MPI_INT, 0, 0, WORLD, MPI_INFO_NULL,
			     &req),
	      MPI_ERR_ARG);
	FAILS(MPI_Psend_init(&v, 1, -1, MPI_INT, 0, 0, WORLD, MPI_INFO_NULL,
			     &req),
	      MPI_ERR_COUNT);
	FAILS(MPI_Psend_init(&v, 1, 1, MPI_INT, size, 0, WORLD, MPI_INFO_NULL,
			     &req),
	      MPI_ERR_RANK);
	FAILS(MPI_Psend_init(&v, 1, 1, MPI_INT, 0, -5, WORLD, MPI_INFO_NULL,
			     &req),
	      MPI_ERR_TAG);
	FAILS(MPI_Psend_init(&v, 1, 1, MPI_DATATYPE_NULL, 0, 0, WORLD,
			     MPI_INFO_NULL, &req),
	      MPI_ERR_TYPE);
	FAILS(MPI_Precv_init(&v, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD,
			     MPI_INFO_NULL, &req),
	      MPI_ERR_RANK);
	FAILS(MPI_Precv_init(&v, 1, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD,
			     MPI_INFO_NULL, &req),
	      MPI_ERR_TAG);
	FAILS(MPI_Precv_init(&v, 1, 1, MPI_INT, 0, 0, MPI_COMM_NULL,
			     MPI_INFO_NULL, &req),
	      MPI_ERR_COMM);
}

static void wrong_use(void)
{
	MPI_Request s, r;
	int v[2] = { 1, 2 }, w = 0, flag;

	OK(MPI_Psend_init(v, 2, 1, MPI_INT, rank, 10, WORLD, MPI_INFO_NULL,
			  &s));
	OK(MPI_Precv_init(&w, 1, 1, MPI_INT, rank, 10, WORLD, MPI_INFO_NULL,
			  &r));
	FAILS(MPI_Pready(0, s), MPI_ERR_REQUEST); /* not started */
	OK(MPI_Start(&s));
	OK(MPI_Start(&r));
	FAILS(MPI_Start(&s), MPI_ERR_REQUEST);
	FAILS(MPI_Pready(2, s), MPI_ERR_ARG);
	FAILS(MPI_Pready(-1, s), MPI_ERR_ARG);
	FAILS(MPI_Pready(0, r), MPI_ERR_REQUEST);
	FAILS(MPI_Pready_range(1, 0, s), MPI_ERR_ARG);
	FAILS(MPI_Pready_list(-1, NULL, s), MPI_ERR_ARG);
	FAILS(MPI_Parrived(s, 0, &flag), MPI_ERR_REQUEST);
	FAILS(MPI_Parrived(r, 1, &flag), MPI_ERR_ARG);
	FAILS(MPI_Request_free(&s), MPI_ERR_REQUEST); /* under way */
	FAILS(MPI_Cancel(&s), MPI_ERR_REQUEST);
	OK(MPI_Pready(0, s));
	FAILS(MPI_Pready(0, s), MPI_ERR_ARG);
	OK(MPI_Pready(1, s));
	FAILS(MPI_Wait(&r, IGNORE), MPI_ERR_TRUNCATE);
	EQUAL(w, 0);
	OK(MPI_Wait(&s, IGNORE));
	OK(MPI_Request_free(&r));
	OK(MPI_Request_free(&s));
	/* one that nobody ever announces */
	OK(MPI_Precv_init(&w, 1, 1, MPI_INT, rank, 11, WORLD, MPI_INFO_NULL,
			  &r));
	OK(MPI_Request_free(&r));
}

int main(int argc, char **argv)
{
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	EQUAL(provided, MPI_THREAD_MULTIPLE);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	EQUAL(size % 2, 0);
	peer = rank ^ 1;
	divided(24, 6, 6);
	divided(24, 8, 3);
	divided(24, 1, 12);
	divided(600000, 10, 4); /* 240 KB each: by rendezvous */
	uneven();
	in_order();
	nobody();
	no_data(4, 4);
	no_data(1, 3);
	no_data(5, 2);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	wrong_init();
	wrong_use();
	return finish();
}
