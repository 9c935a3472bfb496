/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/match.c core/wild.c */
/*
 * core/match.c against a naive linear reference, over millions of random
 * operations. Every round has its own key space, table size, depth and mix of
 * wildcards, all drawn from the seed.
 *
 * model_match [operations [seed]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "match_ref.h"
#include "rnd.h"

#define POOL 8192
#define FIXED_SEED 20070613

static u64 below(u64 n)
{
	return rnd() % n;
}

/* One table with its reference, and the shape of the operations on it. */
struct world {
	struct o2g_match m;
	struct ref ref;
	struct o2g_match_entry pool[POOL];
	struct o2g_match_entry *idle[POOL];
	u32 nidle;
	/* shape of this round */
	u32 nsrc, ntag, depth;
	unsigned tag_shift, wild_percent, post_percent;
};

static u64 failed_op;

#define CHECK(cond)                                                    \
	do {                                                           \
		if (!(cond)) {                                         \
			fprintf(stderr,                                \
				"%s:%d: operation %" PRIu64            \
				": %s does not hold\n",                \
				__FILE__, __LINE__, failed_op, #cond); \
			exit(1);                                       \
		}                                                      \
	} while (0)

static struct o2g_match_bin *new_bins(u32 n)
{
	struct o2g_match_bin *b = malloc(n * sizeof(*b));

	if (!b)
		exit(1);
	memset(b, 0xa5, n * sizeof(*b));
	return b;
}

static void start_round(struct world *w)
{
	static const u32 srcs[] = { 1, 2, 8, 300 };
	static const u32 tags[] = { 1, 3, 16, 200, 5000 };
	static const u32 depths[] = { 0, 1, 8, 100, 1000, 4000 };
	u32 nbins = O2G_MATCH_MIN_BINS << below(8);

	memset(w, 0, sizeof(*w));
	o2g_match_init(&w->m, new_bins(nbins), nbins, rnd());
	w->nsrc = srcs[below(4)];
	w->ntag = tags[below(5)];
	w->depth = depths[below(6)];
	w->tag_shift = below(52);
	w->wild_percent = below(3) ? below(100) : 0;
	w->post_percent = 35 + below(31);
	for (u32 i = 0; i < POOL; i++)
		w->idle[w->nidle++] = &w->pool[i];
}

static void count(struct o2g_match_entry *e, void *arg)
{
	(void)e;
	++*(u64 *)arg;
}

static void end_round(struct world *w)
{
	u64 posted = 0, unexp = 0;

	o2g_match_each_posted(&w->m, count, &posted);
	o2g_match_each_unexpected(&w->m, count, &unexp);
	CHECK(posted == w->ref.posted.n && unexp == w->ref.unexp.n);
	while (w->ref.posted.n)
		CHECK(o2g_match_remove(&w->m, ref_take(&w->ref.posted, 0)));
	while (w->ref.unexp.n)
		CHECK(o2g_match_remove(&w->m, ref_take(&w->ref.unexp, 0)));
	CHECK(!w->m.nkeys && !w->m.nposted && !w->m.nunexp && !w->m.nodd);
	for (u32 i = 0; i < w->m.nkinds; i++)
		CHECK(!w->m.kinds[i].n && !w->m.kinds[i].root);
	for (u32 i = 0; i < w->m.nbins; i++)
		CHECK(!w->m.bins[i].posted && !w->m.bins[i].unexp);
	free(w->m.bins);
	ref_free(&w->ref);
}

static struct o2g_match_entry *get_entry(struct world *w)
{
	struct o2g_match_entry *e = w->idle[--w->nidle];

	/* Whatever the caller does not fill must not matter. */
	memset(e, 0x5a, sizeof(*e));
	e->src = below(w->nsrc);
	e->tag = below(w->ntag) << w->tag_shift;
	e->ignore = 0;
	return e;
}

static void put_entry(struct world *w, struct o2g_match_entry *e)
{
	CHECK(!o2g_match_remove(&w->m, e));
	w->idle[w->nidle++] = e;
}

static void make_wild(struct world *w, struct o2g_match_entry *e)
{
	if (below(100) >= w->wild_percent)
		return;
	switch (below(4)) {
	case 0:
		e->src = O2G_MATCH_ANY;
		break;
	case 1: /* some bits of the tag */
		e->ignore = rnd() & rnd();
		break;
	case 2:
		e->ignore = ~0ull;
		break;
	case 3:
		e->src = O2G_MATCH_ANY;
		e->ignore = below(2) ? ~0ull : 3ull << w->tag_shift;
		break;
	}
}

/* Messages that it does not accept are passed over before. */
static struct o2g_match_entry *post_in_portions(struct world *w,
						struct o2g_match_entry *e)
{
	struct o2g_match_walk walk;
	struct o2g_match_entry *got;
	u32 max;

	o2g_match_walk_begin(&w->m, &walk);
	do
		max = 1 + (u32)below(50);
	while (!o2g_match_skip(&w->m, &walk, e->src, e->tag, e->ignore, &max));
	w->m.skip = &walk.mark.order;
	got = o2g_match_post(&w->m, e);
	w->m.skip = NULL;
	o2g_match_walk_end(&walk);
	return got;
}

static void op_post(struct world *w)
{
	struct o2g_match_entry *e, *want, *got;

	e = get_entry(w);
	make_wild(w, e);
	want = ref_post(&w->ref, e);
	got = below(2) ? o2g_match_post(&w->m, e) : post_in_portions(w, e);
	CHECK(got == want);
	if (got) {
		put_entry(w, got);
		put_entry(w, e);
	}
}

static void op_arrive(struct world *w)
{
	struct o2g_match_entry *e, *want, *got;

	e = get_entry(w);
	want = ref_arrive(&w->ref, e->src, e->tag);
	got = o2g_match_arrive(&w->m, e->src, e->tag);
	CHECK(got == want);
	if (got) {
		put_entry(w, got);
		w->idle[w->nidle++] = e;
		return;
	}
	ref_push(&w->ref.unexp, e);
	o2g_match_add_unexpected(&w->m, e);
}

static void op_remove(struct world *w)
{
	struct ref_queue *q = below(2) ? &w->ref.posted : &w->ref.unexp;
	struct o2g_match_entry *e;

	if (!q->n)
		return;
	e = ref_take(q, below(q->n));
	CHECK(o2g_match_remove(&w->m, e));
	put_entry(w, e);
}

static void op_peek(struct world *w)
{
	struct o2g_match_entry probe = { .src = below(w->nsrc),
					 .tag = below(w->ntag)
						<< w->tag_shift };
	struct o2g_match_entry *want = NULL, *got;
	size_t i;

	make_wild(w, &probe);
	i = ref_peek(&w->ref, probe.src, probe.tag, probe.ignore);
	if (i < w->ref.unexp.n)
		want = w->ref.unexp.v[i].e;
	got = o2g_match_peek(&w->m, probe.src, probe.tag, probe.ignore);
	CHECK(got == want);
}

/* A portion of what was begun. */
static void rehash_some(struct world *w, u32 max)
{
	struct o2g_match_bin *old = w->m.old;
	struct o2g_match_bin *over = o2g_match_rehash_some(&w->m, max);

	CHECK(over ? over == old && !w->m.old : w->m.old == old);
	free(over);
}

static void rehash_begin(struct world *w)
{
	u32 nbins = O2G_MATCH_MIN_BINS << below(12);
	struct o2g_match_bin *bins = new_bins(nbins);

	memset(bins, 0, nbins * sizeof(*bins));
	o2g_match_rehash_begin(&w->m, bins, nbins);
	CHECK(!o2g_match_wants(&w->m));
}

static void op_rehash(struct world *w)
{
	u32 nbins = o2g_match_wants(&w->m);
	struct o2g_match_bin *old = w->m.bins;

	if (nbins)
		CHECK(nbins >= 2 * w->m.nkeys);
	else
		nbins = O2G_MATCH_MIN_BINS << below(12);
	CHECK(o2g_match_rehash(&w->m, new_bins(nbins), nbins) == old);
	free(old);
}

/* A queue below its depth grows, a longer one shrinks, by what comes in. */
static void one_op(struct world *w)
{
	bool full = w->ref.posted.n + w->ref.unexp.n >= w->depth + 4;
	u64 r = below(1000);

	if (full && (r & 3)) {
		op_remove(w);
		return;
	}
	if (w->m.old && r % 10 == 0)
		rehash_some(w, 1 + (u32)below(30));
	else if (r == 0 && !w->m.old)
		op_rehash(w);
	else if (r == 1 && !w->m.old)
		rehash_begin(w);
	else if (r < 60)
		op_peek(w);
	else if (r < 100)
		op_remove(w);
	else if (r < 100 + 9 * w->post_percent)
		op_post(w);
	else
		op_arrive(w);
	CHECK(w->m.nposted == w->ref.posted.n);
	CHECK(w->m.nunexp == w->ref.unexp.n);
}

static void run(u64 ops, u64 seed)
{
	static struct world w;
	u64 deepest = 0, rounds = 0;

	printf("seed %" PRIu64 ": %" PRIu64 " operations", seed, ops);
	fflush(stdout);
	rng = seed * 2 + 1;
	for (failed_op = 0; failed_op < ops; rounds++) {
		u64 n = 2000 + below(20000);

		start_round(&w);
		for (u64 i = 0; i < n; i++, failed_op++) {
			u64 now;

			one_op(&w);
			now = w.ref.posted.n + w.ref.unexp.n;
			deepest = now > deepest ? now : deepest;
		}
		while (w.m.old)
			rehash_some(&w, 1000);
		end_round(&w);
	}
	printf(", %" PRIu64 " rounds, up to %" PRIu64 " entries queued: ok\n",
	       rounds, deepest);
}

int main(int argc, char **argv)
{
	u64 ops = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;

	if (!ops) {
		fprintf(stderr, "usage: %s [operations [seed]]\n", argv[0]);
		return 1;
	}
	if (argc > 2) {
		run(ops, strtoull(argv[2], NULL, 10));
		return 0;
	}
	run(ops / 2, FIXED_SEED);
	run(ops - ops / 2, (u64)time(NULL));
	return 0;
}
