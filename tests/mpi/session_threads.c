/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Threads with a session each make communicators of the same processes at the
 * same time; only their strings tell them apart.
 */
#include <pthread.h>

#include "check.h"

#define THREADS 4
#define TURNS 10

static void *work(void *arg)
{
	int me = (int)(MPI_Aint)arg, n, r, sum, x;
	MPI_Session s;
	MPI_Group g;
	MPI_Info i;
	MPI_Comm c;
	char tag[32];

	OK(MPI_Info_create(&i));
	OK(MPI_Info_set(i, "mpi_thread_support_level", "MPI_THREAD_MULTIPLE"));
	for (int turn = 0; turn < TURNS; turn++) {
		OK(MPI_Session_init(i, MPI_ERRORS_RETURN, &s));
		OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &g));
		snprintf(tag, sizeof(tag), "thread %d", me);
		OK(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL,
					      MPI_ERRORS_RETURN, &c));
		OK(MPI_Group_free(&g));
		OK(MPI_Comm_size(c, &n));
		OK(MPI_Comm_rank(c, &r));
		x = r * 100 + me;
		OK(MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c));
		EQUAL(sum, 100 * n * (n - 1) / 2 + n * me);
		OK(MPI_Comm_free(&c));
		OK(MPI_Session_finalize(&s));
	}
	OK(MPI_Info_free(&i));
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)(MPI_Aint)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
