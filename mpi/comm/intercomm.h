/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Intercommunicators. */
#ifndef MPII_COMM_INTERCOMM_H
#define MPII_COMM_INTERCOMM_H

#include "comm/comm_set.h"

/* Takes both groups and the context over. Makes an intracommunicator of the local group too,
 * which shares @context: its messages come from other processes. */
struct mpii_comm *mpii_intercomm_create(struct mpii_group *group,
					struct mpii_group *remote,
					uint32_t context,
					uint32_t send_context);
/* Both sides learn the other's bytes: first the leaders from each other, then
 * all of the set @s of c->local from their leader. *in is malloc'ed. */
int mpii_intercomm_exchange(struct mpii_comm *c, const struct mpii_set *s,
			    const void *out, int out_len, void **in,
			    int *in_len);
/* How the leaders of two sides that have nothing in common yet talk. */
struct mpii_bridge {
	struct mpii_comm *peer; /* at the leader only */
	int remote_leader, tag;
};
/* The set @s are the members of @group, its leader first. */
int mpii_intercomm_build(const struct mpii_set *s, struct mpii_group *group,
			 const struct mpii_bridge *b, struct mpii_comm **out);
/* A new context of ours and the other side's. */
int mpii_intercomm_contexts(struct mpii_comm *c, const struct mpii_set *s,
			    uint32_t *context, uint32_t *send_context);

#endif
