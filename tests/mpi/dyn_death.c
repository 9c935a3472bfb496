/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * dyn_death ROLE FILE: processes that are connected, and some end without a word.
 * The others are told within a second, and go on.
 *   victim, survivor: two jobs, and the first ends
 *   abort, aborted: the first ends by MPI_Abort, and the second with it
 *   vanishing, caller: the first ends while the second waits at its port
 *   parents: a child that they have spawned ends
 */
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static char port[MPI_MAX_PORT_NAME];

/* At rank 0: the server makes a port, and the other one finds it. */
static void find_port(int server, const char *file)
{
	char other[1024];
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
}

static void meet(int server, const char *file, MPI_Comm *inter)
{
	find_port(server, file);
	if (server)
		OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, WORLD, inter));
	else
		OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, WORLD, inter));
}

/* It is this error, and it came soon. */
static void told(int err, int want, double took)
{
	char words[MPI_MAX_ERROR_STRING];
	int class, len;

	MPI_Error_class(err, &class);
	MPI_Error_string(err, words, &len);
	if (class != want || took > 3) {
		fprintf(stderr, "rank %d: class %d after %.1f s: %s\n", rank,
			class, took, words);
		MPI_Abort(WORLD, 1);
	}
	if (took > 1.5)
		printf("rank %d was told after %.1f s\n", rank, took);
}

/* Rank 0 has talked to the one that dies, others have not; all are told. */
static void survive(MPI_Comm inter)
{
	double before;
	int v, err;

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
	told(err, MPI_ERR_PROC_ABORTED, MPI_Wtime() - before);
	MPI_Comm_disconnect(&inter);
	OK(MPI_Barrier(WORLD));
}

static void end_after(MPI_Comm inter)
{
	OK(MPI_Barrier(inter));
	usleep(200000);
	raise(SIGKILL);
}

static void victim(const char *file)
{
	MPI_Comm inter;

	meet(1, file, &inter);
	end_after(inter);
}

static void survivor(const char *file)
{
	MPI_Comm inter;

	meet(0, file, &inter);
	survive(inter);
}

static void aborts(const char *file)
{
	MPI_Comm inter;
	int v;

	meet(1, file, &inter);
	OK(MPI_Barrier(inter));
	if (rank == size - 1)
		MPI_Abort(WORLD, 7);
	MPI_Recv(&v, 1, MPI_INT, 0, 0, WORLD, IGNORE);
}

static void aborted(const char *file)
{
	MPI_Comm inter;
	int v;

	meet(0, file, &inter);
	OK(MPI_Barrier(inter));
	/* in its own job it would wait forever */
	MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORE);
}

/* Nobody accepts. */
static void vanishing(const char *file)
{
	find_port(1, file);
	if (rank == 0)
		sleep(1);
	raise(SIGKILL);
}

static void caller(const char *file)
{
	double before;
	MPI_Comm inter;
	int err;

	find_port(0, file);
	OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN));
	before = MPI_Wtime();
	err = MPI_Comm_connect(port, MPI_INFO_NULL, 0, WORLD, &inter);
	told(err, MPI_ERR_PORT, MPI_Wtime() - before - 1);
	OK(MPI_Barrier(WORLD));
}

/* The last of their children ends; the first does not, and its job is ended. */
static void parents(const char *file)
{
	char self[PATH_MAX], *args[] = { "child", (char *)file, NULL };
	MPI_Comm inter;
	double before;
	int v, err;

	CHECK(realpath("/proc/self/exe", self));
	OK(MPI_Comm_spawn(self, args, 2, MPI_INFO_NULL, 0, WORLD, &inter,
			  MPI_ERRCODES_IGNORE));
	OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	OK(MPI_Barrier(inter));
	before = MPI_Wtime();
	err = MPI_Recv(&v, 1, MPI_INT, 1, 0, inter, IGNORE);
	told(err, MPI_ERR_PROC_ABORTED, MPI_Wtime() - before);
	OK(MPI_Barrier(WORLD));
}

static void child(const char *file)
{
	MPI_Comm inter;
	int v;

	OK(MPI_Comm_get_parent(&inter));
	if (rank == 1)
		end_after(inter);
	OK(MPI_Barrier(inter));
	MPI_Recv(&v, 1, MPI_INT, 0, 0, inter, IGNORE);
}

static const struct {
	const char *name;
	void (*fn)(const char *file);
} roles[] = {
	{ "victim", victim },	    { "survivor", survivor },
	{ "abort", aborts },	    { "aborted", aborted },
	{ "parents", parents },	    { "child", child },
	{ "vanishing", vanishing }, { "caller", caller },
};

int main(int argc, char **argv)
{
	start(&argc, &argv);
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (argc > 2 && !strcmp(argv[1], roles[i].name))
			roles[i].fn(argv[2]);
	return finish();
}
