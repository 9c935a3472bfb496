/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Barrier at rank 0: it hears from everyone, then tells everyone.
 *
 * Cost: two messages after each other and n - 1 of each kind at rank 0, but
 * every other rank waits only once. With more ranks than cores each wait is a
 * context switch, so this is the best for few ranks.
 */
#include "coll/algorithms.h"

static int gather_and_release(const struct coll *k)
{
	struct mpii_type *t = coll_bytes();
	int n = k->c->size, err;
	struct coll_reqs r;

	err = coll_reqs_init(&r, n);
	if (err)
		return err;
	for (int i = 1; i < n; i++)
		coll_post_recv(k, &r, NULL, 0, t, i);
	err = coll_reqs_finish(&r);
	for (int i = 1; i < n && !err; i++)
		err = coll_send(k, NULL, 0, t, i);
	return err;
}

int mpii_barrier_central(const struct coll *k)
{
	struct mpii_type *t = coll_bytes();
	int err;

	if (k->c->rank == 0)
		return gather_and_release(k);
	err = coll_send(k, NULL, 0, t, 0);
	return err ? err : coll_recv(k, NULL, 0, t, 0);
}
