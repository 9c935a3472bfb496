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
	MPII_WIN = 0x6d77696e,
	MPII_FILE = 0x6d66696c,
	MPII_SESSION = 0x6d736573,
	MPII_DEAD = 0x64656164, /* freed */
};

/* Handles below are predefined; an object never lies there. */
#define MPII_PREDEFINED_END 4096

#define mpii_likely(x) __builtin_expect(!!(x), 1)
#define mpii_unlikely(x) __builtin_expect(!!(x), 0)

/* First in every object. Freed when the count reaches 0. */
struct mpii_obj {
	uint32_t magic;
	atomic_int refs;
	atomic_int number; /* the handle as an integer, 0: has none yet */
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

/*
 * Handles as integers (handle_int.c), for Fortran and MPI_X_toint: predefined
 * ones are their ABI value, others get a number when first asked for one.
 */
int mpii_handle_to_int(void *handle);	/* 0: out of memory */
void *mpii_handle_from_int(int number); /* NULL: names nothing */
void mpii_handle_forget(struct mpii_obj *o);

/* Nobody may name this object from now on. */
static inline void mpii_obj_end(struct mpii_obj *o)
{
	o->magic = MPII_DEAD;
	if (mpii_unlikely(
		    atomic_load_explicit(&o->number, memory_order_relaxed)))
		mpii_handle_forget(o);
}

/* --- process (init.c) --- */

struct mpii_process {
	atomic_int state; /* of the world model: 0 before MPI_Init, 1 running,
			   * 2 finalized */
	atomic_int users; /* the world model and sessions: runtime.c */
	atomic_bool sessions; /* there was one */
	atomic_bool multiple; /* threads may be in MPI at the same time */
	bool forked; /* this is a child: nothing shared is ours to write to */
	int rank, size; /* in MPI_COMM_WORLD */
	int provided;	/* thread level */
	struct o2g_ep *ep;
	int appnum, universe_size;
	pthread_t main_thread;
	char host[MPI_MAX_PROCESSOR_NAME];
};
extern struct mpii_process mpii;

/* May MPI be used, in whichever model? */
static inline bool mpii_running(void)
{
	return atomic_load_explicit(&mpii.users, memory_order_relaxed) > 0;
}
/* Are MPI_COMM_WORLD and MPI_COMM_SELF there? */
static inline bool mpii_world_running(void)
{
	return atomic_load_explicit(&mpii.state, memory_order_relaxed) == 1;
}

/* Ends the job: tells the launcher, then exits. Does not return. */
_Noreturn void mpii_abort(int code, const char *text);
/* The same for some ranks of the world, in ascending order, and us among them;
 * for all where the launcher knows no other way. */
_Noreturn void mpii_abort_some(int code, const char *text, const int *ranks,
			       int n);

/* --- groups (group.c) --- */

struct mpii_session;

struct mpii_group {
	struct mpii_obj obj;
	int size;
	int rank;		      /* of this process, or MPI_UNDEFINED */
	int *world;		      /* world rank of each member */
	struct mpii_session *session; /* it comes from, held; NULL: the world */
};
extern struct mpii_group mpii_group_empty;

struct mpii_group *mpii_group_get(MPI_Group h); /* NULL: not a group */
MPI_Group mpii_group_handle(struct mpii_group *g);
/* Takes the array (malloc) over. NULL: out of memory, array freed. */
struct mpii_group *mpii_group_create(int size, int *world);
void mpii_group_hold(struct mpii_group *g);
void mpii_group_put(struct mpii_group *g);
/* A new group belongs to the session that @from does. */
void mpii_group_belong(struct mpii_group *g, const struct mpii_group *from);
/* MPI_IDENT, MPI_SIMILAR, MPI_UNEQUAL; MPI_UNDEFINED: out of memory. */
int mpii_group_compare(const struct mpii_group *a, const struct mpii_group *b);

/* --- communicators (comm.c, context.c) --- */

struct mpii_errh;
struct mpii_attr;
struct mpii_topo;

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

struct mpii_buffer;

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
	bool identity; /* a rank is its world rank */
	bool owns_context;
	struct mpii_group *group;
	struct mpii_group *remote; /* == group for an intracommunicator */
	const int *world;	   /* remote->world: whom a rank sends to */
	struct mpii_comm *local;   /* intercomm: intracomm of the local group */
	struct mpii_errh *errh;
	struct mpii_attr *attrs;
	atomic_uint coll_seq;	   /* numbers collective calls: their tag */
	atomic_uint coll_init_seq; /* numbers persistent collectives */
	atomic_uint create_seq;	   /* numbers creations by all: their tag */
	unsigned deaths_told;	   /* to receives from any source: gone.c */
	_Atomic(int *) inverse; /* rank in remote by world rank, once needed */
	struct mpii_buffer *buffer; /* of MPI_Comm_attach_buffer */
	char name[MPI_MAX_OBJECT_NAME];
	struct mpii_topo *topology; /* or NULL: none */
	void *coll;		    /* owned by its chapter */
	void (*coll_free)(void *coll);
	struct mpii_info *info;
};
extern struct mpii_comm mpii_world, mpii_self;

