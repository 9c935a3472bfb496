/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The owner's side of the messages: what it knows of one origin. */
#ifndef WIN_SERVE_H
#define WIN_SERVE_H

#include "coll/op/op.h"
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
	int error; /* of batches that were not to be answered */
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
/* The predefined type and operation that a number stands for, or NULL. */
const struct mpii_type *win_type_at(uint64_t handle);
const struct mpii_op *win_op_at(unsigned number);

/* serve_brief.c: how many bytes the operation is; 0: it is cut off. */
size_t win_serve_brief(struct mpii_win *w, const char *data, size_t len,
		       struct win_bytes *reply, int *err);

/* serve_lock.c */
void win_serve_batch(struct mpii_win *w, struct win_served *s, const void *data,
		     size_t len);
/* The lock was given back: who is next? */
void win_serve_lock(struct mpii_win *w);

#endif
