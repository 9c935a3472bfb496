/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Wrong arguments: the right class, words that help, and a program that goes
 * on. Error handlers, and the classes and codes a program adds.
 */
#include <stdint.h>

#include "check.h"

static int x;
static MPI_Request q = MPI_REQUEST_NULL;
static MPI_Status s;

/* The words for the latest error must name these. */
static void words(int class, const char *a, const char *b)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	OK(MPI_Error_string(class, text, &len));
	EQUAL(len, strlen(text));
	if (!strstr(text, a) || !strstr(text, b)) {
		fprintf(stderr, "\"%s\" should name \"%s\" and \"%s\"\n", text,
			a, b);
		MPI_Abort(WORLD, 1);
	}
}

static void sends(void)
{
	char said[64];

	FAILS(MPI_Send(&x, 1, MPI_INT, size, 0, WORLD), MPI_ERR_RANK);
	snprintf(said, sizeof(said),
		 "dest is %d, but MPI_COMM_WORLD has %d "
		 "rank",
		 size, size);
	words(MPI_ERR_RANK, "MPI_Send: ", said);
	FAILS(MPI_Send(&x, 1, MPI_INT, -9, 0, WORLD), MPI_ERR_RANK);
	FAILS(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD), MPI_ERR_RANK);
	FAILS(MPI_Send(&x, -1, MPI_INT, 0, 0, WORLD), MPI_ERR_COUNT);
	words(MPI_ERR_COUNT, "count is -1", "MPI_Send");
	FAILS(MPI_Send(&x, 1, MPI_INT, 0, -1, WORLD), MPI_ERR_TAG);
	FAILS(MPI_Send(&x, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD), MPI_ERR_TAG);
	FAILS(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, WORLD), MPI_ERR_TYPE);
	FAILS(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
	FAILS(MPI_Send(NULL, 1, MPI_INT, 0, 0, WORLD), MPI_ERR_BUFFER);
	FAILS(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, WORLD), MPI_ERR_BUFFER);
	FAILS(MPI_Ssend(&x, 1, MPI_INT, size, 0, WORLD), MPI_ERR_RANK);
	words(MPI_ERR_RANK, "MPI_Ssend", "dest");
	FAILS(MPI_Rsend(&x, 1, MPI_INT, size, 0, WORLD), MPI_ERR_RANK);
	FAILS(MPI_Bsend(&x, 1, MPI_INT, size, 0, WORLD), MPI_ERR_RANK);
	FAILS(MPI_Isend(&x, 1, MPI_INT, size, 0, WORLD, &q), MPI_ERR_RANK);
	FAILS(MPI_Issend(&x, -1, MPI_INT, 0, 0, WORLD, &q), MPI_ERR_COUNT);
	FAILS(MPI_Irsend(&x, 1, MPI_INT, 0, -7, WORLD, &q), MPI_ERR_TAG);
	FAILS(MPI_Ibsend(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &q),
	      MPI_ERR_COMM);
	FAILS(MPI_Isend(&x, 1, MPI_INT, 0, 0, WORLD, NULL), MPI_ERR_ARG);
	FAILS(MPI_Send_c(&x, -1, MPI_INT, 0, 0, WORLD), MPI_ERR_COUNT);
	words(MPI_ERR_COUNT, "MPI_Send_c", "-1");
	FAILS(MPI_Send_init(&x, 1, MPI_INT, size, 0, WORLD, &q), MPI_ERR_RANK);
}

