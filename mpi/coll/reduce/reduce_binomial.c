/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce up a binomial tree: a rank combines what its children send with its
 * own and sends it up. A child holds the ranks just above those its parent
 * holds so far, so operands stay in the order of ranks; an operation that does
 * not commute is therefore reduced at rank 0 and sent to the root, one that
 * does starts at the root.
 *
 * Cost: ceil(log2 n) * (latency + bytes + combining). For short messages.
 */
#include "coll/algorithms.h"

struct reduction {
	const struct coll *k;
	MPI_Count count;
	struct mpii_type *t;
	struct mpii_op *op;
	const void *value; /* of the ranks so far: `in` or one of the two */
	void *first, *second;
};

/* Get a child's value and put it behind ours. */
static int combine(struct reduction *r, int child)
{
	void *free_one = r->value == r->first ? r->second : r->first;
	int err = coll_recv(r->k, free_one, r->count, r->t, child);

	if (err)
		return err;
	mpii_op_apply(r->op, r->value, free_one, r->count, r->t);
	r->value = free_one;
	return MPI_SUCCESS;
}

static int climb(struct reduction *r, int base)
{
	int n = r->k->c->size, rel = (r->k->c->rank - base + n) % n;
	int err = MPI_SUCCESS;

	for (int bit = 1; bit < n && !err; bit *= 2) {
		if (rel & bit)
			return coll_send(r->k, r->value, r->count, r->t,
					 (rel - bit + base) % n);
		if (rel + bit < n)
			err = combine(r, (rel + bit + base) % n);
	}
	return err;
}

/* The result is at rank base; the root wants it in out. */
static int deliver(struct reduction *r, void *out, int base, int root)
{
	int rank = r->k->c->rank;

	if (base == root) {
		if (rank == root && r->value != out)
			mpii_copy(r->value, r->count, r->t, out, r->count,
				  r->t);
		return MPI_SUCCESS;
	}
	if (rank == base)
		return coll_send(r->k, r->value, r->count, r->t, root);
	if (rank == root)
		return coll_recv(r->k, out, r->count, r->t, base);
	return MPI_SUCCESS;
}

int mpii_reduce_binomial(const struct coll *k, const void *in, void *out,
			 MPI_Count count, struct mpii_type *t,
			 struct mpii_op *op, int root)
{
	struct reduction r = { .k = k,
			       .count = count,
			       .t = t,
			       .op = op,
			       .value = in };
	int base = op->commutes ? root : 0, rank = k->c->rank, err;
	struct coll_memory m1, m2;

	r.first = coll_memory_typed(&m1, count, t);
	if (!r.first)
		return MPI_ERR_NO_MEM;
	r.second = coll_memory_typed(&m2, count, t);
	if (!r.second) {
		coll_memory_put(&m1);
		return MPI_ERR_NO_MEM;
	}
	if (rank == root && in != out)
		r.first = out; /* saves the last copy, mostly */
	err = climb(&r, base);
	if (!err)
		err = deliver(&r, out, base, root);
	coll_memory_put(&m2);
	coll_memory_put(&m1);
	return err;
}
