/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Inside the MPI library: the objects behind the handles and what one chapter
 * offers the others. Every function here is prefixed mpii_; MPI_ names live
 * only in the file of their chapter.
 *
 * Handles are pointers. Predefined ones are the small integers of the ABI and
 * are turned into objects by the mpii_*_get functions; a handle that is neither
 * predefined nor points at an object with the right magic is refused.
 */
#ifndef MPII_H
#define MPII_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include "mpi.h"
#include "o2g.h"
#pragma GCC visibility pop

/*
 * Every function is defined as PMPI_X and followed by MPII_ALIAS(X), which adds
 * the weak name MPI_X that a profiling tool may replace. The library itself
 * calls neither: chapters call each other's mpii_ functions.
 */
#define MPII_ALIAS(name)                                          \
	extern __typeof__(PMPI_##name) MPI_##name __attribute__(( \
		weak, alias("PMPI_" #name), visibility("default")))

enum mpii_magic {
	MPII_COMM = 0x6d636f6d,
	MPII_GROUP = 0x6d677270,
	MPII_TYPE = 0x6d747970,
	MPII_OP = 0x6d6f7065,
	MPII_REQ = 0x6d726571,
	MPII_MSG = 0x6d6d7367,
	MPII_ERRH = 0x6d657272,
	MPII_INFO = 0x6d696e66,
	MPII_DEAD = 0x64656164, /* freed */
};

/* First in every object. Freed when the count reaches 0. */
struct mpii_obj {
	uint32_t magic;
	atomic_int refs;
};

static inline void mpii_obj_hold(struct mpii_obj *o)
{
	atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
}
/* True when that was the last reference and the caller must free. */
static inline bool mpii_obj_drop(struct mpii_obj *o)
{
	return atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) ==
	       1;
}

/* --- process (init.c) --- */

struct mpii_process {
	atomic_int state; /* 0 before init, 1 running, 2 finalized */
	int rank, size;	  /* in MPI_COMM_WORLD */
	int provided;	  /* thread level */
	struct o2g_ep *ep;
	int appnum, universe_size;
	pthread_t main_thread;
	char host[MPI_MAX_PROCESSOR_NAME];
};
extern struct mpii_process mpii;

static inline bool mpii_running(void)
{
	return atomic_load_explicit(&mpii.state, memory_order_relaxed) == 1;
}

/* Ends the job: tells the launcher, then exits. Does not return. */
_Noreturn void mpii_abort(int code, const char *text);

/* --- groups (group.c) --- */

struct mpii_group {
	struct mpii_obj obj;
	int size;
	int rank;   /* of this process, or MPI_UNDEFINED */
	int *world; /* world rank of each member */
};
struct mpii_group *mpii_group_get(MPI_Group h); /* NULL: not a group */
MPI_Group mpii_group_handle(struct mpii_group *g);
/* Takes the array over. NULL: out of memory. */
struct mpii_group *mpii_group_create(int size, int *world);
void mpii_group_put(struct mpii_group *g);

/* --- communicators (comm.c, context.c) --- */

struct mpii_errh;
struct mpii_attr;

struct mpii_comm {
	struct mpii_obj obj;
	MPI_Comm handle;
	uint32_t context; /* even; collectives use context + 1 */
	uint32_t send_context; /* intercomm: the other side's; else == context */
	int rank, size;	  /* in the local group */
	int remote_size;  /* intercomm, else == size */
	bool inter;
	struct mpii_group *group;
	struct mpii_group *remote; /* == group for an intracommunicator */
	const int *world;	   /* remote->world: whom a rank sends to */
	struct mpii_comm *local;   /* intercomm: intracomm of the local group */
	struct mpii_errh *errh;
	struct mpii_attr *attrs;
	atomic_uint coll_seq; /* numbers collective calls: their tag */
	char name[MPI_MAX_OBJECT_NAME];
	void *topology, *coll; /* owned by their chapters, freed by hooks */
	void *info;
};
extern struct mpii_comm mpii_world, mpii_self;

struct mpii_comm *mpii_comm_get(MPI_Comm h); /* NULL: not a communicator */
/* A new intracommunicator of @group (taken over) with a context that every
 * member has agreed on. NULL: out of memory. */
struct mpii_comm *mpii_comm_create(struct mpii_group *group, uint32_t context);
void mpii_comm_hold(struct mpii_comm *c);
void mpii_comm_put(struct mpii_comm *c);
/* Collective over @c: a context free at every member. MPI error class. */
int mpii_context_agree(struct mpii_comm *c, uint32_t *context);
void mpii_context_free(uint32_t context);

/* --- datatypes (datatype.c and friends) --- */

/*
 * A datatype is its flattened layout: `nblocks` blocks of one instance. A
 * contiguous type has one block at displacement 0 as long as its extent.
 */
struct mpii_block {
	MPI_Aint disp;
	MPI_Count len; /* bytes */
};

struct mpii_type {
	struct mpii_obj obj;
	MPI_Datatype handle;
	MPI_Count size;	  /* bytes of data in one instance */
	MPI_Aint lb, extent, true_lb, true_extent;
	bool contiguous;  /* count instances are one block */
	bool committed, predefined;
	size_t nblocks;
	struct mpii_block *blocks;
	MPI_Datatype basic; /* the one predefined type it is made of, or NULL */
	MPI_Count nbasic;   /* basic elements in one instance */
	char name[MPI_MAX_OBJECT_NAME];
	void *contents; /* how it was made, for envelope and contents */
	struct mpii_attr *attrs;
};
struct mpii_type *mpii_type_get(MPI_Datatype h); /* NULL: not a datatype */
void mpii_type_hold(struct mpii_type *t);
void mpii_type_put(struct mpii_type *t);
/* Copy bytes [off, off+n) of the packed form out of / into count instances. */
void mpii_pack(const struct mpii_type *t, const void *buf, MPI_Count count,
	       MPI_Count off, void *out, size_t n);
void mpii_unpack(const struct mpii_type *t, void *buf, MPI_Count count,
		 MPI_Count off, const void *in, size_t n);
/* Local copy between two typed buffers; as much as fits. */
void mpii_copy(const void *from, MPI_Count fcount, const struct mpii_type *ft,
	       void *to, MPI_Count tcount, const struct mpii_type *tt);
/* The segments of count instances: fills at most @max, returns how many there
 * are in all. */
size_t mpii_type_segs(const struct mpii_type *t, const void *buf,
		      MPI_Count count, struct o2g_seg *segs, size_t max);
/* Elements of the basic type in @bytes, for Get_elements; MPI_UNDEFINED. */
MPI_Count mpii_type_elements(const struct mpii_type *t, MPI_Count bytes);

/* --- reduction operations (op.c) --- */

struct mpii_op {
	struct mpii_obj obj;
	MPI_Op handle;
	bool commutes, predefined;
	MPI_User_function *fn;	   /* user-defined, int count */
	MPI_User_function_c *fn_c; /* user-defined, large count */
};
struct mpii_op *mpii_op_get(MPI_Op h); /* NULL: not an operation */
/* MPI_SUCCESS, or MPI_ERR_OP when it is not defined on the type. */
int mpii_op_check(const struct mpii_op *op, const struct mpii_type *t);
/* inout[i] = in[i] op inout[i] */
void mpii_op_apply(const struct mpii_op *op, const void *in, void *inout,
		   MPI_Count count, const struct mpii_type *t);

/* --- requests (request.c) and point-to-point (pt2pt.c) --- */

enum mpii_req_kind {
	MPII_REQ_SEND, MPII_REQ_RECV, MPII_REQ_BSEND, MPII_REQ_COLL,
	MPII_REQ_GREQ, MPII_REQ_NOOP, /* PROC_NULL: complete at once */
};

struct mpii_req {
	struct mpii_obj obj;
	uint8_t kind;
	bool persistent, active, cancelled;
	struct o2g_req *o2g;   /* NULL once complete */
	MPI_Status status;     /* valid once complete */
	struct mpii_comm *comm;
	/* a message that is packed, or received packed */
	void *pack;
	void *buf;
	MPI_Count count;
	struct mpii_type *type;
	/* persistent: what to start */
	int peer, tag, mode;
	/* other kinds of completion: 1 done, 0 not yet; fills status */
	int (*poll)(struct mpii_req *r);
	void (*release)(struct mpii_req *r);
	void *state;
};
struct mpii_req *mpii_req_get(MPI_Request h);
struct mpii_req *mpii_req_create(enum mpii_req_kind kind);
void mpii_req_put(struct mpii_req *r);
/* Complete? Makes no progress itself. */
bool mpii_req_done(struct mpii_req *r);

enum mpii_mode { MPII_STANDARD, MPII_SYNC, MPII_READY, MPII_BUFFERED };

/*
 * What collectives and other chapters are built from: no argument checks, no
 * error handler, MPI error codes returned. @context is comm->context or
 * comm->context + 1. Ranks are of the remote group. MPI_PROC_NULL is allowed.
 */
int mpii_isend(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	       int tag, struct mpii_comm *c, uint32_t context,
	       enum mpii_mode mode, struct mpii_req **req);
int mpii_irecv(void *buf, MPI_Count count, struct mpii_type *t, int source,
	       int tag, struct mpii_comm *c, uint32_t context,
	       struct mpii_req **req);
int mpii_send(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	      int tag, struct mpii_comm *c, uint32_t context);
int mpii_recv(void *buf, MPI_Count count, struct mpii_type *t, int source,
	      int tag, struct mpii_comm *c, uint32_t context,
	      MPI_Status *status);
int mpii_sendrecv(const void *sbuf, MPI_Count scount, struct mpii_type *st,
		  int dest, void *rbuf, MPI_Count rcount, struct mpii_type *rt,
		  int source, int tag, struct mpii_comm *c, uint32_t context);
/* Waits for all and frees them; the first error. */
int mpii_wait_all(struct mpii_req **reqs, int n);

/* --- errors (errors.c) --- */

struct mpii_errh {
	struct mpii_obj obj;
	MPI_Errhandler handle;
	enum { MPII_ERRH_FATAL, MPII_ERRH_ABORT, MPII_ERRH_RETURN,
	       MPII_ERRH_USER } kind;
	MPI_Comm_errhandler_function *comm_fn;
	void *fn; /* window, file, session handlers */
};
struct mpii_errh *mpii_errh_get(MPI_Errhandler h);
void mpii_errh_put(struct mpii_errh *e);

/*
 * Report an error of class @code in MPI function @func on @c (NULL: none, use
 * that of MPI_COMM_SELF) with words that name argument and value, and run the
 * error handler. Returns the code to return from the MPI call.
 */
int mpii_error(struct mpii_comm *c, int code, const char *func,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The one place that turns a negative errno of libo2g into an MPI class. */
int mpii_class_of(int error);
/* Handles a non-success @code that came from below with its text already
 * recorded (mpii_fail) for this thread. */
int mpii_raise(struct mpii_comm *c, int code, const char *func);
/* Record words for the error this thread is about to return. Returns @code. */
int mpii_fail(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* --- attributes (attr.c) --- */
int mpii_attr_copy_all(struct mpii_comm *from, struct mpii_comm *to);
int mpii_attr_delete_all(struct mpii_comm *c);

/* --- collectives (coll/) as other chapters call them; no checks --- */
int mpii_barrier(struct mpii_comm *c);
int mpii_bcast(void *buf, MPI_Count count, struct mpii_type *t, int root,
	       struct mpii_comm *c);
int mpii_allreduce(const void *in, void *out, MPI_Count count,
		   struct mpii_type *t, struct mpii_op *op,
		   struct mpii_comm *c);
int mpii_allgather(const void *in, MPI_Count incount, struct mpii_type *it,
		   void *out, MPI_Count outcount, struct mpii_type *ot,
		   struct mpii_comm *c);

#endif
