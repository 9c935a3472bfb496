/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Requests. */
#ifndef MPII_PT2PT_REQUEST_H
#define MPII_PT2PT_REQUEST_H

#include "comm/comm.h"
#include "process/process.h"

struct mpii_type;
struct o2g_mpi_hook;

enum mpii_req_kind {
	MPII_REQ_SEND,
	MPII_REQ_RECV,
	MPII_REQ_COLL,
	MPII_REQ_GREQ,
	MPII_REQ_IO,
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
	return mpii_is_object(h, MPII_REQ) ? r : NULL;
}
struct mpii_req *mpii_req_create(enum mpii_req_kind kind);
void mpii_req_put(struct mpii_req *r);
/* Complete? Makes no progress itself. */
bool mpii_req_done(struct mpii_req *r);
/* Lets waiting threads look at their conditions again. */
void mpii_wake(void);

/*
 * What MPI_Isend hands out for a message that is gone already: one object for
 * all of them, never changed and never freed.
 */
extern struct mpii_req mpii_sent;

/*
 * Objects to be used again, of this thread; linked through comm. All their other
 * pointers are NULL, and so they are in a plain message: it needs no clearing.
 */
struct mpii_req_cache {
	struct mpii_req *head;
	int n;
	bool registered;
};
extern __thread struct mpii_req_cache mpii_req_cache
	__attribute__((tls_model("initial-exec")));
#define MPII_REQ_CACHE_MAX 256
/* There is none; NULL: out of memory. */
struct mpii_req *mpii_req_more(void);
/* There are too many. */
void mpii_req_pass_on(void);

/* A contiguous message of @c: the rest is for the caller to fill in. */
static inline struct mpii_req *mpii_req_plain(enum mpii_req_kind kind,
					      struct mpii_comm *c)
{
	struct mpii_req *r = mpii_req_cache.head;

	if (mpii_unlikely(!r)) {
		r = mpii_req_more();
		if (!r)
			return NULL;
	}
	mpii_req_cache.head = (struct mpii_req *)r->comm;
	mpii_req_cache.n--;
	r->obj.magic = MPII_REQ;
	r->kind = kind;
	r->persistent = false;
	r->active = true;
	r->comm = c;
	mpii_comm_hold(c);
	return r;
}

/* mpii_req_put() for those who mostly have plain messages. */
static inline void mpii_req_drop(struct mpii_req *r)
{
	if (mpii_unlikely(r->kind > MPII_REQ_RECV || r->type || r->hooks ||
			  r->obj.number)) {
		mpii_req_put(r);
		return;
	}
	if (mpii_unlikely(!r->comm->predefined))
		mpii_comm_put(r->comm);
	r->obj.magic = MPII_DEAD;
	r->comm = (struct mpii_comm *)mpii_req_cache.head;
	mpii_req_cache.head = r;
	if (mpii_unlikely(++mpii_req_cache.n > MPII_REQ_CACHE_MAX))
		mpii_req_pass_on();
}

/* One to be started as often as wanted; it holds the communicator and the type.
 * NULL: no memory. */
struct mpii_req *mpii_req_persistent(enum mpii_req_kind kind, const void *buf,
				     MPI_Count count, struct mpii_type *t,
				     int peer, int tag, struct mpii_comm *c);
/* A request that has nothing left to do. */
struct mpii_req *mpii_req_noop(void);
/* For a request that is done: fetch its result into r->status. */
void mpii_req_reap(struct mpii_req *r);
/* What waits of this chapter are about (tools/state.h). */
void mpii_req_explain(void);
void mpii_sendrecv_explain(void);
/* Wait for it, then reap it. */
void mpii_req_wait(struct mpii_req *r);
/* The same for several messages; NULL and inactive ones are left out. */
void mpii_req_wait_many(struct mpii_req *const *reqs, int n);
/* For the sends among them; false: one has failed. */
bool mpii_req_wait_sends(struct mpii_req *const *reqs, int n);
/* The quick way when nobody wants statuses, sends first: false when it met a request that
 * failed or is no plain message; those before it are done with. */
bool mpii_req_wait_plain(MPI_Request *reqs, int n);
/* Let go of the request in *h that has completed; persistent ones stay. */
void mpii_req_retire(struct mpii_req *r, MPI_Request *h);
/* The program gives up a request that is still active, but no generalized one. */
void mpii_req_detach(struct mpii_req *r);

/* Wait until every send that the program gave up is complete. */
void mpii_detached_drain(void);

/* Waits for all and frees them; the first error. */
int mpii_wait_all(struct mpii_req **reqs, int n);
/* The same; a received message that is shorter than its buffer is an error. */
int mpii_wait_exact(struct mpii_req **reqs, int n);

#endif
