/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Sessions and processes that are spawned. The parents never call MPI_Init: they spawn
 * from a communicator of a session. The children have a world, as the standard asks of
 * whoever is spawned, and sessions beside it and after it; their process sets are of
 * their own world. They spawn in turn. The program is its own child.
 */
#include <limits.h>

#include "dyn_talk.h"

static char self[PATH_MAX];

static MPI_Comm comm_of(MPI_Session s, const char *set)
{
	MPI_Group g;
	MPI_Comm c;

	OK(MPI_Group_from_session_pset(s, set, &g));
	OK(MPI_Comm_create_from_group(g, "dyn", MPI_INFO_NULL,
				      MPI_ERRORS_RETURN, &c));
	OK(MPI_Group_free(&g));
	return c;
}

static void spawn(MPI_Comm comm, int n, const char *word)
{
	char *args[] = { (char *)word, NULL };
	MPI_Comm inter;
	int got;

	OK(MPI_Comm_spawn(self, args, n, MPI_INFO_NULL, 0, comm, &inter,
			  MPI_ERRCODES_IGNORE));
	OK(MPI_Comm_remote_size(inter, &got));
	EQUAL(got, n);
	talk(inter, 1);
	OK(MPI_Comm_disconnect(&inter));
}

static void be_parent(void)
{
	MPI_Session s;
	MPI_Comm c;

	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	c = comm_of(s, "mpi://WORLD");
	OK(MPI_Comm_rank(c, &rank));
	OK(MPI_Comm_size(c, &size));
	for (int i = 0; i < 2; i++) /* what the first left is not in the way */
		spawn(c, 2, "child");
	OK(MPI_Comm_free(&c));
	OK(MPI_Session_finalize(&s));
}

static void be_child(MPI_Comm parent, int deep)
{
	MPI_Session s;
	MPI_Comm c, own;
	int n, sum;

	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	c = comm_of(s, "mpi://WORLD");
	OK(MPI_Comm_size(c, &n));
	EQUAL(n, size); /* parents are no part of it */
	talk(parent, 0);
	OK(MPI_Comm_disconnect(&parent));
	own = comm_of(s, "mpi://SELF");
	if (!deep)
		spawn(own, 1, "leaf");
	OK(MPI_Comm_free(&own));
	OK(MPI_Finalize());
	/* the session goes on without the world model */
	OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c));
	EQUAL(sum, n * (n - 1) / 2);
	OK(MPI_Comm_free(&c));
	OK(MPI_Session_finalize(&s));
}

int main(int argc, char **argv)
{
	MPI_Comm parent;

	CHECK(realpath("/proc/self/exe", self));
	if (argc < 2) {
		be_parent();
		return 0;
	}
	start(&argc, &argv);
	OK(MPI_Comm_get_parent(&parent));
	CHECK(parent != MPI_COMM_NULL);
	be_child(parent, !strcmp(argv[1], "leaf"));
	return 0;
}
