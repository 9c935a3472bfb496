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
	return finish();
}
