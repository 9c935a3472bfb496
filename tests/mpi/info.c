/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Info objects. */
#include <unistd.h>

#include "check.h"

static void is(MPI_Info i, const char *key, const char *want)
{
	char value[MPI_MAX_INFO_VAL];
	int flag, len = sizeof(value);

	OK(MPI_Info_get_string(i, key, &len, value, &flag));
	EQUAL(flag, want != NULL);
	if (want) {
		CHECK(!strcmp(value, want));
		EQUAL(len, strlen(want) + 1);
	}
}

int main(int argc, char **argv)
{
	char key[MPI_MAX_INFO_KEY], value[8], big[2000];
	MPI_Info i, j, early;
	int n, flag, len;

	OK(MPI_Info_create_env(argc, argv, &early));
	start(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	OK(MPI_Info_create(&i));
	OK(MPI_Info_get_nkeys(i, &n));
	EQUAL(n, 0);
	OK(MPI_Info_set(i, "one", "1"));
	OK(MPI_Info_set(i, "two", "second"));
	OK(MPI_Info_set(i, "three", ""));
	OK(MPI_Info_set(i, "one", "first"));
	OK(MPI_Info_get_nkeys(i, &n));
	EQUAL(n, 3);
	is(i, "one", "first");
	is(i, "three", "");
	is(i, "four", NULL);
	OK(MPI_Info_get_nthkey(i, 0, key));
	CHECK(!strcmp(key, "one"));
	OK(MPI_Info_get_nthkey(i, 2, key));
	CHECK(!strcmp(key, "three"));
	OK(MPI_Info_dup(i, &j));
	OK(MPI_Info_delete(i, "one"));
	is(i, "one", NULL);
	is(j, "one", "first");
	OK(MPI_Info_get_nthkey(i, 0, key));
	CHECK(!strcmp(key, "two"));

	/* too little room: as much as fits, and the length that is needed */
	len = 4;
	OK(MPI_Info_get_string(i, "two", &len, value, &flag));
	CHECK(flag && !strcmp(value, "sec") && len == 7);
	len = 0;
	OK(MPI_Info_get_string(i, "two", &len, NULL, &flag));
	CHECK(flag && len == 7);
	OK(MPI_Info_get(i, "two", 3, value, &flag));
	CHECK(flag && !strcmp(value, "sec"));
	OK(MPI_Info_get(i, "none", 3, value, &flag));
	CHECK(!flag);
	OK(MPI_Info_get_valuelen(i, "two", &len, &flag));
	CHECK(flag && len == 6);

	FAILS(MPI_Info_delete(i, "one"), MPI_ERR_INFO_NOKEY);
	FAILS(MPI_Info_get_nthkey(i, 2, key), MPI_ERR_ARG);
	FAILS(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
	FAILS(MPI_Info_set(i, "", "b"), MPI_ERR_INFO_KEY);
	FAILS(MPI_Info_set(i, NULL, "b"), MPI_ERR_INFO_KEY);
	memset(big, 'x', sizeof(big));
	big[1999] = '\0';
	FAILS(MPI_Info_set(i, big, "b"), MPI_ERR_INFO_KEY);
	FAILS(MPI_Info_set(i, "b", big), MPI_ERR_INFO_VALUE);
	OK(MPI_Info_free(&i));
	CHECK(i == MPI_INFO_NULL);
	FAILS(MPI_Info_free(&i), MPI_ERR_INFO);
	OK(MPI_Info_free(&j));

	i = MPI_INFO_ENV;
	OK(MPI_Info_get_nkeys(i, &n));
	snprintf(value, sizeof(value), "%d", size);
	is(i, "maxprocs", value);
	is(early, "maxprocs", value);
	OK(MPI_Info_free(&early));
	is(i, "command", argv[0]);
	is(i, "argv", "");
	gethostname(big, sizeof(big));
	is(i, "host", big);
	CHECK(getcwd(big, sizeof(big)));
	is(i, "wdir", big);
	FAILS(MPI_Info_set(i, "a", "b"), MPI_ERR_INFO);
	FAILS(MPI_Info_delete(i, "wdir"), MPI_ERR_INFO);
	FAILS(MPI_Info_free(&i), MPI_ERR_INFO);
	OK(MPI_Info_dup(MPI_INFO_ENV, &i));
	OK(MPI_Info_delete(i, "wdir"));
	OK(MPI_Info_free(&i));
	OK(MPI_Info_create_env(3, (char *[]){ "prog", "-x", "two words", NULL },
			       &i));
	is(i, "command", "prog");
	is(i, "argv", "-x two words");
	OK(MPI_Info_free(&i));
	FAILS(MPI_Info_create_env(argc, argv, NULL), MPI_ERR_ARG);
	FAILS(MPI_Info_create(NULL), MPI_ERR_ARG);
	FAILS(MPI_Info_dup(MPI_INFO_NULL, &j), MPI_ERR_INFO);
	FAILS(MPI_Info_get_nkeys(MPI_INFO_NULL, &n), MPI_ERR_INFO);
	FAILS(MPI_Info_get_nkeys(MPI_INFO_ENV, NULL), MPI_ERR_ARG);
	FAILS(MPI_Info_get_nthkey(MPI_INFO_NULL, 0, key), MPI_ERR_INFO);
	FAILS(MPI_Info_get_string(MPI_INFO_NULL, "a", &len, value, &flag),
	      MPI_ERR_INFO);
	FAILS(MPI_Info_get_string(MPI_INFO_ENV, "a", NULL, value, &flag),
	      MPI_ERR_ARG);
	FAILS(MPI_Info_get(MPI_INFO_ENV, "a", -1, value, &flag), MPI_ERR_ARG);
	FAILS(MPI_Info_get_valuelen(MPI_INFO_ENV, NULL, &len, &flag),
	      MPI_ERR_INFO_KEY);
	OK(MPI_Info_create_env(argc, argv, &i));
	is(i, "command", argv[0]);
	OK(MPI_Info_free(&i));
	OK(MPI_Abi_get_info(&i));
	is(i, "mpi_aint_size", "8");
	OK(MPI_Info_free(&i));
	return finish();
}
