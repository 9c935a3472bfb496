/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoall(v, w) in place: what is in the receive buffer is packed, block after
 * block, and sent from there.
 *
 * Cost: that of alltoall_direct and a copy of all bytes.
 */
#include "coll/algorithms.h"

static MPI_Count block_bytes(const struct coll_side *r, int i)
{
	return coll_count(r, i) * coll_type(r, i)->size;
}

int mpii_alltoall_in_place(const struct coll *k, const struct coll_side *r)
{
	int n = k->c->size, err;
	struct coll_side s = { .unit = 1, .t = coll_bytes() };
	struct coll_memory mem;
	struct coll_arrays a;
	MPI_Count total = 0;

	err = coll_arrays_init(&a, n);
	if (err)
		return err;
	for (int i = 0; i < n; i++) {
		a.counts[i] = block_bytes(r, i);
		a.displs[i] = total;
		total += a.counts[i];
	}
	s.counts = a.counts;
	s.displs = a.displs;
	s.buf = coll_memory_get(&mem, total);
	if (s.buf) {
		for (int i = 0; i < n; i++)
			mpii_pack(coll_type(r, i), coll_block(r, i),
				  coll_count(r, i), 0, coll_block(&s, i),
				  a.counts[i]);
		err = mpii_alltoall_direct(k, &s, r);
	} else {
		err = MPI_ERR_NO_MEM;
	}
	coll_memory_put(&mem);
	coll_arrays_free(&a);
	return err;
}
