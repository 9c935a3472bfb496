/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Windows that ranks of one host share. Ranks learn where they are from what they
 * tell each other before every collective access, and map them the first time. All
 * do so, or none: then data goes as messages, as between hosts.
 *
 * An aggregator offers its windows to one access at a time, and only when all ranks
 * have ended the one before. So all know of the same windows, whatever else is
 * under way on the file.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "comm/comm.h"
#include "io/exchange.h"
#include "io/near.h"

#define HEAD 4096 /* before the windows: the secret */

static size_t round_up(MPI_Count n)
{
	return ((size_t)n + HEAD - 1) / HEAD * HEAD;
}

static size_t bytes_of(const struct mpii_file *f)
{
	return HEAD + 2 * round_up(io_cb_window(f));
}

static char *window_in(const struct mpii_file *f, const struct io_memory *m,
		       int i)
{
	return m->p + HEAD + (size_t)i * round_up(io_cb_window(f));
}

static bool make_shared(struct mpii_file *f, struct io_where *where)
{
	struct io_cb *cb = f->cb;
	struct io_near *mine = &cb->near[cb->me];

	free(cb->window[0]);
	cb->window[0] = NULL;
	if (!cb->company || !io_memory_make(&mine->memory, bytes_of(f), where))
		return false;
	cb->where = *where;
	for (int i = 0; i < 2; i++)
		cb->window[i] = window_in(f, &mine->memory, i);
	return true;
}

static bool make_own(struct mpii_file *f)
{
	struct io_cb *cb = f->cb;

	for (int i = 0; i < 2; i++)
		if (!cb->window[i])
			cb->window[i] =
				aligned_alloc(HEAD, round_up(io_cb_window(f)));
	return cb->window[0] && cb->window[1];
}

bool io_near_make(struct mpii_file *f, struct io_where *where)
{
	struct io_cb *cb = f->cb;

	*where = (struct io_where){ 0 };
	if (!cb->window[1] && !make_shared(f, where) && !make_own(f))
		return false;
	if (!cb->near[cb->me].refused)
		*where = cb->where;
	return true;
}

void io_near_free(struct io_cb *cb)
{
	bool shared = cb->me >= 0 && cb->near[cb->me].memory.p;

	for (int i = 0; i < 2; i++) {
		if (!shared)
			free(cb->window[i]);
		cb->window[i] = NULL;
	}
	for (int i = 0; i < cb->naggs; i++) {
		io_memory_free(&cb->near[i].memory);
		cb->near[i].secret = 0;
		cb->near[i].fresh = cb->near[i].refused = false;
	}
	cb->where = (struct io_where){ 0 };
}

/* --- meeting --- */

/* Are any new? *fails: one cannot be mapped. */
static bool map_new(struct mpii_file *f, const struct io_told *told, int *fails)
{
	struct io_cb *cb = f->cb;
	bool any = false;

	*fails = 0;
	for (int i = 0; i < cb->naggs; i++) {
		const struct io_where *w = &told[cb->aggs[i]].where;
		struct io_near *n = &cb->near[i];

		if (!w->pid || w->secret == n->secret)
			continue;
		any = n->fresh = true;
		n->secret = w->secret;
		if (i != cb->me && io_cb_same_host(f, cb->aggs[i]) &&
		    !io_memory_find(&n->memory, bytes_of(f), w))
			*fails = 1;
	}
	return any;
}

int io_near_meet(const struct coll *k, struct mpii_file *f,
		 const struct io_told *told)
{
	struct mpii_type *t = mpii_type_get(MPI_INT);
	int fails, all = 0, err;
	struct coll_args a = { .s = coll_side(&fails, 1, t),
			       .r = coll_side(&all, 1, t),
			       .op = mpii_op_get(MPI_MAX) };

	if (!map_new(f, told, &fails))
		return MPI_SUCCESS;
	err = coll_allreduce(k, &a);
	for (int i = 0; i < f->cb->naggs; i++) {
		struct io_near *n = &f->cb->near[i];

		/* Another access may be about to meet others. */
		if (!told[f->cb->aggs[i]].where.pid || !n->fresh)
			continue;
		n->fresh = false;
		n->refused = all;
	}
	return err;
}

/* --- asking --- */

static bool offered(const struct mpii_file *f, const struct io_told *told,
		    int agg)
{
	return told[f->cb->aggs[agg]].where.pid && !f->cb->near[agg].refused;
}

char *io_near_window(const struct mpii_file *f, const struct io_told *told,
		     int agg, int i)
{
	const struct io_memory *m = &f->cb->near[agg].memory;

	return m->p && offered(f, told, agg) ? window_in(f, m, i) : NULL;
}

bool io_near_has(const struct mpii_file *f, const struct io_told *told,
		 int rank)
{
	return rank != f->comm->rank && offered(f, told, f->cb->me) &&
	       io_cb_same_host(f, rank);
}
