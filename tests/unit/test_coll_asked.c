/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: mpi/coll/asked.c base/log.c base/nearest.c base/settings.c */
/* What O2G_COLL may say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "../../mpi/coll/asked.h"

static struct coll_asked asked[4];

static int read_text(const char *text)
{
	memset(asked, 0xff, sizeof(asked));
	return coll_asked_read(text, asked, 4);
}

static void is(int i, const char *collective, const char *algorithm,
	       int64_t from, int64_t to)
{
	assert_string_equal(coll_names[asked[i].row].collective, collective);
	assert_string_equal(coll_names[asked[i].row].algorithm, algorithm);
	assert_int_equal(asked[i].bytes.from, from);
	assert_int_equal(asked[i].bytes.to, to);
}

static void read__right(void **state)
{
	assert_int_equal(read_text(""), 0);
	assert_int_equal(read_text("allreduce=doubling"), 1);
	is(0, "allreduce", "doubling", 0, COLL_MANY);
	assert_int_equal(read_text("alltoall=bruck:0-256,bcast=linear:64k-,"
				   "scan=linear:-1k,exscan=doubling:8"),
			 4);
	is(0, "alltoall", "bruck", 0, 256);
	is(1, "bcast", "linear", 64 << 10, COLL_MANY);
	is(2, "scan", "linear", 0, 1024);
	is(3, "exscan", "doubling", 8, 8);
}

static void read__wrong_ones_are_left_out(void **state)
{
	assert_int_equal(read_text("allreduce"), 0);
	assert_int_equal(read_text("allredcue=doubling"), 0);
	assert_int_equal(read_text("allreduce=dubling"), 0);
	assert_int_equal(read_text("allreduce=doubling:x-4"), 0);
	assert_int_equal(read_text("allreduce=doubling:9-4"), 0);
	assert_int_equal(read_text("allreduce=doubling:"), 0);
	assert_int_equal(read_text(",,x=y,bcast=binomial,"), 1);
	is(0, "bcast", "binomial", 0, COLL_MANY);
	/* more than there is room for */
	assert_int_equal(read_text("bcast=linear,bcast=linear,bcast=linear,"
				   "bcast=linear,bcast=linear"),
			 4);
}

/* Every collective ends with a row that takes all. */
static void table__has_an_end(void **state)
{
	for (const struct coll_name *r = coll_names; r->collective; r++) {
		if (r[1].collective && !strcmp(r->collective, r[1].collective))
			continue;
		assert_int_equal(r->ranks.from, 0);
		assert_int_equal(r->ranks.to, COLL_MANY);
		assert_int_equal(r->bytes.from, 0);
		assert_int_equal(r->bytes.to, COLL_MANY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__right),
		cmocka_unit_test(read__wrong_ones_are_left_out),
		cmocka_unit_test(table__has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
