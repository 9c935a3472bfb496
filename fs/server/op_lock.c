/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Locks: asked for, and asked about. */
#include "ops.h"

#include "lock.h"

int fsd_op_lock(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct fsd_lock_args a = { .type = p9_get8(&r->in) };
	struct fsd_fid *f;
	int err;

	p9_get32(&r->in); /* to wait or not: the client asks again by itself */
	a.start = p9_get64(&r->in);
	a.length = p9_get64(&r->in);
	a.pid = p9_get32(&r->in);
	a.client = p9_get_str(&r->in);
	err = fsd_args_end(r);
	if (err)
		return err;
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	err = fsd_lock_set(r->s, f, &a);
	fsd_release(r->s, f);
	if (err && err != -EAGAIN)
		return err;
	p9_put(&r->out, err ? P9_BLOCKED : P9_LOCKED, 1);
	return 0;
}

int fsd_op_getlock(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct fsd_lock_args a = { .type = p9_get8(&r->in) };
	char client[64];
	struct fsd_fid *f;
	int err;

	a.start = p9_get64(&r->in);
	a.length = p9_get64(&r->in);
	a.pid = p9_get32(&r->in);
	a.client = p9_get_str(&r->in);
	err = fsd_args_end(r);
	if (err)
		return err;
	if (a.client.len > sizeof(client))
		return -EINVAL;
	memcpy(client, a.client.text, a.client.len);
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	err = fsd_lock_test(r->s, f, &a);
	fsd_release(r->s, f);
	if (err)
		return err;
	p9_put(&r->out, a.type, 1);
	p9_put(&r->out, a.start, 8);
	p9_put(&r->out, a.length, 8);
	p9_put(&r->out, a.pid, 4);
	p9_put_str(&r->out, client, a.client.len);
	return 0;
}
