/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the collectives share.
 *
 * A collective call has one tag, numbered by the communicator; its messages go
 * in the collective context, so they never meet those of the program. Each
 * algorithm is one file: mpii_<collective>_<algorithm>. coll_<collective>
 * chooses one. None of them checks arguments; the PMPI_ functions do.
 *
 * An algorithm is written once, as blocking code on the functions below, and
 * serves three forms of the call. A nonblocking or persistent collective runs it
 * in a fiber (task.c): where it would wait, it stops, and whoever makes progress
 * continues it. So an algorithm waits by these functions only, keeps nothing of
 * a thread across a wait, and starts other phases with its own `struct coll` or
 * one made from it by coll_local(), never with coll_begin().
 *
 * To add an algorithm: write mpii_<collective>_<algorithm>, with the parameters
 * that COLL_TAKES_<collective> names (algorithms.h), in a file of that name in the
 * folder of the collective, and a row in table.def. Nothing else is touched:
 * tests/system/coll_rows.sh does just that. The top of the file says what it does
 * and what it costs.
 *
 * To add a collective, in all forms:
 *
 *	static int run(const struct coll *k, const struct coll_args *a);
 *	static int call(const struct coll_how *how, ..., MPI_Comm comm)
 *	{
 *		... check with how->func, fill a struct coll_args ...
 *		return coll_call(how, c, run, &a);
 *	}
 *	COLL_FORMS(Xyz, Ixyz, Xyz_init, COLL_PARAMS(..., MPI_Comm comm),
 *		   call, ..., comm);
 *
 * coll_call runs it at once, or copies the arguments, holds their types and
 * operation, and makes the request. The buffers stay the program's.
 */
#ifndef COLL_H
#define COLL_H

#include <stdlib.h>

#include "coll/op/op.h"
#include "comm/comm.h"
#include "env/errors.h"
#include "pt2pt/pt2pt.h"
#include "pt2pt/transfer.h"

struct coll_task;   /* task.c */
struct coll_rooted; /* rooted.h */

/* One call of a collective: where its messages go. */
struct coll {
	struct mpii_comm *c;
	uint32_t context;
	int tag;
	struct coll_task *task; /* NULL: a blocking call */
	int *wrong; /* where coll_mismatch leaves its error; NULL: nowhere */
};

/* Tags: numbers of calls, and apart from them those of phases in the local group
 * of an intercommunicator and those of persistent collectives. */
#define COLL_TAGS 0x20000000u
#define COLL_TAG_LOCAL 0x20000000
#define COLL_TAG_PERSISTENT 0x40000000

static inline struct coll coll_begin(struct mpii_comm *c)
{
	unsigned n = atomic_fetch_add_explicit(&c->coll_seq, 1,
					       memory_order_relaxed);

	return (struct coll){ .c = c,
			      .context = c->context + MPII_CTX_COLL,
			      .tag = n % COLL_TAGS };
}

/* A phase of k inside the local group of its intercommunicator. */
static inline struct coll coll_local(const struct coll *k)
{
	struct mpii_comm *l = k->c->local;

	return (struct coll){ .c = l,
			      .context = l->context + MPII_CTX_COLL,
			      .tag = k->tag | COLL_TAG_LOCAL,
			      .task = k->task,
			      .wrong = k->wrong };
}

/*
 * What is received in a collective has the length that was sent, or two ranks
 * disagree about counts. Then the call fails, but at its end: until there its
 * messages go on, so that no third rank waits for one that never comes; but they
 * are empty, so that those who get them notice as well. Returns what is an error
 * at once.
 */
int coll_mismatch(const struct coll *k, int err);

static inline bool coll_is_wrong(const struct coll *k)
{
	return mpii_unlikely(k->wrong && *k->wrong);
}
static inline MPI_Count coll_sent(const struct coll *k, MPI_Count count)
{
	return coll_is_wrong(k) ? 0 : count;
}

/* What a rank sends to itself, in bytes, and what it wants from there. */
static inline bool coll_own_differs(const struct coll *k, MPI_Count sent,
				    MPI_Count wanted)
{
	if (mpii_likely(sent == wanted))
		return false;
	coll_mismatch(k, mpii_length_error(k->c->rank, sent, wanted));
	return true;
}

