/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Extended attributes. 9P reads one through a fid of its own, and writes one through a
 * fid that turns into it: what was written is set when that is given back. A value of
 * no bytes takes the attribute away, which is what Linux's client means by it.
 */
#define _GNU_SOURCE
#include "ops.h"

#include <stdlib.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "place.h"

#define VALUE_MAX (64u << 10) /* as XATTR_SIZE_MAX and XATTR_LIST_MAX */

static struct fsd_xattr *new_xattr(size_t size)
{
	struct fsd_xattr *x = calloc(1, sizeof(*x) + size);

	if (x)
		x->size = size;
	return x;
}

static int get_name(struct p9_str s, char name[P9_NAME_MAX + 1])
{
	if (s.len > P9_NAME_MAX)
		return -ERANGE;
	if (s.len && memchr(s.text, 0, s.len))
		return -EINVAL;
	memcpy(name, s.text, s.len);
	name[s.len] = '\0';
	return 0;
}

/* Without a name: the list of names. */
static ssize_t fetch(const struct fsd_fid *f, const char *name, void *value)
{
	char proc[FSD_PROC_MAX];
	ssize_t n;

	if (f->fd < 0)
		return -EINVAL;
	if (f->qid.type & P9_QTSYMLINK)
		return *name ? -ENODATA :
			       0; /* they have none that users may have */
	fsd_place_proc(f->fd, proc);
	n = *name ? getxattr(proc, name, value, VALUE_MAX) :
		    listxattr(proc, value, VALUE_MAX);
	return n < 0 ? -errno : n;
}

/* What was fetched, in no more memory than it needs. NULL and *err. */
static struct fsd_xattr *fetched(const struct fsd_fid *f, const char *name,
				 int *err)
{
	struct fsd_xattr *room = new_xattr(VALUE_MAX), *x = NULL;
	ssize_t n = room ? fetch(f, name, room->value) : -ENOMEM;

	*err = n < 0 ? (int)n : -ENOMEM;
	if (n >= 0)
		x = new_xattr((size_t)n);
	if (x)
		memcpy(x->value, room->value, (size_t)n);
	free(room);
	return x;
}

static int add_reader(struct fsd_req *r, const struct fsd_fid *f, u32 newfid,
		      const char *name)
{
	struct fsd_fid *nf;
	struct fsd_xattr *x;
	int err;

	x = fetched(f, name, &err);
	if (!x)
		return err;
	nf = fsd_fid_alloc(newfid, f->ex, f->user, -1);
	if (!nf) {
		free(x);
		return -ENOMEM;
	}
	nf->kind = FSD_FID_XATTR_READ;
	nf->xattr = x;
	p9_put(&r->out, x->size, 8);
	return fsd_fid_add(r->s, nf, r->again);
}

int fsd_op_xattrwalk(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in), newfid = p9_get32(&r->in);
	struct p9_str text = p9_get_str(&r->in);
	char name[P9_NAME_MAX + 1];
	struct fsd_fid *f;
	int err = fsd_args_end(r);

	if (!err)
		err = get_name(text, name);
	if (!err && (newfid == P9_NOFID || newfid == fid))
		err = -EINVAL;
	if (err)
		return err;
	f = fsd_hold(r->s, fid, false, &err);
	if (!f)
		return err;
	err = fsd_act_as(f);
	if (!err)
		err = add_reader(r, f, newfid, name);
	fsd_release(r->s, f);
	return err;
}

/* The fid stays open on what it was: that is where the attribute goes. */
static int turn(struct fsd_req *r, struct fsd_fid *f, const char *name,
		u64 size, u32 flags)
{
	struct fsd_xattr *x;
	int err;

	if (f->kind != FSD_FID_PATH)
		return -EINVAL;
	if (f->ex->read_only)
		return -EROFS;
	if (f->qid.type & P9_QTSYMLINK)
		return -EPERM;
	x = new_xattr(size);
	if (!x)
		return -ENOMEM;
	strcpy(x->name, name);
	x->flags = flags;
	err = fsd_fid_take_xattr(r->s, f, x);
	if (err) {
		free(x);
		return err;
	}
	f->kind = FSD_FID_XATTR_WRITE;
	fsd_fid_changed(r->s, f);
	return 0;
}

int fsd_op_xattrcreate(struct fsd_req *r)
{
	u32 fid = p9_get32(&r->in);
	struct p9_str text = p9_get_str(&r->in);
	u64 size = p9_get64(&r->in);
	u32 flags = p9_get32(&r->in);
	char name[P9_NAME_MAX + 1];
	struct fsd_fid *f;
	int err = fsd_args_end(r);

	if (!err)
		err = get_name(text, name);
	if (!err && !*name)
		err = -EINVAL;
	if (!err && flags & ~(u32)(XATTR_CREATE | XATTR_REPLACE))
		err = -EINVAL;
	if (!err && size > VALUE_MAX)
		err = -E2BIG;
	if (err)
		return err;
	f = fsd_hold(r->s, fid, true, &err);
	if (!f)
		return err;
	err = turn(r, f, name, size, flags);
	fsd_release(r->s, f);
	return err;
}

int fsd_xattr_commit(struct fsd_fid *f)
{
	const struct fsd_xattr *x = f->xattr;
	char proc[FSD_PROC_MAX];
	int err = fsd_act_as(f), ret;

	if (err)
		return err;
	if (x->have != x->size)
		return -EIO; /* it was not all written */
	fsd_place_proc(f->fd, proc);
	ret = x->size ? setxattr(proc, x->name, x->value, x->size,
				 (int)x->flags) :
			removexattr(proc, x->name);
	return ret ? -errno : 0;
}
