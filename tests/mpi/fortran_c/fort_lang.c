/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The C half of fort_lang.f90. */
#include "../check.h"

static int thing;

int64_t c_address_of_static(void)
{
	return (int64_t)(intptr_t)&thing;
}

MPI_Fint c_keyval(void)
{
	int key;

	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key,
			       NULL);
	return key;
}

/* C gets a pointer to what Fortran has set, of the length it was set with. */
void c_attributes(int comm, int from_c, int from_int, int from_aint,
		  int64_t expect)
{
	MPI_Comm c = MPI_Comm_f2c(comm);
	MPI_Aint *wide;
	int *narrow, *ub, flag;

	EQUAL(MPI_Comm_c2f(c), comm);
	OK(MPI_Comm_set_attr(c, from_c, &thing));
	OK(MPI_Comm_get_attr(c, from_int, &narrow, &flag));
	CHECK(flag);
	EQUAL(*narrow, -7);
	OK(MPI_Comm_get_attr(c, from_aint, &wide, &flag));
	CHECK(flag);
	EQUAL(*wide, expect);
	OK(MPI_Comm_get_attr(c, MPI_TAG_UB, &ub, &flag));
	CHECK(flag && *ub >= 32767);
}

void c_dups(int comm)
{
	MPI_Comm copy;

	OK(MPI_Comm_dup(MPI_Comm_f2c(comm), &copy));
	OK(MPI_Comm_free(&copy));
}

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
	CHECK(*type == MPI_INTEGER);
	for (int i = 0; i < *len; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

MPI_Fint c_op(void)
{
	MPI_Op op;

	MPI_Op_create(add, 1, &op);
	return MPI_Op_c2f(op);
}

void c_calls_op(int op, int type)
{
	int in[2] = { 10, 20 }, inout[2] = { 1, 2 };

	CHECK(MPI_Type_f2c(type) == MPI_INT);
	OK(MPI_Reduce_local(in, inout, 2, MPI_INT, MPI_Op_f2c(op)));
	EQUAL(inout[0], 9);
	EQUAL(inout[1], 18);
}

void c_raises(int errhandler)
{
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF,
				   MPI_Errhandler_f2c(errhandler)));
	FAILS(MPI_Send(&thing, 1, MPI_INT, 0, -5, MPI_COMM_SELF), MPI_ERR_TAG);
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

void c_status(MPI_Fint *f, MPI_F08_status *f08, MPI_Fint *ignore,
	      MPI_Fint *ignores)
{
	MPI_Status s = { .MPI_SOURCE = 1, .MPI_TAG = 2 };

	CHECK(ignore == MPI_F_STATUS_IGNORE);
	CHECK(ignores == MPI_F_STATUSES_IGNORE);
	MPI_Status_set_elements(&s, MPI_INT, 3);
	OK(MPI_Status_c2f(&s, f));
	OK(MPI_Status_c2f08(&s, f08));
}
