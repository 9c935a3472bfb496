/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What is known of files, and changing it. */
#define _GNU_SOURCE
#include "ops.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "place.h"

static void put_time(struct p9_out *out, const struct timespec *t)
{
	p9_put(out, (u64)t->tv_sec, 8);
	p9_put(out, (u64)t->tv_nsec, 8);
}

static void put_stat(struct p9_out *out, const struct stat *st,
		     const struct p9_qid *qid)
{
	p9_put(out, P9_ATTR_BASIC, 8);
	p9_put_qid(out, qid);
	p9_put(out, st->st_mode, 4);
	p9_put(out, st->st_uid, 4);
	p9_put(out, st->st_gid, 4);
	p9_put(out, st->st_nlink, 8);
	p9_put(out, st->st_rdev, 8);
	p9_put(out, (u64)st->st_size, 8);
	p9_put(out, (u64)st->st_blksize, 8);
	p9_put(out, (u64)st->st_blocks, 8);
	put_time(out, &st->st_atim);
	put_time(out, &st->st_mtim);
	put_time(out, &st->st_ctim);
	for (int i = 0; i < 4; i++) /* birth, generation, version of data */
		p9_put(out, 0, 8);
}

int fsd_op_getattr(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct p9_qid qid;
	struct fsd_fid *f;
	struct stat st;
	int err;

	p9_get64(&r->in); /* what it wants: it gets what there is */
	err = fsd_args_end(r);
	if (err)
		return err;
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	if (f->fd < 0)
		err = -EINVAL; /* an attribute */
	else if (fstat(f->fd, &st))
		err = -errno;
	else
		fsd_place_qid(f->ex, &st, &qid);
	fsd_release(r->s, f);
	if (!err)
		put_stat(&r->out, &st, &qid);
	return err;
}

int fsd_op_statfs(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct fsd_fid *f;
	struct statfs s;
	int err = fsd_args_end(r);

	if (err)
		return err;
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	if (f->fd < 0)
		err = -EINVAL;
	else if (fstatfs(f->fd, &s))
		err = -errno;
	fsd_release(r->s, f);
	if (err)
		return err;
	p9_put(&r->out, (u32)s.f_type, 4);
	p9_put(&r->out, (u32)s.f_bsize, 4);
	p9_put(&r->out, s.f_blocks, 8);
	p9_put(&r->out, s.f_bfree, 8);
	p9_put(&r->out, s.f_bavail, 8);
	p9_put(&r->out, s.f_files, 8);
	p9_put(&r->out, s.f_ffree, 8);
	p9_put(&r->out, (u32)s.f_fsid.__val[0] | (u64)s.f_fsid.__val[1] << 32,
	       8);
	p9_put(&r->out, (u32)s.f_namelen, 4);
	return 0;
}

int fsd_op_readlink(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct p9_out out = { r->data, 0, fsd_data_max(r), false };
	char target[PATH_MAX];
	struct fsd_fid *f;
	ssize_t n = -1;
	int err = fsd_args_end(r);

	if (err)
		return err;
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	if (!(f->qid.type & P9_QTSYMLINK))
		err = -EINVAL;
	else if ((n = readlinkat(f->fd, "", target, sizeof(target))) < 0)
		err = -errno;
	fsd_release(r->s, f);
	if (err)
		return err;
	p9_put_str(&out, target, (size_t)n);
	r->data_len = out.len;
	return out.bad ? -ENAMETOOLONG : 0;
}

/* --- changing --- */

struct change {
	u32 valid, mode, uid, gid;
	u64 size;
	struct timespec atime, mtime;
};

static int set_size(const struct fsd_fid *f, u64 size)
{
	char name[FSD_PROC_MAX];
	int ret;

	if (size > INT64_MAX)
		return -EFBIG;
	/* What was opened to write may be cut, whatever its mode is by now. */
	if (f->kind == FSD_FID_OPEN && (f->open_flags & O_ACCMODE) != O_RDONLY)
		ret = ftruncate(f->fd, (off_t)size);
	else
		ret = truncate(fsd_place_proc(f->fd, name), (off_t)size);
	return ret ? -errno : 0;
}

static struct timespec time_of(const struct change *c, u32 set, u32 to,
			       const struct timespec *given)
{
	if (!(c->valid & set))
		return (struct timespec){ 0, UTIME_OMIT };
	if (!(c->valid & to))
		return (struct timespec){ 0, UTIME_NOW };
	return *given;
}

static int set_times(const struct fsd_fid *f, const struct change *c)
{
	struct timespec t[2] = {
		time_of(c, P9_SET_ATIME, P9_SET_ATIME_TO, &c->atime),
		time_of(c, P9_SET_MTIME, P9_SET_MTIME_TO, &c->mtime)
	};
	char name[FSD_PROC_MAX];

	if (!utimensat(f->fd, "", t, AT_EMPTY_PATH))
		return 0;
	if (errno != EINVAL || f->qid.type & P9_QTSYMLINK)
		return -errno;
	/* before Linux 5.8 */
	return utimensat(AT_FDCWD, fsd_place_proc(f->fd, name), t, 0) ? -errno :
									0;
}

static int set_mode(const struct fsd_fid *f, u32 mode)
{
	char name[FSD_PROC_MAX];

	if (f->qid.type & P9_QTSYMLINK)
		return -EOPNOTSUPP;
	return chmod(fsd_place_proc(f->fd, name), mode & 07777) ? -errno : 0;
}

static int set_owner(const struct fsd_fid *f, const struct change *c)
{
	uid_t uid = c->valid & P9_SET_UID ? c->uid : (uid_t)-1;
	gid_t gid = c->valid & P9_SET_GID ? c->gid : (gid_t)-1;

	return fchownat(f->fd, "", uid, gid, AT_EMPTY_PATH) ? -errno : 0;
}

/* In the order in which nothing undoes what came before: a new owner takes away bits of
 * the mode. */
static int setattr(const struct fsd_fid *f, const struct change *c)
{
	int err = f->ex->read_only ? -EROFS : fsd_act_as(f);

	if (!err && c->valid & (P9_SET_UID | P9_SET_GID))
		err = set_owner(f, c);
	if (!err && c->valid & P9_SET_SIZE)
		err = set_size(f, c->size);
	if (!err && c->valid & P9_SET_MODE)
		err = set_mode(f, c->mode);
	if (!err && c->valid & (P9_SET_ATIME | P9_SET_MTIME))
		err = set_times(f, c);
	if (!err && c->valid == P9_SET_CTIME)
		err = set_owner(f, c); /* changes that and nothing else */
	return err;
}

static bool is_time(const struct timespec *t)
{
	return t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

int fsd_op_setattr(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct change c = { .valid = p9_get32(&r->in) };
	struct fsd_fid *f;
	int err;

	c.mode = p9_get32(&r->in);
	c.uid = p9_get32(&r->in);
	c.gid = p9_get32(&r->in);
	c.size = p9_get64(&r->in);
	c.atime.tv_sec = (time_t)p9_get64(&r->in);
	c.atime.tv_nsec = (long)p9_get64(&r->in);
	c.mtime.tv_sec = (time_t)p9_get64(&r->in);
	c.mtime.tv_nsec = (long)p9_get64(&r->in);
	err = fsd_args_end(r);
	if (err)
		return err;
	if ((c.valid & P9_SET_ATIME_TO && !is_time(&c.atime)) ||
	    (c.valid & P9_SET_MTIME_TO && !is_time(&c.mtime)))
		return -EINVAL;
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	err = f->fd < 0 ? -EINVAL : setattr(f, &c);
	fsd_release(r->s, f);
	return err;
}
