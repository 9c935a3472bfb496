/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Blocks of ranks in a window of the file, and what they cover together. */
#include <stdlib.h>
#include <string.h>

#include "io/part.h"

/* --- the blocks of one rank --- */

void io_part_free(struct io_part *p)
{
	free(p->room ? p->type.blocks : NULL);
	p->room = 0;
}

bool io_part_room(struct io_part *p, size_t n)
{
	struct mpii_block *b;
	size_t room = p->room ? p->room : 8;

	if (n <= p->room)
		return true;
	while (room < n)
		room *= 2;
	b = reallocarray(p->room ? p->type.blocks : NULL, room, sizeof(*b));
	if (!b)
		return false;
	p->type.blocks = b;
	p->room = room;
	return true;
}

/* As a datatype of one instance at the window. */
void io_part_measure(struct io_part *p, size_t n)
{
	struct mpii_type *t = &p->type;
	const struct mpii_block *last;

	t->obj.magic = MPII_TYPE;
	t->obj.refs = 1;
	t->nblocks = n;
	t->size = 0;
	t->nsegs = 0;
	t->nloops = 0;
	t->contiguous = false;
	t->committed = true;
	for (size_t i = 0; i < n; i++) {
		t->blocks[i].at = t->size;
		t->size += t->blocks[i].len * t->blocks[i].n;
		t->nsegs += t->blocks[i].n;
	}
	p->lo = p->hi = 0;
	if (n) {
		last = &t->blocks[n - 1];
		p->lo = t->blocks[0].disp;
		p->hi = last->disp + (last->n - 1) * last->stride + last->len;
	}
	t->lb = t->true_lb = p->lo;
	t->extent = t->true_extent = p->hi - p->lo;
}

bool io_part_fill(struct io_part *p, const struct io_place *place,
		  MPI_Count pos, MPI_Count end, MPI_Offset window)
{
	struct mpii_block b;
	struct io_walk w;
	size_t n = 0;

	io_walk_start(&w, place, pos, end);
	while (io_walk_block(&w, &b)) {
		if (!io_part_room(p, n + 1))
			return false;
		b.disp -= window;
		p->type.blocks[n++] = b;
	}
	io_part_measure(p, n);
	return true;
}

/* The part of a block before byte @hi: whole pieces, and what is left of one as a
 * block of its own. Returns how many blocks that is. */
static size_t cut_block(struct mpii_block *b, MPI_Offset hi,
			struct mpii_block *rest)
{
	MPI_Offset stride = b->n > 1 && b->stride ? b->stride : b->len;
	MPI_Count whole = hi - b->disp >= b->len ?
				  (hi - b->disp - b->len) / stride + 1 :
				  0;
	MPI_Offset at;

	if (whole >= b->n)
		return 1;
	at = b->disp + whole * stride;
	*rest = (struct mpii_block){ .disp = at, .len = hi - at, .n = 1 };
	b->n = whole;
	return (whole > 0) + (rest->len > 0);
}

void io_part_cut(struct io_part *p, MPI_Offset hi)
{
	struct mpii_block *b = p->type.blocks, rest = { .len = 0 };
	size_t n = p->type.nblocks, i, k;

	if (hi >= p->hi)
		return;
	for (i = 0; i < n; i++) {
		if (b[i].disp >= hi)
			break;
		k = cut_block(&b[i], hi, &rest);
		if (k == 1 && b[i].n)
			continue;
		/* The rest takes the place of the block, or of the next. */
		if (b[i].n)
			i++;
		if (rest.len > 0 && (i < n || io_part_room(p, i + 1)))
			p->type.blocks[i++] = rest;
		break;
	}
	io_part_measure(p, i);
}

/* --- coverage --- */

static MPI_Count gcd(MPI_Count a, MPI_Count b)
{
	while (b) {
		MPI_Count r = a % b;

		a = b;
		b = r;
	}
	return a;
}

