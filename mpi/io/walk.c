/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Going through a layout, which is a view of a file or a datatype in memory:
 * from a position to its byte, back, and from piece to piece.
 */
#include "io/view.h"

static MPI_Count min_count(MPI_Count a, MPI_Count b)
{
	return a < b ? a : b;
}

/* All instances are equal pieces at equal distances. */
static bool one_piece(const struct mpii_type *t)
{
	return t->nloops == 0 && t->nblocks == 1 && t->blocks[0].n == 1;
}

static void set_base(struct io_walk *w)
{
	w->base = w->p.disp + w->instance * w->p.t->extent;
	for (int i = 0; i < w->p.t->nloops; i++)
		w->base += w->turn[i] * w->p.t->loops[i].stride;
}

/* Divide a position down to a byte of a piece. */
static void locate(struct io_walk *w, MPI_Count pos)
{
	const struct mpii_type *t = w->p.t;
	MPI_Count rest = pos % t->size;

	w->instance = pos / t->size;
	for (int i = 0; i < t->nloops; i++) {
		w->turn[i] = rest / t->loops[i].bytes;
		rest %= t->loops[i].bytes;
	}
	w->block = mpii_type_find_block(t, rest);
	rest -= t->blocks[w->block].at;
	w->piece = rest / t->blocks[w->block].len;
	w->skip = rest % t->blocks[w->block].len;
	set_base(w);
}

void io_walk_start(struct io_walk *w, const struct io_place *p, MPI_Count pos,
		   MPI_Count end)
{
	w->p = *p;
	w->pos = pos;
	w->end = end;
	if (!p->contiguous && pos < end)
		locate(w, pos);
}

/* The block list begins anew: in the next turn of the innermost loop that has
 * one, or the next instance. */
static void next_list(struct io_walk *w)
{
	const struct mpii_type *t = w->p.t;
	int i = t->nloops - 1;

	w->block = 0;
	for (; i >= 0; i--) {
		if (++w->turn[i] < t->loops[i].n)
			break;
		w->turn[i] = 0;
	}
	if (i < 0)
		w->instance++;
	set_base(w);
}

static void next_block(struct io_walk *w)
{
	w->piece = 0;
	w->skip = 0;
	if (++w->block == w->p.t->nblocks)
		next_list(w);
}

/* A part of one piece, because of where the walk begins or ends. */
static void part_of_piece(struct io_walk *w, const struct mpii_block *from,
			  struct mpii_block *b)
{
	b->len = min_count(from->len - w->skip, w->end - w->pos);
	b->n = 1;
	b->stride = 0;
	w->skip += b->len;
	if (w->skip < from->len)
		return;
	w->skip = 0;
	if (++w->piece == from->n)
		next_block(w);
}

static void whole_pieces(struct io_walk *w, const struct mpii_block *from,
			 struct mpii_block *b)
{
	b->len = from->len;
	b->n = min_count(from->n - w->piece, (w->end - w->pos) / from->len);
	b->stride = b->n > 1 ? from->stride : 0;
	w->piece += b->n;
	if (w->piece == from->n)
		next_block(w);
}

/* Whole instances at once, where each is one piece. */
static void whole_instances(struct io_walk *w, const struct mpii_block *from,
			    struct mpii_block *b)
{
	b->len = from->len;
	b->n = (w->end - w->pos) / from->len;
	b->stride = b->n > 1 ? w->p.t->extent : 0;
	w->instance += b->n;
	set_base(w);
}

bool io_walk_block(struct io_walk *w, struct mpii_block *b)
{
	const struct mpii_block *from;

	if (w->pos >= w->end)
		return false;
	if (w->p.contiguous) {
		*b = (struct mpii_block){ .disp = w->p.disp + w->pos,
					  .len = w->end - w->pos,
					  .n = 1 };
		w->pos = w->end;
		return true;
	}
	from = &w->p.t->blocks[w->block];
	b->disp = w->base + from->disp + w->piece * from->stride + w->skip;
	if (w->skip || w->end - w->pos < from->len)
		part_of_piece(w, from, b);
	else if (one_piece(w->p.t))
		whole_instances(w, from, b);
	else
		whole_pieces(w, from, b);
	w->pos += b->len * b->n;
	return true;
}

