/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Sessions: a mount of a client, over however many connections. It has fids, the requests
 * that are at work, and a store with what has to outlive the server.
 */
#ifndef FSD_SESSION_H
#define FSD_SESSION_H

#include "fid.h"
#include "stats.h"

struct fsd_limits {
	u32 fids;     /* of a session */
	u32 sessions; /* in all */
	u32 msize;
	u32 keep_s;  /* a session whose client is gone stays for so long, */
	u32 grace_s; /* ... and its descriptors and locks for so long */
};

/* What all sessions share. */
struct fsd_server {
	const char *state_dir; /* or NULL */
	struct fsd_limits limits;
	u64 epoch;
	pthread_mutex_t lock; /* of the list, and of references to sessions */
	struct fsd_session *sessions;
	u32 nsessions;
	struct fsd_stats stats;
};

/* A request that is at work. */
struct fsd_running {
	struct fsd_running *next;
	u64 seq;
	u16 tag;
	bool waits;    /* for another: nobody waits for it */
	bool answered; /* what is left is to send that */
};

struct fsd_session {
	struct fsd_session *next;
	struct fsd_server *server;
	u32 refs; /* under the server's lock */
	u8 uuid[FS_UUID_SIZE];
	char name[2 * FS_UUID_SIZE + 1];
	struct fsd_export *exports; /* those that its key opens */
	pthread_mutex_t lock;	    /* of all that follows */
	pthread_cond_t ended;	    /* a request has ended */
	struct fsd_fids fids;
	struct fsd_store *store;
	struct fsd_running *running;
	struct fsd_locks *locks; /* lock.c */
	u32 nxattrs; /* fids with the value of an extended attribute */
	u32 msize;
	int rank; /* of its connection; -1: there is none */
	char host[64];
	u64 lost_ns; /* since when there is none */
	bool asleep; /* descriptors and locks were given up */
	bool dead;   /* not in the list any more */
	atomic_ullong ops, read, written;
};

void fsd_server_init(struct fsd_server *srv);
/* The session of that number, found or made, with a reference. *known: its fids are
 * there. 0 or a negative errno. */
int fsd_session_open(struct fsd_server *srv, const u8 *uuid,
		     struct fsd_export *exports, struct fsd_session **s,
		     bool *known);
void fsd_session_ref(struct fsd_session *s);
void fsd_session_unref(struct fsd_session *s);
/* No more of it, here and on disk. */
void fsd_session_end(struct fsd_session *s);
/* All of them, when the server ends: their state stays on disk. */
void fsd_sessions_close(struct fsd_server *srv);
/* Now and then: those whose client has been gone for long. */
void fsd_sessions_tend(struct fsd_server *srv);

/* Descriptors run out: fids that nobody uses at the moment sleep. How many? */
unsigned fsd_sessions_doze(struct fsd_server *srv);

/* --- requests --- */

enum fsd_begin {
	FSD_BEGIN,	 /* go on */
	FSD_BEGIN_AGAIN, /* it was done, but its answer was not kept */
	FSD_BEGIN_KEPT,	 /* this is the answer */
	FSD_BEGIN_DROP	 /* it is at work; whoever does it will answer */
};
enum fsd_begin fsd_request_begin(struct fsd_session *s, struct fsd_running *r,
				 const u8 **kept, u32 *len);
/* It is answered; @keep: with the same if it is asked for again. Returns the rank that
 * the answer is for, -1: nobody. */
int fsd_request_answer(struct fsd_session *s, struct fsd_running *r,
		       const void *answer, u32 len, bool keep);
/* The answer is on its way: whoever has waited for that goes on. */
void fsd_request_end(struct fsd_session *s, struct fsd_running *r);
/* Wait until no request with that tag is at work but those that wait themselves. */
void fsd_request_wait(struct fsd_session *s, u16 tag, struct fsd_running *self);

/* --- fids --- */

/* A fid, with a reference and its lock; @change: to write. NULL and *err. */
struct fsd_fid *fsd_hold(struct fsd_session *s, u32 fid, bool change, int *err);
void fsd_release(struct fsd_session *s, struct fsd_fid *f);
/* A new one, which is the session's from now on, or freed on error. */
int fsd_fid_add(struct fsd_session *s, struct fsd_fid *f, bool again);
/* It refers to something else now, or in another way. With its lock to write. */
void fsd_fid_changed(struct fsd_session *s, struct fsd_fid *f);
/* It has this value of an extended attribute from now on. 0, or -ENOMEM. */
int fsd_fid_take_xattr(struct fsd_session *s, struct fsd_fid *f,
		       struct fsd_xattr *x);
/* The same thing, but it is open now. */
void fsd_fid_opened(struct fsd_session *s, struct fsd_fid *f);
/* It has locks, and will not outlive the server; or has none. */
void fsd_fid_locked(struct fsd_session *s, struct fsd_fid *f, bool locked);
/* Taken out of the table, with the reference of fsd_hold(). */
void fsd_fid_del(struct fsd_session *s, struct fsd_fid *f);
/* All of them. */
void fsd_fids_clear(struct fsd_session *s);

#endif
