/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allreduce after Rabenseifner, for operations that commute. Recursive halving:
 * in each round a rank gives away one half of the shares it is still
 * responsible for and combines the other half with its partner's; at the end it
 * holds one share. Then the shares are collected on the way back (recursive
 * doubling). When n is no power of two the first ranks pair up before, and the
 * even one of a pair gets the result at the end.
 *
 * Cost: 2 log2 n * latency + 2 * bytes + one combining of all bytes. For long
 * messages and many ranks.
 */
#include "coll/algorithms.h"

struct halving {
	const struct coll *k;
	char *out, *other;
	MPI_Count count;
	struct mpii_type *t;
	struct mpii_op *op;
	int pow2, extra, me; /* me: number in the rounds */
};

static int real_rank(const struct halving *h, int i)
{
	return i < h->extra ? 2 * i + 1 : i + h->extra;
}

static MPI_Count share(const struct halving *h, int i)
{
	return coll_share(h->count, h->pow2, i);
}

/* Shares [a, b) go to the peer, [c, d) come into memory at @in. */
static int swap(const struct halving *h, int peer, int a, int b, char *in,
		int c, int d)
{
	int rank = real_rank(h, peer);

	return coll_sendrecv(h->k, coll_at(h->out, share(h, a), h->t),
			     share(h, b) - share(h, a), h->t, rank,
			     coll_at(in, share(h, c), h->t),
			     share(h, d) - share(h, c), h->t, rank);
}

static int halve(const struct halving *h)
{
	int lo = 0, hi = h->pow2, err = MPI_SUCCESS;

	for (int bit = h->pow2 / 2; bit > 0 && !err; bit /= 2) {
		int mid = lo + bit;
		bool upper = h->me & bit;

		if (upper)
			err = swap(h, h->me ^ bit, lo, mid, h->other, mid, hi);
		else
			err = swap(h, h->me ^ bit, mid, hi, h->other, lo, mid);
		lo = upper ? mid : lo;
		hi = upper ? hi : mid;
		if (!err)
			mpii_op_apply(h->op,
				      coll_at(h->other, share(h, lo), h->t),
				      coll_at(h->out, share(h, lo), h->t),
				      share(h, hi) - share(h, lo), h->t);
	}
	return err;
}

static int collect(const struct halving *h)
{
	int err = MPI_SUCCESS;

	for (int bit = 1; bit < h->pow2 && !err; bit *= 2) {
		int mine = h->me & ~(bit - 1), theirs = mine ^ bit;

		err = swap(h, h->me ^ bit, mine, mine + bit, h->out, theirs,
			   theirs + bit);
	}
	return err;
}

/* The even one of a pair: hands over, then waits for the result. */
static int stand_aside(const struct halving *h, int rank)
{
	int err = coll_send(h->k, h->out, h->count, h->t, rank + 1);

	return err ? err : coll_recv(h->k, h->out, h->count, h->t, rank + 1);
}

static int run(struct halving *h)
{
	int n = h->k->c->size, rank = h->k->c->rank, err = MPI_SUCCESS;
	bool paired;

	for (h->pow2 = 1; 2 * h->pow2 <= n; h->pow2 *= 2)
		;
	h->extra = n - h->pow2;
	paired = rank < 2 * h->extra;
	if (paired && rank % 2 == 0)
		return stand_aside(h, rank);
	h->me = paired ? rank / 2 : rank - h->extra;
	if (paired) {
		err = coll_recv(h->k, h->other, h->count, h->t, rank - 1);
		if (err)
			return err;
		mpii_op_apply(h->op, h->other, h->out, h->count, h->t);
	}
	err = halve(h);
	if (!err)
		err = collect(h);
	if (!err && paired)
		err = coll_send(h->k, h->out, h->count, h->t, rank - 1);
	return err;
}

int mpii_allreduce_rabenseifner(const struct coll *k, const void *in, void *out,
				MPI_Count count, struct mpii_type *t,
				struct mpii_op *op)
{
	struct halving h = { .k = k,
			     .out = out,
			     .count = count,
			     .t = t,
			     .op = op };
	struct coll_memory mem;
	int err;

	h.other = coll_memory_typed(&mem, count, t);
	if (!h.other)
		return MPI_ERR_NO_MEM;
	if (in != out)
		mpii_copy(in, count, t, out, count, t);
	err = run(&h);
	coll_memory_put(&mem);
	return err;
}
