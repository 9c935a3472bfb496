/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "p9c.h"

#include <stdlib.h>

void p9c_init(struct p9c *c)
{
	memset(c, 0, sizeof(*c));
	c->msg = malloc(P9C_ROOM);
	c->answer = malloc(P9C_ROOM);
}

void p9c_cleanup(struct p9c *c)
{
	free(c->msg);
	free(c->answer);
}

void p9c_begin(struct p9c *c, u8 type)
{
	c->out = (struct p9_out){ c->msg, 0, P9C_ROOM, false };
	c->tag = (u16)((c->tag + 1) % 32);
	c->seq++;
	p9_put(&c->out, 0, 4);
	p9_put(&c->out, type, 1);
	p9_put(&c->out, c->tag, 2);
}

int p9c_repeat(struct p9c *c)
{
	ssize_t n = c->call(c, c->seq, c->tag, c->msg, c->out.len, c->answer,
			    P9C_ROOM);
	u8 type;

	if (n < 0)
		return (int)n;
	c->in = (struct p9_in){ c->answer, c->answer + n, false };
	if (p9_get32(&c->in) != (u32)n)
		return -EPROTO;
	type = p9_get8(&c->in);
	if (p9_get16(&c->in) != c->tag)
		return -EPROTO;
	if (type == P9_RLERROR)
		return -(int)p9_get32(&c->in);
	return type == c->msg[4] + 1 ? 0 : -EPROTO;
}

int p9c_run(struct p9c *c)
{
	struct p9_out size = { c->msg, 0, 4, false };

	p9_put(&size, c->out.len, 4);
	return p9c_repeat(c);
}

static void put_text(struct p9c *c, const char *text)
{
	p9_put_str(&c->out, text, strlen(text));
}

static struct p9_qid get_qid(struct p9_in *in)
{
	struct p9_qid q;

	q.type = p9_get8(in);
	q.version = p9_get32(in);
	q.path = p9_get64(in);
	return q;
}

int p9c_version(struct p9c *c, u32 msize, const char *version)
{
	p9c_begin(c, P9_TVERSION);
	p9_put(&c->out, msize, 4);
	put_text(c, version);
	return p9c_run(c);
}

int p9c_attach(struct p9c *c, u32 fid, u32 uid, const char *name)
{
	p9c_begin(c, P9_TATTACH);
	p9_put(&c->out, fid, 4);
	p9_put(&c->out, P9_NOFID, 4);
	put_text(c, "tester");
	put_text(c, name);
	p9_put(&c->out, uid, 4);
	return p9c_run(c);
}

int p9c_walk(struct p9c *c, u32 fid, u32 newfid, const char *path)
{
	struct p9_out count;
	u16 n = 0;
	int err;

	p9c_begin(c, P9_TWALK);
	p9_put(&c->out, fid, 4);
	p9_put(&c->out, newfid, 4);
	count = (struct p9_out){ c->msg, c->out.len, c->out.len + 2, false };
	p9_put(&c->out, 0, 2);
	while (*path) {
		size_t len = strcspn(path, "/");

		p9_put_str(&c->out, path, len);
		path += len + (path[len] == '/');
		n++;
	}
	p9_put(&count, n, 2);
	err = p9c_run(c);
	return err ? err : p9_get16(&c->in);
}

static int with_fid(struct p9c *c, u8 type, u32 fid)
{
	p9c_begin(c, type);
	p9_put(&c->out, fid, 4);
	return 0;
}

int p9c_clunk(struct p9c *c, u32 fid)
{
	with_fid(c, P9_TCLUNK, fid);
	return p9c_run(c);
}

int p9c_remove(struct p9c *c, u32 fid)
{
	with_fid(c, P9_TREMOVE, fid);
	return p9c_run(c);
}

int p9c_lopen(struct p9c *c, u32 fid, u32 flags)
{
	with_fid(c, P9_TLOPEN, fid);
	p9_put(&c->out, flags, 4);
	return p9c_run(c);
}

int p9c_lcreate(struct p9c *c, u32 fid, const char *name, u32 flags, u32 mode,
		u32 gid)
{
	with_fid(c, P9_TLCREATE, fid);
	put_text(c, name);
	p9_put(&c->out, flags, 4);
	p9_put(&c->out, mode, 4);
	p9_put(&c->out, gid, 4);
	return p9c_run(c);
}

