/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * One wrong argument at a time, for every function: see wrong_args.py, which
 * makes the calls from the table of functions.
 */
#include <stdbool.h>
#include <unistd.h>

#include "check.h"

#define UNUSED __attribute__((unused)) /* by the functions there are */

static char in[4096], out[4096];
static long long scratch[16][64]; /* for results that nobody looks at */
static int ints[16], zeros[16], ranges[1][3] = { { 0, 0, 1 } };
static MPI_Aint aints[16];
static MPI_Count counts[16];
static MPI_Datatype types[16];
static MPI_Group group;
static MPI_Errhandler errh;
static MPI_Request request, requests[1];
static MPI_Info info, infos[16];
static char command[] = "name", *commands[] = { command };
static MPI_Datatype made; /* and not committed */
static int UNUSED ints_negative[16] = { -1 };
static MPI_Count UNUSED counts_negative[16] = { -1 };
static MPI_Datatype UNUSED made_first[16], UNUSED null_first[16];
static MPI_Session UNUSED session;
static MPI_File file;
static MPI_Win win;
static MPI_Message UNUSED message = MPI_MESSAGE_NO_PROC;
static MPI_Status status;
static MPI_Comm cart, graph, dist;
static int keyval, class_, bad;

static void UNUSED user_fn(void *a, void *b, int *n, MPI_Datatype *t)
{
}

static void UNUSED user_fn_c(void *a, void *b, MPI_Count *n, MPI_Datatype *t)
{
}

static void wrong(const char *call, const char *argument, int code, int want,
		  const char *want_name)
{
	int got = -1;

	MPI_Error_class(code, &got);
	if (got == want)
		return;
	fprintf(stderr, "%s, wrong %s: class %d, not %s\n", call, argument, got,
		want_name);
	bad++;
}

#define WRONG(name, argument, class, call) \
	wrong(name, argument, call, class, #class)

static void all_wrong(void)
{
#include "wrong_args.inc"
}

static const char *path(void)
{
	static char name[256];

	snprintf(name, sizeof(name), "%s/o2g_wrong_args.%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	return name;
}

static void prepare(void)
{
	int one = 1, zero = 0;

	for (int i = 0; i < 16; i++) {
		types[i] = made_first[i] = null_first[i] = MPI_INT;
		ints[i] = 1;
		counts[i] = 1;
	}
	OK(MPI_Cart_create(WORLD, 1, &one, &zero, 0, &cart));
	OK(MPI_Graph_create(WORLD, 1, &one, &zero, 0, &graph));
	OK(MPI_Dist_graph_create_adjacent(WORLD, 1, &zero, &one, 1, &zero, &one,
					  MPI_INFO_NULL, 0, &dist));
	OK(MPI_Info_create(&info));
	infos[0] = info;
	OK(MPI_Type_create_hvector(1, 1, 8, MPI_INT, &made));
	made_first[0] = made;
	null_first[0] = MPI_DATATYPE_NULL;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	OK(MPI_File_open(MPI_COMM_SELF, path(),
			 MPI_MODE_CREATE | MPI_MODE_RDWR |
				 MPI_MODE_DELETE_ON_CLOSE,
			 MPI_INFO_NULL, &file));
	OK(MPI_Win_create(in, sizeof(in), 1, MPI_INFO_NULL, WORLD, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Comm_group(WORLD, &group));
	OK(MPI_Comm_get_errhandler(WORLD, &errh));
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
				  MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
	OK(MPI_Add_error_class(&class_));
	OK(MPI_Recv_init(in, 1, MPI_INT, 0, 0, WORLD, &request));
	requests[0] = request;
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	prepare();
	all_wrong();
	EQUAL(bad, 0);
	/* and everything still works */
	OK(MPI_Sendrecv(in, 8, MPI_BYTE, rank, 1, out, 8, MPI_BYTE, rank, 1,
			WORLD, IGNORE));
	OK(MPI_Win_free(&win));
	OK(MPI_File_close(&file));
	OK(MPI_Session_finalize(&session));
	return finish();
}
