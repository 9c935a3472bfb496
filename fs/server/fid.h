/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Fids: what a client has a hold on. Each has one descriptor: O_PATH after a walk, a real
 * one once it is open. One that sleeps has none, only its record in the store, and is
 * found again when it is used.
 */
#ifndef FSD_FID_H
#define FSD_FID_H

#include <pthread.h>

#include "export.h"
#include "store.h"

enum fsd_fid_kind {
	FSD_FID_PATH,
	FSD_FID_OPEN,
	FSD_FID_XATTR_READ,
	FSD_FID_XATTR_WRITE
};

/* The value of an extended attribute, on its way. */
struct fsd_xattr {
	char name[P9_NAME_MAX + 1];
	u32 flags;
	size_t size, have;
	u8 value[];
};

struct fsd_session;

struct fsd_fid {
	struct fsd_fid *next; /* in the session's table */
	u32 fid;
	u32 refs;	/* under the session's lock */
	bool from_disk; /* and nobody has used it since the server started */
	bool uncertain; /* what it was is lost: ESTALE */
	bool recent;	/* used since idle ones were looked for */
	struct fsd_record *record; /* or NULL */
	/* Taken to read by whoever uses what follows, to write by whoever changes it. */
	pthread_rwlock_t lock;
	enum fsd_fid_kind kind;
	int fd; /* -1: it sleeps */
	int open_flags;
	struct fsd_export *ex;
	struct fsd_user user;
	struct p9_qid qid;
	u64 salt;    /* added to numbers of files: place.c */
	u64 dir_pos; /* where a directory's descriptor stands, under dir_lock */
	pthread_mutex_t dir_lock;
	struct fsd_xattr *xattr;
};

struct fsd_fids {
	struct fsd_fid **table;
	u32 buckets, n;
};

/* All with the session's lock. */
struct fsd_fid *fsd_fids_find(const struct fsd_fids *t, u32 fid);
int fsd_fids_add(struct fsd_fids *t, struct fsd_fid *f);
void fsd_fids_del(struct fsd_fids *t, struct fsd_fid *f);
/* Takes one out, or NULL; *from is 0 at first, and says where to go on. */
struct fsd_fid *fsd_fids_pop(struct fsd_fids *t, u32 *from);
void fsd_fids_cleanup(struct fsd_fids *t);

/* One that is in no table yet, with one reference. @fd is taken over, also when NULL is
 * returned. */
struct fsd_fid *fsd_fid_alloc(u32 fid, struct fsd_export *ex,
			      struct fsd_user user, int fd);
void fsd_fid_free(struct fsd_fid *f);

#endif
