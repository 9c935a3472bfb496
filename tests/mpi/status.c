/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Statuses: counts and elements, asked for and set. */
#include "check.h"

static void counts(void)
{
	MPI_Status s;
	int x[4] = { 1, 2, 3, 4 }, n;
	MPI_Count c;

	OK(MPI_Sendrecv(x, 3, MPI_INT, rank, 1, x, 4, MPI_INT, rank, 1, WORLD,
			&s));
	OK(MPI_Get_count(&s, MPI_INT, &n));
	EQUAL(n, 3);
	OK(MPI_Get_count(&s, MPI_BYTE, &n));
	EQUAL(n, 12);
	OK(MPI_Get_count(&s, MPI_DOUBLE, &n));
	EQUAL(n, MPI_UNDEFINED);
	OK(MPI_Get_count_c(&s, MPI_INT, &c));
	EQUAL(c, 3);
	OK(MPI_Get_elements(&s, MPI_INT, &n));
	EQUAL(n, 3);
	OK(MPI_Get_elements_c(&s, MPI_INT, &c));
	EQUAL(c, 3);
	OK(MPI_Get_elements_x(&s, MPI_INT, &c));
	EQUAL(c, 3);
	FAILS(MPI_Get_count(&s, MPI_DATATYPE_NULL, &n), MPI_ERR_TYPE);
}

/* Set elements and read them back, for a type of mixed basic types. */
static void elements(void)
{
	int lens[2] = { 2, 1 }, n;
	MPI_Aint at[2] = { 0, 8 };
	MPI_Datatype types[2] = { MPI_SHORT, MPI_DOUBLE }, t, empty;
	MPI_Status s;
	MPI_Count c;

	OK(MPI_Type_create_struct(2, lens, at, types, &t));
	OK(MPI_Type_commit(&t));
	for (int i = 0; i < 20; i++) {
		OK(MPI_Status_set_elements(&s, t, i));
		OK(MPI_Get_elements(&s, t, &n));
		EQUAL(n, i);
		OK(MPI_Get_count(&s, t, &n));
		EQUAL(n, i % 3 ? MPI_UNDEFINED : i / 3);
		OK(MPI_Get_count(&s, MPI_BYTE, &n));
		EQUAL(n, i / 3 * 12 + i % 3 * 2);
	}
	OK(MPI_Status_set_elements_c(&s, MPI_INT, 3000000000LL));
	OK(MPI_Get_elements_c(&s, MPI_INT, &c));
	EQUAL(c, 3000000000LL);
	OK(MPI_Get_count(&s, MPI_INT, &n));
	EQUAL(n, MPI_UNDEFINED); /* does not fit */
	OK(MPI_Status_set_elements_x(&s, MPI_BYTE, 5));
	OK(MPI_Get_elements_x(&s, MPI_BYTE, &c));
	EQUAL(c, 5);
	OK(MPI_Type_contiguous(0, MPI_INT, &empty));
	OK(MPI_Type_commit(&empty));
	OK(MPI_Status_set_elements(&s, MPI_INT, 0));
	OK(MPI_Get_count(&s, empty, &n));
	EQUAL(n, 0);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_free(&empty));
}

int main(int argc, char **argv)
{
	MPI_Status s;
	int n;

	start(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	EQUAL(sizeof(MPI_Status), 8 * sizeof(int));
	counts();
	elements();
	OK(MPI_Status_set_source(&s, 3));
	OK(MPI_Status_set_tag(&s, 4));
	OK(MPI_Status_set_error(&s, MPI_ERR_RANK));
	OK(MPI_Status_set_cancelled(&s, 1));
	CHECK(s.MPI_SOURCE == 3 && s.MPI_TAG == 4);
	OK(MPI_Status_get_source(&s, &n));
	EQUAL(n, 3);
	OK(MPI_Status_get_tag(&s, &n));
	EQUAL(n, 4);
	OK(MPI_Status_get_error(&s, &n));
	EQUAL(n, MPI_ERR_RANK);
	OK(MPI_Test_cancelled(&s, &n));
	EQUAL(n, 1);
	OK(MPI_Status_set_cancelled(&s, 0));
	OK(MPI_Test_cancelled(&s, &n));
	EQUAL(n, 0);
	FAILS(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &n), MPI_ERR_ARG);
	FAILS(MPI_Status_set_elements(&s, MPI_INT, -1), MPI_ERR_COUNT);
	return finish();
}
