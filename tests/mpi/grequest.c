/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Generalized requests, completed here and by another thread. */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

static int queried, freed, cancels;

static int query(void *extra, MPI_Status *s)
{
	queried++;
	MPI_Status_set_elements(s, MPI_INT, *(int *)extra);
	MPI_Status_set_cancelled(s, cancels);
	s->MPI_SOURCE = 11;
	s->MPI_TAG = 12;
	return MPI_SUCCESS;
}

static int release(void *extra)
{
	freed++;
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
	cancels = !complete;
	return MPI_SUCCESS;
}

static int bad_query(void *extra, MPI_Status *s)
{
	return MPI_ERR_INTERN;
}

static int bad_release(void *extra)
{
	return MPI_ERR_FILE;
}

static MPI_Request complete_one(MPI_Grequest_query_function *q,
				MPI_Grequest_free_function *f)
{
	static int n = 1;
	MPI_Request req;

	OK(MPI_Grequest_start(q, f, cancel, &n, &req));
	OK(MPI_Grequest_complete(req));
	return req;
}

/*
 * What a callback returns is returned by the MPI call that has invoked it; where
 * one invokes query_fn and free_fn, what the last of them, free_fn, has returned.
 * Calls that complete several return MPI_ERR_IN_STATUS, and the codes are in the
 * statuses.
 */
static void callbacks_fail(void)
{
	MPI_Request q, two[2];
	MPI_Status s, ss[2];
	int flag, n = 1;

	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	q = complete_one(query, bad_release);
	OK(MPI_Request_get_status(q, &flag, &s)); /* does not free it */
	FAILS(MPI_Wait(&q, &s), MPI_ERR_FILE);
	CHECK(q == MPI_REQUEST_NULL);
	EQUAL(count_of(&s, MPI_INT), 1);
	q = complete_one(bad_query, bad_release);
	FAILS(MPI_Test(&q, &flag, IGNORE), MPI_ERR_FILE);
	q = complete_one(bad_query, release);
	FAILS(MPI_Wait(&q, &s), MPI_ERR_INTERN);
	two[0] = complete_one(query, release);
	two[1] = complete_one(query, bad_release);
	FAILS(MPI_Waitall(2, two, ss), MPI_ERR_IN_STATUS);
	EQUAL(ss[0].MPI_ERROR, MPI_SUCCESS);
	EQUAL(ss[1].MPI_ERROR, MPI_ERR_FILE);
	q = complete_one(query, bad_release);
	FAILS(MPI_Request_free(&q), MPI_ERR_FILE);
	CHECK(q == MPI_REQUEST_NULL);
	/* given up before: then the call that completes it frees it */
	OK(MPI_Grequest_start(query, bad_release, cancel, &n, &q));
	two[0] = q;
	OK(MPI_Request_free(&q));
	FAILS(MPI_Grequest_complete(two[0]), MPI_ERR_FILE);
}

static void *later(void *arg)
{
	usleep(30000);
	OK(MPI_Grequest_complete(*(MPI_Request *)arg));
	return NULL;
}

int main(int argc, char **argv)
{
	MPI_Request q, copy, both[2];
	MPI_Status s, ss[2];
	pthread_t t;
	int flag = 1, n = 3, level, x;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	EQUAL(level, MPI_THREAD_MULTIPLE);
	MPI_Comm_rank(WORLD, &rank);

	OK(MPI_Grequest_start(query, release, cancel, &n, &q));
	OK(MPI_Test(&q, &flag, &s));
	CHECK(!flag && !queried);
	OK(MPI_Grequest_complete(q));
	OK(MPI_Request_get_status(q, &flag, &s));
	CHECK(flag && queried == 1 && !freed);
	OK(MPI_Wait(&q, &s));
	CHECK(q == MPI_REQUEST_NULL && freed == 1 && queried == 2);
	EQUAL(s.MPI_SOURCE, 11);
	EQUAL(count_of(&s, MPI_INT), 3);

	/* asleep until another thread completes it */
	OK(MPI_Grequest_start(query, release, cancel, &n, &q));
	copy = q;
	pthread_create(&t, NULL, later, &copy);
	OK(MPI_Wait(&q, &s));
	pthread_join(t, NULL);
	EQUAL(freed, 2);

	/* among others */
	OK(MPI_Grequest_start(query, release, cancel, &n, &both[0]));
	copy = both[0];
	OK(MPI_Irecv(&x, 1, MPI_INT, rank, 1, WORLD, &both[1]));
	pthread_create(&t, NULL, later, &copy);
	OK(MPI_Send(&n, 1, MPI_INT, rank, 1, WORLD));
	OK(MPI_Waitall(2, both, ss));
	pthread_join(t, NULL);
	EQUAL(ss[0].MPI_TAG, 12);
	EQUAL(ss[1].MPI_SOURCE, rank);

	/* given up, completed afterwards */
	OK(MPI_Grequest_start(query, release, cancel, &n, &q));
	copy = q;
	OK(MPI_Request_free(&q));
	EQUAL(freed, 3);
	OK(MPI_Grequest_complete(copy));
	EQUAL(freed, 4);

	OK(MPI_Grequest_start(query, release, cancel, &n, &q));
	OK(MPI_Cancel(&q));
	OK(MPI_Grequest_complete(q));
	OK(MPI_Wait(&q, &s));
	OK(MPI_Test_cancelled(&s, &flag));
	CHECK(flag);
	callbacks_fail();
	return finish();
}
