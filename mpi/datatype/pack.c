/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Moving data between a typed buffer and its packed form.
 *
 * A range of packed bytes is found by dividing down through instances and loops
 * to the list of blocks, so that a message can be packed in pieces of any size
 * without remembering where the last one ended. What is left at the bottom are
 * runs of equal pieces; the loops for the common sizes of a piece compile to
 * plain loads and stores.
 */
#include <string.h>

#include "datatype/datatype.h"

struct walk {
	const struct mpii_type *t;
	char *packed; /* moves on */
	/* n pieces of len bytes at p, stride apart */
	void (*run)(struct walk *w, char *p, MPI_Count len, MPI_Count n,
		    MPI_Aint stride);
	/* the whole list of blocks at p, n times, stride apart */
	void (*lists)(struct walk *w, char *p, MPI_Count n, MPI_Aint stride);
};

/*
 * n pieces of a known size. Four at a time are loaded before any is stored: the
 * compiler cannot know that the buffers are apart.
 */
#define COPY_PIECES(size)                                               \
	static inline void copy_##size(char *to, MPI_Aint to_step,      \
				       const char *from, MPI_Aint step, \
				       MPI_Count n)                     \
	{                                                               \
		typedef struct {                                        \
			char byte[size];                                \
		} piece;                                                \
                                                                        \
		for (; n >= 4; n -= 4) {                                \
			piece a = *(const piece *)from;                 \
			piece b = *(const piece *)(from + step);        \
			piece c = *(const piece *)(from + 2 * step);    \
			piece d = *(const piece *)(from + 3 * step);    \
                                                                        \
			*(piece *)to = a;                               \
			*(piece *)(to + to_step) = b;                   \
			*(piece *)(to + 2 * to_step) = c;               \
			*(piece *)(to + 3 * to_step) = d;               \
			from += 4 * step;                               \
			to += 4 * to_step;                              \
		}                                                       \
		for (; n > 0; n--, from += step, to += to_step)         \
			*(piece *)to = *(const piece *)from;            \
	}
COPY_PIECES(1)
COPY_PIECES(2)
COPY_PIECES(4)
COPY_PIECES(8)
COPY_PIECES(16)

/*
 * One piece of any size. Members of structs are short, and a call of memcpy for
 * each takes longer than the copy: two moves that may overlap do.
 */
#define COPY_ENDS(size)                                                 \
	static inline void copy_ends_##size(char *to, const char *from, \
					    size_t len)                 \
	{                                                               \
		struct {                                                \
			char byte[size];                                \
		} head, tail;                                           \
                                                                        \
		memcpy(&head, from, size);                              \
		memcpy(&tail, from + len - size, size);                 \
		memcpy(to, &head, size);                                \
		memcpy(to + len - size, &tail, size);                   \
	}
COPY_ENDS(1)
COPY_ENDS(2)
COPY_ENDS(4)
COPY_ENDS(8)
COPY_ENDS(16)

static inline void copy_piece(char *to, const char *from, size_t len)
{
	if (len > 32)
		memcpy(to, from, len);
	else if (len >= 16)
		copy_ends_16(to, from, len);
	else if (len >= 8)
		copy_ends_8(to, from, len);
	else if (len >= 4)
		copy_ends_4(to, from, len);
	else if (len >= 2)
		copy_ends_2(to, from, len);
	else
		copy_ends_1(to, from, len);
}

static inline void copy_run(char *to, MPI_Aint to_step, const char *from,
			    MPI_Aint step, size_t len, MPI_Count n)
{
	switch (len) {
	case 1:
		copy_1(to, to_step, from, step, n);
		break;
	case 2:
		copy_2(to, to_step, from, step, n);
		break;
	case 4:
		copy_4(to, to_step, from, step, n);
		break;
	case 8:
		copy_8(to, to_step, from, step, n);
		break;
	case 16:
		copy_16(to, to_step, from, step, n);
		break;
	default:
		for (; n > 0; n--, from += step, to += to_step)
			copy_piece(to, from, len);
	}
}

static void pack_run(struct walk *w, char *p, MPI_Count len, MPI_Count n,
		     MPI_Aint stride)
{
	char *out = w->packed;

	w->packed += len * n;
	copy_run(out, len, p, stride, len, n);
}

static void unpack_run(struct walk *w, char *p, MPI_Count len, MPI_Count n,
		       MPI_Aint stride)
{
	const char *in = w->packed;

	w->packed += len * n;
	copy_run(p, stride, in, len, len, n);
}