/* NULL: not a communicator, also before MPI_Init and after MPI_Finalize. On
 * the path of every message, hence here. */
static inline struct mpii_comm *mpii_comm_get(MPI_Comm h)
{
	struct mpii_comm *c = (struct mpii_comm *)h;

	if ((uintptr_t)h < MPII_PREDEFINED_END) {
		if (h == MPI_COMM_WORLD)
			c = &mpii_world;
		else if (h == MPI_COMM_SELF)
			c = &mpii_self;
		else
			return NULL;
	}
	return c->obj.magic == MPII_COMM ? c : NULL;
}
/* The rank in c's remote group of world rank @world, or MPI_UNDEFINED. */
int mpii_comm_rank_of(struct mpii_comm *c, int world);
/* A new intracommunicator of @group (taken over) with a context that every
 * member has agreed on. NULL: out of memory. */
struct mpii_comm *mpii_comm_create(struct mpii_group *group, uint32_t context);
/* The same for one that the program never sees, or not yet: tools hear nothing. */
struct mpii_comm *mpii_comm_build(struct mpii_group *group, uint32_t context);
/* Requests keep their communicator; the predefined ones need no counting. */
static inline void mpii_comm_hold(struct mpii_comm *c)
{
	if (!c->predefined)
		mpii_obj_hold(&c->obj);
}
void mpii_comm_put(struct mpii_comm *c);
/* Collective over @c: a context free at every member. MPI error class. */
int mpii_context_agree(struct mpii_comm *c, uint32_t *context);
void mpii_context_free(uint32_t context);

/* --- topologies (topo/) and nodes (nodes.c) --- */

/* Both do nothing with NULL. */
void mpii_topo_hold(struct mpii_topo *t);
void mpii_topo_put(struct mpii_topo *t);
/* The number of the node of each world rank; NULL: the launcher has not said. */
const int *mpii_nodes(void);

/* --- datatypes (datatype*.c) --- */

/*
 * A datatype is its flattened layout. One instance is a nest of `nloops` loops
 * (outermost first) around a list of runs; a run is `n` pieces of `len` bytes,
 * `stride` apart. So a vector of a million doubles is one run, and a face of a
 * cube one run in one loop. A contiguous type is one piece at displacement 0 as
 * long as its extent. Runs are in the order of the type map: that is the order
 * of the packed form, in which `at` is the place of the run's first byte.
 */
struct mpii_block {
	MPI_Aint disp;
	MPI_Count len; /* bytes of a piece */
	MPI_Count n;   /* pieces */
	MPI_Aint stride;
	MPI_Count at;
};

