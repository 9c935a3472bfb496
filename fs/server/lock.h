/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Locks on files. The owner of a lock is a process of a client. Each owner has an open
 * file of its own for each file it has locks on, and the kernel keeps the locks of that
 * (F_OFD_SETLK). So owners exclude each other whatever client they come from, and
 * programs on this host as well; one owner never excludes itself.
 */
#ifndef FSD_LOCK_H
#define FSD_LOCK_H

#include "session.h"

struct fsd_lock_args {
	u8 type;	   /* enum p9_lock */
	u64 start, length; /* length 0: to the end */
	u32 pid;
	struct p9_str client;
};

/* 0 or a negative errno: -EAGAIN: somebody else has it. */
int fsd_lock_set(struct fsd_session *s, struct fsd_fid *f,
		 const struct fsd_lock_args *a);
/* a->type becomes P9_UNLCK if nobody is in the way, else it tells of whoever is. */
int fsd_lock_test(struct fsd_session *s, struct fsd_fid *f,
		  struct fsd_lock_args *a);
/* Those that came through a fid, or all of the session. */
void fsd_locks_drop(struct fsd_session *s, const struct fsd_fid *f);

#endif
