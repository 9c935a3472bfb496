/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Buffered sends: the message is copied into a buffer that the program has
 * attached, for a communicator, a session or all, and sent from there. A block of the
 * buffer is free again when its message is gone.
 *
 * Blocks are marked done from the engine's completion callback, which must not
 * take our lock; the list is tidied by the next call that looks for room.
 */
#include <stdlib.h>

#include "env/errors.h"
#include "process/session.h"
#include "pt2pt/buffered.h"
#include "pt2pt/transfer.h"

#define ALIGN 16

struct block {
	struct block *next;
	struct mpii_buffer *owner;
	size_t size; /* with this header; must fit into MPI_BSEND_OVERHEAD */
	atomic_bool done;
	char data[] __attribute__((aligned(ALIGN)));
};
_Static_assert(sizeof(struct block) + 2 * ALIGN <= MPI_BSEND_OVERHEAD,
	       "a block fits into what the program adds for it");

struct mpii_buffer {
	void *user; /* as attached */
	MPI_Count user_size;
	bool automatic; /* blocks come from malloc */
	char *base, *end;
	struct block *blocks; /* by address */
	atomic_int pending;
	pthread_mutex_t lock;
};

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpii_buffer *process_buffer;

/* --- blocks --- */

/* Take out those whose message is gone. With the lock. */
static void tidy(struct mpii_buffer *b)
{
	struct block **p = &b->blocks, *gone;

	while (*p) {
		if (!atomic_load(&(*p)->done)) {
			p = &(*p)->next;
			continue;
		}
		gone = *p;
		*p = gone->next;
		if (b->automatic)
			free(gone);
	}
}

/* The first gap that is large enough. With the lock. */
static struct block *find_room(struct mpii_buffer *b, size_t size)
{
	struct block **p = &b->blocks, *new;
	char *at = b->base, *limit;

	for (;; p = &(*p)->next) {
		limit = *p ? (char *)*p : b->end;
		if (at <= limit && (size_t)(limit - at) >= size)
			break;
		if (!*p)
			return NULL;
		at = (char *)*p + (*p)->size;
	}
	new = (struct block *)at;
	new->next = *p;
	*p = new;
	return new;
}

static struct block *take(struct mpii_buffer *b, size_t size)
{
	struct block *new;

	if (b->automatic) {
		new = malloc(size);
		if (new) {
			new->next = b->blocks;
			b->blocks = new;
		}
	} else {
		new = find_room(b, size);
	}
	if (new) {
		new->owner = b;
		new->size = size;
		atomic_init(&new->done, false);
	}
	return new;
}

static struct block *block_alloc(struct mpii_buffer *b, MPI_Count bytes)
{
	size_t size = sizeof(struct block) +
		      ((size_t)bytes + ALIGN - 1) / ALIGN * ALIGN;
	struct block *new;

	pthread_mutex_lock(&b->lock);
	tidy(b);
	new = take(b, size);
	pthread_mutex_unlock(&b->lock);
	if (new || b->automatic)
		return new;
	/* Some of it may be free as soon as anybody looks. */
	o2g_progress(mpii.ep);
	pthread_mutex_lock(&b->lock);
	tidy(b);
	new = take(b, size);
	pthread_mutex_unlock(&b->lock);
	return new;
}

/* From whichever thread completes the message, inside the engine. */
static void sent(void *arg)
{
	struct block *k = arg;
	struct mpii_buffer *b = k->owner;

	atomic_store(&k->done, true);
	atomic_fetch_sub(&b->pending, 1); /* b may be gone after this */
}

/* --- sending --- */

static struct mpii_buffer *buffer_for(struct mpii_comm *c)
{
	if (c->buffer)
		return c->buffer;
	if (c->group->session && c->group->session->buffer)
		return c->group->session->buffer;
	return process_buffer;
}