#define MPII_LOOPS 3
struct mpii_loop {
	MPI_Count n;
	MPI_Aint stride;
	MPI_Count bytes; /* packed bytes of one turn */
};

struct mpii_made; /* how a type was made: datatype.h */

struct mpii_type {
	struct mpii_obj obj;
	MPI_Datatype handle;
	MPI_Count size; /* bytes of data in one instance */
	MPI_Aint lb, extent, true_lb, true_extent;
	bool contiguous; /* count instances are one piece at the buffer */
	bool committed, predefined;
	bool marked;   /* lb and ub were set, by resized or what acts like it */
	uint8_t kind;  /* predefined: the C type, enum mpii_kind */
	uint8_t class; /* predefined: which operations, enum mpii_class */
	uint8_t nloops;
	int align;
	size_t nblocks;
	struct mpii_block *blocks; /* &one when there is only one */
	struct mpii_block one;
	struct mpii_loop loops[MPII_LOOPS];
	MPI_Count nsegs;    /* pieces in one instance */
	MPI_Datatype basic; /* the one predefined type it is made of, or NULL */
	MPI_Count nbasic;   /* basic elements in one instance */
	char *name;	    /* heap; of a predefined type only if renamed */
	bool renamed;	    /* by MPI_Type_set_name */
	struct mpii_made *made;
	struct mpii_attr *attrs;
};

#define MPII_TYPE_FIRST 512
#define MPII_TYPE_COUNT 256
extern struct mpii_type mpii_types[MPII_TYPE_COUNT];

/* NULL: not a datatype. On the path of every message, hence here. */
static inline struct mpii_type *mpii_type_get(MPI_Datatype h)
{
	uintptr_t v = (uintptr_t)h;
	struct mpii_type *t = (struct mpii_type *)h;

	if (v - MPII_TYPE_FIRST < MPII_TYPE_COUNT)
		t = &mpii_types[v - MPII_TYPE_FIRST];
	else if (v < 4096 || v % sizeof(void *))
		return NULL;
	return t->obj.magic == MPII_TYPE ? t : NULL;
}
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
	uint8_t lang;		   /* user-defined: enum mpii_language */
	uint8_t index;		   /* predefined: enum mpii_op_index */
	MPI_User_function *fn;	   /* user-defined, int count */
	MPI_User_function_c *fn_c; /* user-defined, large count */
};

#define MPII_OP_FIRST 32
#define MPII_OP_COUNT 32
extern struct mpii_op mpii_ops[MPII_OP_COUNT];

/* NULL: not an operation */
static inline struct mpii_op *mpii_op_get(MPI_Op h)
{
	uintptr_t v = (uintptr_t)h;
	struct mpii_op *op = (struct mpii_op *)h;

	if (v - MPII_OP_FIRST < MPII_OP_COUNT)
		op = &mpii_ops[v - MPII_OP_FIRST];
	else if (v < 4096 || v % sizeof(void *))
		return NULL;
	return op->obj.magic == MPII_OP ? op : NULL;
}
void mpii_op_hold(struct mpii_op *op);
void mpii_op_put(struct mpii_op *op);
/* MPI_SUCCESS, or MPI_ERR_OP when it is not defined on the type. */
int mpii_op_check(const struct mpii_op *op, const struct mpii_type *t);
/* inout[i] = in[i] op inout[i] */
void mpii_op_apply(const struct mpii_op *op, const void *in, void *inout,
		   MPI_Count count, const struct mpii_type *t);

/* --- requests (request.c) and point-to-point (pt2pt.c) --- */

enum mpii_req_kind {
	MPII_REQ_SEND,
	MPII_REQ_RECV,
	MPII_REQ_COLL,
	MPII_REQ_GREQ,
	MPII_REQ_PSEND,
	MPII_REQ_PRECV,
	MPII_REQ_NOOP, /* PROC_NULL: complete at once */
};

