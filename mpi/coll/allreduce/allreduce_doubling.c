/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allreduce by recursive doubling: in round i a rank exchanges what it has with
 * the rank whose number differs in bit i, and both combine. When n is no power
 * of two, the first ranks pair up before: the even one of a pair hands its data
 * to the odd one and gets the result at the end. Each rank always holds the
 * value of neighbouring ranks, so operands can be kept in the order of ranks
 * and the operation need not commute.
 *
 * Cost: (ceil(log2 n) + 1 unless a power of two) * (latency + bytes +
 * combining). For short messages.
 */
#include "coll/algorithms.h"

struct exchange {
	const struct coll *k;
	MPI_Count count;
	struct mpii_type *t;
	struct mpii_op *op;
	int extra;	     /* pairs at the beginning */
	void *value, *other; /* swapped when the other one holds the result */
};

/* After other has been received: other is before us in the order, or behind. */
static void combine(struct exchange *x, bool before)
{
	void *value = x->value;

	if (before || x->op->commutes) {
		mpii_op_apply(x->op, x->other, x->value, x->count, x->t);
		return;
	}
	mpii_op_apply(x->op, x->value, x->other, x->count, x->t);
	x->value = x->other;
	x->other = value;
}

/* The rank that takes part in the rounds as number i. */
static int real_rank(const struct exchange *x, int i)
{
	return i < x->extra ? 2 * i + 1 : i + x->extra;
}

static int rounds(struct exchange *x, int me, int n)
{
	int err = MPI_SUCCESS;

	for (int bit = 1; bit < n && !err; bit *= 2) {
		int peer = real_rank(x, me ^ bit);

		err = coll_sendrecv(x->k, x->value, x->count, x->t, peer,
				    x->other, x->count, x->t, peer);
		if (!err)
			combine(x, me & bit);
	}
	return err;
}

static int all_rounds(struct exchange *x)
{
	int n = x->k->c->size, rank = x->k->c->rank, pow2 = 1, err;

	while (2 * pow2 <= n)
		pow2 *= 2;
	x->extra = n - pow2;
	if (rank >= 2 * x->extra)
		return rounds(x, rank - x->extra, pow2);
	if (rank % 2 == 0) {
		err = coll_send(x->k, x->value, x->count, x->t, rank + 1);
		return err ? err :
			     coll_recv(x->k, x->value, x->count, x->t,
				       rank + 1);
	}
	err = coll_recv(x->k, x->other, x->count, x->t, rank - 1);
	if (err)
		return err;
	combine(x, true);
	err = rounds(x, rank / 2, pow2);
	return err ? err : coll_send(x->k, x->value, x->count, x->t, rank - 1);
}

int mpii_allreduce_doubling(const struct coll *k, const void *in, void *out,
			    MPI_Count count, struct mpii_type *t,
			    struct mpii_op *op)
{
	struct exchange x = { .k = k,
			      .count = count,
			      .t = t,
			      .op = op,
			      .value = out };
	struct coll_memory mem;
	int err;

	x.other = coll_memory_typed(&mem, count, t);
	if (!x.other)
		return MPI_ERR_NO_MEM;
	if (in != out)
		mpii_copy(in, count, t, out, count, t);
	err = all_rounds(&x);
	if (!err && x.value != out)
		mpii_copy(x.value, count, t, out, count, t);
	coll_memory_put(&mem);
	return err;
}
