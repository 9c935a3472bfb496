/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Collective access in two phases: data is brought together at aggregators,
 * which read and write long pieces.
 *
 * The bytes between the first and the last that anybody accesses are divided
 * into domains, one for each aggregator, and each domain into windows. In one
 * round every aggregator handles one window, and every rank sends it, or gets
 * from it, what it has there: since views never go back, that is one range of
 * its data, and one message. The aggregator receives it right into its place in
 * the window, with the blocks of the rank's view there as datatype. Ranks of its host
 * have the window mapped (near.h), and put their data there, or take it, themselves:
 * then the message only says so.
 *
 * There are two windows, and the disk is used by other threads: while one is
 * written, the next is received, and while one is sent, the next is read.
 *
 * What lies between the pieces is not read, nor written again.
 *
 * Cost: each byte is sent once and copied once more by the system; a message for
 * each rank and aggregator in each round.
 */
#include <stdlib.h>

#include "io/exchange_in.h"

/* Bytes for which an aggregator is worth it, unless they are many windows. */
#define DOMAIN_MIN (256 << 10)
#define PIPELINE_MIN \
	(2 << 20) /* bytes of a domain that is done in two rounds */

static void divide(struct io_exchange *x)
{
	const struct io_plan *p = x->plan;
	MPI_Count unit = io_cb_unit(x->a->f), range;
	MPI_Count least = min_count(DOMAIN_MIN, io_cb_window(x->a->f));

	x->base = p->lo / unit * unit;
	range = p->hi - x->base;
	x->naggs = (int)min_count(x->cb->naggs, (range + least - 1) / least);
	x->domain = (range + x->naggs - 1) / x->naggs;
	x->domain = (x->domain + unit - 1) / unit * unit;
	x->window = min_count(io_cb_window(x->a->f), x->domain);
	/* So that something is written while the rest comes over the network. */
	if (!x->cb->one_host && x->window == x->domain &&
	    x->domain >= PIPELINE_MIN)
		x->window = (x->domain / 2 + unit - 1) / unit * unit;
	x->rounds = (x->domain + x->window - 1) / x->window;
}

static bool get_windows(struct io_exchange *x)
{
	struct io_cb *cb = x->cb;
	MPI_Count bytes = io_cb_window(x->a->f);

	x->own_windows = !atomic_flag_test_and_set(&cb->busy);
	if (x->own_windows && !io_near_make(x->a->f, &x->where))
		return false;
	for (int i = 0; i < 2; i++) {
		struct window *w = &x->win[i];

		w->buf = x->own_windows ? cb->window[i] : malloc(bytes);
		w->parts = calloc(x->a->f->comm->size, sizeof(*w->parts));
		w->x = x;
		w->aside = (struct io_aside){ x->a->f,
					      x->a->write ? io_window_write :
							    io_window_read,
					      w, NULL };
		if (!w->buf || !w->parts)
			return false;
	}
	return true;
}

struct io_exchange *io_exchange_create(struct io_access *a)
{
	struct io_exchange *x = calloc(1, sizeof(*x));
	int n = a->f->comm->size, naggs = a->f->cb->naggs;
	bool listed = a->v->theirs && a->v->theirs[a->f->comm->rank].listed;

	if (!x)
		return NULL;
	x->a = a;
	x->cb = a->f->cb;
	if (listed)
		x->lists = calloc(naggs, sizeof(*x->lists));
	x->sent = calloc(naggs, sizeof(*x->sent));
	x->packed = calloc(naggs, sizeof(*x->packed));
	x->come = calloc(naggs, sizeof(*x->come));
	x->reqs = calloc(2 * (size_t)n + 4 * (size_t)naggs, sizeof(*x->reqs));
	x->taken = calloc(n, sizeof(*x->taken));
	if (x->sent && x->packed && x->come && x->reqs && x->taken &&
	    (!listed || x->lists) && (x->cb->me < 0 || get_windows(x)))
		return x;
	io_exchange_destroy(x);
	return NULL;
}

void io_exchange_destroy(struct io_exchange *x)
{
	for (int i = 0; i < 2; i++) {
		struct window *w = &x->win[i];

		for (int k = 0; w->parts && k < x->a->f->comm->size; k++)
			io_part_free(&w->parts[k]);
		free(w->parts);
		io_cover_free(&w->cover);
		if (!x->own_windows)
			free(w->buf);
	}
	if (x->own_windows)
		atomic_flag_clear(&x->cb->busy);
	for (int i = 0; x->lists && i < x->cb->naggs; i++)
		io_part_free(&x->lists[i].part);
	io_part_free(&x->mine);
	free(x->lists);
	free(x->sent);
	free(x->packed);
	free(x->come);
	free(x->reqs);
	free(x->taken);
	free(x);
}

struct io_where io_exchange_where(const struct io_exchange *x)
{
	return x->where;
}

int io_exchange(struct io_exchange *x, const struct coll *k,
		const struct io_plan *plan)
{
	struct io_access *a = x->a;
	int err = io_near_meet(k, a->f, plan->told);

	if (err)
		return err;
	x->k = k;
	x->plan = plan;
	divide(x);
	io_parts_begin(x);
	if (a->write)
		io_exchange_write(x);
	else
		io_exchange_read(x);
	for (int i = 0; i < 2; i++) {
		io_aside_wait(k, &x->win[i].aside);
		if (x->win[i].error && !a->error)
			a->error = x->win[i].error;
	}
	if (a->write && !x->err && !a->error)
		a->done = a->bytes;
	return x->err;
}
