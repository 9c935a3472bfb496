/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Operations and locks on targets that are asked by messages: wire.h. */
#ifndef WIN_REMOTE_H
#define WIN_REMOTE_H

#include "datatype/datatype.h"
#include "win/win.h"

struct win_op;

/* --- the origin; MPI codes with words recorded --- */

/* op_remote.c: starts it. */
int win_remote_op(const struct win_op *o);
/* remote.c. Waits until all that this rank has asked of the target is done; if
 * local, until its buffers may be used again. */
int win_remote_flush(struct mpii_win *w, int rank, bool local);
int win_remote_flush_all(struct mpii_win *w, bool local);
int win_flush_all(struct mpii_win *w);
/* The lock that p->held or lock_all wants is needed at once: the program may load and store. */
int win_remote_lock(struct mpii_win *w, int rank);
/* The rank whose answer is waited for by this condition; -1: it is another one. */
int win_remote_whose(int (*cond)(void *arg), const void *arg);
/* ... after all that was done. */
int win_remote_unlock(struct mpii_win *w, int rank);
int win_remote_unlock_all(struct mpii_win *w);
int win_remote_complete(struct mpii_win *w, int rank);
int win_send_post(struct mpii_win *w, int rank);
/* The lock of a rank was given back, and it may have waited for that. */
void win_poke(struct mpii_win *w, int rank);

/* --- the owner --- */

/* serve.c: from here on messages of this window are received. */
int win_serve_add(struct mpii_win *w);
void win_serve_del(struct mpii_win *w);
void win_served_free(struct mpii_win *w);
/* out.c */
void win_out_free(struct mpii_win *w);

#endif
