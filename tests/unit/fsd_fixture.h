/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The operations of the file server by themselves: messages are handed to the dispatcher
 * as the door would, and its answers handed back. No endpoint, no threads.
 */
#ifndef FSD_FIXTURE_H
#define FSD_FIXTURE_H

#include "ops.h"
#include "p9c.h"

#define ROOT 1 /* a fid, attached */

struct world {
	char dir[64];	/* for all of it, */
	char path[80];	/* ... what is exported, */
	char state[80]; /* ... and the state */
	struct fsd_server server;
	struct fsd_export export;
	struct fsd_session *s;
	struct p9c c;
	u8 uuid[FS_UUID_SIZE];
	u8 *memory;	    /* where a message and the data of an answer are */
	enum fsd_begin how; /* of the latest request */
};

/* With a folder, a session, and ROOT attached for the user. */
void world_open(struct world *w, u32 uid);
void world_close(struct world *w);
/* The server is started anew: what was in memory only is gone. */
void world_restart(struct world *w);
/* A second client of the same server. */
void world_join(struct world *w, const struct world *first, u32 uid);
/* A path below what is exported. */
const char *below(const struct world *w, const char *name);

#endif
