/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* See pull.h. */
#include "coll/pull.h"

#include "coll/shared.h"

/* A row. */
struct offer {
	struct o2g_key key;
	uint64_t bytes; /* of a block; 0: there is none */
};

/* What we offer: the program's memory, or a copy where that is in pieces. */
struct ours {
	struct coll_memory copy;
	struct o2g_mem *mem;
};

static int make_offer(const struct coll *k, enum coll_offered what,
		      const void *buf, MPI_Count count,
		      const struct mpii_type *t, struct ours *u,
		      struct offer *o)
{
	MPI_Count bytes = count * t->size;
	void *piece = (void *)buf;
	int err;

	if (!bytes)
		return MPI_SUCCESS;
	if (!t->contiguous) {
		piece = coll_memory_get(&u->copy, bytes);
		if (!piece)
			return MPI_ERR_NO_MEM;
		mpii_pack(t, buf, count, 0, piece, (size_t)bytes);
	}
	err = o2g_mem_register(mpii.ep, piece, (size_t)bytes, O2G_READ, &u->mem,
			       &o->key);
	if (err)
		return mpii_call_error(k->c, k->c->rank, err);
	o->bytes = (uint64_t)bytes / (what == COLL_ONE_EACH ? k->c->size : 1);
	return MPI_SUCCESS;
}

static void withdraw(struct ours *u)
{
	if (u->mem)
		o2g_mem_deregister(u->mem);
	coll_memory_put(&u->copy);
}

static int read_block(const struct coll *k, const struct offer *o, int from,
		      uint64_t offset, void *to, size_t bytes)
{
	struct o2g_seg seg = { to, bytes };
	struct o2g_req *req;
	int err;

	err = o2g_get(mpii.ep, mpii_comm_peer(k->c, from), &seg, 1, &o->key,
		      offset, &req);
	if (!err)
		err = o2g_wait(req, NULL);
	return err ? mpii_call_error(k->c, from, err) : MPI_SUCCESS;
}

static int take_block(const struct coll *k, enum coll_offered what,
		      const struct offer *o, int from,
		      const struct coll_side *r)
{
	MPI_Count want = coll_count(r, from) * r->t->size;
	MPI_Count got = (MPI_Count)o->bytes;
	size_t n = (size_t)(got < want ? got : want);
	uint64_t offset = what == COLL_ONE_EACH ? k->c->rank * o->bytes : 0;
	void *to = coll_block(r, from), *piece = to;
	int err = MPI_SUCCESS;
	struct coll_memory m;

	m.heap = NULL;
	if (!r->t->contiguous)
		piece = coll_memory_get(&m, want);
	if (!piece)
		return MPI_ERR_NO_MEM;
	if (n)
		err = read_block(k, o, from, offset, piece, n);
	if (!err && piece != to)
		mpii_unpack(r->t, to, coll_count(r, from), 0, piece, n);
	coll_memory_put(&m);
	return err ? err : coll_received(k, mpii_check_length(from, got, want));
}

/* Beginning with the next rank, so that not all read the same one's. */
static int take_all(const struct coll *k, enum coll_offered what,
		    const struct coll_slot *o, const struct coll_side *r)
{
	int n = k->c->size, err = MPI_SUCCESS;

	for (int i = 1; i < n && !err; i++) {
		int from = (k->c->rank + i) % n;

		err = take_block(k, what,
				 (struct offer *)coll_slot_row(o, from), from,
				 r);
	}
	return err;
}

int coll_pull(const struct coll *k, enum coll_offered what, const void *buf,
	      MPI_Count count, const struct mpii_type *t,
	      const struct coll_side *r)
{
	struct coll_slot o = coll_slot_take(k, sizeof(struct offer));
	struct offer *row = (struct offer *)coll_slot_row(&o, k->c->rank);
	int err = coll_slot_enter(k, &o), read, end;
	struct ours u;

	u.mem = NULL;
	u.copy.heap = NULL;
	if (err) {
		coll_slot_leave(&o);
		return err;
	}
	/* Whoever has no memory for it offers nothing, which the others notice. */
	memset(row, 0, sizeof(*row));
	err = make_offer(k, what, buf, count, t, &u, row);
	read = coll_slot_meet(k, &o);
	if (!read)
		read = take_all(k, what, &o, r);
	coll_slot_leave(&o);
	end = coll_slot_wait_left(k, &o);
	withdraw(&u);
	return err ? err : read ? read : end;
}
