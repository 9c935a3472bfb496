/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Collective accesses through aggregators. */
#ifndef MPII_IO_EXCHANGE_H
#define MPII_IO_EXCHANGE_H

#include "io/access.h"
#include "io/cb.h"

struct coll;
struct io_exchange;

/* What a rank tells all others about its part. */
struct io_told {
	MPI_Offset lo, hi;     /* of the file, if there are bytes */
	MPI_Count pos, bytes;  /* of its view's data */
	MPI_Count piece;       /* what that lies in, about */
	long class;	       /* of the error that keeps it from taking part */
	struct io_where where; /* its windows, for ranks of its host */
};

struct io_plan {
	const struct io_told *told; /* of all n ranks */
	int n;
	bool any; /* somebody has data; then the rest is valid */
	MPI_Offset lo, hi;
	bool mixed;	  /* ranks do not come one after the other */
	bool shared_page; /* some rank begins inside of a page */
	MPI_Count piece;  /* the shortest */
};

/* The memory that an exchange needs: had before all agree to begin. NULL: out of
 * memory. */
struct io_exchange *io_exchange_create(struct io_access *a);
/* Sets a->done and a->error. MPI code with words: what is not the disk's. */
int io_exchange(struct io_exchange *x, const struct coll *k,
		const struct io_plan *plan);
/* Where our windows are, for the others. */
struct io_where io_exchange_where(const struct io_exchange *x);
void io_exchange_destroy(struct io_exchange *x);

#endif
