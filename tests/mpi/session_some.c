/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Opening a session is local: only some ranks do, and communicators are made by
 * their members alone. The last rank does not use MPI, the one before it talks to
 * nobody but itself. NEVER=n: rank n is gone when others want to talk to it.
 * ALL=1: the last rank also opens a session, for launchers that let all wait for
 * all.
 */
#include <unistd.h>

#include "check.h"

static MPI_Comm comm_of(MPI_Session s, const char *set, int first, int n)
{
	int range[1][3] = { { first, first + n - 1, 1 } };
	MPI_Group all, some;
	MPI_Comm c;

	OK(MPI_Group_from_session_pset(s, set, &all));
	OK(MPI_Group_range_incl(all, 1, range, &some));
	OK(MPI_Comm_create_from_group(some, "some", MPI_INFO_NULL,
				      MPI_ERRORS_ARE_FATAL, &c));
	OK(MPI_Group_free(&all));
	OK(MPI_Group_free(&some));
	return c;
}

/* Short and long messages, and a collective. */
static void use(MPI_Comm c)
{
	enum { MANY = 200000 };
	static int out[MANY], in[MANY];
	int r, n, sum;

	OK(MPI_Comm_rank(c, &r));
	OK(MPI_Comm_size(c, &n));
	for (int i = 0; i < MANY; i++)
		out[i] = r + i;
	for (int count = 1; count <= MANY; count *= 200) {
		OK(MPI_Sendrecv(out, count, MPI_INT, (r + 1) % n, 0, in, count,
				MPI_INT, (r + n - 1) % n, 0, c, IGNORE));
		EQUAL(in[count - 1], (r + n - 1) % n + count - 1);
	}
	OK(MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, c));
	EQUAL(sum, n * (n - 1) / 2);
	OK(MPI_Comm_free(&c));
}

/* The halves of those who talk, then an intercommunicator of both. */
static void halves(MPI_Session s, int talkers)
{
	int half = talkers / 2, upper = rank >= half, x = -1;
	int mine[1][3] = { { upper ? half : 0, upper ? talkers - 1 : half - 1,
			     1 } };
	int theirs[1][3] = { { upper ? 0 : half, upper ? half - 1 : talkers - 1,
			       1 } };
	MPI_Group all, local, remote;
	MPI_Comm c;

	OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &all));
	OK(MPI_Group_range_incl(all, 1, mine, &local));
	OK(MPI_Group_range_incl(all, 1, theirs, &remote));
	OK(MPI_Intercomm_create_from_groups(local, 0, remote, 0, "halves",
					    MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
					    &c));
	OK(MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_MIN, c));
	EQUAL(x, upper ? 0 : half);
	OK(MPI_Comm_free(&c));
	OK(MPI_Group_free(&all));
	OK(MPI_Group_free(&local));
	OK(MPI_Group_free(&remote));
}

int main(void)
{
	const char *never = getenv("NEVER");
	int talkers;
	MPI_Session s;

	rank = atoi(getenv("PMI_RANK") ? getenv("PMI_RANK") : "0");
	size = atoi(getenv("PMI_SIZE") ? getenv("PMI_SIZE") : "1");
	talkers = size - 2;
	if (never && rank == atoi(never))
		return 0;
	if (rank == size - 1 && !getenv("ALL"))
		return 0;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s));
	use(comm_of(s, "mpi://SELF", 0, 1));
	if (rank < talkers) {
		/* the others end meanwhile */
		usleep(rank * 20000);
		halves(s, talkers);
		use(comm_of(s, "mpi://WORLD", 0, talkers));
	}
	OK(MPI_Session_finalize(&s));
	return 0;
}