/*
 * A request completes in one of two ways. Messages: o2g is set and o2g_is_done
 * tells. Others (o2g NULL, poll set): poll returns 1 once done, with status
 * filled and no further calls. With neither, it is complete already. A poll
 * that may finish without a message of this process arriving must be woken by
 * mpii_wake().
 */

struct mpii_req {
	/* a plain message needs no more than these */
	struct mpii_obj obj;
	uint8_t kind;
	bool persistent, active;
	struct o2g_req *o2g; /* NULL once complete */
	struct mpii_comm *comm;
	int peer, tag;
	MPI_Count count;
	struct mpii_type *type;
	struct o2g_mpi_hook *hooks; /* of the bindings: lang.h */
	/* a message that is packed, or received packed */
	void *pack;
	void *buf;
	struct o2g_view view; /* of buf, where it lies in many pieces */
	/* persistent: what to start, for messages; for others, how */
	int mode;
	int (*start)(struct mpii_req *r); /* MPI code; sets o2g or poll */
	/* other kinds of completion: 1 done, 0 not yet; fills status */
	int (*poll)(struct mpii_req *r);
	void (*release)(struct mpii_req *r);
	void *state;
	MPI_Status status; /* valid once complete, MPI_ERROR too */
};
static inline struct mpii_req *mpii_req_get(MPI_Request h)
{
	struct mpii_req *r = (struct mpii_req *)h;

	if ((uintptr_t)h < MPII_PREDEFINED_END || !mpii_running())
		return NULL;
	return r->obj.magic == MPII_REQ ? r : NULL;
}
struct mpii_req *mpii_req_create(enum mpii_req_kind kind);
void mpii_req_put(struct mpii_req *r);
/* Complete? Makes no progress itself. */
bool mpii_req_done(struct mpii_req *r);
/* Lets waiting threads look at their conditions again. */
void mpii_wake(void);

/*
 * A status: bytes received in MPI_internal[0] and [1], the cancelled mark in
 * [2]. MPI_ERROR is set by calls that complete several requests only.
 */
