/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Writing through aggregators, round by round: while one window is written, the
 * next is received. */
#include "io/exchange_in.h"

void io_window_write(void *arg)
{
	struct window *w = arg;
	struct mpii_file *f = w->x->a->f;
	MPI_Offset lo = 0, hi;
	size_t done;

	for (; !w->error && io_cover_next(&w->cover, &lo, &hi); lo = hi)
		w->error = io_disk_write(f, w->lo + lo, w->buf + lo, hi - lo,
					 &done);
}

/* What was here is written: those who put theirs here themselves may do so. The
 * first time it is free. */
static void give_free(struct io_exchange *x, struct window *w, MPI_Count r)
{
	for (int i = 0; r >= 2 && i < x->plan->n; i++)
		if (w->parts[i].type.size &&
		    io_near_has(x->a->f, x->plan->told, i))
			io_post_send(x, NULL, 0, coll_bytes(), i);
}

static void recv_parts(struct io_exchange *x, struct window *w)
{
	for (int i = 0; i < x->plan->n; i++) {
		struct io_part *p = &w->parts[i];

		if (i == x->k->c->rank || !p->type.size)
			continue;
		if (io_near_has(x->a->f, x->plan->told, i))
			io_post_recv(x, NULL, 0, coll_bytes(), i);
		else if (p->type.nsegs == 1)
			io_post_recv(x, w->buf + p->lo, p->type.size,
				     coll_bytes(), i);
		else
			io_post_recv(x, w->buf, 1, &p->type, i);
	}
}

/* What we have in our own window. */
static void keep_own(struct io_exchange *x, struct window *w, MPI_Count at,
		     MPI_Count n)
{
	struct io_part *p = &w->parts[x->k->c->rank];
	char *mem = io_own_memory(x, x->cb->me, at, n);

	if (mem && p->type.size == n)
		mpii_unpack(&p->type, w->buf, 1, 0, mem, n);
}

/*
 * What we have in each window of this round. That a window which we have mapped is
 * free again is received before what others say about ours: an aggregator says the
 * one first, and then the other.
 */
static void find_own(struct io_exchange *x, MPI_Count r)
{
	MPI_Count from;
	MPI_Offset hi;

	for (int i = 0; i < x->naggs; i++) {
		struct coming *c = &x->come[i];

		c->n = io_own_range(x, i, r, &from);
		c->at = from - x->a->pos;
		c->req = -1;
		c->near = NULL;
		if (c->n == 0 || i == x->cb->me)
			continue;
		c->near = io_near_window(x->a->f, x->plan->told, i, r % 2);
		window_of(x, i, r, &c->lo, &hi);
		if (c->near && r >= 2)
			c->req = io_post_recv(x, NULL, 0, coll_bytes(),
					      x->cb->aggs[i]);
	}
}

/* Into a window that we have mapped. */
static void put_near(struct io_exchange *x, int agg, struct coming *c)
{
	char *mem = io_own_memory(x, agg, c->at, c->n);

	if (c->req >= 0)
		io_post_wait_one(x, c->req);
	if (mem && io_own_part(x, x->a->pos + c->at, c->n, c->lo))
		mpii_unpack(&x->mine.type, c->near, 1, 0, mem, c->n);
	io_post_send(x, NULL, 0, coll_bytes(), x->cb->aggs[agg]);
}

static void send_to(struct io_exchange *x, struct window *w, int agg)
{
	struct coming *c = &x->come[agg];
	char *mem;

	if (c->n == 0)
		return;
	if (agg == x->cb->me) {
		keep_own(x, w, c->at, c->n);
		return;
	}
	if (c->near) {
		put_near(x, agg, c);
		return;
	}
	mem = io_own_memory(x, agg, c->at, c->n);
	/* Without memory something is sent even so. */
	io_post_send(x, mem ? mem : x->a->buf, mem ? c->n : 0, coll_bytes(),
		     x->cb->aggs[agg]);
}

/* Not all begin with the same aggregator. */
static void send_own(struct io_exchange *x, struct window *w)
{
	for (int i = 0; i < x->naggs; i++)
		send_to(x, w, (x->k->c->rank + i) % x->naggs);
}

void io_exchange_write(struct io_exchange *x)
{
	struct window *w;

	for (MPI_Count r = 0; r < x->rounds; r++) {
		w = &x->win[r % 2];
		io_parts_tell(x, r);
		if (is_agg(x)) {
			io_aside_wait(x->k, &w->aside);
			if (w->error && !x->a->error)
				x->a->error = w->error;
			io_parts_find(x, w, r);
			give_free(x, w, r);
		}
		find_own(x, r);
		if (is_agg(x))
			recv_parts(x, w);
		send_own(x, w);
		io_post_wait(x);
		io_own_drop(x);
		if (!is_agg(x) || x->err || x->a->error)
			continue;
		if (x->rounds > 1)
			io_aside_start(x->k, &w->aside);
		else
			io_aside(x->k, x->a->f, io_window_write, w);
	}
}
