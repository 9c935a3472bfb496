// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Requests whose data 9p does not copy: what is read is placed where it is wanted, and
 * what is written is sent from where it is.
 *
 * The caller waits here, and gets its memory back however this ends. If it is killed
 * the messages are cancelled; should they not end, because the server has stopped in the
 * middle of one, the connection is given up, which ends them.
 */
#include "o2gfs.h"

#include <linux/sched/signal.h>
#include <linux/uio.h>

/* --- waiting for a connection --- */

/* Why not to wait any longer; 0: there is none. */
static int impatient(const struct o2gfs_rpc *rpc)
{
	const struct o2gfs_session *s = rpc->s;
	unsigned long limit = 0;

	if (READ_ONCE(s->dead))
		return s->dead;
	if (s->client->status != Connected)
		return -ESHUTDOWN;
	if (rpc->mortal)
		limit = O2GFS_PATIENCE;
	else if (s->from.soft)
		limit = s->from.soft;
	return limit && time_after(jiffies, rpc->since + limit * HZ) ?
		       -ETIMEDOUT :
		       0;
}

static bool is_up(const struct o2gfs_session *s)
{
	return READ_ONCE(s->ep) && !READ_ONCE(s->broken);
}

static int await_connection(struct o2gfs_rpc *rpc)
{
	struct o2gfs_session *s = rpc->s;
	long left;

	while (!is_up(s)) {
		int err = impatient(rpc);

		if (err)
			return err;
		left = wait_event_killable_timeout(
			s->wait, is_up(s) || READ_ONCE(s->dead), HZ);
		if (left < 0)
			return -ERESTARTSYS;
	}
	return 0;
}

/* --- an attempt --- */

static void await_end(struct o2gfs_rpc *rpc)
{
	struct o2gfs_session *s = rpc->s;

	spin_lock_bh(&s->lock);
	if (rpc->place == O2GFS_UNDER_WAY)
		o2gfs_rpc_give_up(rpc, -ERESTARTSYS);
	else
		spin_unlock_bh(&s->lock);
	if (wait_for_completion_timeout(&rpc->ended, O2GFS_PATIENCE * HZ))
		return;
	o2gfs_session_break(s);
	wait_for_completion(&rpc->ended);
}

/* -EAGAIN: again, over another connection. */
static int attempt(struct o2gfs_rpc *rpc, struct o2gk_seg *other, bool writes)
{
	struct o2gfs_session *s = rpc->s;

	init_completion(&rpc->ended);
	if (!down_read_trylock(&s->gate))
		return -EAGAIN;
	if (!o2gfs_rpc_enter(rpc)) {
		up_read(&s->gate);
		return -EAGAIN;
	}
	if (writes)
		o2gfs_rpc_start(rpc, rpc->segs, rpc->n, other, 1);
	else
		o2gfs_rpc_start(rpc, other, 1, rpc->segs, rpc->n);
	up_read(&s->gate);
	if (wait_for_completion_killable(&rpc->ended))
		await_end(rpc);
	return rpc->result;
}

static int attempts(struct o2gfs_rpc *rpc, struct o2gk_seg *other, bool writes)
{
	int err;

	do {
		err = await_connection(rpc);
		if (!err)
			err = attempt(rpc, other, writes);
		if (err == -EAGAIN) { /* no connection, or no memory */
			o2gfs_session_kick(rpc->s, 0);
			schedule_timeout_killable(1);
		}
	} while (err == -EAGAIN);
	return err;
}

/* --- the message --- */

/* Less than was asked for: the request ends with its count. */
static void set_count(struct p9_req_t *req, u32 count)
{
	put_unaligned_le32(count, req->tc.sdata + req->tc.size - 4);
}

/* The size of what is written is not in the header yet. */
static void set_size(struct p9_req_t *req, u32 data)
{
	put_unaligned_le32(req->tc.size + data, req->tc.sdata);
}

static struct o2gk_seg header(void *addr, size_t length)
{
	return (struct o2gk_seg){ .kind = O2GK_KERNEL,
				  .addr = addr,
				  .length = length };
}

/* How many bytes of data it is about; *@other: the way that has none. */
static int prepare(struct o2gfs_rpc *rpc, struct iov_iter *data, int want,
		   bool writes, int in_hdr, struct o2gk_seg *other)
{
	struct p9_req_t *req = rpc->req;
	struct o2gk_seg out = header(req->tc.sdata, req->tc.size);
	struct o2gk_seg in =
		header(req->rc.sdata, min_t(size_t, in_hdr, req->rc.capacity));
	int n;

	rpc->segs[rpc->n++] = writes ? out : in;
	*other = writes ? in : out;
	n = o2gfs_pages_get(rpc, data, want);
	if (n < 0)
		return n;
	if (n != want)
		set_count(req, n);
	if (writes) {
		set_size(req, n);
		rpc->data = n;
	}
	return n;
}

/* --- the end --- */

/* Killed, and the server may still answer: its tag is not free before that. */
static void abandon(struct o2gfs_rpc *rpc)
{
	struct o2gfs_session *s = rpc->s;
	bool kept;

	spin_lock_bh(&s->lock);
	kept = rpc->ep && rpc->ep == s->ep && !s->broken;
	if (kept)
		o2gfs_rpc_move(rpc, O2GFS_ABANDONED);
	spin_unlock_bh(&s->lock);
	if (!kept)
		o2gfs_rpc_finish(rpc, -ERESTARTSYS);
}

/* The memory is the caller's again. */
static int conclude(struct o2gfs_rpc *rpc, int err)
{
	struct p9_client *client = rpc->s->client;
	struct p9_req_t *req = rpc->req;

	if (err == -ERESTARTSYS) {
		abandon(rpc);
		return err;
	}
	if (!err)
		err = o2gfs_rpc_reply(rpc);
	o2gfs_rpc_free(rpc);
	if (err)
		p9_req_put(client, req);
	else
		p9_client_cb(client, req, REQ_STATUS_RCVD);
	return err;
}

int o2gfs_zc_request(struct p9_client *client, struct p9_req_t *req,
		     struct iov_iter *uidata, struct iov_iter *uodata,
		     int inlen, int outlen, int in_hdr_len)
{
	struct o2gfs_rpc *rpc = o2gfs_rpc_alloc(client->trans, req);
	struct iov_iter *data = uodata ?: uidata;
	struct o2gk_seg other;
	size_t before = iov_iter_count(data);
	int n, err;

	rpc->direct = true;
	n = prepare(rpc, data, uodata ? outlen : inlen, uodata, in_hdr_len,
		    &other);
	err = n;
	if (n > 0) {
		WRITE_ONCE(req->status, REQ_STATUS_SENT);
		err = attempts(rpc, &other, uodata);
	}
	o2gfs_pages_put(rpc);
	/* 9p goes back to where what was read or written has ended. */
	if (!err && iov_iter_count(data) == before)
		iov_iter_advance(data, n);
	return conclude(rpc, err);
}
