/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Comm_spawn from the standard's text: arguments, info, error codes, several
 * programs, children of children, threads. The program is its own child.
 */
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "dyn_talk.h"

static char self[PATH_MAX];

static int is_child(MPI_Comm *parent)
{
	OK(MPI_Comm_get_parent(parent));
	return *parent != MPI_COMM_NULL;
}

static int deep; /* this is a child */

static void spawn_and_talk(MPI_Comm comm, int n, int root)
{
	char *args[] = {
		deep ? "deep" : "talk", "two words", ":", "a\nb=c", "", NULL
	};
	int codes[16], got, me;
	MPI_Comm inter;

	memset(codes, -1, sizeof(codes));
	OK(MPI_Comm_rank(comm, &me));
	/* what is only for the root may be anything elsewhere */
	OK(MPI_Comm_spawn(me == root ? self : NULL, me == root ? args : NULL,
			  me == root ? n : -5, MPI_INFO_NULL, root, comm,
			  &inter, codes));
	OK(MPI_Comm_remote_size(inter, &got));
	EQUAL(got, n);
	for (int i = 0; i < n; i++)
		EQUAL(codes[i], MPI_SUCCESS);
	talk(inter, 1);
	OK(MPI_Comm_disconnect(&inter));
}

static void errors(void)
{
	int codes[3] = { -1, -1, -1 }, class;
	MPI_Comm inter = MPI_COMM_NULL;
	MPI_Info info;

	OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN));
	FAILS(MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 3,
			     MPI_INFO_NULL, 0, WORLD, &inter, codes),
	      MPI_ERR_SPAWN);
	for (int i = 0; i < 3; i++) {
		OK(MPI_Error_class(codes[i], &class));
		EQUAL(class, MPI_ERR_SPAWN);
	}
	/* it ends, but never calls MPI_Init */
	FAILS(MPI_Comm_spawn("true", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, WORLD,
			     &inter, MPI_ERRCODES_IGNORE),
	      MPI_ERR_SPAWN);
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "arch", "abacus"));
	FAILS(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, info, 0, WORLD, &inter,
			     MPI_ERRCODES_IGNORE),
	      MPI_ERR_SPAWN);
	OK(MPI_Info_free(&info));
	FAILS(MPI_Comm_spawn(self, MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, WORLD,
			     &inter, MPI_ERRCODES_IGNORE),
	      MPI_ERR_ARG);
	FAILS(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, size, WORLD,
			     &inter, MPI_ERRCODES_IGNORE),
	      MPI_ERR_ROOT);
	CHECK(inter == MPI_COMM_NULL);
	OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL));
}

/* Two programs: their MPI_APPNUM, in another directory. */
static void several(void)
{
	char *commands[] = { self, "dyn_spawn" };
	char *one[] = { "app", "0", NULL }, *two[] = { "app", "1", NULL };
	char **args[] = { one, two };
	int n[] = { 1, 2 }, sum, zero = 0;
	MPI_Info info[2];
	MPI_Comm inter;
	char dir[PATH_MAX];

	OK(MPI_Info_create(&info[0]));
	OK(MPI_Info_set(info[0], "wdir", "/"));
	OK(MPI_Info_create(&info[1]));
	OK(MPI_Info_set(info[1], "wdir", "/"));
	snprintf(dir, sizeof(dir), "%s", self);
	*strrchr(dir, '/') = '\0';
	OK(MPI_Info_set(info[1], "path", dir));
	OK(MPI_Comm_spawn_multiple(2, commands, args, n, info, 0, WORLD, &inter,
				   MPI_ERRCODES_IGNORE));
	OK(MPI_Allreduce(&zero, &sum, 1, MPI_INT, MPI_SUM, inter));
	EQUAL(sum, 2);
	OK(MPI_Comm_disconnect(&inter));
	OK(MPI_Info_free(&info[0]));
	OK(MPI_Info_free(&info[1]));
}

static void *in_thread(void *arg)
{
	MPI_Comm comm = *(MPI_Comm *)arg;

	for (int i = 0; i < 2; i++)
		spawn_and_talk(comm, 1, 0);
	return NULL;
}

static void threads(void)
{
	pthread_t t[2];
	MPI_Comm comm[2];

	for (int i = 0; i < 2; i++)
		OK(MPI_Comm_dup(WORLD, &comm[i]));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&t[i], NULL, in_thread, &comm[i]));
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], NULL);
		OK(MPI_Comm_free(&comm[i]));
	}
}

/* --- the child --- */

static void child(MPI_Comm parent, int argc, char **argv)
{
	int *appnum, flag, sum;
	char dir[PATH_MAX], name[MPI_MAX_OBJECT_NAME];

	CHECK(argc >= 2);
	OK(MPI_Comm_get_name(parent, name, &flag));
	CHECK(!strcmp(name, "MPI_COMM_PARENT"));
	if (!strcmp(argv[1], "app")) {
		OK(MPI_Comm_get_attr(WORLD, MPI_APPNUM, &appnum, &flag));
		CHECK(flag);
		EQUAL(*appnum, atoi(argv[2]));
		CHECK(getcwd(dir, sizeof(dir)) && !strcmp(dir, "/"));
		OK(MPI_Allreduce(appnum, &sum, 1, MPI_INT, MPI_SUM, parent));
	} else {
		EQUAL(argc, 6);
		CHECK(!strcmp(argv[2], "two words") && !strcmp(argv[3], ":") &&
		      !strcmp(argv[4], "a\nb=c") && !argv[5][0]);
		/* the first has a child of its own */
		deep = 1;
		if (strcmp(argv[1], "deep") && rank == 0)
			spawn_and_talk(MPI_COMM_SELF, 1, 0);
		talk(parent, 0);
	}
	OK(MPI_Comm_disconnect(&parent));
	OK(MPI_Comm_get_parent(&parent));
	CHECK(parent == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
	MPI_Comm parent;
	int provided, *universe, flag;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	CHECK(realpath("/proc/self/exe", self));
	if (is_child(&parent)) {
		child(parent, argc, argv);
		return finish();
	}
	OK(MPI_Comm_get_attr(WORLD, MPI_UNIVERSE_SIZE, &universe, &flag));
	CHECK(!flag || *universe >= size);
	errors();
	spawn_and_talk(WORLD, 2, size - 1);
	several();
	threads();
	return finish();
}
