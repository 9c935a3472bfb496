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

/* Those who take theirs from a window themselves have done so; the last two times
 * nobody needs to know. */
static void wait_taken(struct io_exchange *x, const struct window *w)
{
	for (int i = 0; i < x->plan->n; i++)
		if (w->parts[i].type.size &&
		    io_near_has(x->a->f, x->plan->told, i))
			io_post_recv_now(x, NULL, 0, i);
}

static void prepare_read(struct io_exchange *x, MPI_Count r)
{
	struct window *w = &x->win[r % 2];

	if (r >= x->rounds)
		return;
	io_parts_tell(x, r);
	if (!is_agg(x))
		return;
	if (r >= 2)
		wait_taken(x, w);
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
		if (io_near_has(x->a->f, x->plan->told, i)) {
			io_post_send(x, &w->got, sizeof(w->got), coll_bytes(),
				     i);
			continue;
		}
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

/* From our own window. */
static void take_own(struct io_exchange *x, struct window *w, struct coming *c)
{
	struct io_part *p = &w->parts[x->k->c->rank];
	char *mem = io_own_memory(x, x->cb->me, c->at, c->n);

	if (!mem)
		return;
	mpii_pack(&p->type, w->buf, 1, 0, mem, p->type.size);
	short_piece(x, c->at, c->n, p->type.size);
	c->n = p->type.size;
}

/* From a window that we have mapped, when it is filled. */
static void take_near(struct io_exchange *x, int agg, MPI_Count r,
		      struct coming *c)
{
	char *mem = io_own_memory(x, agg, c->at, c->n);
	struct io_part *p = &x->mine;

	if (mem && io_own_part(x, x->a->pos + c->at, c->n, c->lo)) {
		io_part_cut(p, (MPI_Offset)c->got);
		mpii_pack(&p->type, c->near, 1, 0, mem, p->type.size);
		short_piece(x, c->at, c->n, p->type.size);
		c->n = p->type.size;
	}
	if (r + 2 < x->rounds)
		io_post_send(x, NULL, 0, coll_bytes(), x->cb->aggs[agg]);
}

static void recv_from(struct io_exchange *x, MPI_Count r, int agg,
		      struct coming *c)
{
	int rank = x->cb->aggs[agg];
	MPI_Offset hi;
	char *mem;

	c->near = io_near_window(x->a->f, x->plan->told, agg, r % 2);
	if (c->near) {
		window_of(x, agg, r, &c->lo, &hi);
		c->req = io_post_recv(x, &c->got, sizeof(c->got), coll_bytes(),
				      rank);
		return;
	}
	mem = io_own_memory(x, agg, c->at, c->n);
	c->req = io_post_recv(x, mem, mem ? c->n : 0, coll_bytes(), rank);
}

static void recv_own(struct io_exchange *x, struct window *w, MPI_Count r,
		     struct coming *come)
{
	MPI_Count from;

	for (int i = 0; i < x->naggs; i++) {
		struct coming *c = &come[i];

		c->n = io_own_range(x, i, r, &from);
		c->at = from - x->a->pos;
		c->req = -1;
		if (c->n == 0)
			continue;
		if (i == x->cb->me)
			take_own(x, w, c);
		else
			recv_from(x, r, i, c);
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

static void wait_reading(struct io_exchange *x, MPI_Count r,
			 struct coming *come)
{
	MPI_Count got;

	if (x->k->task)
		coll_task_wait(x->k, x->reqs, x->nreqs);
	for (int i = 0; i < x->naggs; i++) {
		if (come[i].req < 0)
			continue;
		mpii_req_wait(x->reqs[come[i].req]);
		if (come[i].near) {
			take_near(x, i, r, &come[i]);
			continue;
		}
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
		wait_reading(x, r, come);
		finish_own(x, come);
	}
}
