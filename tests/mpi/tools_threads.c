/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Threads with tools: some run nonblocking collectives, make communicators and
 * send in partitions that two threads mark ready, while others read variables,
 * listen to events and stop listening.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

#define WORKERS 2
#define TURNS 20
#define PARTS 8

static MPI_Comm comms[WORKERS];
static MPI_T_pvar_session shared; /* of all threads */
static atomic_int working, heard;

/* --- those who work --- */

struct half {
	MPI_Request *q;
	int first;
};

static void *mark(void *arg)
{
	struct half *h = arg;

	OK(MPI_Pready_range(h->first, h->first + PARTS / 2 - 1, *h->q));
	return NULL;
}

static void in_partitions(MPI_Comm c, int turn)
{
	int out[PARTS], in[PARTS];
	MPI_Request q[2];
	struct half h[2] = { { &q[0], 0 }, { &q[0], PARTS / 2 } };
	pthread_t t;

	for (int i = 0; i < PARTS; i++)
		out[i] = turn + i;
	OK(MPI_Psend_init(out, PARTS, 1, MPI_INT, (rank + 1) % size, 1, c,
			  MPI_INFO_NULL, &q[0]));
	OK(MPI_Precv_init(in, PARTS, 1, MPI_INT, (rank + size - 1) % size, 1, c,
			  MPI_INFO_NULL, &q[1]));
	OK(MPI_Startall(2, q));
	pthread_create(&t, NULL, mark, &h[0]);
	mark(&h[1]);
	pthread_join(t, NULL);
	OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
	for (int i = 0; i < PARTS; i++)
		EQUAL(in[i], turn + i);
	OK(MPI_Request_free(&q[0]));
	OK(MPI_Request_free(&q[1]));
}

static void *work(void *arg)
{
	MPI_Comm c = *(MPI_Comm *)arg, d;
	MPI_Request q[3];
	int x, sum, all[16];

	for (int turn = 0; turn < TURNS; turn++) {
		x = rank + turn;
		OK(MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c, &q[0]));
		OK(MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, c,
				  &q[1]));
		OK(MPI_Comm_idup(c, &d, &q[2]));
		OK(MPI_Waitall(3, q, MPI_STATUSES_IGNORE));
		EQUAL(sum, size * (size - 1) / 2 + size * turn);
		EQUAL(all[size - 1], size - 1);
		in_partitions(d, turn);
		OK(MPI_Comm_free(&d));
	}
	working--;
	return NULL;
}

/* --- those who look --- */

static void saw(MPI_T_event_instance event, MPI_T_event_registration r,
		MPI_T_cb_safety safety, void *user_data)
{
	int what[2];

	OK(MPI_T_event_copy(event, what));
	CHECK(user_data == &heard);
	heard++;
}

static void *listen(void *arg)
{
	MPI_T_event_registration r;
	int i;

	OK(MPI_T_event_get_index("comm_created", &i));
	do {
		OK(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &r));
		OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE,
						 MPI_INFO_NULL, &heard, saw));
		for (int k = 0; k < 1000 && working; k++)
			sched_yield();
		OK(MPI_T_event_handle_free(r, NULL, NULL));
	} while (working);
	return NULL;
}

static void read_and_free(MPI_T_pvar_session s, MPI_Comm *c)
{
	unsigned long long v[16] = { 0 };
	MPI_T_pvar_handle h;
	int i, count;

	OK(MPI_T_pvar_get_index("bytes_sent_to", MPI_T_PVAR_CLASS_AGGREGATE,
				&i));
	OK(MPI_T_pvar_handle_alloc(s, i, c, &h, &count));
	EQUAL(count, size);
	OK(MPI_T_pvar_read(s, h, v));
	OK(MPI_T_pvar_reset(s, h));
	OK(MPI_T_pvar_handle_free(s, &h));
	OK(MPI_T_pvar_get_index("posted_receives", MPI_T_PVAR_CLASS_LEVEL, &i));
	OK(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count));
	OK(MPI_T_pvar_read(s, h, v));
	OK(MPI_T_pvar_handle_free(s, &h));
}

static void *look(void *arg)
{
	MPI_T_pvar_session own;
	MPI_T_cvar_handle v;
	char text[1024];
	int i, count;

	OK(MPI_T_cvar_get_index("O2G_CHANNELS", &i));
	do {
		OK(MPI_T_pvar_session_create(&own));
		read_and_free(own, &comms[0]);
		read_and_free(shared, &comms[1]);
		OK(MPI_T_pvar_session_free(&own));
		OK(MPI_T_cvar_handle_alloc(i, NULL, &v, &count));
		OK(MPI_T_cvar_read(v, text));
		OK(MPI_T_cvar_handle_free(&v));
	} while (working);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[WORKERS + 3];
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	EQUAL(provided, MPI_THREAD_MULTIPLE);
	OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
	EQUAL(provided, MPI_THREAD_MULTIPLE);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	CHECK(size <= 16);
	OK(MPI_T_pvar_session_create(&shared));
	working = WORKERS;
	for (int i = 0; i < WORKERS; i++)
		OK(MPI_Comm_dup(WORLD, &comms[i]));
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&t[i], NULL, work, &comms[i]);
	pthread_create(&t[WORKERS], NULL, listen, NULL);
	pthread_create(&t[WORKERS + 1], NULL, look, NULL);
	pthread_create(&t[WORKERS + 2], NULL, look, NULL);
	for (int i = 0; i < WORKERS + 3; i++)
		pthread_join(t[i], NULL);
	CHECK(heard <= WORKERS * TURNS);
	for (int i = 0; i < WORKERS; i++)
		OK(MPI_Comm_free(&comms[i]));
	OK(MPI_T_pvar_session_free(&shared));
	OK(MPI_T_finalize());
	return finish();
}
