/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "ops.h"

#include "clock.h"
#include "cred.h"

/* Answers to these are kept: they change files, or fids. Others can be asked again. */
#define KEEP true
#define ANEW false

static const struct {
	const char *name;
	int (*fn)(struct fsd_req *r);
	bool keep;
} table[P9_TYPES] = {
	[P9_TSTATFS] = { "statfs", fsd_op_statfs, ANEW },
	[P9_TLOPEN] = { "lopen", fsd_op_lopen, KEEP },
	[P9_TLCREATE] = { "lcreate", fsd_op_lcreate, KEEP },
	[P9_TSYMLINK] = { "symlink", fsd_op_symlink, KEEP },
	[P9_TMKNOD] = { "mknod", fsd_op_mknod, KEEP },
	[P9_TRENAME] = { "rename", fsd_op_rename, KEEP },
	[P9_TREADLINK] = { "readlink", fsd_op_readlink, ANEW },
	[P9_TGETATTR] = { "getattr", fsd_op_getattr, ANEW },
	[P9_TSETATTR] = { "setattr", fsd_op_setattr, KEEP },
	[P9_TXATTRWALK] = { "xattrwalk", fsd_op_xattrwalk, KEEP },
	[P9_TXATTRCREATE] = { "xattrcreate", fsd_op_xattrcreate, KEEP },
	[P9_TREADDIR] = { "readdir", fsd_op_readdir, ANEW },
	[P9_TFSYNC] = { "fsync", fsd_op_fsync, ANEW },
	[P9_TLOCK] = { "lock", fsd_op_lock, KEEP },
	[P9_TGETLOCK] = { "getlock", fsd_op_getlock, ANEW },
	[P9_TLINK] = { "link", fsd_op_link, KEEP },
	[P9_TMKDIR] = { "mkdir", fsd_op_mkdir, KEEP },
	[P9_TRENAMEAT] = { "renameat", fsd_op_renameat, KEEP },
	[P9_TUNLINKAT] = { "unlinkat", fsd_op_unlinkat, KEEP },
	[P9_TVERSION] = { "version", fsd_op_version, ANEW },
	[P9_TAUTH] = { "auth", fsd_op_auth, ANEW },
	[P9_TATTACH] = { "attach", fsd_op_attach, KEEP },
	[P9_TFLUSH] = { "flush", fsd_op_flush, ANEW },
	[P9_TWALK] = { "walk", fsd_op_walk, KEEP },
	[P9_TREAD] = { "read", fsd_op_read, ANEW },
	[P9_TWRITE] = { "write", fsd_op_write, KEEP },
	[P9_TCLUNK] = { "clunk", fsd_op_clunk, KEEP },
	[P9_TREMOVE] = { "remove", fsd_op_remove, KEEP },
};

const char *fsd_op_name(unsigned type)
{
	return type < P9_TYPES ? table[type].name : NULL;
}

int fsd_act_as(const struct fsd_fid *f)
{
	return fsd_cred_set(f->user.uid, f->user.gid);
}

int fsd_act_to_make(const struct fsd_fid *f, gid_t gid)
{
	if (f->ex->read_only)
		return -EROFS;
	return fsd_cred_set(f->user.uid, fsd_export_gid(f->ex, &f->user, gid));
}

static void put_header(struct fsd_req *r, u8 type)
{
	struct p9_out head = { r->out.buf, 0, P9_HDR, false };

	p9_put(&head, r->out.len + r->data_len, 4);
	p9_put(&head, type, 1);
	p9_put(&head, r->run.tag, 2);
}

/* The size that a message says it has is the size it has. */
static int parse_header(struct fsd_req *r, const u8 *msg, size_t len)
{
	u32 size;
	u16 tag;

	r->in = (struct p9_in){ msg, msg + len, false };
	size = p9_get32(&r->in);
	r->type = p9_get8(&r->in);
	tag = p9_get16(&r->in);
	if (r->in.bad || size != len || tag != r->run.tag)
		return -EBADMSG;
	return r->type < P9_TYPES && table[r->type].fn ? 0 : -EOPNOTSUPP;
}

static int run(struct fsd_req *r)
{
	u64 began = o2g_now_ns();
	int err = table[r->type].fn(r);

	if (!err && r->out.bad)
		err = -EMSGSIZE;
	fsd_stats_add(&r->s->server->stats.ops[r->type], o2g_now_ns() - began,
		      err);
	atomic_fetch_add_explicit(&r->s->ops, 1, memory_order_relaxed);
	return err;
}

void fsd_dispatch(struct fsd_req *r, const u8 *msg, size_t len, bool *keep)
{
	int err;

	r->out.len = P9_HDR;
	r->out.bad = false;
	r->data_len = 0;
	err = parse_header(r, msg, len);
	*keep = !err && table[r->type].keep;
	if (!err)
		err = run(r);
	if (err == -EMFILE && fsd_sessions_doze(r->s->server)) {
		r->out.len = P9_HDR;
		parse_header(r, msg, len);
		err = run(r);
	}
	if (!err) {
		put_header(r, r->type + 1);
		return;
	}
	r->out.len = P9_HDR;
	r->out.bad = false;
	r->data_len = 0;
	p9_put(&r->out, (u32)-err, 4);
	put_header(r, P9_RLERROR);
}
