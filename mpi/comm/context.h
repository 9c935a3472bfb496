/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Contexts: what separates the messages of communicators. One that is free at
 * every member is agreed on when a communicator is made.
 */
#ifndef MPII_COMM_CONTEXT_H
#define MPII_COMM_CONTEXT_H

#include "mpii.h"

struct mpii_comm;
struct mpii_set;

/*
 * A communicator owns eight contexts in a row: messages of the program,
 * collectives, the creation of communicators by a group, and that by all,
 * announcements of partitioned messages and their data. Two are left.
 */
enum mpii_context {
	MPII_CTX_PT2PT,
	MPII_CTX_COLL,
	MPII_CTX_GROUP,
	MPII_CTX_ALL,
	MPII_CTX_PART,
	MPII_CTX_PART_DATA,
	MPII_CTX_COUNT = 8
};

/* Collective over @c: a context free at every member. MPI error class. */
int mpii_context_agree(struct mpii_comm *c, uint32_t *context);
void mpii_context_free(uint32_t context);

void mpii_context_start(void);
/* From now on threads of ours may agree on contexts at the same time. */
void mpii_context_threads(void);
/* Whose a context is, for those who have only a message's: the communicator of
 * the program, not a part of it that collectives use. Until the unlock it stays;
 * NULL: nobody's. Nothing may be waited for meanwhile. */
void mpii_context_own(struct mpii_comm *c);
void mpii_context_disown(struct mpii_comm *c);
struct mpii_comm *mpii_context_lock(uint32_t context);
void mpii_context_unlock(void);
/* All that the program has, in the same way. */
void mpii_context_each(void (*fn)(struct mpii_comm *c, void *arg), void *arg);
int mpii_set_context(const struct mpii_set *s, uint32_t *context);

#endif
