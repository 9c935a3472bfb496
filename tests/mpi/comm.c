/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Making, comparing, naming and freeing intracommunicators. */
#include "check.h"

/* A message round the ring and a barrier: does it work? */
static void works(MPI_Comm c)
{
	int me, n, x = -1;

	OK(MPI_Comm_rank(c, &me));
	OK(MPI_Comm_size(c, &n));
	OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 1, &x, 1, MPI_INT,
			(me + n - 1) % n, 1, c, IGNORE));
	EQUAL(x, (me + n - 1) % n);
	OK(MPI_Barrier(c));
}

static int compare(MPI_Comm a, MPI_Comm b)
{
	int r;

	OK(MPI_Comm_compare(a, b, &r));
	return r;
}

static void dup(void)
{
	MPI_Comm d, e;
	MPI_Info info, got;
	MPI_Request q;
	char value[20];
	int flag, len = 20;

	OK(MPI_Comm_dup(WORLD, &d));
	works(d);
	EQUAL(compare(WORLD, d), MPI_CONGRUENT);
	EQUAL(compare(d, d), MPI_IDENT);
	EQUAL(compare(WORLD, WORLD), MPI_IDENT);
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
	OK(MPI_Info_set(info, "no_such_hint", "5"));
	OK(MPI_Comm_dup_with_info(d, info, &e));
	OK(MPI_Info_delete(info, "mpi_assert_no_any_tag"));
	OK(MPI_Comm_set_info(e, info)); /* adds to the hints, here nothing */
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_get_info(e, &got));
	OK(MPI_Info_get_string(got, "mpi_assert_no_any_tag", &len, value,
			       &flag));
	CHECK(flag && !strcmp(value, "false"));
	OK(MPI_Info_get_string(got, "no_such_hint", &len, value, &flag));
	CHECK(!flag);
	OK(MPI_Info_free(&got));
	works(e);
	OK(MPI_Comm_free(&e));
	CHECK(e == MPI_COMM_NULL);
	/* Rank 0 starts it, then sends what the others wait for first. */
	if (rank)
		OK(MPI_Recv(&flag, 1, MPI_INT, 0, 5, WORLD, IGNORE));
	OK(MPI_Comm_idup(d, &e, &q));
	for (int i = 1; rank == 0 && i < size; i++)
		OK(MPI_Send(&flag, 1, MPI_INT, i, 5, WORLD));
	OK(MPI_Wait(&q, IGNORE));
	works(e);
	EQUAL(compare(d, e), MPI_CONGRUENT);
	OK(MPI_Comm_free(&e));
	OK(MPI_Comm_idup_with_info(d, MPI_INFO_NULL, &e, &q));
	OK(MPI_Wait(&q, IGNORE));
	works(e);
	OK(MPI_Comm_free(&e));
	OK(MPI_Comm_disconnect(&d));
	CHECK(d == MPI_COMM_NULL);
}

