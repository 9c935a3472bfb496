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

static void recv_parts(struct io_exchange *x, struct window *w)
{
	for (int i = 0; i < x->plan->n; i++) {
		struct io_part *p = &w->parts[i];

		if (i == x->k->c->rank || !p->type.size)
			continue;
		if (p->type.nsegs == 1)
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

static void send_own(struct io_exchange *x, struct window *w, MPI_Count r)
{
	MPI_Count from, n;
	char *mem;

	for (int i = 0; i < x->naggs; i++) {
		n = io_own_range(x, i, r, &from);
		from -= x->a->pos;
		if (n == 0)
			continue;
		if (i == x->cb->me) {
			keep_own(x, w, from, n);
			continue;
		}
		mem = io_own_memory(x, i, from, n);
		/* Without memory something is sent even so. */
		io_post_send(x, mem ? mem : x->a->buf, mem ? n : 0,
			     coll_bytes(), x->cb->aggs[i]);
	}
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
			recv_parts(x, w);
		}
		send_own(x, w, r);
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
