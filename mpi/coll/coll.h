/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the collectives share.
 *
 * A collective call has one tag, numbered by the communicator; its messages go
 * in the collective context, so they never meet those of the program. Each
 * algorithm is one file: mpii_<collective>_<algorithm>. mpii_<collective>
 * chooses one. None of them checks arguments; the PMPI_ functions do.
 */
#ifndef COLL_H
#define COLL_H

#include <stdlib.h>

#include "mpii.h"

/* One call of a collective: where its messages go. */
struct coll {
	struct mpii_comm *c;
	uint32_t context;
	int tag;
};

#define COLL_TAGS 0x40000000u

static inline struct coll coll_begin(struct mpii_comm *c)
{
	unsigned n = atomic_fetch_add_explicit(&c->coll_seq, 1,
					       memory_order_relaxed);

	return (struct coll){ .c = c, .context = c->context + MPII_CTX_COLL,
			      .tag = n % COLL_TAGS };
}

static inline int coll_send(const struct coll *k, const void *buf,
			    MPI_Count count, struct mpii_type *t, int dest)
{
	return mpii_send(buf, count, t, dest, k->tag, k->c, k->context);
}

static inline int coll_recv(const struct coll *k, void *buf, MPI_Count count,
			    struct mpii_type *t, int source)
{
	return mpii_recv(buf, count, t, source, k->tag, k->c, k->context,
			 MPI_STATUS_IGNORE);
}

static inline int coll_isend(const struct coll *k, const void *buf,
			     MPI_Count count, struct mpii_type *t, int dest,
			     struct mpii_req **req)
{
	return mpii_isend(buf, count, t, dest, k->tag, k->c, k->context,
			  MPII_STANDARD, req);
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
	return mpii_sendrecv(sbuf, scount, st, dest, rbuf, rcount, rt, source,
			     k->tag, k->c, k->context);
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
 * blocks) further. Displacements are in units of `unit` bytes.
 */
struct coll_side {
	char *buf;
	MPI_Count count;
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

/* --- checks of arguments (check.c): run the error handler, return its code */

int coll_check_comm(const char *func, MPI_Comm h, struct mpii_comm **c);
/* No intercommunicators: scan and exscan. */
int coll_check_intra(const char *func, struct mpii_comm *c);
int coll_check_root(const char *func, struct mpii_comm *c, int root);
int coll_check_type(const char *func, struct mpii_comm *c, const char *arg,
		    MPI_Datatype h, struct mpii_type **t);
int coll_check_buf(const char *func, struct mpii_comm *c, const char *arg,
		   const void *buf, MPI_Count count,
		   const struct mpii_type *t);
int coll_check_op(const char *func, struct mpii_comm *c, MPI_Op h,
		  const struct mpii_type *t, struct mpii_op **op);
/* sendbuf may be MPI_IN_PLACE but must not be recvbuf. */
int coll_check_alias(const char *func, struct mpii_comm *c,
		     const void *sendbuf, const void *recvbuf, MPI_Count count);
/* MPI_IN_PLACE where an intercommunicator has none. */
int coll_check_place(const char *func, struct mpii_comm *c, const void *buf);

/* From a blocking call: the code of an algorithm, raised if it failed. */
static inline int coll_end(const char *func, struct mpii_comm *c, int err)
{
	return mpii_likely(!err) ? err : mpii_raise(c, err, func);
}

/* --- arrays of the int forms (coll.c) --- */

struct coll_arrays {
	MPI_Count *counts;
	MPI_Aint *displs;
	struct mpii_type **types;
	struct coll_memory mem;
};
/* Room for n of each. MPI code with words recorded. */
int coll_arrays_init(struct coll_arrays *a, int n);
void coll_arrays_widen(struct coll_arrays *a, int n, const int *counts,
		       const int *displs);
static inline void coll_arrays_free(struct coll_arrays *a)
{
	coll_memory_put(&a->mem);
}

#endif
