/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The beginning, the end, and what a program can ask about its process. */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static int deleted;

static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra)
{
	int flag, x = -1;

	/* MPI must still work here, and MPI_Finalized be false. */
	MPI_Finalized(&flag);
	if (flag || comm != MPI_COMM_SELF)
		return MPI_ERR_OTHER;
	MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &x, 1, MPI_INT, 0, 1,
		     MPI_COMM_SELF, IGNORE);
	/* Latest attribute first. */
	if (x == rank && deleted == *(int *)value)
		deleted++;
	return MPI_SUCCESS;
}

static void world_attribute(int key, int must, int expect)
{
	int *value, flag;

	OK(MPI_Comm_get_attr(WORLD, key, &value, &flag));
	CHECK(flag || !must);
	if (must)
		EQUAL(*value, expect);
}

static void ask(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING], host[256];
	int a, b, len;
	double t;

	OK(MPI_Get_version(&a, &b));
	EQUAL(a, 5);
	EQUAL(b, 0);
	OK(MPI_Abi_get_version(&a, &b));
	EQUAL(a, 1);
	EQUAL(b, 0);
	OK(MPI_Get_library_version(text, &len));
	EQUAL(len, strlen(text));
	CHECK(strstr(text, "O2G"));
	OK(MPI_Get_processor_name(text, &len));
	EQUAL(len, strlen(text));
	gethostname(host, sizeof(host));
	CHECK(!strcmp(text, host));
	t = MPI_Wtime();
	CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1);
	usleep(2000);
	CHECK(MPI_Wtime() - t >= 0.002 && MPI_Wtime() - t < 10);
	OK(MPI_Pcontrol(1));
	OK(MPI_Pcontrol(2, "anything", 3));
}

static void memory(void)
{
	char *p;
	MPI_Aint a, b;

	OK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &p));
	memset(p, 1, 1000);
	OK(MPI_Get_address(p, &a));
	OK(MPI_Get_address(p + 10, &b));
	EQUAL(MPI_Aint_diff(b, a), 10);
	EQUAL(MPI_Aint_add(a, 10), b);
	CHECK((char *)a == p);
	OK(MPI_Free_mem(p));
	OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &p));
	OK(MPI_Free_mem(p));
}

/* A child that ends as if it were its parent: nobody notices. */
static void child_finalizes(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		alarm(10);
		_exit(MPI_Finalize() != MPI_SUCCESS);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
	static int order[2] = { 1, 0 };
	int flag, level, key;

	CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && !flag);
	CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && !flag);
	start(&argc, &argv);
	OK(MPI_Initialized(&flag));
	CHECK(flag);
	OK(MPI_Finalized(&flag));
	CHECK(!flag);
	OK(MPI_Query_thread(&level));
	EQUAL(level, MPI_THREAD_SINGLE);
	OK(MPI_Is_thread_main(&flag));
	CHECK(flag);
	ask();
	memory();
	child_finalizes();
	world_attribute(MPI_TAG_UB, 1, 2147483647);
	world_attribute(MPI_HOST, 1, MPI_PROC_NULL);
	world_attribute(MPI_IO, 1, MPI_ANY_SOURCE);
	world_attribute(MPI_WTIME_IS_GLOBAL, 1, 0);
	world_attribute(MPI_LASTUSEDCODE, 1, MPI_ERR_LASTCODE);
	world_attribute(MPI_APPNUM, 0, 0);
	world_attribute(MPI_UNIVERSE_SIZE, 0, 0);

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, &order[0]);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, &order[1]);
	MPI_Finalize();
	MPI_Finalized(&flag);
	MPI_Initialized(&level);
	if (!flag || !level || deleted != 2) {
		fprintf(stderr,
			"rank %d: finalized %d initialized %d, %d of 2 "
			"delete functions in order\n",
			rank, flag, level, deleted);
		return 1;
	}
	return 0;
}