static ssize_t get_data(struct p9c *c, void *buf, u32 n)
{
	u32 got = p9_get32(&c->in);
	const u8 *data = p9_take(&c->in, got);

	if (!data || got > n || !p9_in_ended(&c->in))
		return -EPROTO;
	memcpy(buf, data, got);
	return got;
}

ssize_t p9c_read(struct p9c *c, u32 fid, u64 off, void *buf, u32 n)
{
	int err;

	with_fid(c, P9_TREAD, fid);
	p9_put(&c->out, off, 8);
	p9_put(&c->out, n, 4);
	err = p9c_run(c);
	return err ? err : get_data(c, buf, n);
}

ssize_t p9c_write(struct p9c *c, u32 fid, u64 off, const void *buf, u32 n)
{
	u8 *to;
	int err;

	with_fid(c, P9_TWRITE, fid);
	p9_put(&c->out, off, 8);
	p9_put(&c->out, n, 4);
	to = p9_add(&c->out, n);
	if (to)
		memcpy(to, buf, n);
	err = p9c_run(c);
	return err ? err : (ssize_t)p9_get32(&c->in);
}

ssize_t p9c_readdir(struct p9c *c, u32 fid, u64 *off, u32 n, char *text,
		    size_t size)
{
	struct p9_in in;
	u32 got;
	int err, entries = 0;

	with_fid(c, P9_TREADDIR, fid);
	p9_put(&c->out, *off, 8);
	p9_put(&c->out, n, 4);
	err = p9c_run(c);
	if (err)
		return err;
	got = p9_get32(&c->in);
	in = c->in;
	if (got > n || (size_t)(in.end - in.at) != got)
		return -EPROTO;
	while (in.at != in.end) {
		struct p9_str name;

		get_qid(&in);
		*off = p9_get64(&in);
		p9_get8(&in);
		name = p9_get_str(&in);
		if (in.bad)
			return -EPROTO;
		if (strlen(text) + name.len + 2 < size) {
			strncat(text, name.text, name.len);
			strcat(text, " ");
		}
		entries++;
	}
	return entries;
}

int p9c_fsync(struct p9c *c, u32 fid)
{
	with_fid(c, P9_TFSYNC, fid);
	p9_put(&c->out, 0, 4);
	return p9c_run(c);
}

int p9c_statfs(struct p9c *c, u32 fid, u32 *type, u64 *blocks)
{
	int err;

	with_fid(c, P9_TSTATFS, fid);
	err = p9c_run(c);
	*type = p9_get32(&c->in);
	p9_get32(&c->in);
	*blocks = p9_get64(&c->in);
	return err;
}

int p9c_getattr(struct p9c *c, u32 fid, struct p9c_attr *a)
{
	int err;

	with_fid(c, P9_TGETATTR, fid);
	p9_put(&c->out, P9_ATTR_BASIC, 8);
	err = p9c_run(c);
	if (err)
		return err;
	p9_get64(&c->in);
	a->qid = get_qid(&c->in);
	a->mode = p9_get32(&c->in);
	a->uid = p9_get32(&c->in);
	a->gid = p9_get32(&c->in);
	a->nlink = p9_get64(&c->in);
	a->rdev = p9_get64(&c->in);
	a->size = p9_get64(&c->in);
	p9_get64(&c->in);
	a->blocks = p9_get64(&c->in);
	a->atime = p9_get64(&c->in);
	p9_get64(&c->in);
	a->mtime = p9_get64(&c->in);
	a->mtime_ns = p9_get64(&c->in);
	p9_take(&c->in, 6 * 8);
	return p9_in_ended(&c->in) ? 0 : -EPROTO;
}

int p9c_setattr(struct p9c *c, u32 fid, const struct p9c_change *ch)
{
	with_fid(c, P9_TSETATTR, fid);
	p9_put(&c->out, ch->valid, 4);
	p9_put(&c->out, ch->mode, 4);
	p9_put(&c->out, ch->uid, 4);
	p9_put(&c->out, ch->gid, 4);
	p9_put(&c->out, ch->size, 8);
	p9_put(&c->out, ch->atime, 8);
	p9_put(&c->out, 0, 8);
	p9_put(&c->out, ch->mtime, 8);
	p9_put(&c->out, 0, 8);
	return p9c_run(c);
}

