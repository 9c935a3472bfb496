/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Names in directories: made, moved and taken away. */
#define _GNU_SOURCE
#include "ops.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "place.h"

/* A directory, held, with a name to be made in it; err as fsd_hold has it. */
struct spot {
	struct fsd_fid *dir;
	char name[P9_NAME_MAX + 1];
};

static int hold_spot(struct fsd_req *r, struct spot *at, u32 fid,
		     struct p9_str name)
{
	int err = fsd_place_name(name, at->name);

	if (!err && (!strcmp(at->name, ".") || !strcmp(at->name, "..")))
		err = -EINVAL;
	if (err)
		return err;
	at->dir = fsd_hold(r->s, fid, false, &err);
	if (!at->dir)
		return err;
	if (at->dir->fd < 0)
		err = -EINVAL;
	else if (at->dir->ex->read_only)
		err = -EROFS;
	if (err)
		fsd_release(r->s, at->dir);
	return err;
}

static int put_new(struct fsd_req *r, const struct spot *at)
{
	struct p9_qid qid;
	struct stat st;

	if (fstatat(at->dir->fd, at->name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	fsd_place_qid(at->dir->ex, &st, &qid);
	p9_put_qid(&r->out, &qid);
	return 0;
}

/* What was made before, when this is the same request again, counts as made. */
static int made(const struct fsd_req *r, int ret)
{
	if (!ret || (errno == EEXIST && r->again))
		return 0;
	return -errno;
}

/* Something of this name is about to be made, by the caller. */
static int begin_make(struct fsd_req *r, struct spot *at, u32 fid,
		      struct p9_str name, gid_t gid)
{
	int err = hold_spot(r, at, fid, name);

	if (err)
		return err;
	err = fsd_act_to_make(at->dir, gid);
	if (err)
		fsd_release(r->s, at->dir);
	return err;
}

/* @ret is what making it returned. */
static int end_make(struct fsd_req *r, struct spot *at, int ret)
{
	int err = made(r, ret);

	if (!err)
		err = put_new(r, at);
	fsd_release(r->s, at->dir);
	return err;
}

int fsd_op_symlink(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct p9_str name = p9_get_str(&r->in), to = p9_get_str(&r->in);
	gid_t gid = p9_get32(&r->in);
	char target[PATH_MAX];
	struct spot at;
	int err = fsd_args_end(r);

	if (err)
		return err;
	if (!to.len || memchr(to.text, 0, to.len))
		return -EINVAL;
	if (to.len >= sizeof(target))
		return -ENAMETOOLONG;
	memcpy(target, to.text, to.len);
	target[to.len] = '\0';
	err = begin_make(r, &at, fid, name, gid);
	if (err)
		return err;
	return end_make(r, &at, symlinkat(target, at.dir->fd, at.name));
}

int fsd_op_mknod(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct p9_str name = p9_get_str(&r->in);
	u32 mode = p9_get32(&r->in), major = p9_get32(&r->in);
	u32 minor = p9_get32(&r->in);
	gid_t gid = p9_get32(&r->in);
	struct spot at;
	int err = fsd_args_end(r);

	if (!err)
		err = begin_make(r, &at, fid, name, gid);
	if (err)
		return err;
	return end_make(r, &at,
			mknodat(at.dir->fd, at.name, mode,
				makedev(major, minor)));
}

int fsd_op_mkdir(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct p9_str name = p9_get_str(&r->in);
	u32 mode = p9_get32(&r->in);
	gid_t gid = p9_get32(&r->in);
	struct spot at;
	int err = fsd_args_end(r);

	if (!err)
		err = begin_make(r, &at, fid, name, gid);
	if (err)
		return err;
	return end_make(r, &at, mkdirat(at.dir->fd, at.name, mode & 07777));
}

/* Exports may share a file system, and still nothing goes from one to the other. */
static int same_export(const struct fsd_fid *a, const struct fsd_fid *b)
{
	return a->ex == b->ex ? 0 : -EXDEV;
}

int fsd_op_link(struct fsd_req *r)
{
	u32 dfid = p9_get32(&r->in), fid = p9_get32(&r->in);
	struct p9_str name = p9_get_str(&r->in);
	char proc[FSD_PROC_MAX];
	struct fsd_fid *f;
	struct spot at;
	int err = fsd_args_end(r);

	if (!err)
		err = hold_spot(r, &at, dfid, name);
	if (err)
		return err;
	f = fsd_hold(r->s, fid, false, &err);
	if (f) {
		err = f->fd < 0 ? -EINVAL : same_export(f, at.dir);
		if (!err)
			err = fsd_act_as(at.dir);
		if (!err)
			err = made(r,
				   linkat(AT_FDCWD, fsd_place_proc(f->fd, proc),
					  at.dir->fd, at.name,
					  AT_SYMLINK_FOLLOW));
		fsd_release(r->s, f);
	}
	fsd_release(r->s, at.dir);
	return err;
}

static int rename_to(const struct fsd_req *r, int dir, const char *name,
		     const struct spot *to)
{
	if (!renameat(dir, name, to->dir->fd, to->name) ||
	    (errno == ENOENT && r->again))
		return 0;
	return -errno;
}

int fsd_op_renameat(struct fsd_req *r)
{
	u32 from_fid = p9_get32(&r->in);
	struct p9_str from_name = p9_get_str(&r->in);
	u32 to_fid = p9_get32(&r->in);
	struct p9_str to_name = p9_get_str(&r->in);
	struct spot from, to;
	int err = fsd_args_end(r);

	if (!err)
		err = hold_spot(r, &from, from_fid, from_name);
	if (err)
		return err;
	err = hold_spot(r, &to, to_fid, to_name);
	if (!err) {
		err = same_export(from.dir, to.dir);
		if (!err)
			err = fsd_act_as(from.dir);
		if (!err)
			err = rename_to(r, from.dir->fd, from.name, &to);
		fsd_release(r->s, to.dir);
	}
	fsd_release(r->s, from.dir);
	return err;
}

static int rename_fid(struct fsd_req *r, const struct fsd_fid *f,
		      const struct spot *to)
{
	char name[P9_NAME_MAX + 1];
	int err = f->fd < 0 ? -EINVAL : same_export(f, to->dir), dir;

	if (!err)
		err = fsd_act_as(f);
	if (err)
		return err;
	dir = fsd_place_above(f, name);
	if (dir < 0)
		return dir;
	err = rename_to(r, dir, name, to);
	close(dir);
	return err;
}

int fsd_op_rename(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in), dfid = p9_get32(&r->in);
	struct p9_str name = p9_get_str(&r->in);
	struct fsd_fid *f;
	struct spot to;
	int err = fsd_args_end(r);

	if (!err)
		err = hold_spot(r, &to, dfid, name);
	if (err)
		return err;
	f = fsd_hold(r->s, fid, false, &err);
	if (f) {
		err = rename_fid(r, f, &to);
		fsd_release(r->s, f);
	}
	fsd_release(r->s, to.dir);
	return err;
}

int fsd_op_unlinkat(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct p9_str name = p9_get_str(&r->in);
	u32 flags = p9_get32(&r->in);
	struct spot at;
	int err = fsd_args_end(r);

	if (err)
		return err;
	if (flags & ~(u32)P9_REMOVEDIR)
		return -EINVAL;
	err = hold_spot(r, &at, fid, name);
	if (err)
		return err;
	err = fsd_act_as(at.dir);
	if (!err && unlinkat(at.dir->fd, at.name,
			     flags & P9_REMOVEDIR ? AT_REMOVEDIR : 0))
		err = errno == ENOENT && r->again ? 0 : -errno;
	fsd_release(r->s, at.dir);
	return err;
}
