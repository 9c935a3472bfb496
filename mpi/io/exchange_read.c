/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Reading through aggregators, round by round: while one window is sent, the next
 * is read. */
#include "io/exchange_in.h"
#include "pt2pt/status.h"

void io_window_read(void *arg)
{
	struct window *w = arg;
	const struct io_cover *c = &w->cover;
	size_t got;

	w->got = 0;
	if (w->error || c->lo >= c->hi)
		return;
	w->error = io_disk_read(w->x->a->f, w->lo + c->lo, w->buf + c->lo,
				c->hi - c->lo, &got);
	w->got = c->lo + got;
}

static void prepare_read(struct io_exchange *x, MPI_Count r)
{
	struct window *w = &x->win[r % 2];

	if (r >= x->rounds)
		return;
	io_parts_tell(x, r);
	if (!is_agg(x))
		return;
	io_parts_find(x, w, r);
	if (x->rounds > 1)
		io_aside_start(x->k, &w->aside);
	else
		io_aside(x->k, x->a->f, io_window_read, w);
}

static void send_parts(struct io_exchange *x, struct window *w)
{
	for (int i = 0; i < x->plan->n; i++) {
		struct io_part *p = &w->parts[i];
		bool any = p->type.size;

		if (!any)
			continue;
		io_part_cut(p, (MPI_Offset)w->got);
		if (i == x->k->c->rank)
			continue;
		if (p->type.nsegs <= 1)
			io_post_send(x, w->buf + p->lo, p->type.size,
				     coll_bytes(), i);
		else
			io_post_send(x, w->buf, 1, &p->type, i);
	}
}

/* A piece of our data is shorter than asked for: the file ended. */
static void short_piece(struct io_exchange *x, MPI_Count at, MPI_Count n,
			MPI_Count got)
{
	if (got < n)
		x->a->done = min_count(x->a->done, at + got);
}

static void recv_own(struct io_exchange *x, struct window *w, MPI_Count r,
		     struct coming *come)
{
	MPI_Count from;
	char *mem;

	for (int i = 0; i < x->naggs; i++) {
		struct coming *c = &come[i];

		c->n = io_own_range(x, i, r, &from);
		c->at = from - x->a->pos;
		c->req = -1;
		if (c->n == 0)
			continue;
		mem = io_own_memory(x, i, c->at, c->n);
		if (i == x->cb->me && mem) {
			struct io_part *p = &w->parts[x->k->c->rank];

			mpii_pack(&p->type, w->buf, 1, 0, mem, p->type.size);
			short_piece(x, c->at, c->n, p->type.size);
			c->n = p->type.size;
		} else if (i != x->cb->me) {
			c->req = io_post_recv(x, mem, mem ? c->n : 0,
					      coll_bytes(), x->cb->aggs[i]);
		}
	}
}

/* After the round: lengths, and memory in many pieces. */
static void finish_own(struct io_exchange *x, const struct coming *come)
{
	for (int i = 0; i < x->naggs; i++) {
		if (come[i].n && x->packed[i])
			io_access_unpack(x->a, come[i].at, x->packed[i],
					 come[i].n);
	}
	io_own_drop(x);
}

static void wait_reading(struct io_exchange *x, struct coming *come)
{
	MPI_Count got;

	if (x->k->task)
		coll_task_wait(x->k, x->reqs, x->nreqs);
	for (int i = 0; i < x->naggs; i++) {
		if (come[i].req < 0)
			continue;
		mpii_req_wait(x->reqs[come[i].req]);
		got = mpii_status_bytes(&x->reqs[come[i].req]->status);
		short_piece(x, come[i].at, come[i].n, got);
		come[i].n = got;
	}
	io_post_wait(x);
}

void io_exchange_read(struct io_exchange *x)
{
	struct coming *come = x->come;
	struct window *w;

	x->a->done = x->a->bytes;
	prepare_read(x, 0);
	io_post_wait(x); /* lists: the next ones need their memory */
	for (MPI_Count r = 0; r < x->rounds; r++) {
		w = &x->win[r % 2];
		if (is_agg(x)) {
			io_aside_wait(x->k, &w->aside);
			if (w->error && !x->a->error)
				x->a->error = w->error;
		}
		prepare_read(x, r + 1);
		if (is_agg(x))
			send_parts(x, w);
		recv_own(x, w, r, come);
		wait_reading(x, come);
		finish_own(x, come);
	}
}