static inline int coll_received(const struct coll *k, int err)
{
	return mpii_likely(!err) ? err : coll_mismatch(k, err);
}

/* The blocking calls of an algorithm that runs in a fiber (task.c). */
int coll_task_send(const struct coll *k, const void *buf, MPI_Count count,
		   struct mpii_type *t, int dest);
int coll_task_recv(const struct coll *k, void *buf, MPI_Count count,
		   struct mpii_type *t, int source);
int coll_task_sendrecv(const struct coll *k, const void *sbuf, MPI_Count scount,
		       struct mpii_type *st, int dest, void *rbuf,
		       MPI_Count rcount, struct mpii_type *rt, int source);
int coll_task_wait_all(const struct coll *k, struct mpii_req **reqs, int n);
/* Until libo2g is done with them; their results are still to be fetched. */
void coll_task_wait(const struct coll *k, struct mpii_req **reqs, int n);
/* Keep the words of an error that happened now: others may run before the end. */
void coll_task_note(struct coll_task *t, int err);

static inline int coll_send(const struct coll *k, const void *buf,
			    MPI_Count count, struct mpii_type *t, int dest)
{
	if (mpii_unlikely(k->task))
		return coll_task_send(k, buf, count, t, dest);
	return mpii_send(buf, coll_sent(k, count), t, dest, k->tag, k->c,
			 k->context);
}

static inline int coll_recv(const struct coll *k, void *buf, MPI_Count count,
			    struct mpii_type *t, int source)
{
	if (mpii_unlikely(k->task))
		return coll_task_recv(k, buf, count, t, source);
	return coll_received(k, mpii_recv_exact(buf, count, t, source, k->tag,
						k->c, k->context));
}

static inline int coll_isend(const struct coll *k, const void *buf,
			     MPI_Count count, struct mpii_type *t, int dest,
			     struct mpii_req **req)
{
	return mpii_isend(buf, coll_sent(k, count), t, dest, k->tag, k->c,
			  k->context, MPII_STANDARD, req);
}

static inline int coll_irecv(const struct coll *k, void *buf, MPI_Count count,
			     struct mpii_type *t, int source,
			     struct mpii_req **req)
{
	return mpii_irecv(buf, count, t, source, k->tag, k->c, k->context, req);
}

static inline int coll_sendrecv(const struct coll *k, const void *sbuf,
				MPI_Count scount, struct mpii_type *st,
				int dest, void *rbuf, MPI_Count rcount,
				struct mpii_type *rt, int source)
{
	if (mpii_unlikely(k->task))
		return coll_task_sendrecv(k, sbuf, scount, st, dest, rbuf,
					  rcount, rt, source);
	return coll_received(k, mpii_sendrecv(sbuf, coll_sent(k, scount), st,
					      dest, rbuf, rcount, rt, source,
					      k->tag, k->c, k->context));
}

/* Instance i of a buffer. */
static inline void *coll_at(const void *buf, MPI_Count i,
			    const struct mpii_type *t)
{
	return (char *)buf + i * t->extent;
}

static inline struct mpii_type *coll_bytes(void)
{
	return mpii_type_get(MPI_BYTE);
}

static inline int coll_min(int a, int b)
{
	return a < b ? a : b;
}

/* --- memory for one call (coll.c): small needs come from the stack --- */

struct coll_memory {
	void *heap;
	_Alignas(64) char small[4096];
};

/* NULL: none, with words recorded. */
void *coll_memory_get(struct coll_memory *m, MPI_Count bytes);
/* For count instances of t: the address to use as their buffer. */
void *coll_memory_typed(struct coll_memory *m, MPI_Count count,
			const struct mpii_type *t);
static inline void coll_memory_put(struct coll_memory *m)
{
	free(m->heap);
}

/*
 * Requests of one call, posted with the functions below and waited for
 * together. After a failure the rest is still waited for: the buffers are the
 * program's.
 */
struct coll_reqs {
	struct mpii_req **req;
	int n, err;
	const struct coll *k; /* the call that posts */
	struct coll_memory mem;
};
int coll_reqs_init(struct coll_reqs *r, int max);
void coll_post_send(const struct coll *k, struct coll_reqs *r, const void *buf,
		    MPI_Count count, struct mpii_type *t, int dest);
