// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Requests: a receive of the reply is posted, then the message is sent. An attempt is
 * over when both messages are. Then it is answered, or it is to be made again over the
 * next connection, or given up.
 *
 * An rpc is in one list of its session, or in none while an attempt ends. Whoever wants
 * it to live while it is looked at counts in rpc->pending.
 */
#include "o2gfs.h"

#include <linux/mempool.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

/* So many can be under way when there is no memory: writing back goes on. */
#define RESERVED 16

static struct kmem_cache *cache;
static mempool_t *pool;

int o2gfs_rpc_init(void)
{
	cache = kmem_cache_create("o2gfs_rpc", sizeof(struct o2gfs_rpc), 0,
				  SLAB_ACCOUNT, NULL);
	if (!cache)
		return -ENOMEM;
	pool = mempool_create_slab_pool(RESERVED, cache);
	if (!pool) {
		kmem_cache_destroy(cache);
		return -ENOMEM;
	}
	return 0;
}

void o2gfs_rpc_exit(void)
{
	mempool_destroy(pool);
	kmem_cache_destroy(cache);
}

/* --- one of them --- */

static bool is_dying(void)
{
	return (current->flags & PF_EXITING) || __fatal_signal_pending(current);
}

struct o2gfs_rpc *o2gfs_rpc_alloc(struct o2gfs_session *s, struct p9_req_t *req)
{
	struct o2gfs_rpc *rpc = mempool_alloc(pool, GFP_NOFS);

	rpc->s = s;
	rpc->req = req;
	rpc->ep = NULL;
	INIT_LIST_HEAD(&rpc->link);
	rpc->since = jiffies;
	rpc->tag = req ? req->tc.tag : O2GFS_ERRAND_TAG;
	rpc->type = req ? req->tc.id : 0;
	rpc->data = 0;
	rpc->direct = false;
	rpc->mortal = is_dying();
	rpc->place = O2GFS_NOWHERE;
	rpc->verdict = 0;
	rpc->segs = rpc->own;
	rpc->n = 0;
	spin_lock_bh(&s->lock);
	rpc->seq = ++s->seq & FS_SEQ_MAX;
	s->stats.requests++;
	spin_unlock_bh(&s->lock);
	return rpc;
}

void o2gfs_rpc_free(struct o2gfs_rpc *rpc)
{
	mempool_free(rpc, pool);
}

void o2gfs_rpc_move(struct o2gfs_rpc *rpc, enum o2gfs_place place)
{
	struct o2gfs_session *s = rpc->s;

	list_del_init(&rpc->link);
	rpc->place = place;
	if (place == O2GFS_WAITING)
		list_add_tail(&rpc->link, &s->waiting);
	else if (place == O2GFS_UNDER_WAY)
		list_add_tail(&rpc->link, &s->under_way);
	else if (place == O2GFS_ABANDONED)
		list_add_tail(&rpc->link, &s->abandoned);
	if (place != O2GFS_NOWHERE)
		o2gfs_watch_start(s);
}

/* --- the end of an attempt; any context --- */

static bool is_lost(int err)
{
	return err == -ECONNRESET || err == -ENOTCONN || err == -ESHUTDOWN;
}

/* 0: there is a reply. -EAGAIN: another attempt may succeed. Else it may not. */
static int outcome(const struct o2gfs_rpc *rpc)
{
	int err = rpc->result ?: rpc->recv.status;

	if (err == -EMSGSIZE)
		return -EPROTO;
	if (is_lost(err) || err == -ECANCELED || err == -ENOMEM)
		return -EAGAIN;
	return err;
}

/* Under the lock: why it ended, if that is the connection's end. */
static void note_end(struct o2gfs_rpc *rpc)
{
	struct o2gfs_session *s = rpc->s;
	int err = rpc->result ?: rpc->recv.status;

	if (!err) {
		s->heard = jiffies;
		s->stats.received += rpc->recv.length;
	} else if (is_lost(err) && rpc->ep == s->ep) {
		s->broken = true;
	}
}

static void ended(struct o2gfs_rpc *rpc)
{
	struct o2gfs_session *s = rpc->s;
	int err = outcome(rpc);
	bool again;

	spin_lock_bh(&s->lock);
	note_end(rpc);
	if (err == -EAGAIN && (rpc->verdict || s->dead))
		err = rpc->verdict ?: s->dead;
	again = err == -EAGAIN && !rpc->direct;
	o2gfs_rpc_move(rpc, again ? O2GFS_WAITING : O2GFS_NOWHERE);
	spin_unlock_bh(&s->lock);
	if (again) {
		o2gfs_session_kick(s, rpc->result == -ENOMEM ? HZ / 50 : 0);
	} else if (rpc->direct) {
		rpc->result = err;
		complete(&rpc->ended);
	} else {
		o2gfs_rpc_finish(rpc, err);
	}
}

