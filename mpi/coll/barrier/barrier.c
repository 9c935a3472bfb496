/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Barrier in all forms. */
#include "coll/calls.h"
#include "coll/choose.h"

int coll_barrier(const struct coll *k, const struct coll_args *a)
{
	if (k->c->inter)
		return mpii_barrier_inter(k);
	return coll_choose(COLL_barrier, k, a, 0);
}

int mpii_barrier(struct mpii_comm *c)
{
	const struct coll_args a = { .root = 0 };
	struct coll k = coll_begin(c);

	coll_note(&k, "MPI_Finalize", 0);
	return coll_barrier(&k, &a);
}

static int barrier(const struct coll_how *how, MPI_Comm comm)
{
	const struct coll_args a = { .root = 0 };
	struct mpii_comm *c;
	int err = coll_check_comm(how->func, comm, &c);

	return err ? err : coll_call(how, c, coll_barrier, &a);
}

COLL_FORMS(Barrier, Ibarrier, Barrier_init, COLL_PARAMS(MPI_Comm comm), barrier,
	   comm);