static void pack_lists(struct walk *w, char *p, MPI_Count n, MPI_Aint stride)
{
	const struct mpii_block *b, *end = w->t->blocks + w->t->nblocks;

	for (; n > 0; n--, p += stride) {
		for (b = w->t->blocks; b < end; b++) {
			if (b->n > 1) {
				pack_run(w, p + b->disp, b->len, b->n,
					 b->stride);
				continue;
			}
			copy_piece(w->packed, p + b->disp, b->len);
			w->packed += b->len;
		}
	}
}

static void unpack_lists(struct walk *w, char *p, MPI_Count n, MPI_Aint stride)
{
	const struct mpii_block *b, *end = w->t->blocks + w->t->nblocks;

	for (; n > 0; n--, p += stride) {
		for (b = w->t->blocks; b < end; b++) {
			if (b->n > 1) {
				unpack_run(w, p + b->disp, b->len, b->n,
					   b->stride);
				continue;
			}
			copy_piece(p + b->disp, w->packed, b->len);
			w->packed += b->len;
		}
	}
}

static MPI_Count min_count(MPI_Count a, MPI_Count b)
{
	return a < b ? a : b;
}

/* Bytes [lo, hi) of one run. */
static void walk_run(struct walk *w, const struct mpii_block *b, char *base,
		     MPI_Count lo, MPI_Count hi)
{
	char *p = base + b->disp;
	MPI_Count skip, take;

	if (lo > 0) {
		skip = lo % b->len;
		p += lo / b->len * b->stride;
		if (skip) {
			take = min_count(b->len - skip, hi - lo);
			w->run(w, p + skip, take, 1, 0);
			p += b->stride;
			lo += take;
		}
	}
	take = (hi - lo) / b->len;
	if (take)
		w->run(w, p, b->len, take, b->stride);
	p += take * b->stride;
	lo += take * b->len;
	if (lo < hi)
		w->run(w, p, hi - lo, 1, 0);
}

size_t mpii_type_find_block(const struct mpii_type *t, MPI_Count lo)
{
	size_t a = 0, b = t->nblocks;

	while (b - a > 1) {
		size_t m = a + (b - a) / 2;

		if (t->blocks[m].at <= lo)
			a = m;
		else
			b = m;
	}
	return a;
}

static void walk_list(struct walk *w, char *base, MPI_Count lo, MPI_Count hi)
{
	const struct mpii_type *t = w->t;

	for (size_t i = mpii_type_find_block(t, lo); lo < hi; i++) {
		const struct mpii_block *b = &t->blocks[i];
		MPI_Count end = min_count(hi, b->at + b->len * b->n);

		walk_run(w, b, base, lo - b->at, end - b->at);
		lo = end;
	}
}

/* All that is inside of loop @level, n times, stride apart. */
static void walk_whole(struct walk *w, int level, char *base, MPI_Count n,
		       MPI_Aint stride)
{
	const struct mpii_loop *l = &w->t->loops[level];

	if (level == w->t->nloops) {
		w->lists(w, base, n, stride);
		return;
	}
	for (MPI_Count i = 0; i < n; i++)
		walk_whole(w, level + 1, base + i * stride, l->n, l->stride);
}

static void walk_loops(struct walk *w, int level, char *base, MPI_Count lo,
		       MPI_Count hi);

/* Bytes [lo, hi) of turns of @bytes, @stride apart, around loop @level. */
static void walk_turns(struct walk *w, int level, MPI_Count bytes,
		       MPI_Aint stride, char *base, MPI_Count lo, MPI_Count hi)
{
	MPI_Count whole;

	base += lo / bytes * stride;
	hi -= lo / bytes * bytes;
	lo %= bytes;
	if (lo) {
		walk_loops(w, level, base, lo, min_count(hi, bytes));
		base += stride;
		hi -= bytes;
	}
	whole = hi > 0 ? hi / bytes : 0;
	walk_whole(w, level, base, whole, stride);
	hi -= whole * bytes;
	if (hi > 0)
		walk_loops(w, level, base + whole * stride, 0, hi);
}

static void walk_loops(struct walk *w, int level, char *base, MPI_Count lo,
		       MPI_Count hi)
{
	const struct mpii_loop *l = &w->t->loops[level];

	if (level == w->t->nloops)
		walk_list(w, base, lo, hi);
	else
		walk_turns(w, level + 1, l->bytes, l->stride, base, lo, hi);
}

static void walk(struct walk *w, char *base, MPI_Count off, MPI_Count n)
{
	const struct mpii_type *t = w->t;

	if (n <= 0 || t->size == 0)
		return;
	if (t->nloops == 0 && t->nblocks == 1 && t->blocks[0].n == 1) {
		/* the instances themselves are the run */
		struct mpii_block b = t->blocks[0];

		b.stride = t->extent;
		walk_run(w, &b, base, off, off + n);
		return;
	}
	walk_turns(w, 0, t->size, t->extent, base, off, off + n);
}