void coll_post_recv(const struct coll *k, struct coll_reqs *r, void *buf,
		    MPI_Count count, struct mpii_type *t, int source);
/* Waits; the set can be used again. */
int coll_reqs_wait(struct coll_reqs *r);
/* Waits and frees. */
int coll_reqs_finish(struct coll_reqs *r);

/*
 * One side of a collective with a block per rank: gather, alltoall and theirs.
 * Block i is counts[i] (or count) instances of types[i] (or t), displs[i] (or i
 * blocks) further. Displacements are in units of `unit` bytes. n is how many
 * blocks the arrays have; without arrays nobody asks for it.
 */
struct coll_side {
	char *buf;
	MPI_Count count;
	int n;
	const MPI_Count *counts;
	const MPI_Aint *displs;
	MPI_Aint unit;
	struct mpii_type *t;
	struct mpii_type *const *types;
};

static inline struct mpii_type *coll_type(const struct coll_side *s, int i)
{
	return s->types ? s->types[i] : s->t;
}
static inline MPI_Count coll_count(const struct coll_side *s, int i)
{
	return s->counts ? s->counts[i] : s->count;
}
static inline char *coll_block(const struct coll_side *s, int i)
{
	return s->buf + (s->displs ? s->displs[i] * s->unit :
				     i * s->count * s->t->extent);
}
static inline struct coll_side coll_side(const void *buf, MPI_Count count,
					 struct mpii_type *t)
{
	return (struct coll_side){ .buf = (char *)buf, .count = count, .t = t };
}

/* --- arrays with an entry per rank (coll.c) --- */

/* As they came in: of each pair of int and large-count form one is NULL. */
struct coll_lists {
	const int *counts, *displs;
	const MPI_Count *counts_c;
	const MPI_Aint *displs_c;
	const MPI_Datatype *types; /* of a w form */
};
#define COLL_LISTS(c, d)                 \
	(struct coll_lists)              \
	{                                \
		.counts = c, .displs = d \
	}
#define COLL_LISTS_C(c, d)                   \
	(struct coll_lists)                  \
	{                                    \
		.counts_c = c, .displs_c = d \
	}

struct coll_arrays {
	MPI_Count *counts;
	MPI_Aint *displs;
	struct mpii_type **types;
	struct coll_memory mem;
};
/* Room for n of each. MPI code with words recorded. */
int coll_arrays_init(struct coll_arrays *a, int n);
/* The n counts and displacements of l as those of s; a, which is not initialised
 * yet, keeps those that have to be widened. */
int coll_arrays_take(struct coll_arrays *a, const struct coll_lists *l, int n,
		     struct coll_side *s);
static inline void coll_arrays_free(struct coll_arrays *a)
{
	coll_memory_put(&a->mem);
}

/* --- a call in its three forms (task.c) --- */

/* The arguments of any collective, checked; each uses what it has. */
struct coll_args {
	struct coll_side s, r; /* what is sent and what is received */
	struct mpii_op *op;
	int root;
	const struct coll_rooted *rooted; /* of gather and scatter */
	void *own; /* for what is no collective of data: its function frees it */
	/* ... unless these do: once at the end of a request, and with it */
	void (*status)(const struct coll_args *a, MPI_Status *status);
	void (*free)(const struct coll_args *a);
};
typedef int coll_fn(const struct coll *k, const struct coll_args *a);

enum coll_when { COLL_NOW, COLL_LATER, COLL_INIT };

struct coll_how {
	const char *func;
	enum coll_when when;
	MPI_Info info;	      /* COLL_INIT */
	MPI_Request *request; /* not COLL_NOW */
};

/* COLL_LATER and COLL_INIT: makes the request, and starts the first of the two.
 * Error handler run. */
int coll_call_later(const struct coll_how *how, struct mpii_comm *c,
		    coll_fn *fn, const struct coll_args *a);

/* The number of the call that a request of it stands for. */
unsigned coll_task_number(const struct mpii_req *r);
/* Waits for shared memory can be explained (tools/state.h). */
void coll_shared_explain(void);

