/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the files about communicators share. */
#ifndef MPI_COMM_H
#define MPI_COMM_H

#include "mpii.h"

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

/* Two leaders learn each other's bytes, by messages of k. *in is malloc'ed. */
struct coll;
int mpii_swap(const struct coll *k, int rank, const void *out, int out_len,
	      void **in, int *in_len);

/* comm_split.c: what each rank of c's local side says, in order of rank; *all is
 * malloc'ed. MPI code, words recorded. */
int mpii_comm_hear_all(struct mpii_comm *c, const void *mine, int bytes,
		       void **all);

/* comm_info.c. False: out of memory. */
bool mpii_comm_take_hints(struct mpii_comm *c, const struct mpii_info *from);
bool mpii_comm_describe(const struct mpii_comm *c, struct mpii_info *info);

/* context.c */
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
int mpii_set_context(const struct mpii_set *s, uint32_t *context);

/* comm.c */

/* Fills a zeroed object; takes the groups over (one for both: intracomm). */
void mpii_comm_setup(struct mpii_comm *c, struct mpii_group *group,
		     struct mpii_group *remote, uint32_t context,
		     uint32_t send_context);
/*
 * buffered.c: the buffer that belongs to a communicator, session or the process
 * and is kept in *place. MPI codes, words recorded.
 */
int mpii_buffer_attach(struct mpii_buffer **place, void *buffer,
		       MPI_Count size);
int mpii_buffer_detach(struct mpii_buffer **place, void *buffer_addr,
		       MPI_Count *size);
int mpii_buffer_detach_int(struct mpii_buffer **place, void *buffer_addr,
			   int *size);
void mpii_buffer_flush(struct mpii_buffer *b);
int mpii_buffer_iflush(struct mpii_buffer *b, MPI_Request *request);
/* Completes the sends and forgets it; there may be none. */
void mpii_buffer_free(struct mpii_buffer **place);
/* What the standard wants a child to take from its parent. */
void mpii_comm_inherit(struct mpii_comm *c, const struct mpii_comm *parent);
/* The end of a constructor: c's handle, or "no memory" when it is NULL. */
int mpii_comm_deliver(struct mpii_comm *c, struct mpii_comm *parent,
		      MPI_Comm *newcomm, const char *func);

/* comm_split.c: @color may be MPI_UNDEFINED. Error handler run. */
int mpii_comm_split(struct mpii_comm *c, int color, int key, MPI_Comm *newcomm,
		    const char *func);

/* intercomm.c */

/* Takes both groups over. Makes an intracommunicator of the local group too,
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
