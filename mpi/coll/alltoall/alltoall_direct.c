/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoall(v, w) with all messages of a batch of ranks posted at once: receives
 * first, so that nothing is unexpected here, then sends, beginning with the
 * next rank so that not all ranks send to the same one.
 *
 * Cost: n - 1 messages per rank, but a rank waits once per batch only. With
 * more ranks than cores each wait is a context switch, so this beats algorithms
 * with fewer messages and more rounds. Also over an intercommunicator.
 */
#include "coll/algorithms.h"

static void post(const struct coll *k, struct coll_reqs *reqs,
		 const struct coll_side *s, const struct coll_side *r,
		 int first, int last)
{
	int n = k->c->remote_size, rank = k->c->rank;

	for (int i = first; i < last; i++) {
		int from = ((rank - i) % n + n) % n;

		coll_post_recv(k, reqs, coll_block(r, from),
			       coll_count(r, from), coll_type(r, from), from);
	}
	for (int i = first; i < last; i++) {
		int to = (rank + i) % n;

		coll_post_send(k, reqs, coll_block(s, to), coll_count(s, to),
			       coll_type(s, to), to);
	}
}

int mpii_alltoall_direct(const struct coll *k, const struct coll_side *s,
			 const struct coll_side *r)
{
	int n = k->c->remote_size, rank = k->c->rank, err, i;
	/* batches meet only when both sides count the same ranks */
	int batch = k->c->inter ? n : coll_min(n, COLL_DIRECT_RANKS);
	struct coll_reqs reqs;

	err = coll_reqs_init(&reqs, 2 * batch);
	if (err)
		return err;
	for (i = k->c->inter ? 0 : 1; i < n; i += batch) {
		post(k, &reqs, s, r, i, coll_min(n, i + batch));
		if (i + batch < n)
			err = coll_reqs_wait(&reqs);
		if (err)
			break;
	}
	if (!k->c->inter)
		mpii_copy(coll_block(s, rank), coll_count(s, rank),
			  coll_type(s, rank), coll_block(r, rank),
			  coll_count(r, rank), coll_type(r, rank));
	i = coll_reqs_finish(&reqs);
	return err ? err : i;
}