int p9c_readlink(struct p9c *c, u32 fid, char *text, size_t size)
{
	struct p9_str to;
	int err;

	with_fid(c, P9_TREADLINK, fid);
	err = p9c_run(c);
	if (err)
		return err;
	to = p9_get_str(&c->in);
	if (!p9_in_ended(&c->in) || to.len >= size)
		return -EPROTO;
	memcpy(text, to.text, to.len);
	text[to.len] = '\0';
	return 0;
}

int p9c_symlink(struct p9c *c, u32 dir, const char *name, const char *to)
{
	with_fid(c, P9_TSYMLINK, dir);
	put_text(c, name);
	put_text(c, to);
	p9_put(&c->out, 0, 4);
	return p9c_run(c);
}

int p9c_mknod(struct p9c *c, u32 dir, const char *name, u32 mode, u32 major,
	      u32 minor)
{
	with_fid(c, P9_TMKNOD, dir);
	put_text(c, name);
	p9_put(&c->out, mode, 4);
	p9_put(&c->out, major, 4);
	p9_put(&c->out, minor, 4);
	p9_put(&c->out, 0, 4);
	return p9c_run(c);
}

int p9c_mkdir(struct p9c *c, u32 dir, const char *name, u32 mode)
{
	with_fid(c, P9_TMKDIR, dir);
	put_text(c, name);
	p9_put(&c->out, mode, 4);
	p9_put(&c->out, 0, 4);
	return p9c_run(c);
}

int p9c_link(struct p9c *c, u32 dir, u32 fid, const char *name)
{
	with_fid(c, P9_TLINK, dir);
	p9_put(&c->out, fid, 4);
	put_text(c, name);
	return p9c_run(c);
}

int p9c_rename(struct p9c *c, u32 fid, u32 dir, const char *name)
{
	with_fid(c, P9_TRENAME, fid);
	p9_put(&c->out, dir, 4);
	put_text(c, name);
	return p9c_run(c);
}

int p9c_renameat(struct p9c *c, u32 from, const char *name, u32 to,
		 const char *new_name)
{
	with_fid(c, P9_TRENAMEAT, from);
	put_text(c, name);
	p9_put(&c->out, to, 4);
	put_text(c, new_name);
	return p9c_run(c);
}

int p9c_unlinkat(struct p9c *c, u32 dir, const char *name, u32 flags)
{
	with_fid(c, P9_TUNLINKAT, dir);
	put_text(c, name);
	p9_put(&c->out, flags, 4);
	return p9c_run(c);
}

ssize_t p9c_xattrwalk(struct p9c *c, u32 fid, u32 newfid, const char *name)
{
	int err;

	with_fid(c, P9_TXATTRWALK, fid);
	p9_put(&c->out, newfid, 4);
	put_text(c, name);
	err = p9c_run(c);
	return err ? err : (ssize_t)p9_get64(&c->in);
}

int p9c_xattrcreate(struct p9c *c, u32 fid, const char *name, u64 size,
		    u32 flags)
{
	with_fid(c, P9_TXATTRCREATE, fid);
	put_text(c, name);
	p9_put(&c->out, size, 8);
	p9_put(&c->out, flags, 4);
	return p9c_run(c);
}

int p9c_lock(struct p9c *c, u32 fid, const struct p9c_lock *l)
{
	int err;

	with_fid(c, P9_TLOCK, fid);
	p9_put(&c->out, l->type, 1);
	p9_put(&c->out, 0, 4);
	p9_put(&c->out, l->start, 8);
	p9_put(&c->out, l->length, 8);
	p9_put(&c->out, l->pid, 4);
	put_text(c, "here");
	err = p9c_run(c);
	return err ? err : p9_get8(&c->in);
}

int p9c_getlock(struct p9c *c, u32 fid, struct p9c_lock *l)
{
	int err;

	with_fid(c, P9_TGETLOCK, fid);
	p9_put(&c->out, l->type, 1);
	p9_put(&c->out, l->start, 8);
	p9_put(&c->out, l->length, 8);
	p9_put(&c->out, l->pid, 4);
	put_text(c, "here");
	err = p9c_run(c);
	if (err)
		return err;
	l->type = p9_get8(&c->in);
	l->start = p9_get64(&c->in);
	l->length = p9_get64(&c->in);
	l->pid = p9_get32(&c->in);
	return 0;
}

int p9c_flush(struct p9c *c, u16 tag)
{
	p9c_begin(c, P9_TFLUSH);
	p9_put(&c->out, tag, 2);
	return p9c_run(c);
}
