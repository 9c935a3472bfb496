/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scan and exscan by recursive doubling: a rank holds the value of a group of
 * neighbouring ranks that doubles in each round (`whole`), and its own result,
 * to which it adds, in front, what comes from groups of lower ranks. Operands
 * stay in the order of ranks. Groups at the end may be incomplete, which does
 * no harm since only lower ones are ever used.
 *
 * Cost: ceil(log2 n) * (latency + bytes + up to two combinings).
 */
#include "coll/algorithms.h"

struct scan {
	const struct coll *k;
	MPI_Count count;
	struct mpii_type *t;
	struct mpii_op *op;
	void *out;
	bool have;	     /* out holds something: exscan starts without */
	void *whole, *other; /* swapped when the other one holds the result */
};

static void copy(const struct scan *s, const void *from, void *to)
{
	mpii_copy(from, s->count, s->t, to, s->count, s->t);
}

static void from_lower(struct scan *s)
{
	if (s->have)
		mpii_op_apply(s->op, s->other, s->out, s->count, s->t);
	else
		copy(s, s->other, s->out);
	s->have = true;
	mpii_op_apply(s->op, s->other, s->whole, s->count, s->t);
}

static void from_upper(struct scan *s)
{
	void *whole = s->whole;

	mpii_op_apply(s->op, s->whole, s->other, s->count, s->t);
	s->whole = s->other;
	s->other = whole;
}

static int rounds(struct scan *s)
{
	int n = s->k->c->size, rank = s->k->c->rank, err = MPI_SUCCESS;

	for (int bit = 1; bit < n && !err; bit *= 2) {
		int peer = rank ^ bit;

		if (peer >= n)
			continue;
		err = coll_sendrecv(s->k, s->whole, s->count, s->t, peer,
				    s->other, s->count, s->t, peer);
		if (err)
			break;
		if (peer < rank)
			from_lower(s);
		else
			from_upper(s);
	}
	return err;
}

int mpii_scan_doubling(const struct coll *k, const void *in, void *out,
		       MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		       bool exclusive)
{
	struct scan s = { .k = k,
			  .count = count,
			  .t = t,
			  .op = op,
			  .out = out,
			  .have = !exclusive };
	struct coll_memory m1, m2;
	int err = MPI_ERR_NO_MEM;

	s.whole = coll_memory_typed(&m1, count, t);
	s.other = coll_memory_typed(&m2, count, t);
	if (s.whole && s.other) {
		copy(&s, in, s.whole);
		if (!exclusive && in != out)
			copy(&s, in, out);
		err = rounds(&s);
	}
	coll_memory_put(&m2);
	coll_memory_put(&m1);
	return err;
}