static void receives(void)
{
	MPI_Message m;
	int flag;

	FAILS(MPI_Recv(&x, 1, MPI_INT, size, 0, WORLD, &s), MPI_ERR_RANK);
	words(MPI_ERR_RANK, "MPI_Recv", "source is");
	FAILS(MPI_Recv(&x, -1, MPI_INT, 0, 0, WORLD, &s), MPI_ERR_COUNT);
	FAILS(MPI_Recv(&x, 1, MPI_INT, 0, -5, WORLD, &s), MPI_ERR_TAG);
	FAILS(MPI_Recv(&x, 1, MPI_DATATYPE_NULL, 0, 0, WORLD, &s),
	      MPI_ERR_TYPE);
	FAILS(MPI_Recv(NULL, 1, MPI_INT, 0, 0, WORLD, &s), MPI_ERR_BUFFER);
	FAILS(MPI_Irecv(&x, 1, MPI_INT, -4, 0, WORLD, &q), MPI_ERR_RANK);
	FAILS(MPI_Recv_init(&x, 1, MPI_INT, size, 0, WORLD, &q), MPI_ERR_RANK);
	FAILS(MPI_Probe(size, 0, WORLD, &s), MPI_ERR_RANK);
	FAILS(MPI_Iprobe(0, -3, WORLD, &flag, &s), MPI_ERR_TAG);
	FAILS(MPI_Mprobe(0, 0, MPI_COMM_NULL, &m, &s), MPI_ERR_COMM);
	FAILS(MPI_Improbe(size, 0, WORLD, &flag, &m, &s), MPI_ERR_RANK);
	FAILS(MPI_Sendrecv(&x, 1, MPI_INT, size, 0, &x, 1, MPI_INT, 0, 0, WORLD,
			   &s),
	      MPI_ERR_RANK);
	FAILS(MPI_Sendrecv(&x, 1, MPI_INT, 0, 0, &x, -1, MPI_INT, 0, 0, WORLD,
			   &s),
	      MPI_ERR_COUNT);
	FAILS(MPI_Sendrecv_replace(&x, 1, MPI_INT, 0, 0, size, 0, WORLD, &s),
	      MPI_ERR_RANK);
}

