/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/match.c core/wild.c */
#include "unit.h"

#include <stdlib.h>

#include "match.h"

#define ANY O2G_MATCH_ANY
#define NBINS 16

static struct o2g_match m;
static struct o2g_match_bin bins[NBINS];
static struct o2g_match_entry e[1024];

static int setup(void **state)
{
	memset(bins, 0xff, sizeof(bins));
	memset(e, 0xff, sizeof(e));
	o2g_match_init(&m, bins, NBINS, 42);
	return 0;
}

static struct o2g_match_entry *recv(int i, u32 src, u64 tag, u64 ignore)
{
	e[i].src = src;
	e[i].tag = tag;
	e[i].ignore = ignore;
	return o2g_match_post(&m, &e[i]);
}

/* arrive, and queue as unexpected when nobody wants it */
static struct o2g_match_entry *msg(int i, u32 src, u64 tag)
{
	struct o2g_match_entry *r = o2g_match_arrive(&m, src, tag);

	if (r)
		return r;
	e[i].src = src;
	e[i].tag = tag;
	o2g_match_add_unexpected(&m, &e[i]);
	return NULL;
}

static void assert_empty(void)
{
	assert_int_equal(m.nkeys, 0);
	assert_int_equal(m.nposted, 0);
	assert_int_equal(m.nunexp, 0);
	assert_true(o2g_list_empty(&m.wild));
	assert_true(o2g_list_empty(&m.arrived));
	for (u32 i = 0; i < m.nbins; i++) {
		assert_null(m.bins[i].posted);
		assert_null(m.bins[i].unexp);
	}
}

/* --- o2g_match_init --- */

static void o2g_match_init__empty(void **state)
{
	assert_empty();
	assert_null(o2g_match_arrive(&m, 1, 2));
	assert_null(o2g_match_peek(&m, ANY, 0, ~0ull));
}

static void o2g_match_init__seeds_differ(void **state)
{
	struct o2g_match a, b;

	o2g_match_init(&a, bins, NBINS, 0);
	o2g_match_init(&b, bins, NBINS, 1);
	assert_true(a.key[0] != b.key[0] && a.key[1] != b.key[1]);
	assert_true(a.key[0] & a.key[1] & b.key[0] & b.key[1] & 1);
}

/* --- o2g_match_wants --- */

static void o2g_match_wants__grows_at_load_one(void **state)
{
	for (u64 i = 0; i < NBINS; i++) {
		recv(i, 0, i, 0);
		assert_int_equal(o2g_match_wants(&m), 0);
	}
	recv(NBINS, 0, NBINS, 0);
	assert_int_equal(o2g_match_wants(&m), 4 * NBINS);
}

static void o2g_match_wants__counts_keys_not_entries(void **state)
{
	for (int i = 0; i < 1000; i++)
		recv(i, 0, 7, 0);
	assert_int_equal(m.nkeys, 1);
	assert_int_equal(o2g_match_wants(&m), 0);
}

static void o2g_match_wants__has_an_end(void **state)
{
	struct o2g_match big = { .nbins = 1u << 31, .nkeys = ~0u };

	assert_int_equal(o2g_match_wants(&big), 0);
	big.nbins = 1u << 30;
	assert_int_equal(o2g_match_wants(&big), 1u << 31);
}

/* --- o2g_match_rehash --- */

static void o2g_match_rehash__keeps_everything(void **state)
{
	struct o2g_match_bin *more = malloc(64 * sizeof(*more));

	memset(more, 0xff, 64 * sizeof(*more));
	for (int i = 0; i < 100; i++)
		recv(i, 1, i / 2, 0);
	for (int i = 100; i < 200; i++)
		msg(i, 2, i / 2);
	recv(200, ANY, 999, 0);
	assert_ptr_equal(o2g_match_rehash(&m, more, 64), bins);
	memset(bins, 0xff, sizeof(bins));
	for (int i = 0; i < 100; i++)
		assert_ptr_equal(o2g_match_arrive(&m, 1, i / 2), &e[i]);
	for (int i = 100; i < 200; i++)
		assert_ptr_equal(recv(300, 2, i / 2, 0), &e[i]);
	assert_ptr_equal(o2g_match_arrive(&m, 5, 999), &e[200]);
	assert_empty();
	free(more);
}

