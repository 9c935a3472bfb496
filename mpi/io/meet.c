/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Setting a view: what the ranks tell each other then. Libraries set one for each
 * access, so it is one message for all of it, unless a view is of many blocks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algorithms.h"
#include "comm/comm.h"
#include "env/errcode.h"
#include "env/errors.h"
#include "io/cb.h"
#include "io/rep.h"
#include "io/shared.h"

#define BLOCKS_ALONG 2 /* that go along: a subarray is one, with loops */

/* What a rank tells. Where a view has more blocks, they follow. */
struct sent_view {
	int class;	  /* of the error that keeps it from having a view */
	int shared_moved; /* it knows of a shared pointer that is not at 0 */
	uint64_t rep;	  /* stands for the representation's name */
	MPI_Aint etype;	  /* its extent */
	struct io_hints hints; /* rank 0's count */
	MPI_Offset disp;
	MPI_Count size;
	MPI_Aint extent;
	struct mpii_loop loops[MPII_LOOPS];
	int nloops, nblocks;
	int contiguous, listed;
	struct mpii_block blocks[BLOCKS_ALONG];
};

/* --- telling --- */

static uint64_t hash(const char *text)
{
	uint64_t h = 14695981039346656037u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211u;
	return h;
}

static void describe(const struct io_view *v, struct sent_view *s)
{
	const struct mpii_type *t = v->layout;

	s->rep = hash(io_rep_name(v->rep));
	s->etype = v->etype->extent;
	s->disp = v->disp;
	s->contiguous = v->contiguous;
	if (v->contiguous)
		return;
	s->listed = t->nblocks > IO_VIEW_BLOCKS;
	s->size = t->size;
	s->extent = t->extent;
	s->nloops = t->nloops;
	memcpy(s->loops, t->loops, sizeof(s->loops));
	s->nblocks = s->listed ? 0 : (int)t->nblocks;
	if (s->nblocks <= BLOCKS_ALONG)
		memcpy(s->blocks, t->blocks, s->nblocks * sizeof(*t->blocks));
}

static int gather_all(const struct coll *k, struct coll_side *side,
		      MPI_Count bytes)
{
	if (k->c->size == 1)
		return MPI_SUCCESS;
	return mpii_allgather_blocks(k, side, bytes);
}

/* --- what they make of it --- */

static int check_all(const struct mpii_file *f, const struct sent_view *sent)
{
	for (int i = 0; i < f->comm->size; i++)
		if (sent[i].class)
			return mpii_fail(
				sent[i].class,
				"setting a view of \"%s\" failed at rank %d: "
				"%s",
				f->name, i, mpii_class_text(sent[i].class));
	for (int i = 1; i < f->comm->size; i++)
		if (sent[i].rep != sent[0].rep ||
		    sent[i].etype != sent[0].etype)
			return mpii_fail(MPI_ERR_NOT_SAME,
					 "datarep or the extent of etype of "
					 "\"%s\" is another at rank %d than "
					 "at rank 0",
					 f->name, i);
	return MPI_SUCCESS;
}

static void take_in(const struct sent_view *s, struct mpii_block *blocks,
		    struct io_theirs *t)
{
	t->listed = s->listed;
	t->type = (struct mpii_type){ .size = s->size,
				      .extent = s->extent,
				      .nloops = s->nloops,
				      .nblocks = s->nblocks,
				      .blocks = blocks };
	memcpy(t->type.loops, s->loops, sizeof(s->loops));
	t->place = (struct io_place){ &t->type, s->disp, s->contiguous };
}

