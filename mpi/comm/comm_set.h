/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Agreeing among some or all members of a communicator. */
#ifndef MPII_COMM_COMM_SET_H
#define MPII_COMM_COMM_SET_H

#include "comm/comm.h"

/*
 * Some members of an intracommunicator that agree on something, apart from all
 * other traffic: by message context and tag.
 */
struct mpii_set {
	struct mpii_comm *c;
	const int *ranks; /* of the members in c; NULL: all, in order */
	int size, me;
	enum mpii_context context;
	int tag;
	/* Not NULL: the other side of this intercommunicator takes part, which
	 * member 0 asks; c is its local intracommunicator. */
	struct mpii_comm *inter;
	struct coll_task *task; /* of MPI_Comm_idup, else NULL */
};

/* All of @c (of its local side). Numbers the call, so every member must make
 * it in turn. */
struct mpii_set mpii_set_all(struct mpii_comm *c);
/* buf[i] = the AND of every member's buf[i]. MPI code, words recorded. */
int mpii_set_and(const struct mpii_set *s, uint64_t *buf, int n);
/* Member 0's buf to all. */
int mpii_set_bcast(const struct mpii_set *s, void *buf, int bytes);

/* Every member's bytes to member 0, in the order of members. */
int mpii_set_gather(const struct mpii_set *s, const void *mine, int bytes,
		    void *all);
/* Member 0 has bytes for all, or has failed with @err: then all do. *buf is
 * malloc'ed. */
int mpii_set_spread(const struct mpii_set *s, int err, void **buf, int *len);

/* Two leaders learn each other's bytes, by messages of k. *in is malloc'ed. */
struct coll;
int mpii_swap(const struct coll *k, int rank, const void *out, int out_len,
	      void **in, int *in_len);

#endif