static void o2g_match_rehash__smaller(void **state)
{
	struct o2g_match_bin few[O2G_MATCH_MIN_BINS];

	for (int i = 0; i < 100; i++)
		recv(i, i, i, 0);
	o2g_match_rehash(&m, few, O2G_MATCH_MIN_BINS);
	for (int i = 99; i >= 0; i--)
		assert_ptr_equal(o2g_match_arrive(&m, i, i), &e[i]);
	assert_empty();
}

/* Everything is found while it moves, and no portion is longer than asked for. */
static void o2g_match_rehash_some__in_portions(void **state)
{
	struct o2g_match_bin *more = calloc(64, sizeof(*more)), *old = NULL;
	int portions = 0, next = 0;

	for (int i = 0; i < 100; i++)
		recv(i, 1, i, 0);
	o2g_match_rehash_begin(&m, more, 64);
	assert_int_equal(o2g_match_wants(&m), 0);
	for (; !old; portions++) {
		old = o2g_match_rehash_some(&m, 1);
		if (next < 100) {
			assert_ptr_equal(o2g_match_arrive(&m, 1, next),
					 &e[next]);
			next++;
		}
	}
	assert_ptr_equal(old, bins);
	assert_int_equal(portions, NBINS);
	memset(bins, 0xff, sizeof(bins));
	for (; next < 100; next++)
		assert_ptr_equal(o2g_match_arrive(&m, 1, next), &e[next]);
	assert_empty();
	free(more);
}

/* --- o2g_match_walk --- */

static void walked(struct o2g_match_entry *x, void *arg)
{
	u32 *n = arg;

	assert_ptr_equal(x, &e[2 * *n]);
	++*n;
}

/* Others come, go and are matched meanwhile; the mark is nobody's message. */
static void o2g_match_walk__while_they_change(void **state)
{
	struct o2g_match_walk w;
	u32 n = 0;

	for (int i = 0; i < 40; i += 2)
		msg(i, 1, i);
	o2g_match_walk_begin(&m, &w);
	while (!o2g_match_walk(&m, &w, 3, walked, &n)) {
		assert_ptr_equal(o2g_match_peek(&m, ANY, 0, ~0ull), &e[0]);
		if (n == 3)
			msg(40, 1, 40);
		if (n == 9) /* the one before the mark, and where it is */
			assert_true(o2g_match_remove(&m, &e[16]));
	}
	assert_int_equal(n, 21);
	for (int i = 0; i <= 40; i += 2)
		if (i != 16)
			assert_ptr_equal(recv(50, ANY, 0, ~0ull), &e[i]);
	assert_empty();
}

/* --- o2g_match_accepts --- */

static void o2g_match_accepts__source_and_bits(void **state)
{
	struct o2g_match_entry r = { .src = 3, .tag = 0xf0 };

	assert_true(o2g_match_accepts(&r, 3, 0xf0));
	assert_false(o2g_match_accepts(&r, 4, 0xf0));
	assert_false(o2g_match_accepts(&r, 3, 0xf1));
	assert_false(o2g_match_accepts(&r, 3, 0xf0 | 1ull << 63));
	r.src = ANY;
	assert_true(o2g_match_accepts(&r, 4, 0xf0));
	r.ignore = 0x0f;
	assert_true(o2g_match_accepts(&r, 4, 0xff));
	assert_false(o2g_match_accepts(&r, 4, 0xef));
}

/* --- o2g_match_post --- */

static void o2g_match_post__queues(void **state)
{
	assert_null(recv(0, 1, 2, 0));
	assert_int_equal(m.nposted, 1);
	assert_int_equal(m.nkeys, 1);
	assert_null(recv(1, ANY, 2, 0));
	assert_int_equal(m.nposted, 2);
	assert_int_equal(m.nkeys, 1);
}

static void o2g_match_post__takes_oldest_of_key(void **state)
{
	msg(0, 1, 5);
	msg(1, 2, 5);
	msg(2, 1, 5);
	assert_ptr_equal(recv(9, 1, 5, 0), &e[0]);
	assert_ptr_equal(recv(9, 1, 5, 0), &e[2]);
	assert_null(recv(9, 1, 5, 0));
	assert_ptr_equal(recv(10, 2, 5, 0), &e[1]);
	assert_false(o2g_match_remove(&m, &e[10]));
}