static void requests(void)
{
	MPI_Request bad = (MPI_Request)WORLD,
		    two[2] = { MPI_REQUEST_NULL, bad };
	int flag, index, n, list[2];

	FAILS(MPI_Wait(&bad, &s), MPI_ERR_REQUEST);
	FAILS(MPI_Wait(NULL, &s), MPI_ERR_ARG);
	FAILS(MPI_Test(&bad, &flag, &s), MPI_ERR_REQUEST);
	FAILS(MPI_Waitall(2, two, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
	words(MPI_ERR_REQUEST, "MPI_Waitall", "array_of_requests[1]");
	FAILS(MPI_Waitany(2, two, &index, &s), MPI_ERR_REQUEST);
	FAILS(MPI_Waitsome(2, two, &n, list, MPI_STATUSES_IGNORE),
	      MPI_ERR_REQUEST);
	FAILS(MPI_Testall(-1, two, &flag, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
	FAILS(MPI_Cancel(&bad), MPI_ERR_REQUEST);
	FAILS(MPI_Request_free(&bad), MPI_ERR_REQUEST);
	FAILS(MPI_Request_get_status(bad, &flag, &s), MPI_ERR_REQUEST);
}

static void types(void)
{
	MPI_Datatype t, gone;

	OK(MPI_Type_contiguous(2, MPI_INT, &t));
	FAILS(MPI_Send(&x, 1, t, 0, 0, WORLD), MPI_ERR_TYPE);
	words(MPI_ERR_TYPE, "not committed", "MPI_Type_commit");
	FAILS(MPI_Irecv(&x, 1, t, 0, 0, WORLD, &q), MPI_ERR_TYPE);
	gone = t;
	OK(MPI_Type_free(&t));
	(void)gone;
	FAILS(MPI_Send(&x, 1, t, 0, 0, WORLD), MPI_ERR_TYPE);
	/* handles of another kind */
	FAILS(MPI_Send(&x, 1, (MPI_Datatype)MPI_SUM, 0, 0, WORLD),
	      MPI_ERR_TYPE);
	FAILS(MPI_Send(&x, 1, MPI_INT, 0, 0, (MPI_Comm)MPI_INT), MPI_ERR_COMM);
}

/* Variables that nobody has set: some point to where nothing can be read, or to
 * something else. (Sanitizers end the program at such a read.) */
static void garbage(void)
{
	static const uintptr_t values[] = {
		0xa5a5a5a5a5a5a5a5,
		0x5555555555555555,
		UINTPTR_MAX,
		0xdeadbeef,
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
	!defined(__SANITIZE_THREAD__)
		0x44000000, /* MPICH's world */
		0xdeadbeefdeadbee8,
		0x7ffffffff000,
#endif
		(uintptr_t)values
	};
	MPI_Status st;
	int flag, n;

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		void *bad = (void *)values[i];
		MPI_Request two[2] = { MPI_REQUEST_NULL, bad }, r = bad;
		MPI_Message m = bad;
		MPI_Group g;
		MPI_Info info = bad;
		MPI_Session session = bad;

		FAILS(MPI_Barrier(bad), MPI_ERR_COMM);
		FAILS(MPI_Send(&x, 1, MPI_INT, 0, 0, bad), MPI_ERR_COMM);
		FAILS(MPI_Comm_rank(bad, &n), MPI_ERR_COMM);
		FAILS(MPI_Wait(&r, &st), MPI_ERR_REQUEST);
		FAILS(MPI_Test(&r, &flag, &st), MPI_ERR_REQUEST);
		FAILS(MPI_Start(&r), MPI_ERR_REQUEST);
		FAILS(MPI_Waitall(2, two, MPI_STATUSES_IGNORE),
		      MPI_ERR_REQUEST);
		FAILS(MPI_Waitall(1, &r, &st), MPI_ERR_REQUEST);
		FAILS(MPI_Mrecv(&x, 1, MPI_INT, &m, &st), MPI_ERR_REQUEST);
		FAILS(MPI_Group_size(bad, &n), MPI_ERR_GROUP);
		FAILS(MPI_Group_union(bad, MPI_GROUP_EMPTY, &g), MPI_ERR_GROUP);
		FAILS(MPI_Info_free(&info), MPI_ERR_INFO);
		FAILS(MPI_Comm_set_errhandler(WORLD, bad), MPI_ERR_ERRHANDLER);
		FAILS(MPI_Send(&x, 1, bad, 0, 0, WORLD), MPI_ERR_TYPE);
		FAILS(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, bad, WORLD),
		      MPI_ERR_OP);
		FAILS(MPI_Win_flush(0, bad), MPI_ERR_WIN);
		FAILS(MPI_File_sync(bad), MPI_ERR_FILE);
		FAILS(MPI_Session_finalize(&session), MPI_ERR_SESSION);
	}
}

static int called, with;
static MPI_Comm on;

static void handler(MPI_Comm *c, int *code, ...)
{
	called++;
	with = *code;
	on = *c;
}

static void handlers(void)
{
	MPI_Errhandler h, old, got;
	MPI_Comm d, e;

	OK(MPI_Comm_create_errhandler(handler, &h));
	OK(MPI_Comm_dup(WORLD, &d));
	OK(MPI_Comm_get_errhandler(d, &old));
	CHECK(old == MPI_ERRORS_RETURN); /* as its parent's */
	OK(MPI_Comm_set_errhandler(d, h));
	OK(MPI_Comm_get_errhandler(d, &got));
	CHECK(got == h);
	OK(MPI_Errhandler_free(&got));
	CHECK(got == MPI_ERRHANDLER_NULL);
	OK(MPI_Errhandler_free(&h)); /* still used */
	FAILS(MPI_Send(&x, 1, MPI_INT, size, 0, d), MPI_ERR_RANK);
	EQUAL(called, 1);
	EQUAL(with, MPI_ERR_RANK);
	CHECK(on == d);
	OK(MPI_Comm_dup(d, &e)); /* a child has it too */
	FAILS(MPI_Recv(&x, 1, MPI_INT, 0, -9, e, &s), MPI_ERR_TAG);
	EQUAL(called, 2);
	CHECK(on == e);
	OK(MPI_Comm_call_errhandler(e, MPI_ERR_OTHER));
	EQUAL(called, 3);
	EQUAL(with, MPI_ERR_OTHER);
	OK(MPI_Comm_set_errhandler(e, MPI_ERRORS_RETURN));
	OK(MPI_Comm_call_errhandler(e, MPI_ERR_OTHER));
	EQUAL(called, 3);
	FAILS(MPI_Comm_set_errhandler(e, MPI_ERRHANDLER_NULL),
	      MPI_ERR_ERRHANDLER);
	FAILS(MPI_Comm_create_errhandler(NULL, &h), MPI_ERR_ARG);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_free(&e));
	OK(MPI_Comm_get_errhandler(WORLD, &got));
	CHECK(got == MPI_ERRORS_RETURN);
	OK(MPI_Errhandler_free(&got));
}

static void codes(void)
{
	int class, code, c2, flag, *last, len;
	char text[MPI_MAX_ERROR_STRING];

	OK(MPI_Add_error_class(&class));
	CHECK(class > MPI_ERR_LASTCODE);
	OK(MPI_Comm_get_attr(WORLD, MPI_LASTUSEDCODE, &last, &flag));
	EQUAL(*last, class);
	OK(MPI_Add_error_code(class, &code));
	CHECK(code > class);
	OK(MPI_Comm_get_attr(WORLD, MPI_LASTUSEDCODE, &last, &flag));
	EQUAL(*last, code);
	OK(MPI_Error_class(code, &c2));
	EQUAL(c2, class);
	OK(MPI_Error_class(class, &c2));
	EQUAL(c2, class);
	OK(MPI_Error_string(code, text, &len));
	EQUAL(len, 0);
	OK(MPI_Add_error_string(code, "my own words"));
	OK(MPI_Error_string(code, text, &len));
	CHECK(!strcmp(text, "my own words") && len == 12);
	OK(MPI_Add_error_code(MPI_ERR_RANK, &c2)); /* of a standard class */
	FAILS(c2, MPI_ERR_RANK);
	FAILS(MPI_Add_error_string(MPI_ERR_RANK, "no"), MPI_ERR_ARG);
	FAILS(MPI_Add_error_code(code, &c2), MPI_ERR_ARG);
	FAILS(MPI_Error_class(999999, &c2), MPI_ERR_ARG);
	FAILS(MPI_Error_class(MPI_ERR_LASTCODE, &c2), MPI_ERR_ARG);
	FAILS(MPI_Error_string(-1, text, &len), MPI_ERR_ARG);
	/* away again, codes before their class */
	FAILS(MPI_Remove_error_class(class), MPI_ERR_ARG);
	FAILS(MPI_Remove_error_code(code), MPI_ERR_ARG); /* has a string */
	OK(MPI_Remove_error_string(code));
	OK(MPI_Remove_error_code(code));
	OK(MPI_Remove_error_class(class));
	FAILS(MPI_Error_class(class, &c2), MPI_ERR_ARG);
	/* every class has a name and words */
	for (int i = MPI_SUCCESS; i <= MPI_ERR_ABI; i++) {
		OK(MPI_Error_class(i, &c2));
		EQUAL(c2, i);
		OK(MPI_Error_string(i, text, &len));
		CHECK(len > 10 &&
		      !strncmp(text, i ? "MPI_ERR_" : "MPI_SUCCESS", 8));
	}
}

int main(int argc, char **argv)
{
	int y = 0;

	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	/* enough for a program that knows nothing of MPI 4.0 */
	FAILS(MPI_Comm_rank(MPI_COMM_NULL, &y), MPI_ERR_COMM);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	sends();
	receives();
	requests();
	types();
	garbage();
	handlers();
	codes();
	/* and all still works */
	OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &y, 1, MPI_INT,
			(rank + size - 1) % size, 1, WORLD, IGNORE));
	EQUAL(y, (rank + size - 1) % size);
	return finish();
}