void mpii_pack(const struct mpii_type *t, const void *buf, MPI_Count count,
	       MPI_Count off, void *out, size_t n)
{
	struct walk w = { .t = t,
			  .packed = out,
			  .run = pack_run,
			  .lists = pack_lists };

	if (n == 0)
		return;
	if (t->contiguous)
		memcpy(out, (const char *)buf + off, n);
	else
		walk(&w, (char *)buf, off, n);
}

void mpii_unpack(const struct mpii_type *t, void *buf, MPI_Count count,
		 MPI_Count off, const void *in, size_t n)
{
	struct walk w = { .t = t,
			  .packed = (char *)in,
			  .run = unpack_run,
			  .lists = unpack_lists };

	if (n == 0)
		return;
	if (t->contiguous)
		memcpy((char *)buf + off, in, n);
	else
		walk(&w, buf, off, n);
}

void mpii_copy(const void *from, MPI_Count fcount, const struct mpii_type *ft,
	       void *to, MPI_Count tcount, const struct mpii_type *tt)
{
	MPI_Count n = min_count(fcount * ft->size, tcount * tt->size), off, k;
	char piece[16384];

	if (n <= 0)
		return;
	if (ft->contiguous && tt->contiguous) {
		memmove(to, from, n);
	} else if (tt->contiguous) {
		mpii_pack(ft, from, fcount, 0, to, n);
	} else if (ft->contiguous) {
		mpii_unpack(tt, to, tcount, 0, from, n);
	} else {
		for (off = 0; off < n; off += k) {
			k = min_count(n - off, sizeof(piece));
			mpii_pack(ft, from, fcount, off, piece, k);
			mpii_unpack(tt, to, tcount, off, piece, k);
		}
	}
}

struct each {
	struct walk w;
	mpii_piece_fn *fn;
	void *arg;
};

static void each_run(struct walk *w, char *p, MPI_Count len, MPI_Count n,
		     MPI_Aint stride)
{
	struct each *e = (struct each *)w;

	for (; n > 0; n--, p += stride)
		e->fn(e->arg, p, len);
}

static void each_lists(struct walk *w, char *p, MPI_Count n, MPI_Aint stride)
{
	const struct mpii_block *b, *end = w->t->blocks + w->t->nblocks;

	for (; n > 0; n--, p += stride)
		for (b = w->t->blocks; b < end; b++)
			each_run(w, p + b->disp, b->len, b->n, b->stride);
}

void mpii_type_each(const struct mpii_type *t, const void *buf, MPI_Count off,
		    MPI_Count n, mpii_piece_fn *fn, void *arg)
{
	struct each e = { .w = { .t = t, .run = each_run, .lists = each_lists },
			  .fn = fn,
			  .arg = arg };

	if (n > 0 && t->contiguous)
		fn(arg, (char *)buf + off, n);
	else
		walk(&e.w, (char *)buf, off, n);
}

struct seg_list {
	struct o2g_seg *segs;
	size_t n, max;
};

static void add_segs(struct seg_list *s, const struct mpii_block *b, char *base)
{
	for (MPI_Count i = 0; i < b->n && s->n < s->max; i++) {
		s->segs[s->n].base = base + b->disp + i * b->stride;
		s->segs[s->n++].len = b->len;
	}
}

static void list_segs(struct seg_list *s, const struct mpii_type *t, int level,
		      char *base)
{
	const struct mpii_loop *l = &t->loops[level];

	if (level == t->nloops) {
		for (size_t i = 0; i < t->nblocks && s->n < s->max; i++)
			add_segs(s, &t->blocks[i], base);
		return;
	}
	for (MPI_Count i = 0; i < l->n && s->n < s->max; i++)
		list_segs(s, t, level + 1, base + i * l->stride);
}

size_t mpii_type_segs(const struct mpii_type *t, const void *buf,
		      MPI_Count count, struct o2g_seg *segs, size_t max)
{
	struct seg_list s = { .segs = segs, .max = max };
	char *base = (char *)buf;

	if (count == 0 || t->size == 0)
		return 0;
	if (t->nsegs == 1 && (count == 1 || t->size == t->extent)) {
		if (max) {
			segs->base = base + t->blocks[0].disp;
			segs->len = t->size * count;
		}
		return 1;
	}
	for (MPI_Count i = 0; i < count && s.n < max; i++)
		list_segs(&s, t, 0, base + i * t->extent);
	return t->nsegs * count;
}
