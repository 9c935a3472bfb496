/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * dyn_again WHAT server|client FILE ROUNDS: two jobs that meet again and again, when one
 * of them has forgotten the other and the other has not:
 *   kept, other: the server or the client keeps a group of each round
 *   threads: several threads of each rank do it at the same time, at a port each
 *   crowd: the same at one port
 */
#include <pthread.h>
#include <unistd.h>

#include "dyn_talk.h"
#include "held.h"

#define THREADS 4

static char port[THREADS][MPI_MAX_PORT_NAME];
static int server, rounds, ports;

static void tell(const char *file, const char *name)
{
	char other[1024];
	FILE *f;

	snprintf(other, sizeof(other), "%s.new", file);
	f = fopen(other, "w");
	CHECK(f);
	fputs(name, f);
	fclose(f);
	CHECK(!rename(other, file));
}

static void hear(const char *file, char *name)
{
	FILE *f;

	for (int i = 0; i < 3000 && !(f = fopen(file, "r")); i++)
		usleep(10000);
	CHECK(f);
	CHECK(fgets(name, MPI_MAX_PORT_NAME, f));
	fclose(f);
}

static void find_ports(const char *file, int n)
{
	char name[1024];

	ports = n;
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s.%d.%d", file, rank, i);
		if (server) {
			OK(MPI_Open_port(MPI_INFO_NULL, port[i]));
			tell(name, port[i]);
		} else {
			hear(name, port[i]);
		}
	}
}

static void meet(const char *name, MPI_Comm comm, MPI_Comm *inter)
{
	if (server)
		OK(MPI_Comm_accept(name, MPI_INFO_NULL, 0, comm, inter));
	else
		OK(MPI_Comm_connect(name, MPI_INFO_NULL, 0, comm, inter));
}

/* They talk in some rounds: in the others some have never been connected. */
static void talk_or_not(MPI_Comm inter, int i)
{
	if (i % 3 == 1)
		talk_any(inter);
	else if (i % 3 == 2)
		talk_pairs(inter);
}

/* --- groups that are kept --- */

static void keep_groups(int keeper)
{
	MPI_Group *g = calloc(rounds, sizeof(*g));
	MPI_Comm inter;
	int result;

	for (int i = 0; i < rounds; i++) {
		meet(port[0], WORLD, &inter);
		if (server == keeper) {
			OK(MPI_Comm_remote_group(inter, &g[i]));
			OK(MPI_Group_compare(g[0], g[i], &result));
			EQUAL(result, MPI_IDENT);
		}
		if (i == 10)
			talk(inter, server);
		else
			talk_or_not(inter, i);
		OK(MPI_Comm_disconnect(&inter));
	}
	for (int i = 0; i < rounds && server == keeper; i++)
		OK(MPI_Group_free(&g[i]));
	free(g);
}

/* --- threads --- */

static void *again(void *arg)
{
	const char *name = port[*(int *)arg % ports];
	MPI_Comm self, inter;

	OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
	for (int i = 0; i < rounds; i++) {
		meet(name, self, &inter);
		if (ports > 1)
			talk_or_not(inter, i);
		else /* no two threads need be in the same round */
			talk_pairs(inter);
		OK(MPI_Comm_disconnect(&inter));
	}
	OK(MPI_Comm_free(&self));
	return NULL;
}

static void in_threads(void)
{
	pthread_t t[THREADS];
	int number[THREADS];

	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		CHECK(!pthread_create(&t[i], NULL, again, &number[i]));
	}
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(t[i], NULL));
}

int main(int argc, char **argv)
{
	struct held then = { 0 }, now = { 0 };
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	CHECK(argc > 4);
	server = !strcmp(argv[2], "server");
	rounds = atoi(argv[4]);
	find_ports(argv[3], strcmp(argv[1], "threads") ? 1 : THREADS);
	for (int i = 0; i < 3; i++) {
		if (!strcmp(argv[1], "kept"))
			keep_groups(1);
		else if (!strcmp(argv[1], "other"))
			keep_groups(0);
		else
			in_threads();
		if (i == 0)
			then = held_now();
	}
	now = held_now();
	if (now.fds > then.fds + 4 || now.maps > then.maps + 16) {
		fprintf(stderr, "rank %d: %d fds, %d maps; then %d, %d\n", rank,
			then.fds, then.maps, now.fds, now.maps);
		MPI_Abort(WORLD, 1);
	}
	for (int i = 0; i < ports && server; i++)
		OK(MPI_Close_port(port[i]));
	return finish();
}