static void split(void)
{
	MPI_Comm d, e;
	int me, n;

	/* halves, in reverse */
	OK(MPI_Comm_split(WORLD, rank % 2, size - rank, &d));
	OK(MPI_Comm_rank(d, &me));
	OK(MPI_Comm_size(d, &n));
	EQUAL(n, (size + 1 - rank % 2) / 2);
	EQUAL(me, n - 1 - rank / 2);
	works(d);
	EQUAL(compare(WORLD, d), size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
	/* of a part, same keys: order kept */
	OK(MPI_Comm_split(d, me == 0 ? MPI_UNDEFINED : 3, 0, &e));
	if (me == 0) {
		CHECK(e == MPI_COMM_NULL);
	} else {
		int m2;

		OK(MPI_Comm_rank(e, &m2));
		EQUAL(m2, me - 1);
		works(e);
		OK(MPI_Comm_free(&e));
	}
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_split(WORLD, 0, -rank, &d));
	EQUAL(compare(WORLD, d), size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
	OK(MPI_Comm_free(&d));
}

static void split_type(void)
{
	MPI_Comm d;
	MPI_Info info;
	int n, m;

	OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			       &d));
	OK(MPI_Comm_size(d, &n));
	CHECK(n >= 1 && n <= size);
	works(d);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_split_type(WORLD,
			       rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0,
			       MPI_INFO_NULL, &d));
	CHECK((d == MPI_COMM_NULL) == (rank == 0));
	if (rank)
		OK(MPI_Comm_free(&d));
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
	OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &d));
	OK(MPI_Comm_size(d, &m));
	EQUAL(m, n);
	OK(MPI_Comm_free(&d));
	OK(MPI_Info_set(info, "mpi_hw_resource_type", "no such thing"));
	OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &d));
	CHECK(d == MPI_COMM_NULL);
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0,
			       MPI_INFO_NULL, &d));
	CHECK((d == MPI_COMM_NULL) ==
	      (n == size)); /* only if it gets smaller */
	if (d != MPI_COMM_NULL)
		OK(MPI_Comm_free(&d));
	FAILS(MPI_Comm_split_type(WORLD, 5, 0, MPI_INFO_NULL, &d), MPI_ERR_ARG);
}

static void create(void)
{
	MPI_Group world, g, back;
	MPI_Comm d;
	int *odd = calloc(size, sizeof(int)), n = 0, r, me;

	OK(MPI_Comm_group(WORLD, &world));
	for (int i = size - 1; i >= 0; i--)
		if (i % 2 || size == 1)
			odd[n++] = i;
	OK(MPI_Group_incl(world, n, odd, &g));
	OK(MPI_Group_rank(g, &me));
	OK(MPI_Comm_create(WORLD, g, &d));
	CHECK((d == MPI_COMM_NULL) == (me == MPI_UNDEFINED));
	if (d != MPI_COMM_NULL) {
		OK(MPI_Comm_group(d, &back));
		OK(MPI_Group_compare(g, back, &r));
		EQUAL(r, MPI_IDENT);
		OK(MPI_Group_free(&back));
		works(d);
		OK(MPI_Comm_free(&d));
		/* by the members alone, twice with different tags */
		for (int t = 0; t < 2; t++) {
			OK(MPI_Comm_create_group(WORLD, g, t, &d));
			works(d);
			OK(MPI_Comm_free(&d));
		}
	}
	OK(MPI_Comm_create(WORLD, MPI_GROUP_EMPTY, &d));
	CHECK(d == MPI_COMM_NULL);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&world));
	free(odd);
}

/* Many at once, and many after each other: contexts are used again. */
static void many(void)
{
	enum { N = 600 };
	static MPI_Comm d[N];
	static MPI_Request q[N / 2];
	static int y[N / 2];

	for (int i = 0; i < N; i++)
		OK(MPI_Comm_dup(i % 2 ? WORLD : MPI_COMM_SELF, &d[i]));
	/* each sees its own message only */
	for (int i = 0; i < N; i += 2)
		OK(MPI_Irecv(&y[i / 2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
			     d[i], &q[i / 2]));
	for (int i = N - 2; i >= 0; i -= 2)
		OK(MPI_Send(&i, 1, MPI_INT, 0, 0, d[i]));
	OK(MPI_Waitall(N / 2, q, MPI_STATUSES_IGNORE));
	for (int i = 0; i < N; i += 2)
		EQUAL(y[i / 2], i);
	works(d[N - 1]);
	for (int i = 0; i < N; i++)
		OK(MPI_Comm_free(&d[i]));
	for (int i = 0; i < 3000; i++) {
		OK(MPI_Comm_dup(MPI_COMM_SELF, &d[0]));
		OK(MPI_Comm_free(&d[0]));
	}
}

/* Freed while a receive is pending on it. */
static void pending(void)
{
	MPI_Comm d;
	MPI_Request q;
	MPI_Status s;
	int x = -1, peer = rank ^ 1;

	OK(MPI_Comm_split(WORLD, 0, -rank, &d)); /* reversed ranks */
	if (peer < size)
		OK(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 2, d, &q));
	if (peer < size)
		OK(MPI_Send(&rank, 1, MPI_INT, size - 1 - peer, 2, d));
	OK(MPI_Comm_free(&d));
	if (peer < size) {
		OK(MPI_Wait(&q, &s));
		EQUAL(x, peer);
		EQUAL(s.MPI_SOURCE, size - 1 - peer);
	}
}