static MPI_Count grain_of(MPI_Count grain, const struct io_part *p,
			  MPI_Offset lo)
{
	for (size_t i = 0; i < p->type.nblocks && grain != 1; i++) {
		const struct mpii_block *b = &p->type.blocks[i];

		grain = gcd(grain, b->disp - lo);
		grain = gcd(grain, b->len);
		if (b->n > 1)
			grain = gcd(grain, b->stride);
	}
	return grain;
}

static void set_bits(uint64_t *bits, size_t from, size_t n)
{
	size_t word = from / 64, bit = from % 64, k;

	for (; n; n -= k, bit = 0, word++) {
		k = 64 - bit < n ? 64 - bit : n;
		bits[word] |= (k == 64 ? ~UINT64_C(0) : (UINT64_C(1) << k) - 1)
			      << bit;
	}
}

static void mark(struct io_cover *c, const struct io_part *p)
{
	for (size_t i = 0; i < p->type.nblocks; i++) {
		const struct mpii_block *b = &p->type.blocks[i];
		MPI_Offset at = b->disp - c->lo;

		for (MPI_Count k = 0; k < b->n; k++, at += b->stride)
			set_bits(c->bits, at / c->grain, b->len / c->grain);
	}
}

static bool get_bit(const struct io_cover *c, size_t i)
{
	return c->bits[i / 64] >> i % 64 & 1;
}

static size_t words_of(const struct io_cover *c)
{
	return ((c->hi - c->lo) / c->grain + 63) / 64;
}

static bool all_set(const struct io_cover *c)
{
	size_t n = (c->hi - c->lo) / c->grain;

	for (size_t i = 0; i < n / 64; i++)
		if (~c->bits[i])
			return false;
	for (size_t i = n / 64 * 64; i < n; i++)
		if (!get_bit(c, i))
			return false;
	return true;
}

/* From where to where there is anything; false: nowhere. */
static bool bounds(struct io_cover *c, const struct io_part *parts, int n)
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		const struct io_part *p = &parts[i];

		if (!p->type.size)
			continue;
		if (!any || p->lo < c->lo)
			c->lo = p->lo;
		if (!any || p->hi > c->hi)
			c->hi = p->hi;
		any = true;
	}
	return any;
}

bool io_cover_make(struct io_cover *c, const struct io_part *parts, int n,
		   bool exact)
{
	uint64_t *bits;
	size_t words;

	c->lo = c->hi = 0;
	c->whole = true;
	if (!bounds(c, parts, n) || !exact)
		return true;
	c->grain = c->hi - c->lo;
	for (int i = 0; i < n; i++)
		if (parts[i].type.size)
			c->grain = grain_of(c->grain, &parts[i], c->lo);
	words = words_of(c);
	if (words > c->room) {
		bits = realloc(c->bits, words * sizeof(*bits));
		if (!bits)
			return false;
		c->bits = bits;
		c->room = words;
	}
	memset(c->bits, 0, words * sizeof(*c->bits));
	for (int i = 0; i < n; i++)
		if (parts[i].type.size)
			mark(c, &parts[i]);
	c->whole = all_set(c);
	return true;
}

void io_cover_free(struct io_cover *c)
{
	free(c->bits);
	c->bits = NULL;
	c->room = 0;
}

bool io_cover_next(const struct io_cover *c, MPI_Offset *lo, MPI_Offset *hi)
{
	size_t n, i, end;

	if (*lo < c->lo)
		*lo = c->lo;
	if (*lo >= c->hi)
		return false;
	if (c->whole) {
		*hi = c->hi;
		return true;
	}
	n = (c->hi - c->lo) / c->grain;
	for (i = (*lo - c->lo) / c->grain; i < n && !get_bit(c, i); i++)
		;
	for (end = i; end < n && get_bit(c, end); end++)
		;
	*lo = c->lo + i * c->grain;
	*hi = c->lo + end * c->grain;
	return i < n;
}
