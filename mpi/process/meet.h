/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Two groups that have nothing in common but a way between their leaders meet. */
#ifndef MPII_PROCESS_MEET_H
#define MPII_PROCESS_MEET_H

#include "comm/comm_set.h"

/* The leader's way to the other leader: both say something and hear what the other
 * says. *in is malloc'ed. MPI code, words recorded. */
struct mpii_way {
	int (*swap)(struct mpii_way *way, const void *out, int out_len,
		    void **in, int *in_len);
	/* 0, or an MPI code with words recorded: there is no way */
	int err;
	/* what only the two leaders know already; all 0 if there is nothing */
	unsigned char secret[O2G_SECRET_SIZE];
};

/*
 * An intercommunicator of @group, whose members are the set @s, with the leader in
 * front in exchange for the first, and of the other leader's. @way matters at the leader only. The context of ours is
 * *context, or one is agreed on. When it fails it fails at all members of both sides,
 * unless the way breaks down at the very end.
 */
int mpii_meet(const struct mpii_set *s, struct mpii_group *group,
	      struct mpii_way *way, const uint32_t *context,
	      struct mpii_comm **out);

/* A way over a stream socket. */
struct mpii_fd_way {
	struct mpii_way way;
	int fd;
};
void mpii_fd_way(struct mpii_fd_way *w, int fd);

#endif
