/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Communicators. */
#ifndef MPII_COMM_COMM_H
#define MPII_COMM_COMM_H

#include "comm/context.h"
#include "comm/group.h"

struct mpii_errh;
struct mpii_attr;
struct mpii_topo;
struct mpii_info;
struct mpii_buffer;
struct mpii_file;

/* The latest collectives of a communicator, for whoever asks why one hangs. */
#define MPII_COLL_NOTES 8
/* There is something to tell them (tools/state.h); by any thread. */
extern unsigned mpii_state_news;
static inline void mpii_state_is_new(void)
{
	unsigned n = __atomic_load_n(&mpii_state_news, __ATOMIC_RELAXED);

	__atomic_store_n(&mpii_state_news, n + 1, __ATOMIC_RELAXED);
}
struct mpii_coll_note {
	const char *func;
	int root;
};

struct mpii_comm {
	struct mpii_obj obj;
	MPI_Comm handle;
	uint32_t context; /* the first of its own, a multiple of 8 */
	/* intercomm: the other side's, which sends carry; else == context.
	 * Callers of mpii_send give the receiving one, it is turned there. */
	uint32_t send_context;
	int rank, size;	 /* in the local group */
	int remote_size; /* intercomm, else == size */
	bool inter, predefined;
	bool owns_context;
	bool parting; /* it ends by MPI_Comm_disconnect */
	struct mpii_group *group;
	struct mpii_group *remote; /* == group for an intracommunicator */
	const int *peers;	   /* remote->peers: whom a rank sends to */
	struct mpii_comm *local;   /* intercomm: intracomm of the local group */
	struct mpii_errh *errh;
	struct mpii_attr *attrs;
	atomic_uint coll_seq;	    /* numbers collective calls: their tag */
	atomic_uint coll_init_seq;  /* numbers persistent collectives */
	atomic_uint create_seq;	    /* numbers creations by all: their tag */
	unsigned deaths_told;	    /* to receives from any source: gone.c */
	atomic_int resting;	    /* references that stand for no traffic */
	struct mpii_buffer *buffer; /* of MPI_Comm_attach_buffer */
	char name[MPI_MAX_OBJECT_NAME];
	struct mpii_topo *topology;			   /* or NULL: none */
	struct mpii_coll_note coll_notes[MPII_COLL_NOTES]; /* by coll_seq */
	void *coll; /* owned by its chapter */
	void (*coll_free)(void *coll);
	struct mpii_info *info;
	/* whose traffic it carries, and who has the error handler; or NULL */
	struct mpii_file *file;
	struct mpii_win *win;
};
extern struct mpii_comm mpii_world, mpii_self;

/* NULL: not a communicator, also before MPI_Init and after MPI_Finalize. On
 * the path of every message, hence here. */
static inline struct mpii_comm *mpii_comm_get(MPI_Comm h)
{
	struct mpii_comm *c = (struct mpii_comm *)h;

	if ((uintptr_t)h >= MPII_PREDEFINED_END)
		return mpii_is_object(h, MPII_COMM) ? c : NULL;
	if (h == MPI_COMM_WORLD)
		c = &mpii_world;
	else if (h == MPI_COMM_SELF)
		c = &mpii_self;
	else
		return NULL;
	return c->obj.magic == MPII_COMM ? c : NULL;
}
/* The peer that a rank of the remote group is, on the path of every message. */
static inline int mpii_comm_peer(const struct mpii_comm *c, int rank)
{
	return c->peers ? c->peers[rank] : rank;
}
/* ... and the rank that a peer is, or MPI_UNDEFINED. */
static inline int mpii_comm_rank_of(const struct mpii_comm *c, int peer)
{
	return mpii_group_rank_of(c->remote, peer);
}
/* A new intracommunicator of @group with a context that every member has agreed
 * on; both are taken over. NULL: out of memory. */
struct mpii_comm *mpii_comm_create(struct mpii_group *group, uint32_t context);
/* The same for one that the program never sees, or not yet: tools hear nothing,
 * and if it fails the context stays the caller's. */
struct mpii_comm *mpii_comm_build(struct mpii_group *group, uint32_t context);
/* Requests keep their communicator; the predefined ones need no counting. */
static inline void mpii_comm_hold(struct mpii_comm *c)
{
	if (!c->predefined)
		mpii_obj_hold(&c->obj);
}
void mpii_comm_put(struct mpii_comm *c);
/* A reference that MPI_Comm_disconnect does not wait for, such as that of an
 * inactive persistent request; @n is -1 when it ends or becomes active. */
static inline void mpii_comm_rest(struct mpii_comm *c, int n)
{
	if (!c->predefined)
		atomic_fetch_add(&c->resting, n);
}

/* Fills a zeroed object; takes the groups over (one for both: intracomm). */
void mpii_comm_setup(struct mpii_comm *c, struct mpii_group *group,
		     struct mpii_group *remote, uint32_t context,
		     uint32_t send_context);

/* What the standard wants a child to take from its parent. */
void mpii_comm_inherit(struct mpii_comm *c, const struct mpii_comm *parent);
/* The end of a constructor: c's handle, or "no memory" when it is NULL. */
int mpii_comm_deliver(struct mpii_comm *c, struct mpii_comm *parent,
		      MPI_Comm *newcomm, const char *func);

/* MPI_COMM_WORLD and MPI_COMM_SELF. false: out of memory. */
bool mpii_comm_start(void);
void mpii_comm_stop(void);

#endif
