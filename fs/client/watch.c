// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What takes too long. Once a second, while there are requests:
 *
 * - Requests of a soft mount end after its time.
 * - Whoever flushes a request cannot be killed, so Tflush is answered after
 *   O2GFS_PATIENCE seconds, by the server or here.
 * - While the server is away, whoever is being killed waits no longer than that. What
 *   it gives back (Tclunk) is given back later.
 * - `umount -f` ends what waits for the server.
 * - What was given up and does not end has a server that has stopped in the middle of a
 *   message: the connection goes.
 * - If the server has not said a word for O2GFS_SILENCE seconds it is asked for one. TCP
 *   itself would take a quarter of an hour to find out that it is gone.
 */
#include "o2gfs.h"

static bool is_older(unsigned long since, unsigned int seconds)
{
	return time_after(jiffies, since + seconds * HZ);
}

static bool is_ping(const struct o2gfs_rpc *rpc)
{
	return !rpc->req && rpc->type == P9_TFLUSH;
}

/* --- what is under way --- */

/* Under the lock: what is to become of it? 0: nothing. */
static int judge(const struct o2gfs_session *s, const struct o2gfs_rpc *rpc)
{
	if (rpc->verdict)
		return 0;
	if (rpc->req && rpc->type == P9_TFLUSH &&
	    is_older(rpc->since, O2GFS_PATIENCE))
		return -ETIMEDOUT;
	if (s->from.soft && is_older(rpc->since, s->from.soft))
		return -ETIMEDOUT;
	return 0;
}

/* Is the connection of no use? */
static bool is_stuck(const struct o2gfs_rpc *rpc)
{
	return is_ping(rpc) ?
		       is_older(rpc->since, O2GFS_SILENCE) :
		       rpc->verdict && is_older(rpc->given_up, O2GFS_PATIENCE);
}

/* Under the lock: the first to be given up, or NULL. */
static struct o2gfs_rpc *find_overdue(struct o2gfs_session *s, bool *stuck)
{
	struct o2gfs_rpc *rpc;

	list_for_each_entry(rpc, &s->under_way, link) {
		*stuck |= is_stuck(rpc);
		if (judge(s, rpc))
			return rpc;
	}
	return NULL;
}

static void look_at_under_way(struct o2gfs_session *s)
{
	struct o2gfs_rpc *rpc;
	bool stuck = false;

	for (;;) {
		spin_lock_bh(&s->lock);
		rpc = find_overdue(s, &stuck);
		if (!rpc)
			break;
		o2gfs_rpc_give_up(rpc, judge(s, rpc));
	}
	spin_unlock_bh(&s->lock);
	if (stuck)
		o2gfs_session_break(s);
}

/* --- what waits for a connection --- */

/* Under the lock: likewise. Errands wait, pings need not. */
static int judge_waiting(const struct o2gfs_session *s,
			 const struct o2gfs_rpc *rpc)
{
	if (rpc->type == P9_TFLUSH || rpc->verdict)
		return -ETIMEDOUT;
	if (!rpc->req)
		return 0;
	if (s->client->status != Connected)
		return -ESHUTDOWN;
	if (s->from.soft && is_older(rpc->since, s->from.soft))
		return -ETIMEDOUT;
	if (rpc->mortal && is_older(rpc->since, O2GFS_PATIENCE))
		return -ETIMEDOUT;
	return 0;
}

static struct o2gfs_rpc *find_waiting(struct o2gfs_session *s)
{
	struct o2gfs_rpc *rpc;

	list_for_each_entry(rpc, &s->waiting, link)
		if (judge_waiting(s, rpc))
			return rpc;
	return NULL;
}

/* One of them, in no list now. */
static void end_waiting(struct o2gfs_rpc *rpc, int error)
{
	struct o2gfs_session *s = rpc->s;
	struct p9_req_t *req = rpc->req;

	if (!req || !rpc->mortal || !o2gfs_errand_take(rpc)) {
		o2gfs_rpc_finish(rpc, error);
		return;
	}
	o2gfs_rpc_launch(rpc);
	p9_client_cb(s->client, req, REQ_STATUS_RCVD);
}

static void look_at_waiting(struct o2gfs_session *s)
{
	struct o2gfs_rpc *rpc;
	int error = 0;

	do {
		spin_lock_bh(&s->lock);
		rpc = find_waiting(s);
		if (rpc) {
			error = judge_waiting(s, rpc);
			o2gfs_rpc_move(rpc, O2GFS_NOWHERE);
		}
		spin_unlock_bh(&s->lock);
		if (rpc)
			end_waiting(rpc, error);
	} while (rpc);
}

/* --- the server --- */

/* Has something been asked long ago, and nothing been heard since? */
static bool is_silent(struct o2gfs_session *s)
{
	const struct o2gfs_rpc *rpc;
	bool silent = false;

	spin_lock_bh(&s->lock);
	if (s->ep && is_older(s->heard, O2GFS_SILENCE)) {
		list_for_each_entry(rpc, &s->under_way, link) {
			if (is_ping(rpc)) {
				silent = false;
				break;
			}
			silent |= is_older(rpc->since, O2GFS_SILENCE);
		}
	}
	spin_unlock_bh(&s->lock);
	return silent;
}

/* --- when --- */

void o2gfs_watch_start(struct o2gfs_session *s)
{
	if (s->watching)
		return;
	s->watching = true;
	queue_delayed_work(o2gfs_wq, &s->watch, HZ);
}

void o2gfs_watch(struct work_struct *work)
{
	struct o2gfs_session *s = container_of(to_delayed_work(work),
					       struct o2gfs_session, watch);

	look_at_under_way(s);
	look_at_waiting(s);
	if (is_silent(s))
		o2gfs_ping(s);
	wake_up_all(&s->wait); /* those that wait there have limits too */
	spin_lock_bh(&s->lock);
	s->watching = false;
	if (!list_empty(&s->under_way) || !list_empty(&s->waiting))
		o2gfs_watch_start(s);
	spin_unlock_bh(&s->lock);
}
