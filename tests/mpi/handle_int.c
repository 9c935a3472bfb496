/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Handles as integers, both ways and for every kind of object: predefined ones
 * are the ABI's values, others keep their number while they live, and numbers
 * are used again. Several threads at once.
 */
#include "check.h"

#include <pthread.h>

/* There and back; @value is what the ABI says. */
#define PREDEFINED(X, handle, value)                         \
	do {                                                 \
		EQUAL(MPI_##X##_toint(handle), value);       \
		EQUAL(MPI_##X##_c2f(handle), value);         \
		CHECK(MPI_##X##_fromint(value) == (handle)); \
		CHECK(MPI_##X##_f2c(value) == (handle));     \
	} while (0)

#define DYNAMIC(X, handle)                                \
	do {                                              \
		int n_ = MPI_##X##_toint(handle);         \
		CHECK(n_ >= 4096);                        \
		EQUAL(MPI_##X##_toint(handle), n_);       \
		EQUAL(MPI_##X##_c2f(handle), n_);         \
		CHECK(MPI_##X##_fromint(n_) == (handle)); \
		CHECK(MPI_##X##_f2c(n_) == (handle));     \
	} while (0)

static void predefined(void)
{
	PREDEFINED(Comm, MPI_COMM_WORLD, 0x101);
	PREDEFINED(Comm, MPI_COMM_NULL, 0x100);
	PREDEFINED(Group, MPI_GROUP_EMPTY, 0x109);
	PREDEFINED(Type, MPI_INT, 0x209);
	PREDEFINED(Type, MPI_DATATYPE_NULL, 0x200);
	PREDEFINED(Op, MPI_SUM, 0x21);
	PREDEFINED(Errhandler, MPI_ERRORS_RETURN, 0x143);
	PREDEFINED(Request, MPI_REQUEST_NULL, 0x180);
	PREDEFINED(Info, MPI_INFO_ENV, 0x131);
	PREDEFINED(Message, MPI_MESSAGE_NO_PROC, 0x129);
	PREDEFINED(File, MPI_FILE_NULL, 0x118);
	PREDEFINED(Win, MPI_WIN_NULL, 0x110);
	PREDEFINED(Session, MPI_SESSION_NULL, 0x120);
}

static void nothing(void *in, void *inout, int *len, MPI_Datatype *type)
{
}

static void handler(MPI_Comm *comm, int *code, ...)
{
}

static void dynamic(void)
{
	MPI_Errhandler errh;
	MPI_Datatype type;
	MPI_Request req;
	MPI_Message msg;
	MPI_Group group;
	MPI_Comm comm;
	MPI_Info info;
	MPI_Op op;
	int x = 5, y = 0;

	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	DYNAMIC(Comm, comm);
	MPI_Comm_group(comm, &group);
	DYNAMIC(Group, group);
	MPI_Type_contiguous(3, MPI_INT, &type);
	DYNAMIC(Type, type);
	MPI_Op_create(nothing, 1, &op);
	DYNAMIC(Op, op);
	MPI_Comm_create_errhandler(handler, &errh);
	DYNAMIC(Errhandler, errh);
	MPI_Info_create(&info);
	DYNAMIC(Info, info);
	MPI_Irecv(&y, 1, MPI_INT, 0, 7, comm, &req);
	DYNAMIC(Request, req);
	MPI_Send(&x, 1, MPI_INT, 0, 7, comm);
	MPI_Wait(&req, IGNORE);
	EQUAL(y, 5);
	MPI_Send(&x, 1, MPI_INT, 0, 8, comm);
	MPI_Mprobe(0, 8, comm, &msg, IGNORE);
	DYNAMIC(Message, msg);
	MPI_Mrecv(&y, 1, MPI_INT, &msg, IGNORE);

	MPI_Info_free(&info);
	MPI_Errhandler_free(&errh);
	MPI_Op_free(&op);
	MPI_Type_free(&type);
	MPI_Group_free(&group);
	MPI_Comm_free(&comm);
}

/* A freed handle's number names nothing; it is given out again. */
static void recycled(void)
{
	MPI_Datatype type;
	int first, n, largest = 0;

	MPI_Type_contiguous(2, MPI_INT, &type);
	first = MPI_Type_toint(type);
	MPI_Type_free(&type);
	CHECK(!MPI_Type_fromint(first));
	for (int i = 0; i < 5000; i++) {
		MPI_Type_contiguous(2, MPI_INT, &type);
		n = MPI_Type_toint(type);
		largest = n > largest ? n : largest;
		MPI_Type_free(&type);
	}
	CHECK(largest < 4096 + 64);
	CHECK(!MPI_Comm_fromint(-1));
	CHECK(!MPI_Comm_fromint(0x7fffffff));
}

#define MANY 3000

/* More than one block of the table, and none given out twice. */
static void *many(void *arg)
{
	static MPI_Info infos[4][MANY];
	MPI_Info *mine = infos[*(int *)arg];
	int *numbers = malloc(MANY * sizeof(*numbers));

	for (int i = 0; i < MANY; i++) {
		MPI_Info_create(&mine[i]);
		numbers[i] = MPI_Info_toint(mine[i]);
	}
	for (int i = 0; i < MANY; i++)
		CHECK(MPI_Info_fromint(numbers[i]) == mine[i]);
	for (int i = 0; i < MANY; i++)
		MPI_Info_free(&mine[i]);
	free(numbers);
	return NULL;
}

static void threads(void)
{
	int number[4] = { 0, 1, 2, 3 };
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&t[i], NULL, many, &number[i]));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void statuses(void)
{
	MPI_Fint f[MPI_F_STATUS_SIZE], f2[MPI_F_STATUS_SIZE];
	MPI_F08_status f08;
	MPI_Status s, back;

	memset(&s, 0, sizeof(s));
	s.MPI_SOURCE = 3;
	s.MPI_TAG = 4;
	s.MPI_ERROR = 5;
	MPI_Status_set_elements(&s, MPI_INT, 6);
	OK(MPI_Status_c2f(&s, f));
	EQUAL(f[MPI_F_SOURCE], 3);
	EQUAL(f[MPI_F_TAG], 4);
	EQUAL(f[MPI_F_ERROR], 5);
	OK(MPI_Status_f2f08(f, &f08));
	EQUAL(f08.MPI_TAG, 4);
	OK(MPI_Status_f082f(&f08, f2));
	OK(MPI_Status_f2c(f2, &back));
	EQUAL(memcmp(&s, &back, sizeof(s)), 0);
	OK(MPI_Status_c2f08(&s, &f08));
	OK(MPI_Status_f082c(&f08, &back));
	EQUAL(memcmp(&s, &back, sizeof(s)), 0);
	CHECK(MPI_F_STATUS_IGNORE && MPI_F_STATUSES_IGNORE);
	CHECK(MPI_F08_STATUS_IGNORE && MPI_F08_STATUSES_IGNORE);
	FAILS(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &back), MPI_ERR_ARG);
	FAILS(MPI_Status_c2f(MPI_STATUS_IGNORE, f), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	predefined();
	dynamic();
	recycled();
	threads();
	statuses();
	return finish();
}
