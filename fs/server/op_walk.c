/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Sessions of 9P, attaching, walking, and giving fids back. */
#define _GNU_SOURCE
#include "ops.h"

#include <fcntl.h>
#include <unistd.h>

#include "cred.h"
#include "lock.h"
#include "fsd_log.h"
#include "place.h"

int fsd_op_version(struct fsd_req *r)
{
	static const char ours[] = "9P2000.L";
	u32 msize = p9_get32(&r->in);
	struct p9_str v = p9_get_str(&r->in);
	bool same = v.len == strlen(ours) && !memcmp(v.text, ours, v.len);
	int err = fsd_args_end(r);

	if (err)
		return err;
	if (msize < FS_MSIZE_MIN)
		return -EMSGSIZE;
	fsd_fids_clear(r->s);
	if (msize < r->s->msize)
		r->s->msize = msize;
	p9_put(&r->out, r->s->msize, 4);
	if (same)
		p9_put_str(&r->out, ours, strlen(ours));
	else
		p9_put_str(&r->out, "unknown", 7);
	return 0;
}

/* Whoever is connected has proved that it has the key. */
int fsd_op_auth(struct fsd_req *r)
{
	return -EOPNOTSUPP;
}

int fsd_op_flush(struct fsd_req *r)
{
	u16 tag = p9_get16(&r->in);
	int err = fsd_args_end(r);

	if (!err && tag != r->run.tag)
		fsd_request_wait(r->s, tag, &r->run);
	return err;
}

static int add(struct fsd_req *r, u32 fid, struct fsd_export *ex,
	       struct fsd_user user, int fd, struct p9_qid *qid)
{
	struct fsd_fid *f = fsd_fid_alloc(fid, ex, user, fd);
	struct stat st;
	int err;

	if (!f)
		return -ENOMEM;
	err = fsd_place_stat(f, &st);
	if (err) {
		fsd_fid_free(f);
		return err;
	}
	*qid = f->qid;
	return fsd_fid_add(r->s, f, r->again);
}

int fsd_op_attach(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in), afid = p9_get32(&r->in);
	struct p9_str uname = p9_get_str(&r->in), aname = p9_get_str(&r->in);
	u32 uid = p9_get32(&r->in);
	struct fsd_export *ex;
	struct p9_qid qid;
	int err = fsd_args_end(r), fd;

	if (err)
		return err;
	if (afid != P9_NOFID || fid == P9_NOFID)
		return -EINVAL;
	ex = fsd_export_find(r->s->exports, aname);
	if (!ex) {
		if (fsd_log_allowed())
			fsd_warn(
				"%s asks for \"%.*s\", which is not exported to it (user %.*s)",
				r->s->host, aname.len, aname.text, uname.len,
				uname.text);
		return -ENOENT;
	}
	fsd_cred_own();
	fd = openat(ex->root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = add(r, fid, ex, fsd_export_user(ex, uid), fd, &qid);
	if (!err)
		p9_put_qid(&r->out, &qid);
	return err;
}

/* --- walking --- */

struct walk {
	u32 newfid;
	u16 n;
	struct p9_str names[P9_WALK_MAX];
};

/* One step; the descriptor that we come from is closed, unless it is the fid's. */
static int step(const struct fsd_fid *from, struct fsd_fid *at,
		struct p9_str text)
{
	char name[P9_NAME_MAX + 1];
	int err = fsd_place_name(text, name), fd;
	struct stat st;

	if (err)
		return err == -EINVAL ? -ENOENT : err;
	fd = fsd_place_child(at, name);
	if (fd < 0)
		return fd;
	if (at->fd != from->fd)
		close(at->fd);
	at->fd = fd;
	return fsd_place_stat(at, &st);
}