/* One piece, or a part of it. */
static bool next_piece(struct io_walk *w, MPI_Offset *off, MPI_Count *len,
		       MPI_Count max)
{
	MPI_Count end = w->end;
	struct mpii_block b;

	if (w->pos >= end)
		return false;
	w->end = w->pos + min_count(end - w->pos, max);
	if (!w->p.contiguous)
		w->end = min_count(w->end,
				   w->pos + w->p.t->blocks[w->block].len -
					   w->skip);
	io_walk_block(w, &b);
	w->end = end;
	*off = b.disp;
	*len = b.len;
	return true;
}

bool io_walk_run(struct io_walk *w, MPI_Offset *off, MPI_Count *len,
		 MPI_Count max)
{
	struct io_walk next;
	MPI_Offset at;
	MPI_Count more;

	if (!next_piece(w, off, len, max))
		return false;
	while (*len < max) {
		next = *w;
		if (!next_piece(&next, &at, &more, max - *len) ||
		    at != *off + *len)
			break;
		*len += more;
		*w = next;
	}
	return true;
}

MPI_Offset io_place_byte(const struct io_place *p, MPI_Count pos)
{
	struct io_walk w = { .p = *p };
	const struct mpii_block *b;

	if (p->contiguous)
		return p->disp + pos;
	locate(&w, pos);
	b = &p->t->blocks[w.block];
	return w.base + b->disp + w.piece * b->stride + w.skip;
}

bool io_place_reaches(const struct io_place *p, MPI_Count end)
{
	MPI_Offset at = p->disp, skip;

	if (p->contiguous)
		return !__builtin_add_overflow(at, end, &at);
	if (end <= 0)
		return true;
	return !__builtin_mul_overflow((end - 1) / p->t->size, p->t->extent,
				       &skip) &&
	       !__builtin_add_overflow(at, skip, &at) &&
	       !__builtin_add_overflow(at, p->t->true_lb, &at) &&
	       !__builtin_add_overflow(at, p->t->true_extent, &at);
}

MPI_Count io_place_find(const struct io_place *p, MPI_Offset byte, MPI_Count lo,
			MPI_Count hi)
{
	MPI_Count mid;

	if (p->contiguous) {
		if (byte <= p->disp + lo)
			return lo;
		return min_count(hi, byte - p->disp);
	}
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (io_place_byte(p, mid) < byte)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* --- what a filetype has to be --- */

/* The first byte of a nest of loops, the first of its last piece, and its end. */
struct span {
	MPI_Offset first, last, end;
};

static struct span block_span(const struct mpii_block *b)
{
	MPI_Offset last = b->disp + (b->n - 1) * b->stride;

	return (struct span){ b->disp, last, last + b->len };
}

/* @n times, @stride apart: does each begin where, or after, the one before does,
 * or, with @apart, where it ends? */
static bool repeat(struct span *s, MPI_Count n, MPI_Aint stride, bool apart)
{
	MPI_Offset far;

	if (n <= 1)
		return true;
	if (s->first + stride < (apart ? s->end : s->last))
		return false;
	far = (n - 1) * stride;
	s->last += far;
	s->end += far;
	return true;
}

static bool list_ok(const struct mpii_type *t, bool apart, struct span *all)
{
	for (size_t i = 0; i < t->nblocks; i++) {
		const struct mpii_block *b = &t->blocks[i];
		struct span s = block_span(b);

		if (b->n > 1 && b->stride < (apart ? b->len : 0))
			return false;
		if (i && s.first < (apart ? all->end : all->last))
			return false;
		if (!i)
			*all = s;
		all->last = s.last;
		if (s.end > all->end)
			all->end = s.end;
	}
	return true;
}

/* Is a type all right, and does it stay so laid end to end? */
static bool type_ok(const struct mpii_type *t, bool apart, bool *tiles)
{
	struct span s = { 0, 0, 0 };

	*tiles = true;
	if (t->size == 0)
		return true;
	if (!list_ok(t, apart, &s))
		return false;
	for (int i = t->nloops - 1; i >= 0; i--)
		if (!repeat(&s, t->loops[i].n, t->loops[i].stride, apart))
			return false;
	*tiles = repeat(&s, 2, t->extent, apart);
	return s.first >= 0;
}

bool io_type_monotonic(const struct mpii_type *t, bool *tiles)
{
	return type_ok(t, false, tiles);
}

bool io_type_overlaps(const struct mpii_type *t, bool *tiles)
{
	return !type_ok(t, true, tiles);
}