int mpii_bsend(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	       int tag, struct mpii_comm *c)
{
	struct mpii_buffer *b = buffer_for(c);
	MPI_Count bytes = count * t->size;
	struct o2g_req *req;
	struct o2g_seg seg;
	struct block *k;
	int err;

	if (!b)
		return mpii_fail(MPI_ERR_BUFFER, "no buffer is attached: call "
						 "MPI_Buffer_attach first");
	k = block_alloc(b, bytes);
	if (!k)
		return mpii_fail(MPI_ERR_BUFFER,
				 "no room for %lld bytes in "
				 "the attached buffer of %lld bytes",
				 (long long)bytes, (long long)b->user_size);
	mpii_pack(t, buf, count, 0, k->data, (size_t)bytes);
	seg = (struct o2g_seg){ k->data, (size_t)bytes };
	atomic_fetch_add(&b->pending, 1);
	err = o2g_isend(mpii.ep, mpii_comm_peer(c, dest),
			mpii_tag(c->send_context, tag), &seg, 1, 0, &req);
	if (err) {
		sent(k);
		return mpii_call_error(c, dest, err);
	}
	o2g_on_done(req, sent, k);
	o2g_detach(req);
	return MPI_SUCCESS;
}

/* --- attaching --- */

static int all_sent(void *arg)
{
	struct mpii_buffer *b = arg;

	return atomic_load(&b->pending) == 0;
}

void mpii_buffer_flush(struct mpii_buffer *b)
{
	if (b && !all_sent(b))
		o2g_wait_until(mpii.ep, all_sent, b, -1);
}

/* All is sent. */
static void destroy(struct mpii_buffer *b)
{
	tidy(b);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

int mpii_buffer_attach(struct mpii_buffer **place, void *buffer, MPI_Count size)
{
	struct mpii_buffer *b;
	bool taken;

	if (size < 0 && buffer != MPI_BUFFER_AUTOMATIC)
		return mpii_fail(MPI_ERR_ARG,
				 "size is %lld, but must not be negative",
				 (long long)size);
	if (!buffer && size > 0)
		return mpii_fail(MPI_ERR_BUFFER, "buffer is a null pointer");
	b = calloc(1, sizeof(*b));
	if (!b)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	b->user = buffer;
	b->user_size = size;
	b->automatic = buffer == MPI_BUFFER_AUTOMATIC;
	b->base = (char *)(((uintptr_t)buffer + ALIGN - 1) / ALIGN * ALIGN);
	b->end = b->automatic ? b->base : (char *)buffer + size;
	pthread_mutex_init(&b->lock, NULL);
	pthread_mutex_lock(&attach_lock);
	taken = *place;
	if (!taken)
		*place = b;
	pthread_mutex_unlock(&attach_lock);
	if (!taken)
		return MPI_SUCCESS;
	destroy(b);
	return mpii_fail(MPI_ERR_BUFFER, "a buffer is attached already: detach "
					 "it first");
}

int mpii_buffer_detach(struct mpii_buffer **place, void *buffer_addr,
		       MPI_Count *size)
{
	struct mpii_buffer *b;

	if (!buffer_addr || !size)
		return mpii_fail(MPI_ERR_ARG, "%s is a null pointer",
				 size ? "buffer_addr" : "size");
	pthread_mutex_lock(&attach_lock);
	b = *place;
	*place = NULL;
	pthread_mutex_unlock(&attach_lock);
	if (!b)
		return mpii_fail(MPI_ERR_BUFFER, "no buffer is attached");
	mpii_buffer_flush(b);
	*(void **)buffer_addr = b->user;
	*size = b->automatic ? 0 : b->user_size;
	destroy(b);
	return MPI_SUCCESS;
}

int mpii_buffer_detach_int(struct mpii_buffer **place, void *buffer_addr,
			   int *size)
{
	MPI_Count n = 0;
	int err = mpii_buffer_detach(place, buffer_addr, size ? &n : NULL);

	if (!err)
		*size = n > INT32_MAX ? MPI_UNDEFINED : (int)n;
	return err;
}

void mpii_buffer_free(struct mpii_buffer **place)
{
	struct mpii_buffer *b = *place;

	if (!b)
		return;
	mpii_buffer_flush(b);
	*place = NULL;
	destroy(b);
}

void mpii_buffered_drain(void)
{
	mpii_buffer_flush(mpii_world.buffer);
	mpii_buffer_flush(mpii_self.buffer);
	mpii_buffer_flush(process_buffer);
}

static int flush_poll(struct mpii_req *r)
{
	return all_sent(r->state);
}

int mpii_buffer_iflush(struct mpii_buffer *b, MPI_Request *request)
{
	struct mpii_req *r;

	if (!request)
		return mpii_fail(MPI_ERR_ARG, "request is a null pointer");
	r = mpii_req_noop();
	if (!r)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	if (b) {
		r->state = b;
		r->poll = flush_poll;
	}
	*request = (MPI_Request)r;
	return MPI_SUCCESS;
}

/* --- the calls for the process --- */

/* In whichever model: communicators of sessions use it as well. */
static int running(const char *func)
{
	return mpii_running() ? MPI_SUCCESS :
				mpii_bad_comm(MPI_COMM_WORLD, func);
}

static int attach(void *buffer, MPI_Count size, const char *func)
{
	int err = running(func);

	return err ? err :
		     mpii_raise(NULL,
				mpii_buffer_attach(&process_buffer, buffer,
						   size),
				func);
}

int PMPI_Buffer_attach(void *buffer, int size)
{
	return attach(buffer, size, "MPI_Buffer_attach");
}
MPII_ALIAS(Buffer_attach);

int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
	return attach(buffer, size, "MPI_Buffer_attach_c");
}
MPII_ALIAS(Buffer_attach_c);

