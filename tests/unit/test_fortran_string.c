/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: mpi/fortran/string.c */
/* Strings of Fortran to strings of C and back: one block per function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../mpi/fortran/fortran.h"

static void equal(char *got, const char *want)
{
	assert_string_equal(got, want);
	free(got);
}

static void string__ends_before_blanks(void **state)
{
	equal(mpif_string("abc   ", 6), "abc");
	equal(mpif_string(" a c ", 5), " a c");
	equal(mpif_string("abc", 3), "abc");
	equal(mpif_string("     ", 5), "");
	equal(mpif_string("", 0), "");
}

static void word__has_no_blanks_around(void **state)
{
	equal(mpif_word("  a key  ", 9), "a key");
	equal(mpif_word("    ", 4), "");
}

static void give__fills_with_blanks(void **state)
{
	char f[6];

	mpif_give(f, sizeof(f), "abc");
	assert_memory_equal(f, "abc   ", 6);
	mpif_give(f, sizeof(f), "abcdefgh");
	assert_memory_equal(f, "abcdef", 6);
	mpif_give(f, 0, "abc");
	assert_memory_equal(f, "abcdef", 6);
}

/* argv of MPI_Comm_spawn ends with a blank string. */
static void strings__end_with_a_blank_one(void **state)
{
	char **all = mpif_strings("one  two  three          ", 5, -1, 1);

	assert_string_equal(all[0], "one");
	assert_string_equal(all[1], "two");
	assert_string_equal(all[2], "three");
	assert_null(all[3]);
	free(all);
	all = mpif_strings("     ", 5, -1, 1);
	assert_null(all[0]);
	free(all);
}

/* The commands of MPI_Comm_spawn_multiple are counted. */
static void strings__as_many_as_told(void **state)
{
	char **all = mpif_strings("one     two ", 4, 3, 1);

	assert_string_equal(all[0], "one");
	assert_string_equal(all[1], "");
	assert_string_equal(all[2], "two");
	assert_null(all[3]);
	free(all);
}

/* Rows of a matrix of two rows, stored by columns. */
static void argvs__are_the_rows(void **state)
{
	char ***all = mpif_argvs("a1b1a2  a3      ", 2, 2);

	assert_string_equal(all[0][0], "a1");
	assert_string_equal(all[0][1], "a2");
	assert_string_equal(all[0][2], "a3");
	assert_null(all[0][3]);
	assert_string_equal(all[1][0], "b1");
	assert_null(all[1][1]);
	mpif_free_argvs(all, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(string__ends_before_blanks),
		cmocka_unit_test(word__has_no_blanks_around),
		cmocka_unit_test(give__fills_with_blanks),
		cmocka_unit_test(strings__end_with_a_blank_one),
		cmocka_unit_test(strings__as_many_as_told),
		cmocka_unit_test(argvs__are_the_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
