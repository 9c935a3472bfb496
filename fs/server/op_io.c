/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What is in files and directories. */
#define _GNU_SOURCE
#include "ops.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "place.h"

#define DENTS (64u << 10) /* read from a directory at once */

static ssize_t read_xattr(const struct fsd_xattr *x, u64 off, u8 *to, size_t n)
{
	if (off >= x->size)
		return 0;
	if (n > x->size - off)
		n = x->size - off;
	memcpy(to, x->value + off, n);
	return (ssize_t)n;
}

static ssize_t read_file(const struct fsd_fid *f, u64 off, u8 *to, size_t n)
{
	ssize_t got;

	if (f->kind == FSD_FID_XATTR_READ)
		return read_xattr(f->xattr, off, to, n);
	if (f->kind != FSD_FID_OPEN)
		return -EBADF;
	got = pread(f->fd, to, n, (off_t)off);
	return got < 0 ? -errno : got;
}

int fsd_op_read(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	u64 off = p9_get64(&r->in);
	size_t n = p9_get32(&r->in), max = fsd_data_max(r);
	struct fsd_fid *f;
	ssize_t got;
	int err = fsd_args_end(r);

	if (err)
		return err;
	if (off > INT64_MAX)
		return -EINVAL;
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	got = read_file(f, off, r->data, n < max ? n : max);
	fsd_release(r->s, f);
	if (got < 0)
		return (int)got;
	p9_put(&r->out, (u32)got, 4);
	r->data_len = (size_t)got;
	r->moved = (u64)got;
	atomic_fetch_add(&r->s->server->stats.read, (u64)got);
	atomic_fetch_add(&r->s->read, (u64)got);
	return 0;
}

static ssize_t write_xattr(struct fsd_xattr *x, u64 off, const u8 *from,
			   size_t n)
{
	if (off > x->size || n > x->size - off)
		return -ENOSPC;
	memcpy(x->value + off, from, n);
	if (off + n > x->have)
		x->have = off + n;
	return (ssize_t)n;
}

static ssize_t write_file(struct fsd_fid *f, u64 off, const u8 *from, size_t n)
{
	ssize_t put;

	if (f->kind == FSD_FID_XATTR_WRITE)
		return write_xattr(f->xattr, off, from, n);
	if (f->kind != FSD_FID_OPEN)
		return -EBADF;
	/* Quotas, and bits of the mode that a write takes away, are the user's. */
	put = fsd_act_as(f);
	if (!put) {
		put = pwrite(f->fd, from, n, (off_t)off);
		if (put < 0)
			put = -errno;
	}
	return put;
}

/* From where the message was received to: there is no other copy of it. */
int fsd_op_write(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	u64 off = p9_get64(&r->in);
	u32 n = p9_get32(&r->in);
	const u8 *from = p9_take(&r->in, n);
	struct fsd_fid *f;
	ssize_t put;
	int err = fsd_args_end(r);

	if (err)
		return err;
	if (off > INT64_MAX)
		return -EINVAL;
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	if (f->kind == FSD_FID_XATTR_WRITE) { /* changes the fid */
		fsd_release(r->s, f);
		f = fsd_hold(r->s, fid, true, &err);
		if (!f)
			return err;
	}
	put = write_file(f, off, from, n);
	fsd_release(r->s, f);
	if (put < 0)
		return (int)put;
	p9_put(&r->out, (u32)put, 4);
	atomic_fetch_add(&r->s->server->stats.written, (u64)put);
	atomic_fetch_add(&r->s->written, (u64)put);
	return 0;
}

int fsd_op_fsync(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in), data_only = 0;
	struct fsd_fid *f;
	int err;

	if (r->in.at != r->in.end) /* older clients do not send it */
		data_only = p9_get32(&r->in);
	err = fsd_args_end(r);
	if (err)
		return err;
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	if (f->kind != FSD_FID_OPEN)
		err = -EBADF;
	else if (data_only ? fdatasync(f->fd) : fsync(f->fd))
		err = -errno;
	fsd_release(r->s, f);
	return err;
}

/* --- directories --- */

struct dent { /* what getdents64() writes */
	u64 ino;
	int64_t next;
	u16 len;
	u8 type;
	char name[];
};

static u8 qid_type(u8 type)
{
	return type == DT_DIR ? P9_QTDIR :
	       type == DT_LNK ? P9_QTSYMLINK :
				P9_QTFILE;
}

/* False: there is no room for it. */
static bool put_entry(struct p9_out *out, const struct dent *d, u64 salt)
{
	size_t n = strlen(d->name), was = out->len;
	struct p9_qid qid = { qid_type(d->type), 0, d->ino ^ salt };

	p9_put_qid(out, &qid);
	p9_put(out, (u64)d->next, 8);
	p9_put(out, d->type, 1);
	p9_put_str(out, d->name, n);
	if (out->bad)
		out->len = was;
	return !out->bad;
}

/* Entries of one getdents64(); 0: the end, 1: go on, 2: full. */
static int some_entries(struct fsd_fid *f, struct p9_out *out, u8 *buf,
			size_t room)
{
	long n = syscall(SYS_getdents64, f->fd, buf, room);
	const struct dent *d;

	if (n <= 0)
		return n ? -errno : 0;
	for (long at = 0; at < n; at += d->len) {
		d = (const struct dent *)(buf + at);
		if (!put_entry(out, d, f->salt))
			return 2;
		f->dir_pos = (u64)d->next;
	}
	return 1;
}

/* With the lock of the directory's position. */
static int read_dir(struct fsd_fid *f, u64 off, struct p9_out *out)
{
	u8 buf[DENTS] __attribute__((aligned(8)));
	size_t want = out->room < DENTS ? out->room : DENTS;
	int more = 1;

	/* Ours are longer than the kernel's where names are short: what does not fit
	 * is read again. */
	if (want < 1024)
		want = 1024;
	if (f->dir_pos != off && lseek(f->fd, (off_t)off, SEEK_SET) < 0)
		return -errno;
	f->dir_pos = off;
	while (more == 1)
		more = some_entries(f, out, buf, want);
	if (more == 2) {
		if (!out->len)
			return -EINVAL; /* not even one */
		if (lseek(f->fd, (off_t)f->dir_pos, SEEK_SET) < 0)
			return -errno;
	}
	return more < 0 && !out->len ? more : 0;
}

int fsd_op_readdir(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	u64 off = p9_get64(&r->in);
	size_t n = p9_get32(&r->in), max = fsd_data_max(r);
	struct p9_out out = { r->data, 0, n < max ? n : max, false };
	struct fsd_fid *f;
	int err = fsd_args_end(r);

	if (err)
		return err;
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	err = f->kind == FSD_FID_OPEN && f->qid.type & P9_QTDIR ? 0 : -ENOTDIR;
	if (!err) {
		pthread_mutex_lock(&f->dir_lock);
		err = read_dir(f, off, &out);
		pthread_mutex_unlock(&f->dir_lock);
	}
	fsd_release(r->s, f);
	if (err)
		return err;
	p9_put(&r->out, out.len, 4);
	r->data_len = out.len;
	return 0;
}
