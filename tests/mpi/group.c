/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Groups, all operations, against what the standard says of each. */
#include "check.h"

static MPI_Group world;

/* Does the group have exactly these world ranks, in order? */
static void is(MPI_Group g, int n, const int *ranks)
{
	int got, *mine = calloc(n + 1, sizeof(int));
	int *back = calloc(n + 1, sizeof(int)), me;

	OK(MPI_Group_size(g, &got));
	EQUAL(got, n);
	for (int i = 0; i < n; i++)
		mine[i] = i;
	OK(MPI_Group_translate_ranks(g, n, mine, world, back));
	for (int i = 0; i < n; i++)
		EQUAL(back[i], ranks[i]);
	OK(MPI_Group_rank(g, &me));
	for (int i = 0; i < n; i++)
		if (ranks[i] == rank)
			EQUAL(me, i);
	free(mine);
	free(back);
}

static MPI_Group of(int n, const int *ranks)
{
	MPI_Group g;

	OK(MPI_Group_incl(world, n, ranks, &g));
	is(g, n, ranks);
	return g;
}

static void sets(void)
{
	const int ab[] = { 3, 1, 0 }, cd[] = { 2, 1, 3 };
	const int both[] = { 3, 1 }, all[] = { 3, 1, 0, 2 }, diff[] = { 0 };
	const int more[] = { 2 };
	MPI_Group a = of(3, ab), b = of(3, cd), g;

	OK(MPI_Group_union(a, b, &g));
	is(g, 4, all);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_intersection(a, b, &g));
	is(g, 2, both); /* in the order of the first */
	OK(MPI_Group_free(&g));
	OK(MPI_Group_difference(a, b, &g));
	is(g, 1, diff);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_difference(b, a, &g));
	is(g, 1, more);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_difference(a, a, &g));
	CHECK(g == MPI_GROUP_EMPTY);
	OK(MPI_Group_intersection(a, MPI_GROUP_EMPTY, &g));
	CHECK(g == MPI_GROUP_EMPTY);
	OK(MPI_Group_union(MPI_GROUP_EMPTY, a, &g));
	is(g, 3, ab);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&a));
	OK(MPI_Group_free(&b));
}

static void compare(void)
{
	const int x[] = { 0, 1, 2 }, y[] = { 2, 1, 0 }, z[] = { 0, 1, 3 };
	MPI_Group a = of(3, x), b = of(3, y), c = of(3, z), d = of(3, x);
	int r;

	OK(MPI_Group_compare(a, a, &r));
	EQUAL(r, MPI_IDENT);
	OK(MPI_Group_compare(a, d, &r));
	EQUAL(r, MPI_IDENT);
	OK(MPI_Group_compare(a, b, &r));
	EQUAL(r, MPI_SIMILAR);
	OK(MPI_Group_compare(a, c, &r));
	EQUAL(r, MPI_UNEQUAL);
	OK(MPI_Group_compare(a, MPI_GROUP_EMPTY, &r));
	EQUAL(r, MPI_UNEQUAL);
	OK(MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &r));
	EQUAL(r, MPI_IDENT);
	OK(MPI_Group_free(&a));
	OK(MPI_Group_free(&b));
	OK(MPI_Group_free(&c));
	OK(MPI_Group_free(&d));
	CHECK(d == MPI_GROUP_NULL);
}

