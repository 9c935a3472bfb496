/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Gather and scatter, which are one collective in two directions: the root has a
 * block for every rank, and every rank has one block.
 */
#ifndef COLL_ROOTED_H
#define COLL_ROOTED_H

#include "coll/choose.h"

struct coll_rooted {
	enum coll_id id;
	bool gather;	 /* to the root; otherwise from there */
	bool equal;	 /* all blocks have one size, so every rank knows it */
	coll_fn *linear; /* the algorithm for an intercommunicator */
};

/* Check the arguments and do it. @a has what need not be checked before, with
 * a->rooted; @l is of the root's side, NULL if all blocks are equal. */
int coll_rooted(const struct coll_how *how, struct coll_args *a,
		const struct coll_lists *l, MPI_Datatype sendtype,
		MPI_Datatype recvtype, MPI_Comm comm);

#endif