static void put_pending(struct o2gfs_rpc *rpc)
{
	if (atomic_dec_and_test(&rpc->pending))
		ended(rpc);
}

static void message_over(struct o2gk_request *req)
{
	put_pending(req->context);
}

/* --- an attempt --- */

static void cancel_messages(struct o2gfs_rpc *rpc)
{
	o2gk_cancel(rpc->ep, &rpc->recv);
	o2gk_cancel(rpc->ep, &rpc->send);
}

static void set_message(struct o2gk_request *message, struct o2gfs_rpc *rpc)
{
	message->done = message_over;
	message->context = rpc;
	message->flags = 0;
}

/* Now others may cancel it; whoever wanted to before is done the favour. */
static void open_to_cancel(struct o2gfs_rpc *rpc)
{
	struct o2gfs_session *s = rpc->s;
	bool now;

	spin_lock_bh(&s->lock);
	rpc->started = true;
	now = rpc->verdict;
	spin_unlock_bh(&s->lock);
	if (now)
		cancel_messages(rpc);
}

void o2gfs_rpc_start(struct o2gfs_rpc *rpc, const struct o2gk_seg *out,
		     unsigned int nout, const struct o2gk_seg *in,
		     unsigned int nin)
{
	u64 ask = fs_tag_request(rpc->seq, rpc->tag);
	u64 reply = fs_tag_reply(rpc->seq, rpc->tag);
	int err;

	atomic_set(&rpc->pending, 3);
	rpc->result = 0;
	set_message(&rpc->recv, rpc);
	set_message(&rpc->send, rpc);
	err = o2gk_irecv(rpc->ep, FS_SERVER_RANK, reply, ~0ull, in, nin,
			 &rpc->recv);
	if (err) {
		rpc->result = err;
		atomic_sub(2, &rpc->pending);
		put_pending(rpc);
		return;
	}
	err = o2gk_isend(rpc->ep, FS_SERVER_RANK, ask, out, nout, &rpc->send);
	if (err) {
		rpc->result = err;
		o2gk_cancel(rpc->ep, &rpc->recv);
		atomic_dec(&rpc->pending);
	} else {
		open_to_cancel(rpc);
	}
	put_pending(rpc);
}

static struct o2gk_seg in_kernel(void *addr, size_t length)
{
	return (struct o2gk_seg){ .kind = O2GK_KERNEL,
				  .addr = addr,
				  .length = length };
}

static void start(struct o2gfs_rpc *rpc)
{
	struct p9_req_t *req = rpc->req;
	struct o2gk_seg out, in;

	if (req) {
		out = in_kernel(req->tc.sdata, req->tc.size);
		in = in_kernel(req->rc.sdata, req->rc.capacity);
	} else {
		out = in_kernel(rpc->ask, rpc->ask[0]);
		in = in_kernel(rpc->answer, O2GFS_ERRAND);
	}
	o2gfs_rpc_start(rpc, &out, 1, &in, 1);
}

/* Under the lock, with the gate: its place, before it is started. */
static bool enter(struct o2gfs_rpc *rpc)
{
	struct o2gfs_session *s = rpc->s;

	if (!s->ep)
		return false;
	s->stats.again += rpc->ep != NULL;
	s->stats.sent += rpc->req ? rpc->req->tc.size + rpc->data : rpc->ask[0];
	rpc->ep = s->ep;
	rpc->started = false;
	o2gfs_rpc_move(rpc, O2GFS_UNDER_WAY);
	return true;
}

bool o2gfs_rpc_enter(struct o2gfs_rpc *rpc)
{
	bool is_in;

	spin_lock_bh(&rpc->s->lock);
	is_in = enter(rpc);
	spin_unlock_bh(&rpc->s->lock);
	return is_in;
}

void o2gfs_rpc_launch(struct o2gfs_rpc *rpc)
{
	struct o2gfs_session *s = rpc->s;
	bool open = down_read_trylock(&s->gate), now;
	int dead;

	spin_lock_bh(&s->lock);
	dead = s->dead;
	now = !dead && open && enter(rpc);
	if (!dead && !now)
		o2gfs_rpc_move(rpc, O2GFS_WAITING);
	spin_unlock_bh(&s->lock);
	if (now)
		start(rpc);
	if (open)
		up_read(&s->gate);
	else
		o2gfs_session_kick(s, 0);
	if (dead)
		o2gfs_rpc_finish(rpc, dead);
}

void o2gfs_rpc_resend(struct o2gfs_session *s)
{
	struct o2gfs_rpc *rpc;
	LIST_HEAD(todo);

	down_read(&s->gate);
	spin_lock_bh(&s->lock);
	list_splice_init(&s->waiting, &todo);
	while (!list_empty(&todo)) {
		rpc = list_first_entry(&todo, struct o2gfs_rpc, link);
		if (!enter(rpc)) {
			o2gfs_rpc_move(rpc, O2GFS_WAITING);
			continue;
		}
		spin_unlock_bh(&s->lock);
		start(rpc);
		spin_lock_bh(&s->lock);
	}
	spin_unlock_bh(&s->lock);
	up_read(&s->gate);
}