int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
	static const char func[] = "MPI_Buffer_detach";
	int err = running(func);

	return err ? err :
		     mpii_raise(NULL,
				mpii_buffer_detach_int(&process_buffer,
						       buffer_addr, size),
				func);
}
MPII_ALIAS(Buffer_detach);

int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
	static const char func[] = "MPI_Buffer_detach_c";
	int err = running(func);

	return err ? err :
		     mpii_raise(NULL,
				mpii_buffer_detach(&process_buffer, buffer_addr,
						   size),
				func);
}
MPII_ALIAS(Buffer_detach_c);

int PMPI_Buffer_flush(void)
{
	int err = running("MPI_Buffer_flush");

	if (!err)
		mpii_buffer_flush(process_buffer);
	return err;
}
MPII_ALIAS(Buffer_flush);

int PMPI_Buffer_iflush(MPI_Request *request)
{
	static const char func[] = "MPI_Buffer_iflush";
	int err = running(func);

	return err ? err :
		     mpii_raise(NULL,
				mpii_buffer_iflush(process_buffer, request),
				func);
}
MPII_ALIAS(Buffer_iflush);

/* --- the calls for a communicator --- */

static int comm_attach(MPI_Comm comm, void *buffer, MPI_Count size,
		       const char *func)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, func);
	return mpii_raise(c, mpii_buffer_attach(&c->buffer, buffer, size),
			  func);
}

int PMPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size)
{
	return comm_attach(comm, buffer, size, "MPI_Comm_attach_buffer");
}
MPII_ALIAS(Comm_attach_buffer);

int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{
	return comm_attach(comm, buffer, size, "MPI_Comm_attach_buffer_c");
}
MPII_ALIAS(Comm_attach_buffer_c);

int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size)
{
	static const char func[] = "MPI_Comm_detach_buffer";
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, func);
	return mpii_raise(
		c, mpii_buffer_detach_int(&c->buffer, buffer_addr, size), func);
}
MPII_ALIAS(Comm_detach_buffer);

int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{
	static const char func[] = "MPI_Comm_detach_buffer_c";
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, func);
	return mpii_raise(c, mpii_buffer_detach(&c->buffer, buffer_addr, size),
			  func);
}
MPII_ALIAS(Comm_detach_buffer_c);

int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_flush_buffer");
	mpii_buffer_flush(c->buffer);
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_flush_buffer);

int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
	static const char func[] = "MPI_Comm_iflush_buffer";
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, func);
	return mpii_raise(c, mpii_buffer_iflush(c->buffer, request), func);
}
MPII_ALIAS(Comm_iflush_buffer);
