// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What a server says is looked at here, before 9p sees it: it is a whole reply to this
 * very request. What is in it 9p checks against its length. Any context.
 */
#include "o2gfs.h"

#include <linux/ratelimit.h>

#define HDR 7 /* size[4] type[1] tag[2] */
#define RLERROR_SIZE 11

/* Its length is known to be that of the message. */
static bool is_sound(const struct o2gfs_rpc *rpc, const u8 *p, u64 length)
{
	u8 type = p[4];

	if (get_unaligned_le32(p) != length ||
	    get_unaligned_le16(p + 5) != rpc->tag)
		return false;
	if (type == P9_RLERROR)
		return length == RLERROR_SIZE &&
		       get_unaligned_le32(p + HDR) - 1 < MAX_ERRNO;
	if (type != rpc->type + 1)
		return false;
	if (type == P9_RREAD || type == P9_RREADDIR)
		return length >= FS_RREAD_HDR &&
		       get_unaligned_le32(p + HDR) == length - FS_RREAD_HDR;
	return true;
}

static void say_broken(const struct o2gfs_rpc *rpc, u64 length)
{
	struct o2gfs_session *s = rpc->s;

	spin_lock_bh(&s->lock);
	s->stats.broken++;
	spin_unlock_bh(&s->lock);
	pr_err_ratelimited(
		"9pnet_o2g: %pISpc has sent %llu bytes that are no answer to a request of type %u\n",
		&s->from.addr, length, rpc->type);
}

int o2gfs_rpc_reply(struct o2gfs_rpc *rpc)
{
	struct p9_req_t *req = rpc->req;
	u64 length = rpc->recv.length;

	if (rpc->recv.message != length || length < HDR ||
	    !is_sound(rpc, req->rc.sdata, length)) {
		say_broken(rpc, rpc->recv.message);
		return -EPROTO;
	}
	req->rc.size = length;
	return 0;
}

void o2gfs_fake_reply(struct p9_req_t *req, u8 type)
{
	put_unaligned_le32(HDR, req->rc.sdata);
	req->rc.sdata[4] = type;
	put_unaligned_le16(req->tc.tag, req->rc.sdata + 5);
	req->rc.size = HDR;
}

void o2gfs_rpc_finish(struct o2gfs_rpc *rpc, int error)
{
	struct p9_client *client = rpc->s->client;
	struct p9_req_t *req = rpc->req;
	int status = REQ_STATUS_RCVD;

	if (req && !error)
		error = o2gfs_rpc_reply(rpc);
	/* Whoever flushes waits without end, and cannot be killed. */
	if (req && error && rpc->type == P9_TFLUSH) {
		o2gfs_fake_reply(req, P9_RFLUSH);
		error = 0;
	}
	o2gfs_rpc_free(rpc);
	if (!req)
		return;
	if (error) {
		req->t_err = error;
		status = error == -ERESTARTSYS ? REQ_STATUS_FLSHD :
						 REQ_STATUS_ERROR;
	}
	p9_client_cb(client, req, status);
}