/* A descriptor of its own for the same thing. */
static int again(const struct fsd_fid *f)
{
	int fd;

	if (f->kind != FSD_FID_PATH)
		return fsd_place_open(f, O_PATH);
	fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

/* All steps: how many were made, and where that is in *fd, which is the caller's. */
static int go(struct fsd_req *r, const struct fsd_fid *f, const struct walk *w,
	      int *fd)
{
	struct fsd_fid at = { .fd = f->fd, .ex = f->ex };
	size_t count = r->out.len;
	int err = 0;
	u16 i;

	p9_put(&r->out, 0, 2);
	for (i = 0; i < w->n; i++) {
		err = step(f, &at, w->names[i]);
		if (err)
			break;
		p9_put_qid(&r->out, &at.qid);
	}
	r->out.buf[count] = (u8)i;
	*fd = at.fd;
	if (!w->n)
		*fd = again(f);
	else if (i < w->n && at.fd != f->fd)
		close(at.fd);
	if (!w->n && *fd < 0)
		return *fd;
	return i || !w->n ? i : err;
}

/* In place of what the fid was. */
static int move(struct fsd_req *r, struct fsd_fid *f, int fd)
{
	struct stat st;

	if (f->kind != FSD_FID_PATH) {
		close(fd);
		return -EINVAL;
	}
	close(f->fd);
	f->fd = fd;
	fsd_fid_changed(r->s, f);
	return fsd_place_stat(f, &st);
}

static int walk(struct fsd_req *r, struct fsd_fid *f, const struct walk *w)
{
	struct p9_qid qid;
	int err, fd, n;

	if (f->kind > FSD_FID_OPEN)
		return -EINVAL;
	err = fsd_act_as(f);
	if (err)
		return err;
	n = go(r, f, w, &fd);
	if (n < 0)
		return n;
	if (n < w->n)
		return 0; /* as far as it went; the new fid is not made */
	if (w->newfid == f->fid)
		return move(r, f, fd);
	return add(r, w->newfid, f->ex, f->user, fd, &qid);
}

int fsd_op_walk(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct walk w = { .newfid = p9_get32(&r->in) };
	struct fsd_fid *f;
	int err;

	w.n = p9_get16(&r->in);
	if (w.n > P9_WALK_MAX)
		return -EINVAL;
	for (u16 i = 0; i < w.n; i++)
		w.names[i] = p9_get_str(&r->in);
	err = fsd_args_end(r);
	if (err)
		return err;
	if (w.newfid == P9_NOFID)
		return -EINVAL;
	f = fsd_hold(r->s, fid, w.newfid == fid, &err);
	if (!f)
		return err;
	err = walk(r, f, &w);
	fsd_release(r->s, f);
	return err;
}

/* --- giving back --- */

/* Also a fid that cannot be used any more can be given back. */
static int give_back(struct fsd_session *s, u32 fid)
{
	struct fsd_fid *f;

	pthread_mutex_lock(&s->lock);
	f = fsd_fids_find(&s->fids, fid);
	if (f)
		f->refs++;
	pthread_mutex_unlock(&s->lock);
	if (!f)
		return -EBADF;
	pthread_rwlock_wrlock(&f->lock);
	fsd_fid_del(s, f);
	fsd_release(s, f);
	return 0;
}

int fsd_op_clunk(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct fsd_fid *f;
	int err = fsd_args_end(r);

	if (err)
		return err;
	f = fsd_hold(r->s, fid, true, &err);
	if (!f)
		return give_back(r->s, fid);
	if (f->kind == FSD_FID_XATTR_WRITE)
		err = fsd_xattr_commit(f);
	if (f->kind == FSD_FID_OPEN)
		fsd_locks_drop(r->s, f);
	fsd_fid_del(r->s, f);
	fsd_release(r->s, f);
	return err;
}

static int remove_it(struct fsd_fid *f)
{
	char name[P9_NAME_MAX + 1];
	struct stat st;
	int dir, err;

	if (f->ex->read_only)
		return -EROFS;
	err = fsd_act_as(f);
	if (err)
		return err;
	if (fstat(f->fd, &st))
		return -errno;
	dir = fsd_place_above(f, name);
	if (dir < 0)
		return dir;
	err = unlinkat(dir, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
	err = err ? -errno : 0;
	close(dir);
	return err;
}

int fsd_op_remove(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct fsd_fid *f;
	int err = fsd_args_end(r);

	if (err)
		return err;
	f = fsd_hold(r->s, fid, true, &err);
	if (!f) {
		give_back(r->s, fid);
		return err;
	}
	err = f->kind > FSD_FID_OPEN ? -EINVAL : remove_it(f);
	fsd_fid_del(r->s, f); /* whatever came of it */
	fsd_release(r->s, f);
	return err;
}
