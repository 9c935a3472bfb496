/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/match.c core/wild.c */
/*
 * Operations coded in bytes on core/match.c and on the linear reference. The
 * input chooses the seed, so the fuzzer can look for collisions too.
 */
#include "fuzz.h"
#include "../unit/match_ref.h"

#define POOL 512

struct world {
	struct o2g_match m;
	struct ref ref;
	struct o2g_match_entry *e[POOL]; /* own malloc each, for ASan */
	unsigned next;
};

static struct o2g_match_bin *new_bins(u32 n)
{
	struct o2g_match_bin *b = malloc(n * sizeof(*b));

	CHECK(b);
	memset(b, 0xa5, n * sizeof(*b));
	return b;
}

/* Tags that differ in low bits, in high bits, or in both halves. */
static u64 tag_of(u8 b)
{
	static const u8 shifts[4] = { 0, 2, 32, 60 };

	return (u64)(b >> 2) << shifts[b & 3];
}

static void fill(struct o2g_match_entry *e, struct input *in)
{
	u8 how = in_u8(in);

	memset(e, 0x5a, sizeof(*e));
	e->src = how & 7;
	e->tag = tag_of(in_u8(in));
	e->ignore = 0;
	if ((how & 0xc0) == 0xc0)
		e->src = O2G_MATCH_ANY;
	if ((how & 0x30) == 0x30)
		e->ignore = how & 8 ? ~0ull : tag_of(in_u8(in));
}

static struct o2g_match_entry *fresh(struct world *w, struct input *in)
{
	struct o2g_match_entry *e = malloc(sizeof(*e));

	CHECK(e && w->next < POOL);
	fill(e, in);
	return w->e[w->next++] = e;
}

static void gone(struct world *w, struct o2g_match_entry *e)
{
	CHECK(!o2g_match_remove(&w->m, e));
	for (unsigned i = 0; i < w->next; i++) {
		if (w->e[i] == e) {
			w->e[i] = w->e[--w->next];
			free(e);
			return;
		}
	}
	CHECK(!"an entry that was never handed in");
}

static void op_post(struct world *w, struct input *in)
{
	struct o2g_match_entry *e = fresh(w, in);
	struct o2g_match_entry *want = ref_post(&w->ref, e);

	CHECK(o2g_match_post(&w->m, e) == want);
	if (want) {
		gone(w, want);
		gone(w, e);
	}
}

static void op_arrive(struct world *w, struct input *in)
{
	struct o2g_match_entry *e = fresh(w, in);
	struct o2g_match_entry *want;

	e->ignore = 0;
	e->src &= 7;
	want = ref_arrive(&w->ref, e->src, e->tag);
	CHECK(o2g_match_arrive(&w->m, e->src, e->tag) == want);
	if (want) {
		gone(w, want);
		e->queued = 0;
		gone(w, e);
		return;
	}
	ref_push(&w->ref.unexp, e);
	o2g_match_add_unexpected(&w->m, e);
}

static void op_peek(struct world *w, struct input *in)
{
	struct o2g_match_entry probe, *got;
	size_t i;

	fill(&probe, in);
	i = ref_peek(&w->ref, probe.src, probe.tag, probe.ignore);
	got = o2g_match_peek(&w->m, probe.src, probe.tag, probe.ignore);
	CHECK(got == (i < w->ref.unexp.n ? w->ref.unexp.v[i].e : NULL));
}

static void op_remove(struct world *w, struct ref_queue *q, struct input *in)
{
	struct o2g_match_entry *e;

	if (!q->n)
		return;
	e = ref_take(q, in_u16(in) % q->n);
	CHECK(o2g_match_remove(&w->m, e));
	gone(w, e);
}

static void op_rehash(struct world *w, struct input *in)
{
	u32 n = O2G_MATCH_MIN_BINS << in_u8(in) % 8;
	struct o2g_match_bin *old = w->m.bins;

	CHECK(o2g_match_rehash(&w->m, new_bins(n), n) == old);
	free(old);
}

/* A dead peer: remove all of one source during the walk. */
struct reap {
	struct world *w;
	u32 src;
	size_t seen;
	struct ref_queue *q;
};

static void reap_one(struct o2g_match_entry *e, void *arg)
{
	struct reap *r = arg;

	r->seen++;
	if (e->src != r->src)
		return;
	CHECK(o2g_match_remove(&r->w->m, e));
	CHECK(ref_remove(r->q, e));
	gone(r->w, e);
}

static void op_reap(struct world *w, struct input *in)
{
	u8 b = in_u8(in);
	bool posted = b & 8;
	struct reap r = { w, b & 7, 0,
			  posted ? &w->ref.posted : &w->ref.unexp };
	size_t before = r.q->n;

	if (posted)
		o2g_match_each_posted(&w->m, reap_one, &r);
	else
		o2g_match_each_unexpected(&w->m, reap_one, &r);
	CHECK(r.seen == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct world w = { .next = 0 };
	u32 nbins = O2G_MATCH_MIN_BINS << in_u8(&in) % 4;

	o2g_match_init(&w.m, new_bins(nbins), nbins, in_u16(&in));
	while (in.left) {
		u8 op = in_u8(&in) % 16;

		if (op < 12 && w.next == POOL)
			op = 12 + op % 2;
		if (op < 5)
			op_post(&w, &in);
		else if (op < 10)
			op_arrive(&w, &in);
		else if (op < 12)
			op_peek(&w, &in);
		else if (op == 12)
			op_remove(&w, &w.ref.posted, &in);
		else if (op == 13)
			op_remove(&w, &w.ref.unexp, &in);
		else if (op == 14)
			op_rehash(&w, &in);
		else
			op_reap(&w, &in);
		CHECK(w.m.nposted == w.ref.posted.n);
		CHECK(w.m.nunexp == w.ref.unexp.n);
		CHECK(w.m.nkeys <= w.m.nposted + w.m.nunexp);
	}
	while (w.next) {
		CHECK(o2g_match_remove(&w.m, w.e[0]));
		gone(&w, w.e[0]);
	}
	CHECK(!w.m.nkeys && !w.m.nposted && !w.m.nunexp);
	free(w.m.bins);
	ref_free(&w.ref);
	return 0;
}
