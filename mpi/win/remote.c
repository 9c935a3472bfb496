/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Synchronization with targets that are asked by messages: what was collected is
 * sent, together with the lock or its end, and answers are waited for.
 */
#include "win/remote.h"

#include "env/errors.h"
#include "pt2pt/transfer.h"
#include "win/out.h"

/* --- waiting for answers --- */

static int answered(void *arg)
{
	struct win_out *o = arg;

	return atomic_load(&o->pending) == 0;
}

int win_remote_whose(int (*cond)(void *arg), const void *arg)
{
	const struct win_out *o = arg;

	return cond == answered ? o->rank : -1;
}

static int refused(struct win_out *o)
{
	int class = atomic_exchange(&o->error, 0);

	if (!class)
		return MPI_SUCCESS;
	if (class == MPI_ERR_RMA_RANGE)
		return mpii_fail(class,
				 "rank %d was asked for memory that does not "
				 "belong to the window",
				 o->rank);
	return mpii_fail(class, "rank %d could not do what it was asked for",
			 o->rank);
}

static int await(struct mpii_win *w, struct win_out *o)
{
	int err = win_wait(w, answered, o);

	__atomic_store_n(&o->flying, 0, __ATOMIC_RELAXED);
	return err ? err : refused(o);
}

/* What o2g_rma_put and its like have under way. */
static int flush_counter(struct mpii_win *w, struct win_out *o, bool local)
{
	int err;

	if (!__atomic_load_n(local ? &o->counter.local : &o->counter.pending,
			     __ATOMIC_ACQUIRE) &&
	    !o->counter.error)
		return MPI_SUCCESS;
	err = local ? o2g_flush_local(mpii.ep, &o->counter) :
		      o2g_flush(mpii.ep, &o->counter);
	if (!err)
		return MPI_SUCCESS;
	if (err == -O2G_ERR_PEER)
		return mpii_call_error(w->comm, o->rank, err);
	return mpii_fail(MPI_ERR_RMA_RANGE, "rank %d: %s", o->rank,
			 o2g_strerror(err));
}

/* Send what there is, asking for an answer if one is needed to know that all is
 * done. */
static int push(struct mpii_win *w, struct win_out *o, unsigned flags)
{
	int err = MPI_SUCCESS;

	pthread_mutex_lock(&o->lock);
	if (o->nops || o->unanswered || flags & ~WIN_BATCH_REPLY)
		err = win_out_send(w, o, flags);
	pthread_mutex_unlock(&o->lock);
	return err;
}

/* As far as this thread has asked for something, it is done. */
static bool is_idle(struct win_out *o)
{
	bool sent;

	pthread_mutex_lock(&o->lock);
	sent = !o->nops && !o->unanswered;
	pthread_mutex_unlock(&o->lock);
	return sent && !atomic_load(&o->pending) && !atomic_load(&o->error) &&
	       !o->counter.error &&
	       !__atomic_load_n(&o->counter.pending, __ATOMIC_ACQUIRE);
}

static bool fetches(struct win_out *o)
{
	bool some;

	pthread_mutex_lock(&o->lock);
	some = o->nresults;
	pthread_mutex_unlock(&o->lock);
	return some || atomic_load(&o->pending);
}

int win_remote_flush(struct mpii_win *w, int rank, bool local)
{
	struct win_out *o = win_out_of(&w->peers[rank]);
	int err = MPI_SUCCESS, one;

	if (!o || is_idle(o))
		return MPI_SUCCESS;
	/* What is put was copied; only what is fetched is waited for. */
	if (!local || fetches(o)) {
		err = push(w, o, WIN_BATCH_REPLY);
		if (!err)
			err = await(w, o);
	}
	one = flush_counter(w, o, local);
	return err ? err : one;
}

int win_remote_flush_all(struct mpii_win *w, bool local)
{
	int err = MPI_SUCCESS, one;

	for (struct win_out *o = win_outs_of(w); o && !local; o = o->next) {
		one = push(w, o, WIN_BATCH_REPLY);
		err = err ? err : one;
	}
	for (struct win_out *o = win_outs_of(w); o; o = o->next) {
		one = win_remote_flush(w, o->rank, local);
		err = err ? err : one;
	}
	return err;
}

int win_flush_all(struct mpii_win *w)
{
	return win_remote_flush_all(w, false);
}

/* --- locks --- */

int win_remote_lock(struct mpii_win *w, int rank)
{
	struct win_out *o = win_out_get(w, rank);
	int err;

	if (!o)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	pthread_mutex_lock(&o->lock);
	err = win_out_send(w, o, WIN_BATCH_REPLY | WIN_OUT_LOCK);
	pthread_mutex_unlock(&o->lock);
	return err ? err : await(w, o);
}

/* Does the target hold a lock for us, or will it with what is to be sent? */
static bool holds_lock(const struct mpii_win *w, const struct win_peer *p,
		       const struct win_out *o)
{
	if (p->line)
		return false;
	if (p->all || (p->held == WIN_LOCKED && p->lock))
		return true;
	return o->nops && (p->held == WIN_WANTED ||
			   (w->access == WIN_LOCK_ALL && !w->unchecked));
}

/* The end of an epoch of locks, sent; not waited for. */
static int send_unlock(struct mpii_win *w, struct win_out *o)
{
	struct win_peer *p = &w->peers[o->rank];
	int err = flush_counter(w, o, false), one;

	if (!holds_lock(w, p, o))
		one = push(w, o, WIN_BATCH_REPLY);
	else
		one = push(w, o, WIN_BATCH_REPLY | WIN_BATCH_UNLOCK);
	p->all = false;
	return err ? err : one;
}

int win_remote_unlock(struct mpii_win *w, int rank)
{
	struct win_out *o = win_out_of(&w->peers[rank]);
	int err, one;

	if (!o)
		return MPI_SUCCESS; /* nothing was done: it was never locked */
	err = send_unlock(w, o);
	one = await(w, o);
	return err ? err : one;
}

int win_remote_unlock_all(struct mpii_win *w)
{
	int err = MPI_SUCCESS, one;

	for (struct win_out *o = win_outs_of(w); o; o = o->next) {
		one = send_unlock(w, o);
		err = err ? err : one;
	}
	for (struct win_out *o = win_outs_of(w); o; o = o->next) {
		one = await(w, o);
		err = err ? err : one;
	}
	return err;
}

/* --- post and complete --- */

int win_remote_complete(struct mpii_win *w, int rank)
{
	struct win_peer *p = &w->peers[rank];
	struct win_out *o = win_out_get(w, rank);
	int err, one;

	if (!o)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = flush_counter(w, o, false);
	/* A target of this host is told through its line, once all is done. */
	one = push(w, o, p->line ? WIN_BATCH_REPLY : WIN_BATCH_COMPLETE);
	err = err ? err : one;
	one = await(w, o);
	return err ? err : one;
}

static int call(struct mpii_win *w, int rank, enum win_message kind)
{
	struct o2g_seg none = { NULL, 0 };
	int err = o2g_call(mpii.ep, mpii_comm_peer(w->comm, rank),
			   win_tag(w->comm->context, kind), &none, 1);

	return err ? mpii_call_error(w->comm, rank, err) : MPI_SUCCESS;
}

int win_send_post(struct mpii_win *w, int rank)
{
	return call(w, rank, WIN_MSG_POST);
}
