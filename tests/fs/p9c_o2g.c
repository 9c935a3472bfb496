/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "p9c_o2g.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static int resolve(void *arg, int rank, char *address, size_t size)
{
	struct p9c_o2g *o = arg;

	snprintf(address, size, "%s", o->address);
	return rank == FS_SERVER_RANK ? 0 : -ENOENT;
}

static u32 some_number(void)
{
	u32 v = 1;

	return getrandom(&v, sizeof(v), 0) == sizeof(v) ? v : 1;
}

void p9c_o2g_at(struct p9c_o2g *o, const char *host, int port)
{
	snprintf(o->host, sizeof(o->host), "%s", host);
	o->port = port;
}

/* It is on our own host: only there 127.0.0.0/8 leads to it. */
static void find_server(struct p9c_o2g *o)
{
	char ours[O2G_ADDRESS_MAX], node[20] = "";
	const char *at;

	if (!o2g_address(o->ep, ours, sizeof(ours)) &&
	    (at = strstr(ours, "node=")))
		sscanf(at, "node=%16[0-9a-f]", node);
	snprintf(
		o->address, sizeof(o->address),
		"o2g1;host=server;tcp=rank=0,host=server,node=%s,port=%d,addr=%s/8",
		node, o->port, o->host);
}

void p9c_o2g_new_session(struct p9c_o2g *o)
{
	if (getrandom(o->uuid, sizeof(o->uuid), 0) != sizeof(o->uuid))
		abort();
}

static int is_done(void *arg)
{
	return o2g_is_done(arg);
}

/* What is not done in time is taken back. */
static ssize_t wait_for(struct p9c_o2g *o, struct o2g_req *req)
{
	struct o2g_status st;
	int err = o2g_wait_until(o->ep, is_done, req,
				 (int64_t)o->timeout_ms * 1000);

	if (err) {
		o2g_cancel(req);
		o2g_wait(req, NULL);
		return -ETIMEDOUT;
	}
	err = o2g_wait(req, &st);
	return err ? -EPIPE : (ssize_t)st.length;
}

static ssize_t exchange(struct p9c_o2g *o, u64 out_tag, u64 in_tag,
			const void *msg, size_t len, void *answer, size_t room)
{
	struct o2g_seg to = { answer, room }, from = { (void *)msg, len };
	struct o2g_req *in, *out;

	if (o2g_irecv(o->ep, FS_SERVER_RANK, in_tag, 0, &to, 1, &in))
		return -EPIPE;
	if (o2g_isend(o->ep, FS_SERVER_RANK, out_tag, &from, 1, 0, &out)) {
		o2g_cancel(in);
		o2g_wait(in, NULL);
		return -EPIPE;
	}
	if (wait_for(o, out) < 0) {
		o2g_cancel(in);
		o2g_wait(in, NULL);
		return -EPIPE;
	}
	return wait_for(o, in);
}

int p9c_o2g_connect(struct p9c_o2g *o)
{
	struct o2g_attr attr = { .rank = 1 +
					 (int)(some_number() % (FS_RANKS - 1)),
				 .size = FS_RANKS,
				 .job = FS_JOB,
				 .resolve = resolve,
				 .arg = o };
	struct fs_hello h = { .version = cpu_to_le32(FS_VERSION),
			      .msize = cpu_to_le32(FS_MSIZE_DEFAULT) };
	ssize_t n;

	memcpy(attr.secret, o->key, sizeof(attr.secret));
	memcpy(h.uuid, o->uuid, sizeof(h.uuid));
	if (o2g_open(&attr, &o->ep))
		return -EIO;
	find_server(o);
	n = exchange(o, FS_TAG_SESSION, FS_TAG_SESSION, &h, sizeof(h),
		     &o->welcome, sizeof(o->welcome));
	if (n < 0) {
		p9c_o2g_close(o);
		return (int)n;
	}
	if (n != sizeof(o->welcome))
		return -EPROTO;
	return -(int)le32_to_cpu(o->welcome.status);
}

void p9c_o2g_close(struct p9c_o2g *o)
{
	o2g_close(o->ep);
	o->ep = NULL;
}

ssize_t p9c_o2g_call(struct p9c *c, u64 seq, u16 tag, const u8 *msg, size_t len,
		     u8 *answer, size_t room)
{
	return exchange(c->arg, fs_tag_request(seq, tag),
			fs_tag_reply(seq, tag), msg, len, answer, room);
}
