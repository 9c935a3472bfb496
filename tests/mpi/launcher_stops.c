/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The launcher stops answering while a rank asks it for an address: messages between
 * others go on, and nobody holds a lock meanwhile. When it answers again, so does the
 * message that waited.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define ROUNDS 200

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + t.tv_nsec / 1e9;
}

/* Whatever happens to us, the launcher goes on. */
static void stop_launcher(pid_t launcher)
{
	pid_t watcher = fork();

	CHECK(watcher >= 0);
	if (watcher == 0) {
		sleep(30);
		kill(launcher, SIGCONT);
		_exit(0);
	}
	kill(launcher, SIGSTOP);
}

static void pingpong(int other)
{
	int x = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (rank == 0) {
			MPI_Send(&i, 1, MPI_INT, other, 1, WORLD);
			MPI_Recv(&x, 1, MPI_INT, other, 1, WORLD, IGNORE);
			CHECK(x == i);
		} else {
			MPI_Recv(&x, 1, MPI_INT, other, 1, WORLD, IGNORE);
			MPI_Send(&x, 1, MPI_INT, other, 1, WORLD);
		}
	}
}

/* Within a host the ranks find each other by themselves. */
static bool needs_launcher(void)
{
	const char *channels = getenv("O2G_CHANNELS");

	return channels && !strstr(channels, "shm");
}

static void sender(void)
{
	pid_t launcher = getppid();
	int x = 5, done = 1;
	MPI_Request req;
	double began;

	pingpong(1);
	stop_launcher(launcher);
	began = now();
	MPI_Issend(&x, 1, MPI_INT, 2, 2, WORLD, &req);
	CHECK(now() - began < 5);
	pingpong(1);
	MPI_Test(&req, &done, IGNORE);
	CHECK(!done || !needs_launcher());
	CHECK(now() - began < 20);
	kill(launcher, SIGCONT);
	MPI_Wait(&req, IGNORE);
}

int main(int argc, char **argv)
{
	int x = 0;

	start(&argc, &argv);
	if (rank == 0)
		sender();
	else if (rank == 1)
		for (int i = 0; i < 2; i++)
			pingpong(0);
	else
		MPI_Recv(&x, 1, MPI_INT, 0, 2, WORLD, IGNORE);
	if (rank == 2)
		CHECK(x == 5);
	return finish();
}
