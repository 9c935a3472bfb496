/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Opening and making files. */
#define _GNU_SOURCE
#include "ops.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"

/* What a client asks for, as open(2) has it here. O_DIRECT is the client's own business:
 * our buffers are where messages are. */
static int from_p9(u32 flags)
{
	static const struct {
		u32 p9;
		int ours;
	} map[] = { { P9_TRUNC, O_TRUNC },
		    { P9_APPEND, O_APPEND },
		    { P9_DSYNC, O_DSYNC },
		    { P9_SYNC, O_SYNC } };
	int out = (int)(flags & P9_ACCMODE);

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (flags & map[i].p9)
			out |= map[i].ours;
	return out;
}

static int check_flags(const struct fsd_fid *f, u32 flags)
{
	bool writes = (flags & P9_ACCMODE) != O_RDONLY || flags & P9_TRUNC;

	if ((flags & P9_ACCMODE) == P9_ACCMODE)
		return -EINVAL;
	return writes && f->ex->read_only ? -EROFS : 0;
}

/* Devices, pipes and sockets are the client's: it opens its own of that number or name. */
static int check_kind(mode_t mode, u32 flags, int *how)
{
	if (S_ISDIR(mode)) {
		if ((flags & P9_ACCMODE) != O_RDONLY)
			return -EISDIR;
		*how = O_RDONLY | O_DIRECTORY;
		return 0;
	}
	if (flags & P9_DIRECTORY)
		return -ENOTDIR;
	if (S_ISLNK(mode))
		return -ELOOP;
	return S_ISREG(mode) ? 0 : -ENXIO;
}

static void opened(struct fsd_fid *f, int fd, int how)
{
	close(f->fd);
	f->fd = fd;
	f->kind = FSD_FID_OPEN;
	f->open_flags = how & ~(O_TRUNC | O_EXCL | O_CREAT);
	f->dir_pos = 0;
}

static int lopen(struct fsd_req *r, struct fsd_fid *f, u32 flags)
{
	int how = from_p9(flags), fd, err;
	struct stat st;

	if (f->kind != FSD_FID_PATH && !(f->kind == FSD_FID_OPEN && r->again))
		return -EINVAL;
	err = check_flags(f, flags);
	if (!err)
		err = fsd_place_stat(f, &st);
	if (!err)
		err = check_kind(st.st_mode, flags, &how);
	if (!err)
		err = fsd_act_as(f);
	if (err)
		return err;
	fd = fsd_place_open(f, how);
	if (fd < 0)
		return fd;
	opened(f, fd, how);
	fsd_fid_opened(r->s, f);
	return 0;
}

int fsd_op_lopen(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in), flags = p9_get32(&r->in);
	struct fsd_fid *f;
	int err = fsd_args_end(r);

	if (err)
		return err;
	f = fsd_hold(r->s, fid, true, &err);
	if (!f)
		return err;
	err = lopen(r, f, flags);
	if (!err) {
		p9_put_qid(&r->out, &f->qid);
		p9_put(&r->out, 0, 4); /* no unit: as much as fits */
	}
	fsd_release(r->s, f);
	return err;
}

/* It is there already, and that was allowed for: opened if it is a file. */
static int open_existing(const struct fsd_fid *dir, const char *name, int how)
{
	struct fsd_fid at = { .ex = dir->ex };
	struct stat st;
	int fd;

	at.fd = fsd_place_child(dir, name);
	if (at.fd < 0)
		return at.fd;
	if (fstat(at.fd, &st))
		fd = -errno;
	else if (S_ISLNK(st.st_mode))
		fd = -ELOOP;
	else if (!S_ISREG(st.st_mode))
		fd = S_ISDIR(st.st_mode) ? -EISDIR : -ENXIO;
	else
		fd = fsd_place_open(&at, how);
	close(at.fd);
	return fd;
}

struct create {
	struct p9_str name;
	u32 flags, mode;
	gid_t gid;
};

static int lcreate(struct fsd_req *r, struct fsd_fid *f, const struct create *c)
{
	int how = from_p9(c->flags), fd, err;
	char name[P9_NAME_MAX + 1];
	struct stat st;

	if (f->kind != FSD_FID_PATH)
		return -EINVAL;
	err = check_flags(f, c->flags);
	if (!err)
		err = fsd_place_name(c->name, name);
	if (!err)
		err = fsd_act_to_make(f, c->gid);
	if (err)
		return err;
	/* Never O_CREAT alone, which would open whatever is there. */
	fd = fsd_place_create(f, name, how | O_EXCL, c->mode & 07777);
	if (fd == -EEXIST && (!(c->flags & P9_EXCL) || r->again))
		fd = open_existing(f, name, how);
	if (fd < 0)
		return fd;
	opened(f, fd, how);
	fsd_fid_changed(r->s, f);
	return fsd_place_stat(f, &st);
}

int fsd_op_lcreate(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct create c;
	struct fsd_fid *f;
	int err;

	c.name = p9_get_str(&r->in);
	c.flags = p9_get32(&r->in);
	c.mode = p9_get32(&r->in);
	c.gid = p9_get32(&r->in);
	err = fsd_args_end(r);
	if (err)
		return err;
	f = fsd_hold(r->s, fid, true, &err);
	if (!f)
		return err;
	err = lcreate(r, f, &c);
	if (!err) {
		p9_put_qid(&r->out, &f->qid);
		p9_put(&r->out, 0, 4);
	}
	fsd_release(r->s, f);
	return err;
}
