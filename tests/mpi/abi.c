/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What other libraries of the MPI 5.0 ABI must find the same: sizes, values,
 * and that handles of the program lie outside the range of predefined ones.
 */
#include "check.h"

#include <stddef.h>

#define VALUE(handle, value) EQUAL((uintptr_t)(handle), value)

static void sizes(void)
{
	EQUAL(sizeof(MPI_Comm), sizeof(void *));
	EQUAL(sizeof(MPI_Aint), sizeof(void *));
	EQUAL(sizeof(MPI_Count), 8);
	EQUAL(sizeof(MPI_Offset), 8);
	EQUAL(sizeof(MPI_Status), 32);
	EQUAL(offsetof(MPI_Status, MPI_SOURCE), 0);
	EQUAL(offsetof(MPI_Status, MPI_TAG), 4);
	EQUAL(offsetof(MPI_Status, MPI_ERROR), 8);
}

static void values(void)
{
	VALUE(MPI_COMM_NULL, 0x100);
	VALUE(MPI_COMM_WORLD, 0x101);
	VALUE(MPI_COMM_SELF, 0x102);
	VALUE(MPI_GROUP_NULL, 0x108);
	VALUE(MPI_GROUP_EMPTY, 0x109);
	VALUE(MPI_WIN_NULL, 0x110);
	VALUE(MPI_FILE_NULL, 0x118);
	VALUE(MPI_SESSION_NULL, 0x120);
	VALUE(MPI_MESSAGE_NULL, 0x128);
	VALUE(MPI_MESSAGE_NO_PROC, 0x129);
	VALUE(MPI_INFO_NULL, 0x130);
	VALUE(MPI_INFO_ENV, 0x131);
	VALUE(MPI_ERRHANDLER_NULL, 0x140);
	VALUE(MPI_ERRORS_ARE_FATAL, 0x141);
	VALUE(MPI_REQUEST_NULL, 0x180);
	VALUE(MPI_DATATYPE_NULL, 0x200);
	VALUE(MPI_INT, 0x209);
	VALUE(MPI_DOUBLE, 0x214);
	VALUE(MPI_CHAR, 0x243);
	VALUE(MPI_BYTE, 0x247);
	VALUE(MPI_SUM, 0x21);
	VALUE(MPI_MIN, 0x22);
	VALUE(MPI_MAX, 0x23);
	VALUE(MPI_BOTTOM, 0);
	VALUE(MPI_IN_PLACE, 1);
	VALUE(MPI_BUFFER_AUTOMATIC, 2);
	VALUE(MPI_UNWEIGHTED, 10);
	VALUE(MPI_WEIGHTS_EMPTY, 11);
	VALUE(MPI_STATUS_IGNORE, 0);
	VALUE(MPI_COMM_NULL_COPY_FN, 0);
	VALUE(MPI_COMM_DUP_FN, 1);
	EQUAL(MPI_ANY_SOURCE, -1);
	EQUAL(MPI_ANY_TAG, -2);
	EQUAL(MPI_PROC_NULL, -3);
	EQUAL(MPI_ROOT, -4);
	EQUAL(MPI_UNDEFINED, -32766);
	EQUAL(MPI_THREAD_MULTIPLE, 4096);
	EQUAL(MPI_ERR_LASTCODE, 16383);
	EQUAL(MPI_ERR_TRUNCATE, 15);
	EQUAL(MPI_ERR_IN_STATUS, 19);
	EQUAL(MPI_IDENT, 201);
	EQUAL(MPI_COMM_TYPE_SHARED, 221);
	EQUAL(MPI_TAG_UB, 501);
	EQUAL(MPI_BSEND_OVERHEAD, 512);
	EQUAL(MPI_MAX_PROCESSOR_NAME, 256);
	EQUAL(MPI_MAX_LIBRARY_VERSION_STRING, 8192);
}

#define OUTSIDE(handle) CHECK((uintptr_t)(handle) >= 4096)

int main(int argc, char **argv)
{
	MPI_Comm c;
	MPI_Group g;
	MPI_Datatype t;
	MPI_Info i;
	MPI_Request q;
	int x;

	start(&argc, &argv);
	sizes();
	values();
	OK(MPI_Comm_dup(WORLD, &c));
	OK(MPI_Comm_group(c, &g));
	OK(MPI_Type_contiguous(2, MPI_INT, &t));
	OK(MPI_Info_create(&i));
	OK(MPI_Recv_init(&x, 1, MPI_INT, 0, 0, c, &q));
	OUTSIDE(c);
	OUTSIDE(g);
	OUTSIDE(t);
	OUTSIDE(i);
	OUTSIDE(q);
	OK(MPI_Request_free(&q));
	OK(MPI_Info_free(&i));
	OK(MPI_Type_free(&t));
	OK(MPI_Group_free(&g));
	OK(MPI_Comm_free(&c));
	return finish();
}
