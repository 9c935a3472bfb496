/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the files about messages and requests share. */
#ifndef MPI_REQUEST_H
#define MPI_REQUEST_H

#include <stdlib.h>

#include "mpii.h"

#define MPII_ANY_TAG_BITS UINT64_C(0xffffffff)

static inline uint64_t mpii_tag(uint32_t context, int tag)
{
	return (uint64_t)context << 32 | (uint32_t)tag;
}

/*
 * What libo2g is told about the tag of a receive: MPI's wildcard is a mask over
 * the lower half.
 */
static inline void mpii_match(uint32_t context, int tag, uint64_t *want,
			      uint64_t *ignore)
{
	*ignore = tag == MPI_ANY_TAG ? MPII_ANY_TAG_BITS : 0;
	*want = mpii_tag(context, tag == MPI_ANY_TAG ? 0 : tag);
}

/* --- transfer.c: buffers of any datatype as segments --- */

#define MPII_SEGS 16

/* A buffer as libo2g wants it. */
struct mpii_xfer {
	unsigned n; /* of segs, or O2G_VIEW */
	struct o2g_seg segs[MPII_SEGS];
};
/*
 * For the message of r: sets r->buf and r->count, the count in bytes where the
 * type is not needed any more, and r->type where it is.
 */
void mpii_xfer_begin(struct mpii_xfer *x, struct mpii_req *r, const void *buf,
		     MPI_Count count, struct mpii_type *t);
/*
 * libo2g refused it with *err. True: it does not take views here, and now it can
 * be asked again: the data goes through a copy, r->pack, which for a send is made
 * now.
 */
bool mpii_xfer_copied(struct mpii_xfer *x, struct mpii_req *r, int *err);

/* Words for, and the code of, what libo2g says about a message of @c with
 * rank @peer (of the remote group, or MPI_ANY_SOURCE). */
int mpii_message_error(struct mpii_comm *c, int peer, int tag,
		       const struct o2g_status *st, MPI_Count room);
/* As above for a call that failed without a status. */
int mpii_call_error(struct mpii_comm *c, int peer, int error);
/* Record the words of a code once more, if it names a rank that was lost. */
void mpii_say_again(struct mpii_comm *c, int code);

/* Fill MPI's status from libo2g's; @peer as in the receive. */
static inline void mpii_status_from(MPI_Status *s, struct mpii_comm *c,
				    int peer, const struct o2g_status *st)
{
	int source = peer;

	if (peer == MPI_ANY_SOURCE)
		source = mpii_comm_rank_of(c, st->source);
	mpii_status_set(s, source, (int)(uint32_t)st->tag,
			(MPI_Count)st->length);
}

/* --- request.c --- */

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
/* Wait for it, then reap it. */
void mpii_req_wait(struct mpii_req *r);
/* The same for several messages; NULL and inactive ones are left out. */
void mpii_req_wait_many(struct mpii_req *const *reqs, int n);
/* The quick way when nobody wants statuses: false when it met a request that
 * failed or is no plain message; those before it are done with. */
bool mpii_req_wait_plain(MPI_Request *reqs, int n);
/* Let go of the request in *h that has completed; persistent ones stay. */
void mpii_req_retire(struct mpii_req *r, MPI_Request *h);
/* The program gives up a request that is still active. */
void mpii_req_detach(struct mpii_req *r);

/* --- pt2pt.c --- */

/* The context that a message to @c in its receive context @context carries. */
static inline uint32_t mpii_send_context(const struct mpii_comm *c,
					 uint32_t context)
{
	return context + (c->send_context - c->context);
}

/* Start a message for r, which knows its communicator and may have a type
 * already. MPI code; r stays the caller's. */
int mpii_start_send(struct mpii_req *r, const void *buf, MPI_Count count,
		    struct mpii_type *t, int dest, int tag, uint32_t context,
		    enum mpii_mode mode);
int mpii_start_recv(struct mpii_req *r, void *buf, MPI_Count count,
		    struct mpii_type *t, int source, int tag, uint32_t context);

/* --- buffered.c --- */

/* Copy into the attached buffer and send from there. */
int mpii_bsend(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	       int tag, struct mpii_comm *c);

/* --- grequest.c --- */

/* Ask the program for the status of its completed request. */
void mpii_greq_query(struct mpii_req *r);
int mpii_greq_cancel(struct mpii_req *r);
void mpii_greq_detach(struct mpii_req *r);

/* --- check.c: argument checks with words --- */

/* On success *c and *t are set. */
int mpii_check_send(const void *buf, MPI_Count count, MPI_Datatype datatype,
		    int dest, int tag, MPI_Comm comm, struct mpii_comm **c,
		    struct mpii_type **t, const char *func);
int mpii_check_recv(const void *buf, MPI_Count count, MPI_Datatype datatype,
		    int source, int tag, MPI_Comm comm, struct mpii_comm **c,
		    struct mpii_type **t, const char *func);
int mpii_check_buffer(struct mpii_comm *c, const void *buf, MPI_Count count,
		      MPI_Datatype datatype, struct mpii_type **t,
		      const char *func);
int mpii_check_source(struct mpii_comm *c, int source, int tag,
		      const char *func);

/*
 * The quick test of the arguments of a message: true when all is in order and
 * the data is one piece. Whatever it refuses is looked at again, slowly, by
 * those above; so it may be strict, but never wrong.
 */
static inline bool mpii_simple(const struct mpii_comm *c,
			       const struct mpii_type *t, const void *buf,
			       MPI_Count count)
{
	return mpii_likely(
		c && t && t->contiguous && t->committed && count >= 0 &&
		((uintptr_t)buf > (uintptr_t)MPI_IN_PLACE || count == 0));
}
static inline bool mpii_simple_dest(const struct mpii_comm *c, int dest,
				    int tag)
{
	return mpii_likely((unsigned)dest < (unsigned)c->remote_size &&
			   tag >= 0);
}
static inline bool mpii_simple_source(const struct mpii_comm *c, int source,
				      int tag)
{
	/* MPI_ANY_SOURCE is -1 */
	return mpii_likely((unsigned)(source + 1) <= (unsigned)c->remote_size &&
			   (tag >= 0 || tag == MPI_ANY_TAG));
}

/* --- send.c, persistent.c --- */

/* Both forms of a call that makes a request for a send: @make does. */
#define MPII_SEND_CALLS(name, make, mode)                                   \
	int PMPI_##name(const void *buf, int count, MPI_Datatype datatype,  \
			int dest, int tag, MPI_Comm comm,                   \
			MPI_Request *request)                               \
	{                                                                   \
		return make(buf, count, datatype, dest, tag, comm, request, \
			    mode, "MPI_" #name);                            \
	}                                                                   \
	MPII_ALIAS(name);                                                   \
	int PMPI_##name##_c(const void *buf, MPI_Count count,               \
			    MPI_Datatype datatype, int dest, int tag,       \
			    MPI_Comm comm, MPI_Request *request)            \
	{                                                                   \
		return make(buf, count, datatype, dest, tag, comm, request, \
			    mode, "MPI_" #name "_c");                       \
	}                                                                   \
	MPII_ALIAS(name##_c)

#endif
