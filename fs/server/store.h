/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What is left of a session when the server is killed: a mapped file with the fids that
 * the client holds and the answers to its latest requests. A store into mapped memory
 * outlives the process; a thread writes it to the disk every second, for the case that
 * the machine is lost as well.
 */
#ifndef FSD_STORE_H
#define FSD_STORE_H

#include "env.h"
#include "../wire.h"

#define FSD_TAGS 65536
#define FSD_KEPT 48 /* bytes of an answer; Rwalk of up to three names fits */

/* A fid. `used` is written last when there is one, and first when there is none. */
struct fsd_record {
	u32 used;
	u32 fid;
	u32 flags;	/* FSD_REC_ */
	u32 open_flags; /* of open(2) */
	u32 uid, gid;
	u64 export;
	u64 dev, ino;
	u32 handle_type;
	u16 handle_len; /* bytes, first in data[], */
	u16 path_len;	/* ... or these: below the export's root */
	u8 data[456];
};
_Static_assert(sizeof(struct fsd_record) == 512, "record");

enum fsd_rec_flags {
	FSD_REC_OPEN = 1,
	FSD_REC_LOST = 2,  /* there is no way to find it again */
	FSD_REC_LOCKED = 4 /* it has locks, which do not outlive the server */
};

struct fsd_store;

/*
 * The file of a session in @dir, or memory without a name if @dir is NULL. *found: it
 * was there. 0 or a negative errno.
 */
int fsd_store_open(const char *dir, const u8 *uuid, u32 fids_max,
		   struct fsd_store **store, bool *found);
void fsd_store_close(struct fsd_store *st, bool remove);
/* Have it written to the disk, if anything has changed. Now and then it is marked as
 * being in use. */
void fsd_store_sync(struct fsd_store *st);
/* Files of sessions that were not in use for so long go. How many? */
unsigned fsd_store_sweep(const char *dir, u32 seconds);

/* Every record in use, when a file was found. */
void fsd_store_each(struct fsd_store *st,
		    void (*fn)(void *arg, struct fsd_record *r), void *arg);
/* Room for a fid; NULL: there is none. Filled in by the caller, then put. */
struct fsd_record *fsd_store_new(struct fsd_store *st);
void fsd_store_put(struct fsd_store *st, struct fsd_record *r);
void fsd_store_drop(struct fsd_store *st, struct fsd_record *r);

enum fsd_kept {
	FSD_NEW,  /* this request has not been answered */
	FSD_DONE, /* it has, by what did not fit */
	FSD_ANSWER
};
/* Has this request been answered? */
enum fsd_kept fsd_store_answer(struct fsd_store *st, u16 tag, u64 seq,
			       const u8 **data, u32 *len);
/* It is answered with this; what was kept for the tag before goes. */
void fsd_store_keep(struct fsd_store *st, u16 tag, u64 seq, const void *data,
		    u32 len);

#endif