static inline void mpii_status_set_bytes(MPI_Status *s, MPI_Count bytes)
{
	__builtin_memcpy(&s->MPI_internal[0], &bytes, sizeof(bytes));
}
static inline MPI_Count mpii_status_bytes(const MPI_Status *s)
{
	MPI_Count bytes;

	__builtin_memcpy(&bytes, &s->MPI_internal[0], sizeof(bytes));
	return bytes;
}
static inline void mpii_status_set(MPI_Status *s, int source, int tag,
				   MPI_Count bytes)
{
	s->MPI_SOURCE = source;
	s->MPI_TAG = tag;
	mpii_status_set_bytes(s, bytes);
	s->MPI_internal[2] = 0;
}
/* What the standard calls empty: of null and inactive requests, and sends. */
static inline void mpii_status_empty(MPI_Status *s)
{
	mpii_status_set(s, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

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
/* What came from a rank was to be as long as its buffer (transfer.c). */
int mpii_length_error(int peer, MPI_Count got, MPI_Count want);
static inline int mpii_check_length(int peer, MPI_Count got, MPI_Count want)
{
	return mpii_likely(got == want) ? MPI_SUCCESS :
					  mpii_length_error(peer, got, want);
}
/* The two below check that. */
int mpii_recv_exact(void *buf, MPI_Count count, struct mpii_type *t, int source,
		    int tag, struct mpii_comm *c, uint32_t context);
int mpii_sendrecv(const void *sbuf, MPI_Count scount, struct mpii_type *st,
		  int dest, void *rbuf, MPI_Count rcount, struct mpii_type *rt,
		  int source, int tag, struct mpii_comm *c, uint32_t context);
/* Waits for all and frees them; the first error. */
int mpii_wait_all(struct mpii_req **reqs, int n);
/* The same; a received message that is shorter than its buffer is an error. */
int mpii_wait_exact(struct mpii_req **reqs, int n);

/* --- errors (errors.c) --- */

/* What kind of object a handler was made for. */
enum mpii_errh_of {
	MPII_ERRH_COMM,
	MPII_ERRH_WIN,
	MPII_ERRH_FILE,
	MPII_ERRH_SESSION
};

struct mpii_errh {
	struct mpii_obj obj;
	MPI_Errhandler handle;
	enum {
		MPII_ERRH_FATAL,
		MPII_ERRH_ABORT,
		MPII_ERRH_RETURN,
		MPII_ERRH_USER
	} kind;
	uint8_t lang; /* of the function, enum mpii_language */
	uint8_t of;   /* enum mpii_errh_of */
	void *fn;     /* takes a pointer to the handle, and to the code */
};
struct mpii_errh *mpii_errh_get(MPI_Errhandler h);
void mpii_errh_hold(struct mpii_errh *e);
void mpii_errh_put(struct mpii_errh *e);

/*
 * Report an error of class @code in MPI function @func on @c (NULL: none, use
 * that of MPI_COMM_SELF) with words that name argument and value, and run the
 * error handler. Returns the code to return from the MPI call.
 */
int mpii_error(struct mpii_comm *c, int code, const char *func, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));
/* The one place that turns a negative errno of libo2g into an MPI class. */
int mpii_class_of(int error);
/* Handles a non-success @code that came from below with its text already
 * recorded (mpii_fail) for this thread. */
int mpii_raise(struct mpii_comm *c, int code, const char *func);
/* Record words for the error this thread is about to return. Returns @code. */
int mpii_fail(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The common complaints about arguments; each runs the error handler and
 * returns the code. @arg is the name in the standard.
 */
int mpii_bad_comm(MPI_Comm comm, const char *func);
int mpii_bad_type(struct mpii_comm *c, MPI_Datatype type, const char *func,
		  const char *arg);
int mpii_bad_count(struct mpii_comm *c, MPI_Count count, const char *func,
		   const char *arg);
int mpii_bad_rank(struct mpii_comm *c, int rank, const char *func,
		  const char *arg);
int mpii_bad_null(struct mpii_comm *c, const char *func, const char *arg);
int mpii_no_mem(struct mpii_comm *c, const char *func);
/* "MPI_COMM_WORLD", the name given by the program, or "a communicator". */
const char *mpii_comm_words(const struct mpii_comm *c);

/* --- info (info.c) --- */

struct mpii_info;
struct mpii_info *mpii_info_get(MPI_Info h); /* NULL: not an info */
/* Also of NULL, which is empty. NULL: out of memory. */
struct mpii_info *mpii_info_copy(const struct mpii_info *from);
/* To an info that no other thread knows. False: out of memory. */
bool mpii_info_add(struct mpii_info *i, const char *key, const char *value);
/* The value of @key, or NULL. */
const char *mpii_info_value(const struct mpii_info *i, const char *key);
void mpii_info_destroy(struct mpii_info *i);

/* --- attributes (attr.c) --- */

enum mpii_attr_kind { MPII_ATTR_COMM, MPII_ATTR_TYPE, MPII_ATTR_WIN };

/* Run the copy callbacks of the attributes in @from, which belong to the object
 * with handle @handle, and fill the empty list @to. MPI code. */
int mpii_attr_copy_all(enum mpii_attr_kind kind, void *handle,
		       struct mpii_attr *from, struct mpii_attr **to);
/* Run the delete callbacks, latest attribute first, and empty the list. Stops
 * at the first that refuses. */
int mpii_attr_delete_all(enum mpii_attr_kind kind, void *handle,
			 struct mpii_attr **list);

/* --- collectives (coll/) as other chapters call them; no checks --- */
int mpii_barrier(struct mpii_comm *c);
int mpii_allgather(const void *in, MPI_Count incount, struct mpii_type *it,
		   void *out, MPI_Count outcount, struct mpii_type *ot,
		   struct mpii_comm *c);

#endif
