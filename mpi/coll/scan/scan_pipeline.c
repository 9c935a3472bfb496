/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scan along the ranks in pieces: a rank passes on the first piece while the one
 * before it still works on the next.
 *
 * Cost: (n - 1 + pieces) * (latency + piece + combining). For long messages of few
 * ranks.
 */
#include "coll/algorithms.h"

#define PIECE (64 << 10)

struct pipe {
	const struct coll *k;
	struct mpii_type *t;
	struct mpii_op *op;
	bool exclusive;
	MPI_Count piece; /* elements */
	void *got;	 /* room for two pieces of the rank before */
	struct coll_reqs sends;
};

/* Elements from `at` on, of which `in` is ours: pass on what follows. */
static int step(struct pipe *p, const void *in, void *out, void *value,
		MPI_Count at, MPI_Count n)
{
	const struct coll *k = p->k;
	int rank = k->c->rank, err = MPI_SUCCESS;
	void *before = p->exclusive ? coll_at(out, at, p->t) : p->got;
	void *mine = coll_at(value, at, p->t);
	const void *ours = coll_at(in, at, p->t);

	if (mine != ours)
		mpii_copy(ours, n, p->t, mine, n, p->t);
	if (rank > 0) {
		err = coll_recv(k, before, n, p->t, rank - 1);
		if (!err)
			mpii_op_apply(p->op, before, mine, n, p->t);
	}
	if (!err && rank + 1 < k->c->size)
		coll_post_send(k, &p->sends, mine, n, p->t, rank + 1);
	return err;
}

static int all_steps(struct pipe *p, const void *in, void *out, void *value,
		     MPI_Count count)
{
	int err = MPI_SUCCESS;

	for (MPI_Count at = 0; at < count && !err; at += p->piece)
		err = step(p, in, out, value, at,
			   count - at < p->piece ? count - at : p->piece);
	return err;
}

int mpii_scan_pipeline(const struct coll *k, const void *in, void *out,
		       MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		       bool exclusive)
{
	struct pipe p = { .k = k, .t = t, .op = op, .exclusive = exclusive };
	struct coll_memory got = { .heap = NULL }, sum = { .heap = NULL };
	void *value = out;
	int err, err2;

	p.piece = t->size ? PIECE / t->size : count;
	if (p.piece < 1)
		p.piece = 1;
	/* What is passed on: the result itself, or for exscan more than that. */
	if (exclusive)
		value = coll_memory_typed(&sum, count, t);
	else
		p.got = coll_memory_typed(&got, p.piece, t);
	if (!value || (!exclusive && !p.got))
		return MPI_ERR_NO_MEM;
	err = coll_reqs_init(&p.sends, (int)(count / p.piece) + 1);
	if (!err) {
		err = all_steps(&p, in, out, value, count);
		err2 = coll_reqs_finish(&p.sends);
		err = err ? err : err2;
	}
	coll_memory_put(&sum);
	coll_memory_put(&got);
	return err;
}