static void ranges(void)
{
	int up[][3] = { { 0, 3, 2 }, { 1, 1, 5 } };
	int down[][3] = { { 3, 0, -1 } }, odd[][3] = { { 3, 1, -2 } };
	const int in_up[] = { 0, 2, 1 }, in_down[] = { 3, 2, 1, 0 };
	const int in_odd[] = { 3, 1 }, ex_up[] = { 3 }, ex_odd[] = { 0, 2 };
	const int out[] = { 2 }, rest[] = { 0, 1, 3 };
	MPI_Group four, g;
	const int first4[] = { 0, 1, 2, 3 };

	four = of(4, first4);
	OK(MPI_Group_range_incl(four, 2, up, &g));
	is(g, 3, in_up);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_range_incl(four, 1, down, &g));
	is(g, 4, in_down);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_range_incl(four, 1, odd, &g));
	is(g, 2, in_odd);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_range_excl(four, 2, up, &g));
	is(g, 1, ex_up);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_range_excl(four, 1, odd, &g));
	is(g, 2, ex_odd);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_range_excl(four, 1, down, &g));
	CHECK(g == MPI_GROUP_EMPTY);
	OK(MPI_Group_excl(four, 1, out, &g));
	is(g, 3, rest);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_excl(four, 0, NULL, &g));
	is(g, 4, first4);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_incl(four, 0, NULL, &g));
	CHECK(g == MPI_GROUP_EMPTY);
	OK(MPI_Group_free(&four));
}

static void wrong(void)
{
	int none[][3] = { { 0, 1, 0 } }, far[][3] = { { 0, size, 1 } };
	int twice[][3] = { { 0, 2, 1 }, { 2, 2, 1 } };
	const int bad[] = { 0, -1 }, same[] = { 1, 1 };
	MPI_Group g, gone;
	int x;

	FAILS(MPI_Group_size(MPI_GROUP_NULL, &x), MPI_ERR_GROUP);
	FAILS(MPI_Group_rank(MPI_GROUP_NULL, &x), MPI_ERR_GROUP);
	FAILS(MPI_Group_incl(world, 2, bad, &g), MPI_ERR_RANK);
	FAILS(MPI_Group_incl(world, 2, same, &g), MPI_ERR_RANK);
	FAILS(MPI_Group_excl(world, 2, bad, &g), MPI_ERR_RANK);
	FAILS(MPI_Group_incl(world, -1, bad, &g), MPI_ERR_ARG);
	FAILS(MPI_Group_range_incl(world, 1, none, &g), MPI_ERR_ARG);
	FAILS(MPI_Group_range_incl(world, 1, far, &g), MPI_ERR_RANK);
	FAILS(MPI_Group_range_excl(world, 2, twice, &g), MPI_ERR_RANK);
	FAILS(MPI_Group_union(world, MPI_GROUP_NULL, &g), MPI_ERR_GROUP);
	FAILS(MPI_Group_translate_ranks(world, 2, bad, world, &x),
	      MPI_ERR_RANK);
	FAILS(MPI_Group_free(NULL), MPI_ERR_ARG);
	gone = MPI_GROUP_NULL;
	FAILS(MPI_Group_free(&gone), MPI_ERR_GROUP);
	FAILS(MPI_Group_size(world, NULL), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
	int x[3] = { 0, MPI_PROC_NULL, 1 }, y[3], n;
	const int one[] = { 1 };
	MPI_Group g;

	start(&argc, &argv);
	CHECK(size >= 4);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	OK(MPI_Comm_group(WORLD, &world));
	OK(MPI_Group_size(world, &n));
	EQUAL(n, size);
	OK(MPI_Group_size(MPI_GROUP_EMPTY, &n));
	EQUAL(n, 0);
	OK(MPI_Group_rank(MPI_GROUP_EMPTY, &n));
	EQUAL(n, MPI_UNDEFINED);
	sets();
	compare();
	ranges();
	wrong();
	g = of(1, one);
	OK(MPI_Group_translate_ranks(world, 3, x, g, y));
	EQUAL(y[0], MPI_UNDEFINED);
	EQUAL(y[1], MPI_PROC_NULL);
	EQUAL(y[2], 0);
	OK(MPI_Group_translate_ranks(world, 0, NULL, g, NULL));
	OK(MPI_Group_free(&g));
	g = MPI_GROUP_EMPTY;
	OK(MPI_Group_free(&g));
	CHECK(g == MPI_GROUP_NULL);
	OK(MPI_Group_free(&world));
	return finish();
}
