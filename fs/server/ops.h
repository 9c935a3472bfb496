/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The operations of 9P2000.L. Each reads its arguments from `in`, checks with
 * fsd_args_end() that they were all there and nothing else, does it, and writes the fields of
 * the answer to `out`. It returns 0 or a negative errno.
 */
#ifndef FSD_OPS_H
#define FSD_OPS_H

#include "session.h"

#define FSD_OUT_ROOM 512 /* fields of an answer; data is apart */

struct fsd_req {
	struct fsd_session *s;
	struct fsd_running run;
	u8 type;
	bool again; /* it was done once, but the answer is gone */
	struct p9_in in;
	struct p9_out out;
	/* Room for the data of an answer, which follows the fields. It is the memory
	 * of the request: what was not copied from there before is gone. */
	u8 *data;
	size_t data_room, data_len;
	u64 moved; /* bytes of files */
};

/* Answers a message of 9P, whatever it is: fields in out, data behind them. @keep: it has
 * to be the same when it is asked for again. */
void fsd_dispatch(struct fsd_req *r, const u8 *msg, size_t len, bool *keep);
/* The name of a message, or NULL. */
const char *fsd_op_name(unsigned type);

/* 0, or -EBADMSG: too short or too long. */
static inline int fsd_args_end(const struct fsd_req *r)
{
	return p9_in_ended(&r->in) ? 0 : -EBADMSG;
}

/* What a client may get in one message. */
static inline size_t fsd_data_max(const struct fsd_req *r)
{
	size_t max = r->s->msize - FS_RREAD_HDR;

	return max < r->data_room ? max : r->data_room;
}

/* Act as the user of a fid. */
int fsd_act_as(const struct fsd_fid *f);
/* Act as that user, so that what is made belongs to this group if the user may do that. */
int fsd_act_to_make(const struct fsd_fid *f, gid_t gid);

int fsd_op_version(struct fsd_req *r);
int fsd_op_auth(struct fsd_req *r);
int fsd_op_attach(struct fsd_req *r);
int fsd_op_flush(struct fsd_req *r);
int fsd_op_walk(struct fsd_req *r);
int fsd_op_clunk(struct fsd_req *r);
int fsd_op_remove(struct fsd_req *r);
int fsd_op_lopen(struct fsd_req *r);
int fsd_op_lcreate(struct fsd_req *r);
int fsd_op_read(struct fsd_req *r);
int fsd_op_write(struct fsd_req *r);
int fsd_op_readdir(struct fsd_req *r);
int fsd_op_fsync(struct fsd_req *r);
int fsd_op_statfs(struct fsd_req *r);
int fsd_op_getattr(struct fsd_req *r);
int fsd_op_setattr(struct fsd_req *r);
int fsd_op_readlink(struct fsd_req *r);
int fsd_op_symlink(struct fsd_req *r);
int fsd_op_mknod(struct fsd_req *r);
int fsd_op_mkdir(struct fsd_req *r);
int fsd_op_link(struct fsd_req *r);
int fsd_op_rename(struct fsd_req *r);
int fsd_op_renameat(struct fsd_req *r);
int fsd_op_unlinkat(struct fsd_req *r);
int fsd_op_xattrwalk(struct fsd_req *r);
int fsd_op_xattrcreate(struct fsd_req *r);
int fsd_op_lock(struct fsd_req *r);
int fsd_op_getlock(struct fsd_req *r);

/* xattr.c: the value that was written is set when its fid is given back. */
int fsd_xattr_commit(struct fsd_fid *f);

#endif
