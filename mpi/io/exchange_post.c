/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The messages of a round, and the data of our own that they carry. */
#include <errno.h>
#include <stdlib.h>

#include "io/exchange_in.h"

/* --- messages --- */

static void posted(struct io_exchange *x, int err)
{
	if (err && !x->err)
		x->err = err;
	if (!err)
		x->nreqs++;
}

void io_post_send(struct io_exchange *x, const void *buf, MPI_Count count,
		  struct mpii_type *t, int rank)
{
	posted(x, mpii_isend(buf, count, t, rank, x->k->tag, x->k->c,
			     x->k->context, MPII_STANDARD, &x->reqs[x->nreqs]));
}

int io_post_recv(struct io_exchange *x, void *buf, MPI_Count count,
		 struct mpii_type *t, int rank)
{
	int n = x->nreqs;

	posted(x, mpii_irecv(buf, count, t, rank, x->k->tag, x->k->c,
			     x->k->context, &x->reqs[n]));
	return x->nreqs > n ? n : -1;
}

static void wait_for(struct io_exchange *x, struct mpii_req **reqs, int n)
{
	int err;

	if (x->k->task)
		coll_task_wait(x->k, reqs, n);
	/* What an aggregator gets is as long as it has to be; what it sends may
	 * be shorter, at the end of the file. */
	err = x->a->write ? mpii_wait_exact(reqs, n) : mpii_wait_all(reqs, n);
	if (err && !x->err)
		x->err = err;
}

void io_post_wait_one(struct io_exchange *x, int req)
{
	if (x->k->task)
		coll_task_wait(x->k, &x->reqs[req], 1);
	mpii_req_wait(x->reqs[req]);
}

void io_post_wait(struct io_exchange *x)
{
	wait_for(x, x->reqs, x->nreqs);
	x->nreqs = 0;
}

void io_post_recv_now(struct io_exchange *x, void *buf, MPI_Count bytes,
		      int rank)
{
	struct mpii_req *r;
	int err = mpii_irecv(buf, bytes, coll_bytes(), rank, x->k->tag, x->k->c,
			     x->k->context, &r);

	if (!err)
		wait_for(x, &r, 1);
	else if (!x->err)
		x->err = err;
}

/* --- our data --- */

MPI_Count io_own_range(struct io_exchange *x, int agg, MPI_Count r,
		       MPI_Count *from)
{
	const struct io_told *mine = &x->plan->told[x->k->c->rank];
	MPI_Count end = mine->pos + mine->bytes, to;
	MPI_Offset lo, hi;

	window_of(x, agg, r, &lo, &hi);
	*from = x->sent[agg];
	if (lo >= hi || !meets(mine, lo, hi))
		return 0;
	to = io_place_find(&x->a->place, hi, *from, end);
	x->sent[agg] = to;
	return to - *from;
}

char *io_own_memory(struct io_exchange *x, int agg, MPI_Count at, MPI_Count n)
{
	char *plain = io_access_plain(x->a);

	if (plain)
		return plain + at;
	x->packed[agg] = malloc(n);
	if (!x->packed[agg]) {
		x->a->error = -ENOMEM;
		return NULL;
	}
	if (x->a->write)
		io_access_pack(x->a, at, x->packed[agg], n);
	return x->packed[agg];
}

bool io_own_part(struct io_exchange *x, MPI_Count from, MPI_Count n,
		 MPI_Offset window)
{
	if (io_part_fill(&x->mine, &x->a->place, from, from + n, window))
		return true;
	x->a->error = -ENOMEM;
	return false;
}

void io_own_drop(struct io_exchange *x)
{
	for (int i = 0; i < x->naggs; i++) {
		free(x->packed[i]);
		x->packed[i] = NULL;
	}
}
