/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Collective accesses: what all ranks learn of each other first, and how the
 * access is done.
 *
 * Everyone tells where in the file it begins and ends, and whether it can take
 * part at all. If the parts are apart, or each rank's pieces are large, all
 * access the file themselves; otherwise it goes through aggregators
 * (exchange.c). At the end all agree whether it went well, so a disk that is
 * full for one is an error for all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algorithms.h"
#include "comm/comm.h"
#include "env/errcode.h"
#include "env/errors.h"
#include "io/aside.h"
#include "io/exchange.h"
#include "io/rep.h"
#include "io/shared.h"

/* Pieces from which it does not pay to bring data together: on one host, where
 * they end up in the same memory, and else. */
#define PIECE_HOST 4096
#define PIECE_NET (1 << 20)

static int tell_all(const struct coll *k, void *all, size_t bytes)
{
	struct coll_side side = coll_side(all, (MPI_Count)bytes, coll_bytes());

	if (k->c->size == 1)
		return MPI_SUCCESS;
	return mpii_allgather_blocks(k, &side, (MPI_Count)bytes * k->c->size);
}

/* --- what each rank tells --- */

/* The length of the pieces in the file, about. */
static MPI_Count piece_of(const struct io_access *a)
{
	if (a->place.contiguous)
		return a->bytes;
	return a->place.t->size / a->place.t->nsegs;
}

static void tell(const struct io_access *a, int code, struct io_told *t)
{
	memset(t, 0, sizeof(*t));
	t->class = mpii_class_of_code(code);
	if (code || a->bytes == 0)
		return;
	t->pos = a->pos;
	t->bytes = a->bytes;
	t->lo = io_place_byte(&a->place, a->pos);
	t->hi = io_place_byte(&a->place, a->pos + a->bytes - 1) + 1;
	t->piece = piece_of(a);
}

/* Somebody cannot take part: everyone returns that. */
static int refused(const struct io_access *a, const struct io_told *told, int n)
{
	for (int i = 0; i < n; i++)
		if (told[i].class)
			return mpii_fail(told[i].class,
					 "%s \"%s\" failed at rank %d: %s",
					 io_access_verb(a), a->f->name, i,
					 mpii_class_text(told[i].class));
	return MPI_SUCCESS;
}

/* --- ordered access: where each rank begins --- */

/* *code: of this rank, which cannot take part. */
static int find_turn(const struct coll *k, struct io_access *a, int *code)
{
	MPI_Offset *etypes = malloc(k->c->size * sizeof(*etypes)), all = 0;
	MPI_Offset before = 0, base = 0;
	int err;

	if (!etypes)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	etypes[k->c->rank] = *code ? 0 : a->bytes / a->v->esize;
	err = tell_all(k, etypes, sizeof(*etypes));
	for (int i = 0; i < k->c->size && !err; i++) {
		if (i < k->c->rank)
			before += etypes[i];
		all += etypes[i];
	}
	free(etypes);
	if (!err)
		err = io_shared_advance_all(k, a->f, all, &base);
	if (!err && !*code)
		*code = io_access_from(a, base + before);
	return err;
}

/* --- how --- */

static void survey(struct io_plan *p)
{
	MPI_Offset end = 0;

	p->piece = INT64_MAX;
	for (int i = 0; i < p->n; i++) {
		const struct io_told *t = &p->told[i];

		if (!t->bytes)
			continue;
		if (!p->any || t->lo < p->lo)
			p->lo = t->lo;
		if (!p->any || t->hi > p->hi)
			p->hi = t->hi;
		if (p->any && t->lo < end)
			p->mixed = true;
		if (p->any && t->lo % 4096)
			p->shared_page = true;
		if (t->hi > end)
			end = t->hi;
		if (t->piece < p->piece)
			p->piece = t->piece;
		p->any = true;
	}
}

/* Through aggregators? */
static bool together(const struct io_access *a, const struct io_plan *p)
{
	const struct mpii_file *f = a->f;
	int wish = a->write ? f->hints.cb_write : f->hints.cb_read;
	MPI_Count enough = f->cb->one_host && !f->nfs ? PIECE_HOST : PIECE_NET;

	if (f->stream || p->n == 1)
		return false;
	if (wish != IO_AUTOMATIC)
		return wish == IO_ENABLE;
	/* Two hosts do not write to one page of a server's file. */
	if (f->nfs && a->write && p->shared_page)
		return true;
	return p->mixed && p->piece < enough;
}

static void alone(void *arg)
{
	io_independent(arg);
}

/* In atomic mode the lock on all of it is rank 0's, for all. */
struct lock {
	struct io_access *a;
	const struct io_plan *p;
	int error;
};

static void lock_all(void *arg)
{
	struct lock *l = arg;

	l->error = io_disk_lock(l->a->f, l->a->write, l->p->lo, l->p->hi);
}

static int move_together(const struct coll *k, struct io_access *a,
			 const struct io_plan *p, struct io_exchange *x)
{
	struct lock l = { a, p, 0 };
	bool atomic = atomic_load(&a->f->atomic);
	int err = MPI_SUCCESS;

	if (atomic && k->c->rank == 0)
		io_aside(k, a->f, lock_all, &l);
	if (atomic)
		err = io_agree(k, a->f, MPI_SUCCESS, l.error, "locking");
	if (!err)
		err = io_exchange(x, k, p);
	err = io_agree(k, a->f, err, a->error, io_access_verb(a));
	if (atomic && k->c->rank == 0 && !l.error)
		io_disk_unlock(a->f, p->lo, p->hi);
	return err;
}

static int move(const struct coll *k, struct io_access *a,
		const struct io_plan *p, struct io_exchange *x)
{
	a->done = 0;
	a->error = 0;
	if (!p->any)
		return MPI_SUCCESS;
	if (together(a, p))
		return move_together(k, a, p, x);
	if (a->bytes)
		io_aside(k, a->f, alone, a);
	return io_agree(k, a->f, MPI_SUCCESS, a->error, io_access_verb(a));
}

/* With told, one for each rank. */
static int run(const struct coll *k, struct io_access *a, int code,
	       struct io_told *told, struct io_exchange *x)
{
	struct io_plan p = { .told = told, .n = k->c->size };
	char words[MPI_MAX_ERROR_STRING] = "";
	int err;

	if (code && mpii_last_text(code))
		snprintf(words, sizeof(words), "%s", mpii_last_text(code));
	tell(a, code, &told[k->c->rank]);
	if (x)
		told[k->c->rank].where = io_exchange_where(x);
	err = tell_all(k, told, sizeof(*told));
	if (!err && code)
		return mpii_fail(code, "%s", words);
	if (!err)
		err = refused(a, told, p.n);
	if (err)
		return err;
	survey(&p);
	return move(k, a, &p, x);
}

int io_collective(const struct coll *k, struct io_access *a, int code)
{
	struct io_told *told = calloc(k->c->size, sizeof(*told));
	struct io_exchange *x = NULL;
	int err;

	if (!told)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	a->done = 0;
	a->native = 0;
	if (a->ordered) {
		err = find_turn(k, a, &code);
		if (err) {
			free(told);
			return err;
		}
	}
	if (!code)
		code = io_access_begin(a);
	/* Whoever has no memory says so before the others count on it. */
	if (!code && k->c->size > 1) {
		x = io_exchange_create(a);
		if (!x)
			code = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	err = run(k, a, code, told, x);
	if (x)
		io_exchange_destroy(x);
	free(told);
	if (code || !a->v)
		return err;
	code = io_access_end(a);
	return err ? err : code;
}