static void o2g_match_post__wildcards_take_oldest(void **state)
{
	msg(0, 1, 0x10);
	msg(1, 2, 0x20);
	msg(2, 3, 0x21);
	msg(3, 1, 0x20);
	assert_ptr_equal(recv(9, ANY, 0x20, 0), &e[1]);
	assert_ptr_equal(recv(9, 1, 0x2f, 0x0f), &e[3]);
	assert_ptr_equal(recv(9, ANY, 0, ~0ull), &e[0]);
	assert_ptr_equal(recv(9, ANY, 0x20, 0x0f), &e[2]);
	assert_empty();
}

static void o2g_match_post__ignores_other_messages(void **state)
{
	msg(0, 1, 5);
	assert_null(recv(1, 1, 6, 0));
	assert_null(recv(2, 2, 5, 0));
	assert_null(recv(3, 1, 5ull << 32 | 5, 0));
	assert_null(recv(4, ANY, 6, 0));
	assert_int_equal(m.nunexp, 1);
	assert_int_equal(m.nposted, 4);
}

/* --- o2g_match_arrive --- */

static void o2g_match_arrive__oldest_of_key(void **state)
{
	recv(0, 1, 5, 0);
	recv(1, 1, 5, 0);
	recv(2, 1, 5, 0);
	assert_ptr_equal(o2g_match_arrive(&m, 1, 5), &e[0]);
	recv(0, 1, 5, 0);
	assert_ptr_equal(o2g_match_arrive(&m, 1, 5), &e[1]);
	assert_ptr_equal(o2g_match_arrive(&m, 1, 5), &e[2]);
	assert_ptr_equal(o2g_match_arrive(&m, 1, 5), &e[0]);
	assert_null(o2g_match_arrive(&m, 1, 5));
	assert_empty();
}

static void o2g_match_arrive__wildcard_first_when_older(void **state)
{
	recv(0, ANY, 5, 0);
	recv(1, 1, 5, 0);
	assert_ptr_equal(o2g_match_arrive(&m, 1, 5), &e[0]);
	assert_ptr_equal(o2g_match_arrive(&m, 1, 5), &e[1]);
	assert_empty();
}

static void o2g_match_arrive__exact_first_when_older(void **state)
{
	recv(0, 1, 5, 0);
	recv(1, ANY, 0, ~0ull);
	recv(2, 1, 5, 0);
	assert_ptr_equal(o2g_match_arrive(&m, 1, 5), &e[0]);
	assert_ptr_equal(o2g_match_arrive(&m, 1, 5), &e[1]);
	assert_ptr_equal(o2g_match_arrive(&m, 1, 5), &e[2]);
	assert_empty();
}

static void o2g_match_arrive__skips_wildcards_that_do_not_fit(void **state)
{
	recv(0, ANY, 6, 0);
	recv(1, 2, 0, ~0ull);
	recv(2, ANY, 0x100, 0xff);
	recv(3, 1, 5, 0);
	assert_ptr_equal(o2g_match_arrive(&m, 1, 5), &e[3]);
	assert_null(o2g_match_arrive(&m, 1, 5));
	assert_ptr_equal(o2g_match_arrive(&m, 7, 0x1aa), &e[2]);
	assert_ptr_equal(o2g_match_arrive(&m, 2, 6), &e[0]);
	assert_ptr_equal(o2g_match_arrive(&m, 2, 6), &e[1]);
	assert_empty();
}

static void o2g_match_arrive__any_value_of_a_key(void **state)
{
	static const u64 tags[] = { 0,		1,	    1ull << 31,
				    1ull << 32, 1ull << 63, ~0ull };
	static const u32 srcs[] = { 0, 1, 0x7fffffff, 0x80000000, 0xfffffffe };
	int n = 0;

	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 5; j++)
			recv(n++, srcs[j], tags[i], 0);
	for (int i = 5; i >= 0; i--)
		for (int j = 4; j >= 0; j--)
			assert_ptr_equal(o2g_match_arrive(&m, srcs[j], tags[i]),
					 &e[--n]);
	assert_empty();
}

/*
 * Chains stay short for the key patterns that programs have: counted tags,
 * strides, contexts in the upper half, many sources; whatever the seed.
 */
