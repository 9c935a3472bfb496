/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A client of 9P2000.L for tests. Calls return 0 or more, or the negative errno that the
 * server has answered with. How a message gets there is the transport's business.
 */
#ifndef P9C_H
#define P9C_H

#include <sys/types.h>

#include "bytes.h"
#include "../../fs/wire.h"

#define P9C_ROOM (FS_MSIZE_DEFAULT + 4096)

struct p9c {
	/* Sends a message and waits for its answer: bytes, or a negative errno. */
	ssize_t (*call)(struct p9c *c, u64 seq, u16 tag, const u8 *msg,
			size_t len, u8 *answer, size_t room);
	void *arg;
	u64 seq;
	u16 tag;
	/* The latest message and its answer. */
	struct p9_out out;
	struct p9_in in;
	u8 *msg, *answer;
};

struct p9c_attr {
	struct p9_qid qid;
	u32 mode, uid, gid;
	u64 nlink, rdev, size, blocks;
	u64 atime, mtime, mtime_ns;
};

struct p9c_change {
	u32 valid, mode, uid, gid;
	u64 size, atime, mtime;
};

struct p9c_lock {
	u8 type;
	u64 start, length;
	u32 pid;
};

void p9c_init(struct p9c *c);
void p9c_cleanup(struct p9c *c);

/* By hand: begin, p9_put...() to c->out, run. */
void p9c_begin(struct p9c *c, u8 type);
int p9c_run(struct p9c *c);
/* The same message once more, with the number it had. */
int p9c_repeat(struct p9c *c);

int p9c_version(struct p9c *c, u32 msize, const char *version);
int p9c_attach(struct p9c *c, u32 fid, u32 uid, const char *name);
/* Names apart by '/'; "" for none. The number of steps made. */
int p9c_walk(struct p9c *c, u32 fid, u32 newfid, const char *path);
int p9c_clunk(struct p9c *c, u32 fid);
int p9c_remove(struct p9c *c, u32 fid);
int p9c_lopen(struct p9c *c, u32 fid, u32 flags);
int p9c_lcreate(struct p9c *c, u32 fid, const char *name, u32 flags, u32 mode,
		u32 gid);
ssize_t p9c_read(struct p9c *c, u32 fid, u64 off, void *buf, u32 n);
ssize_t p9c_write(struct p9c *c, u32 fid, u64 off, const void *buf, u32 n);
/* Names, each with a blank behind it, are added to text; *off moves on. */
ssize_t p9c_readdir(struct p9c *c, u32 fid, u64 *off, u32 n, char *text,
		    size_t size);
int p9c_fsync(struct p9c *c, u32 fid);
int p9c_statfs(struct p9c *c, u32 fid, u32 *type, u64 *blocks);
int p9c_getattr(struct p9c *c, u32 fid, struct p9c_attr *a);
int p9c_setattr(struct p9c *c, u32 fid, const struct p9c_change *ch);
int p9c_readlink(struct p9c *c, u32 fid, char *text, size_t size);
int p9c_symlink(struct p9c *c, u32 dir, const char *name, const char *to);
int p9c_mknod(struct p9c *c, u32 dir, const char *name, u32 mode, u32 major,
	      u32 minor);
int p9c_mkdir(struct p9c *c, u32 dir, const char *name, u32 mode);
int p9c_link(struct p9c *c, u32 dir, u32 fid, const char *name);
int p9c_rename(struct p9c *c, u32 fid, u32 dir, const char *name);
int p9c_renameat(struct p9c *c, u32 from, const char *name, u32 to,
		 const char *new_name);
int p9c_unlinkat(struct p9c *c, u32 dir, const char *name, u32 flags);
ssize_t p9c_xattrwalk(struct p9c *c, u32 fid, u32 newfid, const char *name);
int p9c_xattrcreate(struct p9c *c, u32 fid, const char *name, u64 size,
		    u32 flags);
/* enum p9_lock_status */
int p9c_lock(struct p9c *c, u32 fid, const struct p9c_lock *l);
int p9c_getlock(struct p9c *c, u32 fid, struct p9c_lock *l);
int p9c_flush(struct p9c *c, u16 tag);

#endif
