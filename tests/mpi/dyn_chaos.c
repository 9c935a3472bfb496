/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * dyn_chaos doomed|other FILE SEED: two jobs meet, merge, talk and part all the time,
 * and after a while a rank of the first kills itself, in the middle of whatever it is.
 * The first job ends; in the other all calls return, each rank sees an error that
 * says who was lost, and the job goes on by itself.
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static char port[MPI_MAX_PORT_NAME];

static void *kill_later(void *arg)
{
	usleep(*(int *)arg);
	raise(SIGKILL);
	return NULL;
}

static void find_port(int server, const char *file)
{
	char other[1024];
	FILE *f = NULL;

	if (rank)
		return;
	if (server) {
		OK(MPI_Open_port(MPI_INFO_NULL, port));
		snprintf(other, sizeof(other), "%s.new", file);
		f = fopen(other, "w");
		fputs(port, f);
		fclose(f);
		CHECK(!rename(other, file));
		return;
	}
	for (int i = 0; i < 3000 && !(f = fopen(file, "r")); i++)
		usleep(10000);
	CHECK(f && fgets(port, sizeof(port), f));
}

/* Everything that follows an error is skipped: the communicators are lost. */
static int one_round(int server)
{
	MPI_Comm inter, all;
	int v = rank, sum, n, err;
	static int buf[20000];

	err = server ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, WORLD, &inter) :
		       MPI_Comm_connect(port, MPI_INFO_NULL, 0, WORLD, &inter);
	if (err)
		return err;
	err = MPI_Intercomm_merge(inter, server, &all);
	for (int i = 0; i < 5 && !err; i++) {
		err = MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, all);
		if (!err)
			err = MPI_Bcast(buf, 20000, MPI_INT, i % 2, all);
		if (!err)
			err = MPI_Barrier(inter);
	}
	if (err)
		return err;
	MPI_Comm_size(all, &n);
	MPI_Comm_disconnect(&all);
	MPI_Comm_disconnect(&inter);
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	int server, err, us, mine;
	pthread_t t;

	start(&argc, &argv);
	if (argc < 4)
		return finish();
	server = !strcmp(argv[1], "doomed");
	srand(atoi(argv[3]));
	us = 100000 + rand() % 400000;
	mine = rand() % size == rank;
	find_port(server, argv[2]);
	OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN));
	if (server && mine)
		CHECK(!pthread_create(&t, NULL, kill_later, &us));
	do {
		int failed = one_round(server) != MPI_SUCCESS;

		/* some may have got through it */
		if (MPI_Allreduce(&failed, &err, 1, MPI_INT, MPI_MAX, WORLD))
			err = 1;
	} while (!err);
	if (server) /* mpiexec ends us */
		for (;;)
			pause();
	/* the job itself is whole */
	OK(MPI_Barrier(WORLD));
	return finish();
}
