/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Operations: done here and now on memory that is mapped, else by the owner.
 *
 * Of accumulates that cannot be done by instructions only the owner does its own
 * directly (acc.h). While something of this rank is under way at the target by
 * messages, accumulates that are done directly wait for it, to keep their order.
 */
#include <stdlib.h>

#include "coll/op/op_loops.h"
#include "env/errors.h"
#include "win/acc.h"
#include "win/op.h"
#include "win/remote.h"

/* Where the target's memory is, if we may work on it; else NULL. */
static char *mapped(const struct win_op *o)
{
	const struct win_peer *p = &o->w->peers[o->rank];
	bool mine = o->rank == o->w->rank;
	char *at;

	if (mine && o->w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
		return (char *)o->disp;
	if (!p->direct)
		return NULL;
	at = p->direct + o->disp;
	if (o->kind == WIN_PUT || o->kind == WIN_GET || mine ||
	    win_acc_all_by_cpu(o->basic, o->t, at))
		return at;
	return NULL;
}

struct win_counts win_counts;

#define PIECE 8192 /* packed at a time; more than any element */

/* An accumulate whose buffers do not lie as their packed form. */
static void in_pieces(const struct win_op *o, const struct win_acc *a, char *at)
{
	const struct win_side *f = &o->from, *t = &o->to;
	MPI_Count step = PIECE / o->basic->size * o->basic->size, n;
	char in[PIECE], out[PIECE];
	bool reads = f->t && !(a->op && a->op->index == MPII_OP_NO_OP);

	for (MPI_Count off = 0; off < o->bytes; off += n) {
		n = o->bytes - off < step ? o->bytes - off : step;
		if (reads)
			mpii_pack(f->t, f->buf, f->count, off, in, (size_t)n);
		win_acc_typed(a, at, o->t, off, n, reads ? in : NULL,
			      t->t ? out : NULL);
		if (t->t)
			mpii_unpack(t->t, t->buf, t->count, off, out,
				    (size_t)n);
	}
}

static void accumulate(const struct win_op *o, char *at)
{
	struct win_acc a = { o->op, o->basic, o->compare, &o->w->owner };

	if ((!o->from.t || o->from.t->contiguous) &&
	    (!o->to.t || o->to.t->contiguous))
		win_acc_typed(&a, at, o->t, 0, o->bytes, o->from.buf,
			      o->to.t ? o->to.buf : NULL);
	else
		in_pieces(o, &a, at);
}

/*
 * Where only messages reach our memory, whoever handles them does one operation after
 * the other. One of our own on several elements waits for its turn: then each is
 * done as a whole, which the standard does not ask for and programs rely on.
 */
static void accumulate_whole(const struct win_op *o, char *at)
{
	struct mpii_win *w = o->w;
	bool alone = !win_is_allocated(w) && o->bytes > o->basic->size;

	if (alone)
		pthread_mutex_lock(&w->serving);
	accumulate(o, at);
	if (alone)
		pthread_mutex_unlock(&w->serving);
}

static void do_now(const struct win_op *o, char *at)
{
	switch (o->kind) {
	case WIN_PUT:
		mpii_copy(o->from.buf, o->from.count, o->from.t, at, o->count,
			  o->t);
		break;
	case WIN_GET:
		mpii_copy(at, o->count, o->t, o->to.buf, o->to.count, o->to.t);
		break;
	default:
		accumulate_whole(o, at);
	}
}

static int run(const struct win_op *o)
{
	char *at = mapped(o);
	int err = MPI_SUCCESS;

	win_count(at ? &win_counts.direct : &win_counts.asked);
	if (!at)
		return win_remote_op(o);
	if (o->kind >= WIN_ACC && win_waits_turn(o->w, o->rank))
		err = win_remote_flush(o->w, o->rank, false);
	if (!err)
		do_now(o, at);
	return err;
}

int win_call(const struct win_call *c)
{
	struct mpii_win *w = mpii_win_get(c->win);
	struct win_op o;
	bool nothing;
	int err;

	if (!w)
		return mpii_bad_win(c->win, c->func);
	err = win_check_op(c, w, &o, &nothing);
	if (!err && c->request)
		*c->request = (MPI_Request)&mpii_sent;
	if (!err && !nothing)
		err = run(&o);
	return win_raise(w, err, c->func);
}
