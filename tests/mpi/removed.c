/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The names that MPI 3.0 has removed, as programs of 1995 use them. */
#include "check.h"

struct item {
	double value;
	int id[2];
};

static int handled;

static void note(MPI_Comm *comm, int *code, ...)
{
	handled++;
}

static void types(void)
{
	struct item items[2] = { { 1, { 2, 3 } }, { 4, { 5, 6 } } }, got[2];
	int lengths[2] = { 1, 2 };
	MPI_Aint at[2], base, extent, lb, ub;
	MPI_Datatype kinds[2] = { MPI_DOUBLE, MPI_INT }, t, column;

	OK(MPI_Address(&items[0], &base));
	OK(MPI_Address(&items[0].value, &at[0]));
	OK(MPI_Address(items[0].id, &at[1]));
	at[0] -= base;
	at[1] -= base;
	OK(MPI_Type_struct(2, lengths, at, kinds, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Type_extent(t, &extent));
	EQUAL(extent, sizeof(struct item));
	memset(got, 0, sizeof(got));
	OK(MPI_Sendrecv(items, 2, t, 0, 0, got, 2, t, 0, 0, MPI_COMM_SELF,
			IGNORE));
	CHECK(!memcmp(items, got, sizeof(got)));
	OK(MPI_Type_free(&t));

	OK(MPI_Type_hvector(3, 1, 16, MPI_INT, &column));
	OK(MPI_Type_extent(column, &extent));
	EQUAL(extent, 36);
	OK(MPI_Type_free(&column));
	at[0] = 8;
	at[1] = 40;
	OK(MPI_Type_hindexed(2, lengths, at, MPI_INT, &t));
	OK(MPI_Type_lb(t, &lb));
	OK(MPI_Type_ub(t, &ub));
	EQUAL(lb, 8);
	EQUAL(ub, 48);
	OK(MPI_Type_free(&t));
}

static void handlers(void)
{
	MPI_Errhandler ours, got;

	OK(MPI_Errhandler_create(note, &ours));
	OK(MPI_Errhandler_set(MPI_COMM_SELF, ours));
	OK(MPI_Errhandler_get(MPI_COMM_SELF, &got));
	CHECK(got == ours);
	MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_SELF);
	EQUAL(handled, 1);
	OK(MPI_Errhandler_free(&got));
	OK(MPI_Errhandler_free(&ours));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	types();
	handlers();
	return finish();
}
