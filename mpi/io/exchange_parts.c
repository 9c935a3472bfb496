/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What every rank has in a window. An aggregator finds that out by itself, from
 * the views of all; a rank whose view is too long a list to be known to the others
 * sends it the blocks of each window.
 */
#include <errno.h>

#include "env/errors.h"
#include "io/exchange_in.h"

/* --- lists, of views that others do not know --- */

static void send_list(struct io_exchange *x, struct list *l, int agg,
		      MPI_Offset lo, MPI_Count end)
{
	if (!io_part_fill(&l->part, &x->a->place, l->told, end, lo)) {
		io_part_measure(&l->part, 0);
		x->a->error = -ENOMEM;
	}
	l->told = end;
	l->head.nblocks = l->part.type.nblocks;
	l->head.bytes = l->part.type.size;
	io_post_send(x, &l->head, sizeof(l->head), coll_bytes(), agg);
	io_post_send(x, l->part.type.blocks,
		     l->head.nblocks * sizeof(struct mpii_block), coll_bytes(),
		     agg);
}

void io_parts_tell(struct io_exchange *x, MPI_Count r)
{
	const struct io_told *mine = &x->plan->told[x->k->c->rank];
	MPI_Offset lo, hi;

	for (int i = 0; x->lists && i < x->naggs; i++) {
		window_of(x, i, r, &lo, &hi);
		if (meets(mine, lo, hi) && x->cb->aggs[i] != x->k->c->rank)
			send_list(x, &x->lists[i], x->cb->aggs[i], lo,
				  io_place_find(&x->a->place, hi,
						x->lists[i].told,
						mine->pos + mine->bytes));
	}
}

/* The list of rank @rank for a window; without memory it is as if it had
 * nothing, which is an error in the end. */
static void recv_list(struct io_exchange *x, struct window *w, int rank)
{
	struct io_part *p = &w->parts[rank];
	struct list_head head = { 0, 0 };

	io_post_recv_now(x, &head, sizeof(head), rank);
	if (!io_part_room(p, head.nblocks + 1)) {
		x->err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
		head.nblocks = 0;
	}
	io_post_recv_now(x, p->type.blocks,
			 head.nblocks * sizeof(struct mpii_block), rank);
	io_part_measure(p, x->err ? 0 : head.nblocks);
}

/* --- what everyone has in a window --- */

static struct io_place place_of(const struct io_exchange *x, int rank)
{
	return rank == x->k->c->rank ? x->a->place :
				       io_cb_theirs(x->a->v, rank).place;
}

static void part_of(struct io_exchange *x, struct window *w, int rank,
		    MPI_Offset hi)
{
	const struct io_told *t = &x->plan->told[rank];
	struct io_place place = place_of(x, rank);
	MPI_Count end;

	end = io_place_find(&place, hi, x->taken[rank], t->pos + t->bytes);
	if (!io_part_fill(&w->parts[rank], &place, x->taken[rank], end,
			  w->lo)) {
		io_part_measure(&w->parts[rank], 0);
		w->error = -ENOMEM;
		x->err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	x->taken[rank] = end;
}

static bool is_listed(const struct io_exchange *x, int rank)
{
	return x->a->v->theirs && x->a->v->theirs[rank].listed &&
	       rank != x->k->c->rank;
}

void io_parts_find(struct io_exchange *x, struct window *w, MPI_Count r)
{
	MPI_Offset hi;

	window_of(x, x->cb->me, r, &w->lo, &hi);
	w->error = 0;
	for (int i = 0; i < x->plan->n; i++) {
		const struct io_told *t = &x->plan->told[i];

		if (w->lo >= hi || !meets(t, w->lo, hi))
			io_part_measure(&w->parts[i], 0);
		else if (is_listed(x, i))
			recv_list(x, w, i);
		else
			part_of(x, w, i, hi);
	}
	if (!io_cover_make(&w->cover, w->parts, x->plan->n, x->a->write))
		w->error = -ENOMEM;
}

void io_parts_begin(struct io_exchange *x)
{
	const struct io_plan *p = x->plan;
	const struct io_told *mine = &p->told[x->k->c->rank];
	MPI_Offset lo, hi;

	for (int i = 0; i < x->naggs; i++) {
		window_of(x, i, 0, &lo, &hi);
		x->sent[i] = mine->pos;
		if (mine->bytes)
			x->sent[i] = io_place_find(&x->a->place, lo, mine->pos,
						   mine->pos + mine->bytes);
		if (x->lists)
			x->lists[i].told = x->sent[i];
	}
	if (!is_agg(x))
		return;
	window_of(x, x->cb->me, 0, &lo, &hi);
	for (int i = 0; i < p->n; i++) {
		const struct io_told *t = &p->told[i];
		struct io_place place = place_of(x, i);

		if (t->bytes && !is_listed(x, i))
			x->taken[i] = io_place_find(&place, lo, t->pos,
						    t->pos + t->bytes);
	}
}