/* --- giving up --- */

void o2gfs_rpc_give_up(struct o2gfs_rpc *rpc, int verdict)
{
	struct o2gfs_session *s = rpc->s;
	bool started;

	if (!rpc->verdict)
		rpc->given_up = jiffies;
	rpc->verdict = verdict;
	started = rpc->started && atomic_inc_not_zero(&rpc->pending);
	spin_unlock_bh(&s->lock);
	if (!started)
		return;
	if (down_read_trylock(&s->gate)) {
		if (rpc->ep == s->ep)
			cancel_messages(rpc);
		up_read(&s->gate);
	} /* else it is being closed, which ends them */
	put_pending(rpc);
}

/* Under the lock. */
static struct o2gfs_rpc *first(struct list_head *list)
{
	return list_first_entry_or_null(list, struct o2gfs_rpc, link);
}

void o2gfs_rpc_end_waiting(struct o2gfs_session *s, int error)
{
	struct o2gfs_rpc *rpc;

	for (;;) {
		spin_lock_bh(&s->lock);
		rpc = first(&s->waiting);
		if (rpc)
			o2gfs_rpc_move(rpc, O2GFS_NOWHERE);
		spin_unlock_bh(&s->lock);
		if (!rpc)
			return;
		o2gfs_rpc_finish(rpc, error);
	}
}

void o2gfs_rpc_forget(struct o2gfs_session *s)
{
	struct o2gfs_rpc *rpc;

	for (;;) {
		spin_lock_bh(&s->lock);
		rpc = first(&s->abandoned);
		if (rpc)
			o2gfs_rpc_move(rpc, O2GFS_NOWHERE);
		spin_unlock_bh(&s->lock);
		if (!rpc)
			return;
		o2gfs_rpc_finish(rpc, -ERESTARTSYS);
	}
}

void o2gfs_rpc_late(struct o2gfs_session *s, u64 tag)
{
	struct o2gfs_rpc *rpc, *found = NULL;

	spin_lock_bh(&s->lock);
	list_for_each_entry(rpc, &s->abandoned, link)
		if (fs_tag_reply(rpc->seq, rpc->tag) == tag)
			found = rpc;
	if (found)
		o2gfs_rpc_move(found, O2GFS_NOWHERE);
	spin_unlock_bh(&s->lock);
	if (found)
		o2gfs_rpc_finish(found, -ERESTARTSYS);
}

/* --- what 9p calls --- */

int o2gfs_request(struct p9_client *client, struct p9_req_t *req)
{
	struct o2gfs_rpc *rpc = o2gfs_rpc_alloc(client->trans, req);

	WRITE_ONCE(req->status, REQ_STATUS_SENT);
	o2gfs_rpc_launch(rpc);
	return 0;
}

/* Under the lock. */
static struct o2gfs_rpc *find(struct o2gfs_session *s,
			      const struct p9_req_t *req)
{
	struct list_head *lists[] = { &s->waiting, &s->under_way,
				      &s->abandoned };
	struct o2gfs_rpc *rpc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		list_for_each_entry(rpc, lists[i], link)
			if (rpc->req == req)
				return rpc;
	return NULL;
}

/* Whoever waited for it was killed. 1: the server is to be told, by Tflush. */
int o2gfs_cancel(struct p9_client *client, struct p9_req_t *req)
{
	struct o2gfs_session *s = client->trans;
	struct o2gfs_rpc *rpc;
	bool waits;

	spin_lock_bh(&s->lock);
	rpc = find(s, req);
	waits = rpc && rpc->place == O2GFS_WAITING;
	if (waits)
		o2gfs_rpc_move(rpc, O2GFS_NOWHERE);
	spin_unlock_bh(&s->lock);
	if (waits)
		o2gfs_rpc_finish(rpc, -ERESTARTSYS);
	return rpc && !waits;
}

/* ... and it has answered that. */
int o2gfs_cancelled(struct p9_client *client, struct p9_req_t *req)
{
	struct o2gfs_session *s = client->trans;
	struct o2gfs_rpc *rpc;

	spin_lock_bh(&s->lock);
	s->stats.flushed++;
	rpc = find(s, req);
	if (rpc && rpc->place == O2GFS_UNDER_WAY) {
		o2gfs_rpc_give_up(rpc, -ERESTARTSYS);
		return 0;
	}
	if (rpc)
		o2gfs_rpc_move(rpc, O2GFS_NOWHERE);
	spin_unlock_bh(&s->lock);
	if (rpc)
		o2gfs_rpc_finish(rpc, -ERESTARTSYS);
	return 0;
}
