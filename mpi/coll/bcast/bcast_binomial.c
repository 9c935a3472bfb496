/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Broadcast along a binomial tree: every rank that has the data passes it on to
 * the rank half as far away, a quarter, and so on. The farthest child first,
 * since it has the largest tree below it.
 *
 * Cost: ceil(log2 n) * (latency + bytes). For short messages.
 */
#include "coll/algorithms.h"

int mpii_bcast_binomial(const struct coll *k, void *buf, MPI_Count count,
			struct mpii_type *t, int root)
{
	int n = k->c->size, rel = (k->c->rank - root + n) % n, bit = 1, err;
	struct coll_reqs r;

	while (bit < n && !(rel & bit))
		bit *= 2;
	if (rel) {
		err = coll_recv(k, buf, count, t, (rel - bit + root) % n);
		if (err)
			return err;
	}
	err = coll_reqs_init(&r, 32);
	if (err)
		return err;
	for (bit /= 2; bit > 0; bit /= 2)
		if (rel + bit < n)
			coll_post_send(k, &r, buf, count, t,
				       (rel + bit + root) % n);
	return coll_reqs_finish(&r);
}