#define COLL_PARAMS(...) __VA_ARGS__
/* PMPI_ functions of one collective: blocking, nonblocking and persistent. */
#define COLL_FORMS(Now, Later, Init, params, fn, ...)                \
	int PMPI_##Now(params)                                       \
	{                                                            \
		return fn(&(struct coll_how){ .func = "MPI_" #Now }, \
			  __VA_ARGS__);                              \
	}                                                            \
	MPII_ALIAS(Now);                                             \
	int PMPI_##Later(params, MPI_Request *request)               \
	{                                                            \
		return fn(&(struct coll_how){ .func = "MPI_" #Later, \
					      .when = COLL_LATER,    \
					      .request = request },  \
			  __VA_ARGS__);                              \
	}                                                            \
	MPII_ALIAS(Later);                                           \
	int PMPI_##Init(params, MPI_Info info, MPI_Request *request) \
	{                                                            \
		return fn(&(struct coll_how){ .func = "MPI_" #Init,  \
					      .when = COLL_INIT,     \
					      .info = info,          \
					      .request = request },  \
			  __VA_ARGS__);                              \
	}                                                            \
	MPII_ALIAS(Init)

/* --- checks of arguments (check.c): run the error handler, return its code */

int coll_check_comm(const char *func, MPI_Comm h, struct mpii_comm **c);
/* No intercommunicators: scan and exscan. */
int coll_check_intra(const char *func, struct mpii_comm *c);
int coll_check_root(const char *func, struct mpii_comm *c, int root);
int coll_check_type(const char *func, struct mpii_comm *c, const char *arg,
		    MPI_Datatype h, struct mpii_type **t);
int coll_check_buf(const char *func, struct mpii_comm *c, const char *arg,
		   const void *buf, MPI_Count count, const struct mpii_type *t);
int coll_check_op(const char *func, struct mpii_comm *c, MPI_Op h,
		  const struct mpii_type *t, struct mpii_op **op);
/* sendbuf may be MPI_IN_PLACE but must not be recvbuf. */
int coll_check_alias(const char *func, struct mpii_comm *c, const void *sendbuf,
		     const void *recvbuf, MPI_Count count);
/* Counts and displacements of a v or w form. */
int coll_check_lists(const char *func, struct mpii_comm *c,
		     const struct coll_lists *l, const char *counts,
		     const char *displs);
/* Types and buffers of a w form, whose counts s has; w keeps the types. */
int coll_check_types(const char *func, struct mpii_comm *c,
		     const char *types_arg, const MPI_Datatype *types,
		     const char *buf_arg, struct coll_arrays *w,
		     struct coll_side *s);
/* Type, and buffer with its count or all its counts; fills s->t and s->unit. */
int coll_check_side(const char *func, struct mpii_comm *c, const char *type_arg,
		    MPI_Datatype type, const char *buf_arg, int blocks,
		    struct coll_side *s);
/* MPI_IN_PLACE where an intercommunicator has none. */
int coll_check_place(const char *func, struct mpii_comm *c, const void *buf);

static inline void coll_note(const struct coll *k, const char *func, int root)
{
	struct mpii_coll_note *n =
		&k->c->coll_notes[(unsigned)k->tag % MPII_COLL_NOTES];

	/* for another thread, which looks at it now and then */
	__atomic_store_n(&n->func, func, __ATOMIC_RELAXED);
	__atomic_store_n(&n->root, root, __ATOMIC_RELAXED);
	mpii_state_is_new();
}

/* From a blocking call: the code of an algorithm, raised if it failed. */
static inline int coll_end(const char *func, struct mpii_comm *c, int err)
{
	return mpii_likely(!err) ? err : mpii_raise(c, err, func);
}

/* The end of every collective's PMPI_ functions: do it as they were called. */
static inline int coll_call(const struct coll_how *how, struct mpii_comm *c,
			    coll_fn *fn, const struct coll_args *a)
{
	int wrong = MPI_SUCCESS, err;
	struct coll k;

	if (mpii_unlikely(how->when != COLL_NOW))
		return coll_call_later(how, c, fn, a);
	k = coll_begin(c);
	k.wrong = &wrong;
	coll_note(&k, how->func, a->root);
	err = fn(&k, a);
	return coll_end(how->func, c, err ? err : wrong);
}

#endif
