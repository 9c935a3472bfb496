/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The owner's side of the messages: what it knows of one origin. */
#ifndef WIN_SERVE_H
#define WIN_SERVE_H

#include "datatype/datatype.h"
#include "win/line.h"
#include "win/wire.h"

/* A batch that waits for its lock, or behind one that does. */
struct win_queued {
	struct win_queued *next;
	size_t len;
	_Alignas(16) char data[];
};

struct win_served {
	struct win_served *next;
	int rank;
	struct mpii_type *layouts[WIN_LAYOUTS];
	bool waits; /* for the lock */
	struct win_turn turn;
	struct win_queued *first, **last;
};

/* All with w->serving. */

/* serve_op.c: the operations of a batch; what was fetched is appended to *reply,
 * which is grown. MPI class. */
struct win_bytes {
	char *data;
	size_t used, room;
};
int win_serve_ops(struct mpii_win *w, struct win_served *s, const char *data,
		  size_t len, unsigned nops, struct win_bytes *reply);
char *win_bytes_grow(struct win_bytes *b, size_t more);

/* serve_lock.c */
void win_serve_batch(struct mpii_win *w, struct win_served *s, const void *data,
		     size_t len);
/* The lock was given back: who is next? */
void win_serve_lock(struct mpii_win *w);

#endif
