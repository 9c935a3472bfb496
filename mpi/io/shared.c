/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The shared file pointer: a number in the memory of rank 0, which everyone
 * reads and adds to without its help. Ranks of the same host have it mapped; all
 * others use libo2g's operations on registered memory. Both are single
 * instructions at rank 0's host, so they agree.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algorithms.h"
#include "comm/comm.h"
#include "env/errors.h"
#include "io/memory.h"
#include "io/shared.h"
#include "io/view.h"
#include "process/nodes.h"
#include "pt2pt/transfer.h"

#define BYTES 4096

/* What is in the memory. */
struct page {
	uint64_t secret;
	int64_t pointer; /* in etypes of the view */
};

struct io_shared {
	struct io_memory memory;
	struct page *page; /* NULL: not mapped here */
	struct o2g_mem *mem;
	struct o2g_key key;
	atomic_bool moved; /* by this rank, since it was at 0 */
};

/* What rank 0 tells the others. */
struct told {
	struct io_where where;
	struct o2g_key key;
};

/* --- making it --- */

static int make(struct io_shared *s, MPI_Offset at, struct told *t)
{
	int err;

	if (!io_memory_make(&s->memory, BYTES, &t->where))
		return mpii_fail(MPI_ERR_NO_MEM,
				 "no memory for the shared file pointer");
	s->page = (struct page *)s->memory.p;
	s->page->pointer = at;
	err = o2g_mem_register(mpii.ep, s->page, sizeof(*s->page),
			       O2G_READ | O2G_WRITE, &s->mem, &s->key);
	if (err)
		return mpii_fail(MPI_ERR_NO_MEM,
				 "the shared file pointer cannot be "
				 "registered: %s",
				 o2g_strerror(err));
	t->key = s->key;
	return MPI_SUCCESS;
}

static bool same_host(const struct mpii_file *f)
{
	return !mpii_nodes_known() ||
	       mpii_node_of(mpii_comm_peer(f->comm, 0)) ==
		       mpii_node_of(mpii.rank);
}

int io_shared_init(struct mpii_file *f, MPI_Offset at)
{
	struct io_shared *s = calloc(1, sizeof(*s));
	struct told t;
	int code = MPI_SUCCESS, err;

	memset(&t, 0, sizeof(t));
	f->shared = s;
	if (!s)
		code = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	else
		*s = (struct io_shared){ .memory = io_memory_none(),
					 .moved = at != 0 };
	if (!code && f->comm->rank == 0)
		code = make(s, at, &t);
	err = io_spread(f, &t, sizeof(t));
	if (!err && !code && f->comm->rank != 0) {
		s->key = t.key;
		if (same_host(f) && io_memory_find(&s->memory, BYTES, &t.where))
			s->page = (struct page *)s->memory.p;
	}
	/* All have mapped it now, or cannot. */
	err = err ? err : io_agree_now(f, code, 0, "the shared pointer of");
	if (s)
		io_memory_seal(&s->memory);
	return err;
}

void io_shared_free(struct mpii_file *f)
{
	struct io_shared *s = f->shared;

	if (!s)
		return;
	if (s->mem)
		o2g_mem_deregister(s->mem);
	io_memory_free(&s->memory);
	free(s);
	f->shared = NULL;
}

/* --- using it --- */

/* From a host that cannot map it. */
static int ask(struct mpii_file *f, int64_t etypes, int64_t *was)
{
	struct o2g_req *req;
	const struct o2g_target at = {
		.peer = mpii_comm_peer(f->comm, 0),
		.key = &f->shared->key,
		.offset = offsetof(struct page, pointer),
		.req = &req,
	};
	struct o2g_status st;
	int err = o2g_fetch_op(mpii.ep, &at, O2G_SUM, O2G_I64, &etypes, was);

	if (err)
		return mpii_call_error(f->comm, 0, err);
	o2g_wait(req, &st);
	return st.error ? mpii_call_error(f->comm, 0, st.error) : MPI_SUCCESS;
}

int io_shared_advance(struct mpii_file *f, MPI_Offset etypes, MPI_Offset *at)
{
	struct io_shared *s = f->shared;
	int64_t was = 0;
	int err;

	if (etypes)
		atomic_store_explicit(&s->moved, true, memory_order_relaxed);
	if (s->page) {
		*at = __atomic_fetch_add(&s->page->pointer, etypes,
					 __ATOMIC_SEQ_CST);
		return MPI_SUCCESS;
	}
	err = ask(f, etypes, &was);
	if (!err)
		*at = was;
	return err;
}

int io_shared_advance_all(const struct coll *k, struct mpii_file *f,
			  MPI_Offset etypes, MPI_Offset *at)
{
	struct coll_args a = { .r = coll_side(at, sizeof(*at), coll_bytes()) };

	atomic_store_explicit(&f->shared->moved, true, memory_order_relaxed);
	if (k->c->rank == 0)
		*at = __atomic_fetch_add(&f->shared->page->pointer, etypes,
					 __ATOMIC_SEQ_CST);
	return k->c->size > 1 ? coll_bcast(k, &a) : MPI_SUCCESS;
}

bool io_shared_moved(const struct mpii_file *f)
{
	return atomic_load_explicit(&f->shared->moved, memory_order_relaxed);
}

void io_shared_set(struct mpii_file *f, MPI_Offset at)
{
	atomic_store_explicit(&f->shared->moved, at != 0, memory_order_relaxed);
	if (f->comm->rank == 0)
		__atomic_store_n(&f->shared->page->pointer, at,
				 __ATOMIC_SEQ_CST);
}

int io_shared_byte(struct mpii_file *f, MPI_Offset *byte)
{
	struct io_place p = io_view_place(f->view);
	MPI_Offset at;
	int err = io_shared_advance(f, 0, &at);

	if (!err)
		*byte = p.t->size ? io_place_byte(&p, at * f->view->esize) :
				    p.disp;
	return err;
}
