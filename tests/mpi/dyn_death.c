/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * dyn_death victim|survivor|abort|aborted FILE: two jobs that are connected, and one of
 * them ends without a word. The other is told within a second, and goes on. Or it
 * ends by MPI_Abort: then the other ends as well.
 */
#include <signal.h>
#include <unistd.h>

#include "check.h"

static void meet(int server, const char *file, MPI_Comm *inter)
{
	char port[MPI_MAX_PORT_NAME] = "", other[1024];
	FILE *f = NULL;

	if (server && rank == 0) {
		OK(MPI_Open_port(MPI_INFO_NULL, port));
		snprintf(other, sizeof(other), "%s.new", file);
		f = fopen(other, "w");
		fputs(port, f);
		fclose(f);
		CHECK(!rename(other, file));
	} else if (rank == 0) {
		for (int i = 0; i < 3000 && !(f = fopen(file, "r")); i++)
			usleep(10000);
		CHECK(f && fgets(port, sizeof(port), f));
	}
	if (server)
		OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, WORLD, inter));
	else
		OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, WORLD, inter));
}

/* Rank 0 has talked to the one that dies, others have not; all are told. */
static void survive(MPI_Comm inter)
{
	double before, took;
	int v, err, class;
	char words[MPI_MAX_ERROR_STRING];

	OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	OK(MPI_Barrier(inter));
	before = MPI_Wtime();
	if (rank == 0)
		err = MPI_Recv(&v, 1, MPI_INT, 0, 0, inter, IGNORE);
	else if (rank == 1)
		err = MPI_Barrier(inter);
	else
		err = MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter,
			       IGNORE);
	took = MPI_Wtime() - before;
	MPI_Error_class(err, &class);
	MPI_Error_string(err, words, &v);
	if (class != MPI_ERR_PROC_ABORTED || took > 3) {
		fprintf(stderr, "rank %d: class %d after %.1f s: %s\n", rank,
			class, took, words);
		MPI_Abort(WORLD, 1);
	}
	if (took > 1.5)
		printf("rank %d was told after %.1f s\n", rank, took);
	MPI_Comm_disconnect(&inter);
	OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
	const char *role = argc > 2 ? argv[1] : "";
	MPI_Comm inter;
	int v;

	start(&argc, &argv);
	if (argc < 3)
		return finish();
	if (!strcmp(role, "victim")) {
		meet(1, argv[2], &inter);
		OK(MPI_Barrier(inter));
		usleep(200000);
		raise(SIGKILL);
	} else if (!strcmp(role, "survivor")) {
		meet(0, argv[2], &inter);
		survive(inter);
	} else if (!strcmp(role, "abort")) {
		meet(1, argv[2], &inter);
		OK(MPI_Barrier(inter));
		if (rank == size - 1)
			MPI_Abort(WORLD, 7);
		MPI_Recv(&v, 1, MPI_INT, 0, 0, WORLD, IGNORE);
	} else {
		meet(0, argv[2], &inter);
		OK(MPI_Barrier(inter));
		/* in its own job it would wait forever */
		MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORE);
	}
	return finish();
}
