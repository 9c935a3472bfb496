// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Requests of our own, which nobody waits for: asking whether the server is there, and
 * giving fids back for processes that are gone. Their tag is never 9p's, whose tags are
 * the lowest that are free.
 */
#include "o2gfs.h"

#define TFLUSH_SIZE 9
#define TCLUNK_SIZE 11

/* A Tflush of what is not there: answered at once, and changes nothing. */
void o2gfs_ping(struct o2gfs_session *s)
{
	struct o2gfs_rpc *rpc = o2gfs_rpc_alloc(s, NULL);

	rpc->type = P9_TFLUSH;
	put_unaligned_le32(TFLUSH_SIZE, rpc->ask);
	rpc->ask[4] = P9_TFLUSH;
	put_unaligned_le16(rpc->tag, rpc->ask + 5);
	put_unaligned_le16(P9_NOTAG, rpc->ask + 7);
	o2gfs_rpc_launch(rpc);
}

bool o2gfs_errand_take(struct o2gfs_rpc *rpc)
{
	struct p9_req_t *req = rpc->req;

	if (rpc->type != P9_TCLUNK || req->tc.size != TCLUNK_SIZE)
		return false;
	memcpy(rpc->ask, req->tc.sdata, TCLUNK_SIZE);
	rpc->tag = O2GFS_ERRAND_TAG;
	put_unaligned_le16(rpc->tag, rpc->ask + 5);
	rpc->req = NULL;
	rpc->mortal = false;
	o2gfs_fake_reply(req, P9_RCLUNK);
	return true;
}
