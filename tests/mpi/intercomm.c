/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Intercommunicators: made, used, split, merged. */
#include "check.h"

static MPI_Comm half, inter;
static int mine, me, n, others; /* side, rank and size, size of the other */

/* Everybody of this side to everybody of the other, received by name and
 * then as they come. */
static void works(MPI_Comm c)
{
	int remote, r, x;
	MPI_Status s;

	OK(MPI_Comm_rank(c, &r));
	OK(MPI_Comm_remote_size(c, &remote));
	for (int tag = 0; tag < 2; tag++) {
		x = 1000 * rank + r;
		for (int i = 0; i < remote; i++)
			OK(MPI_Send(&x, 1, MPI_INT, i, tag, c));
		for (int i = 0; i < remote; i++) {
			OK(MPI_Recv(&x, 1, MPI_INT, tag ? MPI_ANY_SOURCE : i,
				    tag, c, &s));
			EQUAL(x % 1000, s.MPI_SOURCE);
			CHECK(x / 1000 % 2 != mine); /* from the other side */
		}
		OK(MPI_Barrier(c));
	}
}

static void basics(void)
{
	MPI_Group g, r, both;
	int flag, x;

	OK(MPI_Comm_test_inter(inter, &flag));
	CHECK(flag);
	OK(MPI_Comm_size(inter, &x));
	EQUAL(x, n);
	OK(MPI_Comm_rank(inter, &x));
	EQUAL(x, me);
	OK(MPI_Comm_remote_size(inter, &x));
	EQUAL(x, others);
	OK(MPI_Comm_group(inter, &g));
	OK(MPI_Comm_remote_group(inter, &r));
	OK(MPI_Group_size(r, &x));
	EQUAL(x, others);
	OK(MPI_Group_free(&g));
	OK(MPI_Comm_group(half, &g));
	OK(MPI_Group_intersection(g, r, &both));
	CHECK(both == MPI_GROUP_EMPTY);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&r));
}

/* The first of each side exchange in turn, to see direction and context. */
static void ping(MPI_Comm c)
{
	int x = mine, y = -1;

	if (me)
		return;
	OK(MPI_Sendrecv(&x, 1, MPI_INT, 0, 9, &y, 1, MPI_INT, 0, 9, c, IGNORE));
	EQUAL(y, !mine);
}

static void dup_compare(void)
{
	MPI_Comm d, e;
	MPI_Request q;
	int r;

	OK(MPI_Comm_dup(inter, &d));
	ping(d);
	OK(MPI_Comm_compare(inter, d, &r));
	EQUAL(r, MPI_CONGRUENT);
	OK(MPI_Comm_compare(inter, half, &r));
	EQUAL(r, MPI_UNEQUAL);
	OK(MPI_Comm_idup(d, &e, &q));
	OK(MPI_Wait(&q, IGNORE));
	ping(e);
	works(e);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_free(&e));
}

static void merge(int high_of_even, int high_of_odd)
{
	int high = mine ? high_of_odd : high_of_even, r, s, x;
	int even_first = high_of_even == high_of_odd ? 1 : !high_of_even;
	MPI_Comm d;

	OK(MPI_Intercomm_merge(inter, high, &d));
	OK(MPI_Comm_rank(d, &r));
	OK(MPI_Comm_size(d, &s));
	EQUAL(s, size);
	EQUAL(r, (mine == 0) == even_first ? me : others + me);
	OK(MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, d));
	EQUAL(x, size * (size - 1) / 2);
	OK(MPI_Comm_free(&d));
}

static void split_create(void)
{
	MPI_Comm d;
	MPI_Group g, sub;
	int last = n - 1, x;

	/* the first of each side apart from the rest */
	OK(MPI_Comm_split(inter, me == 0, 0, &d));
	if (me == 0) {
		OK(MPI_Comm_remote_size(d, &x));
		EQUAL(x, 1);
		OK(MPI_Comm_size(d, &x));
		EQUAL(x, 1);
		ping(d);
	} else {
		CHECK((d == MPI_COMM_NULL) == (others == 1));
	}
	if (d != MPI_COMM_NULL)
		OK(MPI_Comm_free(&d));
	/* a color that one side only has */
	OK(MPI_Comm_split(inter, mine, 0, &d));
	CHECK(d == MPI_COMM_NULL);
	OK(MPI_Comm_split(inter, MPI_UNDEFINED, 0, &d));
	CHECK(d == MPI_COMM_NULL);
	/* the last of each side */
	OK(MPI_Comm_group(inter, &g));
	OK(MPI_Group_incl(g, 1, &last, &sub));
	OK(MPI_Comm_create(inter, sub, &d));
	CHECK((d == MPI_COMM_NULL) == (me != last));
	if (d != MPI_COMM_NULL) {
		x = -1;
		OK(MPI_Sendrecv(&mine, 1, MPI_INT, 0, 9, &x, 1, MPI_INT, 0, 9,
				d, IGNORE));
		EQUAL(x, !mine);
		OK(MPI_Comm_free(&d));
	}
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&sub));
}

static void wrong(void)
{
	MPI_Comm d;
	int x = 0;

	FAILS(MPI_Send(&x, 1, MPI_INT, others, 1, inter), MPI_ERR_RANK);
	FAILS(MPI_Intercomm_merge(half, 0, &d), MPI_ERR_COMM);
	FAILS(MPI_Intercomm_create(inter, 0, WORLD, 0, 1, &d), MPI_ERR_COMM);
	FAILS(MPI_Intercomm_create(half, n, WORLD, 0, 1, &d), MPI_ERR_RANK);
	if (n == 1) {
		FAILS(MPI_Intercomm_create(half, 0, MPI_COMM_NULL, 0, 1, &d),
		      MPI_ERR_COMM);
		FAILS(MPI_Intercomm_create(half, 0, WORLD, size, 1, &d),
		      MPI_ERR_RANK);
		FAILS(MPI_Intercomm_create(half, 0, WORLD, 0, -1, &d),
		      MPI_ERR_TAG);
	}
}

int main(int argc, char **argv)
{
	int leader;

	start(&argc, &argv);
	CHECK(size >= 2);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	mine = rank % 2;
	OK(MPI_Comm_split(WORLD, mine, rank, &half));
	OK(MPI_Comm_rank(half, &me));
	OK(MPI_Comm_size(half, &n));
	others = size - n;
	for (int turn = 0; turn < 2; turn++) {
		/* leaders: the first of each, then the last of each */
		int lead = turn ? n - 1 : 0;

		leader = turn ? 2 * (others - 1) + !mine : !mine;
		OK(MPI_Intercomm_create(half, lead, WORLD, leader, 12 + turn,
					&inter));
		basics();
		works(inter);
		ping(inter);
		dup_compare();
		merge(0, 1);
		merge(1, 0);
		merge(0, 0);
		merge(1, 1);
		split_create();
		wrong();
		OK(MPI_Comm_free(&inter));
	}
	OK(MPI_Comm_free(&half));
	return finish();
}
