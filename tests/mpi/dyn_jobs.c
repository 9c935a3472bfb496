/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * dyn_jobs server|client FILE [ROUNDS]: two jobs that meet, talk and part, so many
 * times. The server's port is in the file.
 */
#include <unistd.h>

#include "dyn_talk.h"
#include "held.h"

static char port[MPI_MAX_PORT_NAME];

static void tell(const char *file)
{
	char other[1024];
	FILE *f;

	snprintf(other, sizeof(other), "%s.new", file);
	f = fopen(other, "w");
	CHECK(f);
	fputs(port, f);
	fclose(f);
	CHECK(!rename(other, file));
}

static void hear(const char *file)
{
	FILE *f;

	for (int i = 0; i < 3000 && !(f = fopen(file, "r")); i++)
		usleep(10000);
	CHECK(f);
	CHECK(fgets(port, sizeof(port), f));
	fclose(f);
}

static void one_round(int server, int light)
{
	MPI_Comm inter;
	int n;

	if (server)
		OK(MPI_Comm_accept(port, MPI_INFO_NULL, size - 1, WORLD,
				   &inter));
	else
		OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, WORLD, &inter));
	OK(MPI_Comm_size(inter, &n));
	EQUAL(n, size);
	if (light)
		talk_any(inter);
	else
		talk(inter, server);
	OK(MPI_Comm_disconnect(&inter));
	CHECK(inter == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
	int server = argc > 1 && !strcmp(argv[1], "server");
	int rounds = argc > 3 ? atoi(argv[3]) : 1;
	struct held tenth = { 0 }, last;

	start(&argc, &argv);
	if (server && rank == size - 1) {
		OK(MPI_Open_port(MPI_INFO_NULL, port));
		tell(argv[2]);
	} else if (!server && rank == 0) {
		hear(argv[2]);
	}
	for (int i = 0; i < rounds; i++) {
		one_round(server, i > 3);
		if (i == 9)
			tenth = held_now();
	}
	last = held_now();
	/* Pools of requests still grow a little after the tenth; what a round leaves
	 * would be 32 bytes at least, of each of a thousand. A socket may still be
	 * on its way out. */
	if (rounds > 10 &&
	    (last.fds > tenth.fds + 2 || last.maps > tenth.maps + 2 ||
	     last.bytes > tenth.bytes + 16384)) {
		fprintf(stderr,
			"rank %d: %d fds, %d maps, %zu bytes after 10 rounds, "
			"%d, %d, %zu after %d\n",
			rank, tenth.fds, tenth.maps, tenth.bytes, last.fds,
			last.maps, last.bytes, rounds);
		MPI_Abort(WORLD, 1);
	}
	if (server && rank == size - 1)
		OK(MPI_Close_port(port));
	return finish();
}