static u32 longest_chain(u64 seed, u64 stride, u32 nsrc)
{
	static struct o2g_match_bin table[1024];
	struct o2g_match_entry *c;
	u32 longest = 0;

	o2g_match_init(&m, table, 1024, seed);
	for (u32 i = 0; i < 1024; i++)
		recv(i, i % nsrc, i / nsrc * stride, 0);
	for (u32 i = 0; i < 1024; i++) {
		u32 n = 0;

		for (c = table[i].posted; c; c = c->chain)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

static void o2g_match_arrive__chains_stay_short(void **state)
{
	static const u64 strides[] = { 1,	   2,	       4,
				       8,	   1000,       1ull << 16,
				       1ull << 32, 5ull << 32, 1ull << 54 };
	static const u32 nsrcs[] = { 1, 2, 64, 1024 };

	for (u64 seed = 0; seed < 50; seed++)
		for (int i = 0; i < 9; i++)
			for (int j = 0; j < 4; j++)
				assert_in_range(longest_chain(seed * seed * 977,
							      strides[i],
							      nsrcs[j]),
						1, 16);
}

/* --- o2g_match_add_unexpected --- */

static void o2g_match_add_unexpected__counts(void **state)
{
	msg(0, 1, 5);
	msg(1, 1, 5);
	msg(2, 2, 5);
	assert_int_equal(m.nunexp, 3);
	assert_int_equal(m.nkeys, 2);
	assert_true(e[0].seq < e[1].seq && e[1].seq < e[2].seq);
}

/* --- o2g_match_peek --- */

static void o2g_match_peek__leaves_in_place(void **state)
{
	msg(0, 1, 5);
	msg(1, 2, 6);
	assert_ptr_equal(o2g_match_peek(&m, 2, 6, 0), &e[1]);
	assert_ptr_equal(o2g_match_peek(&m, 2, 6, 0), &e[1]);
	assert_ptr_equal(o2g_match_peek(&m, ANY, 0, ~0ull), &e[0]);
	assert_ptr_equal(o2g_match_peek(&m, ANY, 6, 0), &e[1]);
	assert_ptr_equal(o2g_match_peek(&m, 2, 0, ~0ull), &e[1]);
	assert_null(o2g_match_peek(&m, 1, 6, 0));
	assert_null(o2g_match_peek(&m, 3, 0, ~0ull));
	assert_null(o2g_match_peek(&m, ANY, 7, 0));
	assert_int_equal(m.nunexp, 2);
}

/* --- o2g_match_remove --- */

static void o2g_match_remove__any_place_in_a_key(void **state)
{
	for (int gone = 0; gone < 3; gone++) {
		setup(state);
		for (int i = 0; i < 3; i++)
			recv(i, 1, 5, 0);
		assert_true(o2g_match_remove(&m, &e[gone]));
		assert_false(o2g_match_remove(&m, &e[gone]));
		for (int i = 0; i < 3; i++)
			if (i != gone)
				assert_ptr_equal(o2g_match_arrive(&m, 1, 5),
						 &e[i]);
		assert_empty();
	}
}

static void o2g_match_remove__any_place_in_a_chain(void **state)
{
	struct o2g_match_bin few[O2G_MATCH_MIN_BINS];

	for (int gone = 0; gone < 40; gone++) {
		o2g_match_init(&m, few, O2G_MATCH_MIN_BINS, 1);
		for (int i = 0; i < 40; i++)
			msg(i, i, 5);
		assert_true(o2g_match_remove(&m, &e[gone]));
		assert_int_equal(m.nkeys, 39);
		assert_null(o2g_match_peek(&m, gone, 5, 0));
		for (int i = 0; i < 40; i++)
			if (i != gone)
				assert_ptr_equal(recv(99, i, 5, 0), &e[i]);
		assert_empty();
	}
}

static void o2g_match_remove__wildcard_and_message(void **state)
{
	recv(0, ANY, 5, 0);
	msg(1, 1, 6);
	assert_true(o2g_match_remove(&m, &e[0]));
	assert_true(o2g_match_remove(&m, &e[1]));
	assert_false(o2g_match_remove(&m, &e[0]));
	assert_false(o2g_match_remove(&m, &e[1]));
	assert_empty();
}

static void o2g_match_remove__matched_is_not_queued(void **state)
{
	recv(0, 1, 5, 0);
	recv(1, ANY, 6, 0);
	o2g_match_arrive(&m, 1, 5);
	o2g_match_arrive(&m, 1, 6);
	assert_false(o2g_match_remove(&m, &e[0]));
	assert_false(o2g_match_remove(&m, &e[1]));
	msg(2, 1, 5);
	recv(3, 1, 5, 0);
	assert_false(o2g_match_remove(&m, &e[2]));
	assert_false(o2g_match_remove(&m, &e[3]));
}

/* --- o2g_match_each_posted, o2g_match_each_unexpected --- */

static unsigned visits[1024];
static unsigned nvisits;

static void visit(struct o2g_match_entry *x, void *arg)
{
	visits[x - e]++;
	nvisits++;
	if (arg && (x->src & *(u32 *)arg)) {
		assert_true(o2g_match_remove(&m, x));
		memset(x, 0xff, sizeof(*x)); /* the caller may free it */
	}
}

static void fill_mixed(void)
{
	setup(NULL);
	memset(visits, 0, sizeof(visits));
	nvisits = 0;
	for (int i = 0; i < 300; i++)
		recv(i, i % 70, i % 10, 0);
	for (int i = 300; i < 320; i++)
		recv(i, i % 10, 1000, 0xf);
	for (int i = 400; i < 700; i++)
		msg(i, i % 70, 5000 + i % 10);
}

static void o2g_match_each_posted__sees_each_once(void **state)
{
	fill_mixed();
	o2g_match_each_posted(&m, visit, NULL);
	assert_int_equal(nvisits, 320);
	for (int i = 0; i < 320; i++)
		assert_int_equal(visits[i], 1);
}

static void o2g_match_each_posted__may_remove(void **state)
{
	u32 masks[] = { ~0u, 1, 2, 4 };

	for (int k = 0; k < 4; k++) {
		u32 left = 0;

		fill_mixed();
		/* source 0 survives every mask */
		for (int i = 0; i < 320; i++)
			left += !(e[i].src & masks[k]);
		o2g_match_each_posted(&m, visit, &masks[k]);
		assert_int_equal(nvisits, 320);
		assert_int_equal(m.nposted, left);
		assert_int_equal(m.nunexp, 300);
	}
}

static void o2g_match_each_unexpected__sees_each_once(void **state)
{
	fill_mixed();
	o2g_match_each_unexpected(&m, visit, NULL);
	assert_int_equal(nvisits, 300);
	for (int i = 400; i < 700; i++)
		assert_int_equal(visits[i], 1);
}

static void o2g_match_each_unexpected__may_remove(void **state)
{
	u32 mask = 1, left = 0;

	fill_mixed();
	for (int i = 400; i < 700; i++)
		left += !(e[i].src & mask);
	o2g_match_each_unexpected(&m, visit, &mask);
	assert_int_equal(nvisits, 300);
	assert_int_equal(m.nunexp, left);
	assert_int_equal(m.nposted, 320);
}

#define S(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(o2g_match_init__empty),
		S(o2g_match_init__seeds_differ),
		S(o2g_match_wants__grows_at_load_one),
		S(o2g_match_wants__counts_keys_not_entries),
		S(o2g_match_wants__has_an_end),
		S(o2g_match_rehash__keeps_everything),
		S(o2g_match_rehash__smaller),
		S(o2g_match_rehash_some__in_portions),
		S(o2g_match_walk__while_they_change),
		S(o2g_match_accepts__source_and_bits),
		S(o2g_match_post__queues),
		S(o2g_match_post__takes_oldest_of_key),
		S(o2g_match_post__wildcards_take_oldest),
		S(o2g_match_post__ignores_other_messages),
		S(o2g_match_arrive__oldest_of_key),
		S(o2g_match_arrive__wildcard_first_when_older),
		S(o2g_match_arrive__exact_first_when_older),
		S(o2g_match_arrive__skips_wildcards_that_do_not_fit),
		S(o2g_match_arrive__any_value_of_a_key),
		S(o2g_match_arrive__chains_stay_short),
		S(o2g_match_add_unexpected__counts),
		S(o2g_match_peek__leaves_in_place),
		S(o2g_match_remove__any_place_in_a_key),
		S(o2g_match_remove__any_place_in_a_chain),
		S(o2g_match_remove__wildcard_and_message),
		S(o2g_match_remove__matched_is_not_queued),
		S(o2g_match_each_posted__sees_each_once),
		S(o2g_match_each_posted__may_remove),
		S(o2g_match_each_unexpected__sees_each_once),
		S(o2g_match_each_unexpected__may_remove),
	};

	return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
