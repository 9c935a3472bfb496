/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Error handlers of windows and files, as far as they need none, handlers that
 * were made for another kind of object, and the environment asked wrongly.
 */
#include "check.h"

static int called;
static MPI_File on;

static void file_handler(MPI_File *f, int *code, ...)
{
	called++;
	on = *f;
}

static void win_handler(MPI_Win *w, int *code, ...)
{
	called++;
}

static void comm_handler(MPI_Comm *c, int *code, ...)
{
	called++;
}

/* MPI_FILE_NULL has the handler that files start with. */
static void files(void)
{
	MPI_Errhandler h, got;
	MPI_File bad = (MPI_File)MPI_INT;

	OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
	CHECK(got == MPI_ERRORS_RETURN);
	OK(MPI_File_create_errhandler(file_handler, &h));
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, h));
	OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
	CHECK(got == h);
	OK(MPI_Errhandler_free(&got));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
	CHECK(called == 1 && on == MPI_FILE_NULL);
	/* and hears of values that are no handles */
	FAILS(MPI_File_call_errhandler(bad, MPI_ERR_IO), MPI_ERR_FILE);
	FAILS(MPI_File_set_errhandler(bad, MPI_ERRORS_RETURN), MPI_ERR_FILE);
	FAILS(MPI_File_get_errhandler(bad, &got), MPI_ERR_FILE);
	EQUAL(called, 4);
	FAILS(MPI_File_get_errhandler(MPI_FILE_NULL, NULL), MPI_ERR_ARG);
	FAILS(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRHANDLER_NULL),
	      MPI_ERR_ERRHANDLER);
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
	FAILS(MPI_File_create_errhandler(NULL, &h), MPI_ERR_ARG);
	FAILS(MPI_File_create_errhandler(file_handler, NULL), MPI_ERR_ARG);
}

static void windows(void)
{
	MPI_Win bad[2] = { MPI_WIN_NULL, (MPI_Win)MPI_INT };
	MPI_Errhandler h;

	OK(MPI_Win_create_errhandler(win_handler, &h));
	for (int i = 0; i < 2; i++) {
		FAILS(MPI_Win_set_errhandler(bad[i], h), MPI_ERR_WIN);
		FAILS(MPI_Win_get_errhandler(bad[i], &h), MPI_ERR_WIN);
		FAILS(MPI_Win_call_errhandler(bad[i], MPI_ERR_OTHER),
		      MPI_ERR_WIN);
	}
	FAILS(MPI_Comm_set_errhandler(WORLD, h), MPI_ERR_ERRHANDLER);
	FAILS(MPI_File_set_errhandler(MPI_FILE_NULL, h), MPI_ERR_ERRHANDLER);
	OK(MPI_Errhandler_free(&h));
	FAILS(MPI_Win_create_errhandler(NULL, &h), MPI_ERR_ARG);
	FAILS(MPI_Win_create_errhandler(win_handler, NULL), MPI_ERR_ARG);
	OK(MPI_Comm_create_errhandler(comm_handler, &h));
	FAILS(MPI_File_set_errhandler(MPI_FILE_NULL, h), MPI_ERR_ERRHANDLER);
	OK(MPI_Errhandler_free(&h));
	FAILS(MPI_Errhandler_free(&h), MPI_ERR_ERRHANDLER);
	FAILS(MPI_Errhandler_free(NULL), MPI_ERR_ARG);
	FAILS(MPI_Comm_get_errhandler(WORLD, NULL), MPI_ERR_ARG);
	FAILS(MPI_Comm_call_errhandler(MPI_COMM_NULL, 1), MPI_ERR_COMM);
}

/* The rest of the environment, asked wrongly. */
static void environment(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING], big[1000];
	int class, code, n;
	MPI_Comm c = MPI_COMM_NULL;
	void *p;

	memset(big, 'x', sizeof(big));
	big[999] = '\0';
	FAILS(MPI_Add_error_class(NULL), MPI_ERR_ARG);
	OK(MPI_Add_error_class(&class));
	FAILS(MPI_Add_error_code(class, NULL), MPI_ERR_ARG);
	FAILS(MPI_Add_error_code(-1, &code), MPI_ERR_ARG);
	OK(MPI_Add_error_code(class, &code));
	FAILS(MPI_Add_error_string(code, NULL), MPI_ERR_ARG);
	FAILS(MPI_Add_error_string(code, big), MPI_ERR_ARG);
	FAILS(MPI_Remove_error_string(code), MPI_ERR_ARG);
	FAILS(MPI_Remove_error_string(MPI_ERR_RANK), MPI_ERR_ARG);
	FAILS(MPI_Remove_error_code(MPI_ERR_RANK), MPI_ERR_ARG);
	FAILS(MPI_Remove_error_code(class), MPI_ERR_ARG);
	FAILS(MPI_Remove_error_class(MPI_ERR_RANK), MPI_ERR_ARG);
	FAILS(MPI_Remove_error_class(code), MPI_ERR_ARG);
	OK(MPI_Remove_error_code(code));
	FAILS(MPI_Remove_error_code(code), MPI_ERR_ARG);
	OK(MPI_Remove_error_class(class));
	FAILS(MPI_Error_class(MPI_ERR_RANK, NULL), MPI_ERR_ARG);
	FAILS(MPI_Error_string(MPI_ERR_RANK, NULL, &n), MPI_ERR_ARG);
	FAILS(MPI_Error_string(MPI_ERR_RANK, text, NULL), MPI_ERR_ARG);
	FAILS(MPI_Get_version(NULL, &n), MPI_ERR_ARG);
	FAILS(MPI_Get_library_version(text, NULL), MPI_ERR_ARG);
	FAILS(MPI_Get_processor_name(NULL, &n), MPI_ERR_ARG);
	FAILS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &p), MPI_ERR_ARG);
	FAILS(MPI_Alloc_mem(1, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
	FAILS(MPI_Alloc_mem(1, (MPI_Info)MPI_INT, &p), MPI_ERR_INFO);
	FAILS(MPI_Initialized(NULL), MPI_ERR_ARG);
	FAILS(MPI_Finalized(NULL), MPI_ERR_ARG);
	FAILS(MPI_Query_thread(NULL), MPI_ERR_ARG);
	FAILS(MPI_Is_thread_main(NULL), MPI_ERR_ARG);
	FAILS(MPI_Init(NULL, NULL), MPI_ERR_OTHER); /* a second time */
	FAILS(MPI_Comm_set_name(WORLD, NULL), MPI_ERR_ARG);
	FAILS(MPI_Comm_set_name(c, "x"), MPI_ERR_COMM);
	FAILS(MPI_Comm_get_name(WORLD, NULL, &n), MPI_ERR_ARG);
	FAILS(MPI_Comm_set_info(c, MPI_INFO_NULL), MPI_ERR_COMM);
	FAILS(MPI_Comm_set_info(WORLD, (MPI_Info)MPI_INT), MPI_ERR_INFO);
	FAILS(MPI_Comm_get_info(WORLD, NULL), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	files();
	windows();
	environment();
	return finish();
}