/* The blocks of all, one after the other. */
static int gather_blocks(const struct coll *k, const struct sent_view *sent,
			 const struct io_view *v, struct mpii_block *blocks,
			 MPI_Count total)
{
	struct coll_side side = { .buf = (char *)blocks,
				  .t = coll_bytes(),
				  .unit = 1,
				  .n = k->c->size };
	struct coll_arrays arrays;
	MPI_Count at = 0;
	int err = coll_arrays_init(&arrays, k->c->size);

	if (err)
		return err;
	for (int i = 0; i < k->c->size; i++) {
		arrays.counts[i] = sent[i].nblocks * sizeof(*blocks);
		arrays.displs[i] = at * sizeof(*blocks);
		if (i == k->c->rank && sent[i].nblocks)
			memcpy(blocks + at, v->layout->blocks,
			       arrays.counts[i]);
		at += sent[i].nblocks;
	}
	side.counts = arrays.counts;
	side.displs = arrays.displs;
	err = gather_all(k, &side, total * sizeof(*blocks));
	coll_arrays_free(&arrays);
	return err;
}

/* They came along, unless one has too many. */
static int find_blocks(const struct coll *k, const struct sent_view *sent,
		       const struct io_view *v, struct mpii_block *blocks,
		       MPI_Count total)
{
	for (int i = 0; i < k->c->size; i++)
		if (sent[i].nblocks > BLOCKS_ALONG)
			return gather_blocks(k, sent, v, blocks, total);
	for (int i = 0; i < k->c->size; i++) {
		memcpy(blocks, sent[i].blocks,
		       sent[i].nblocks * sizeof(*blocks));
		blocks += sent[i].nblocks;
	}
	return MPI_SUCCESS;
}

static int learn(const struct coll *k, const struct sent_view *sent,
		 struct io_view *v)
{
	MPI_Count total = 0;
	int n = k->c->size, err;

	for (int i = 0; i < n; i++)
		total += sent[i].nblocks;
	v->their_blocks = malloc((total + 1) * sizeof(*v->their_blocks));
	v->theirs = calloc(n, sizeof(*v->theirs));
	if (!v->their_blocks || !v->theirs)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = find_blocks(k, sent, v, v->their_blocks, total);
	total = 0;
	for (int i = 0; i < n && !err; i++) {
		take_in(&sent[i], v->their_blocks + total, &v->theirs[i]);
		total += sent[i].nblocks;
	}
	return err;
}

/* The shared pointer is at the beginning of the view for whoever goes on. */
static int reset_shared(struct mpii_file *f, const struct sent_view *sent)
{
	bool moved = false;

	for (int i = 0; i < f->comm->size; i++)
		moved |= sent[i].shared_moved;
	if (!moved)
		return MPI_SUCCESS;
	io_shared_set(f, 0);
	return io_agree_now(f, MPI_SUCCESS, 0, "");
}

static int meet(struct mpii_file *f, struct io_view *v, struct sent_view *sent)
{
	struct coll k = coll_begin(f->comm);
	struct coll_side side = coll_side(sent, sizeof(*sent), coll_bytes());
	int err =
		gather_all(&k, &side, f->comm->size * (MPI_Count)sizeof(*sent));

	if (!err)
		err = check_all(f, sent);
	if (err)
		return err;
	if (memcmp(&sent[0].hints, &f->hints, sizeof(f->hints)))
		io_cb_hints(f, &sent[0].hints);
	err = learn(&k, sent, v);
	return err ? err : reset_shared(f, sent);
}

int io_cb_meet(struct mpii_file *f, struct io_view *v,
	       const struct io_hints *hints, int code)
{
	struct sent_view *sent = calloc(f->comm->size, sizeof(*sent)), *mine;
	char words[MPI_MAX_ERROR_STRING] = "";
	int err;

	if (!sent)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	mine = &sent[f->comm->rank];
	mine->class = mpii_class_of_code(code);
	mine->hints = *hints;
	mine->shared_moved = io_shared_moved(f);
	if (code && mpii_last_text(code))
		snprintf(words, sizeof(words), "%s", mpii_last_text(code));
	else if (!code)
		describe(v, mine);
	err = meet(f, v, sent);
	free(sent);
	return err && code ? mpii_fail(code, "%s", words) : err;
}

struct io_theirs io_cb_theirs(const struct io_view *v, int i)
{
	if (v->theirs)
		return v->theirs[i];
	return (struct io_theirs){ .place = io_view_place(v) };
}