static void names(void)
{
	char name[MPI_MAX_OBJECT_NAME], longer[300];
	MPI_Comm d;
	int len;

	OK(MPI_Comm_get_name(WORLD, name, &len));
	CHECK(!strcmp(name, "MPI_COMM_WORLD") && len == 14);
	OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &len));
	CHECK(!strcmp(name, "MPI_COMM_SELF"));
	OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &len));
	CHECK(!strcmp(name, "MPI_COMM_NULL"));
	OK(MPI_Comm_dup(WORLD, &d));
	OK(MPI_Comm_get_name(d, name, &len));
	CHECK(len == 0 && !name[0]);
	OK(MPI_Comm_set_name(d, "rows"));
	OK(MPI_Comm_get_name(d, name, &len));
	CHECK(!strcmp(name, "rows") && len == 4);
	memset(longer, 'x', sizeof(longer));
	longer[299] = '\0';
	OK(MPI_Comm_set_name(d, longer));
	OK(MPI_Comm_get_name(d, name, &len));
	EQUAL(len, MPI_MAX_OBJECT_NAME - 1);
	OK(MPI_Comm_free(&d));
}

static void wrong(void)
{
	MPI_Comm d, gone = MPI_COMM_NULL, world = WORLD;
	MPI_Group g;
	int x;

	FAILS(MPI_Comm_size(MPI_COMM_NULL, &x), MPI_ERR_COMM);
	FAILS(MPI_Comm_dup(MPI_COMM_NULL, &d), MPI_ERR_COMM);
	FAILS(MPI_Comm_dup(WORLD, NULL), MPI_ERR_ARG);
	FAILS(MPI_Comm_free(&gone), MPI_ERR_COMM);
	FAILS(MPI_Comm_free(&world), MPI_ERR_COMM);
	CHECK(world == WORLD);
	FAILS(MPI_Comm_split(WORLD, -5, 0, &d), MPI_ERR_ARG);
	FAILS(MPI_Comm_create(WORLD, MPI_GROUP_NULL, &d), MPI_ERR_GROUP);
	FAILS(MPI_Comm_remote_size(WORLD, &x), MPI_ERR_COMM);
	FAILS(MPI_Comm_remote_group(WORLD, &g), MPI_ERR_COMM);
	FAILS(MPI_Comm_create_group(WORLD, MPI_GROUP_EMPTY, -1, &d),
	      MPI_ERR_TAG);
	/* a group that is not part of the communicator */
	OK(MPI_Comm_group(WORLD, &g));
	if (size > 1)
		FAILS(MPI_Comm_create(MPI_COMM_SELF, g, &d), MPI_ERR_GROUP);
	OK(MPI_Group_free(&g));
	OK(MPI_Comm_dup(WORLD, &d));
	gone = d;
	OK(MPI_Comm_free(&d));
	FAILS(MPI_Comm_rank(d, &x), MPI_ERR_COMM);
	(void)gone;
}

int main(int argc, char **argv)
{
	MPI_Comm parent;
	int flag;

	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	dup();
	split();
	split_type();
	create();
	many();
	pending();
	names();
	wrong();
	EQUAL(compare(WORLD, MPI_COMM_SELF),
	      size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
	OK(MPI_Comm_test_inter(WORLD, &flag));
	CHECK(!flag);
	OK(MPI_Comm_get_parent(&parent));
	CHECK(parent == MPI_COMM_NULL);
	return finish();
}
