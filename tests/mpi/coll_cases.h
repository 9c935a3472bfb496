/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Random calls of every collective, each compared with what the standard says
 * its result is. All ranks draw the same random numbers, so each knows what the
 * others contribute. Used by the programs coll_*.c and, with threads as ranks,
 * by tests/unit/test_coll*.c.
 *
 * Data are ints, seen through several datatypes: a buffer is compared with a
 * copy into which the expected ints were unpacked, so that bytes in gaps and
 * around the data are checked too.
 */
#ifndef COLL_CASES_H
#define COLL_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"

struct env {
	MPI_Comm comm;
	int rank, size;
	unsigned long long seed; /* the same at all ranks */
	const char *what;	 /* the case, for messages */
	long max_ints;		 /* per block, about */
};

#define CHECK(e, cond)                                                    \
	do {                                                              \
		if (!(cond)) {                                            \
			fprintf(stderr, "%s:%d: rank %d of %d: %s: %s\n", \
				__FILE__, __LINE__, (e)->rank, (e)->size, \
				(e)->what, #cond);                        \
			abort();                                          \
		}                                                         \
	} while (0)

static inline long draw(struct env *e, long lo, long hi)
{
	e->seed = e->seed * 6364136223846793005ull + 1442695040888963407ull;
	return lo + (long)((e->seed >> 33) % (unsigned long)(hi - lo + 1));
}

/* --- datatypes that hold k ints --- */

#define NTYPES 7
struct itype {
	MPI_Datatype h;
	int k;
	MPI_Aint lb, extent, true_lb, true_extent;
};

static inline struct itype itype_of(MPI_Datatype h)
{
	struct itype t = { .h = h };
	int size;

	MPI_Type_commit(&h);
	MPI_Type_size(h, &size);
	t.k = size / (int)sizeof(int);
	MPI_Type_get_extent(h, &t.lb, &t.extent);
	MPI_Type_get_true_extent(h, &t.true_lb, &t.true_extent);
	return t;
}

static inline void make_types(struct itype *t)
{
	int ones[] = { 1, 1, 1 }, places[] = { 4, 0, 2 };
	MPI_Datatype h, r;

	t[0] = (struct itype){ MPI_INT, 1, 0, 4, 0, 4 };
	MPI_Type_contiguous(3, MPI_INT, &h);
	t[1] = itype_of(h);
	MPI_Type_vector(2, 1, 2, MPI_INT, &h);
	MPI_Type_create_resized(h, 0, 20, &r);
	MPI_Type_free(&h);
	t[2] = itype_of(r);
	MPI_Type_indexed(3, ones, places, MPI_INT, &h);
	t[3] = itype_of(h);
	MPI_Type_create_resized(MPI_INT, -4, 12, &h);
	t[4] = itype_of(h);
	MPI_Type_create_hvector(2, 1, -8, MPI_INT, &h);
	MPI_Type_create_resized(h, -8, 16, &r);
	MPI_Type_free(&h);
	t[5] = itype_of(r);
	MPI_Type_contiguous(2, MPI_INT, &h);
	t[6] = itype_of(h);
}

static inline void free_types(struct itype *t)
{
	for (int i = 1; i < NTYPES; i++)
		MPI_Type_free(&t[i].h);
}

/* --- buffers --- */

#define SLACK 64
struct buf {
	char *mem, *at; /* at: what MPI gets */
	long bytes;
};

static inline struct buf buf_new(const struct itype *t, long count)
{
	struct buf b;

	b.bytes = count * t->extent + 2 * SLACK;
	b.mem = malloc(b.bytes);
	b.at = b.mem + SLACK;
	memset(b.mem, 0x5a, b.bytes);
	return b;
}

static inline void buf_put(struct env *e, struct buf *b, const struct itype *t,
			   long first, const int *ints, long count)
{
	int pos = 0;

	if (count)
		CHECK(e, MPI_Unpack(ints, count * t->k * sizeof(int), &pos,
				    b->at + first * t->extent, count, t->h,
				    e->comm) == MPI_SUCCESS);
}

/* Frees both. */
static inline void buf_compare(struct env *e, struct buf *got, struct buf *want)
{
	CHECK(e, got->bytes == want->bytes);
	CHECK(e, memcmp(got->mem, want->mem, got->bytes) == 0);
	free(got->mem);
	free(want->mem);
}

/* What rank contributes: n ints that depend on all of these. */
static inline int *data(int rank, int to, long n, unsigned salt)
{
	int *v = malloc((n + 1) * sizeof(*v));

	for (long i = 0; i < n; i++)
		v[i] = (int)((rank * 7919u + to * 104729u + i * 31u + salt) %
			     1000003u);
	return v;
}

/* A count of ints that every type divides. */
static inline long draw_ints(struct env *e)
{
	switch (draw(e, 0, 5)) {
	case 0:
		return 0;
	case 1:
		return 6;
	case 2:
		return 6 * draw(e, 1, 100);
	case 3:
		return e->max_ints / 6 * 6;
	default:
		return 6 * draw(e, 1, 10);
	}
}

struct call {
	const struct itype *st, *rt; /* of this rank: others may differ */
	long ints;
	int root;
	unsigned salt;
	int in_place;
};

/* Types are drawn per rank, to have them differ between ranks. */
static inline struct call draw_call(struct env *e, const struct itype *types)
{
	struct call c = { .ints = draw_ints(e),
			  .root = draw(e, 0, e->size - 1),
			  .salt = draw(e, 0, 1000),
			  .in_place = draw(e, 0, 1) };

	for (int i = 0; i < e->size; i++) {
		int s = draw(e, 0, NTYPES - 1), r = draw(e, 0, NTYPES - 1);

		if (i == e->rank) {
			c.st = &types[s];
			c.rt = &types[r];
		}
	}
	return c;
}

/* A buffer that holds this rank's ints for `to`. */
static inline struct buf send_buf(struct env *e, const struct call *c, int to)
{
	long count = c->ints / c->st->k;
	struct buf b = buf_new(c->st, count);
	int *v = data(e->rank, to, c->ints, c->salt);

	buf_put(e, &b, c->st, 0, v, count);
	free(v);
	return b;
}

/* Put what `from` has for `to` into block i of a buffer of such blocks. */
static inline void expect(struct env *e, struct buf *b, const struct call *c,
			  const struct itype *t, int i, int from, int to)
{
	long count = c->ints / t->k;
	int *v = data(from, to, c->ints, c->salt);

	buf_put(e, b, t, i * count, v, count);
	free(v);
}

/* --- one block or one per rank --- */

static inline void case_barrier(struct env *e, const struct itype *types)
{
	CHECK(e, MPI_Barrier(e->comm) == MPI_SUCCESS);
}

static inline void case_bcast(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	long count = c.ints / c.st->k;
	struct buf got = buf_new(c.st, count), want = buf_new(c.st, count);

	if (e->rank == c.root)
		expect(e, &got, &c, c.st, 0, c.root, 0);
	expect(e, &want, &c, c.st, 0, c.root, 0);
	CHECK(e, MPI_Bcast(got.at, count, c.st->h, c.root, e->comm) ==
			 MPI_SUCCESS);
	buf_compare(e, &got, &want);
}

static inline void case_gather(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	long count = c.ints / c.rt->k;
	int root = e->rank == c.root, place = root && c.in_place;
	struct buf in = send_buf(e, &c, 0);
	struct buf got = buf_new(c.rt, count * e->size);
	struct buf want = buf_new(c.rt, count * e->size);

	if (place)
		expect(e, &got, &c, c.rt, e->rank, e->rank, 0);
	for (int i = 0; i < e->size && root; i++)
		expect(e, &want, &c, c.rt, i, i, 0);
	CHECK(e, MPI_Gather(place ? MPI_IN_PLACE : in.at, c.ints / c.st->k,
			    c.st->h, root ? got.at : NULL, count, c.rt->h,
			    c.root, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
}

static inline void case_scatter(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	long count = c.ints / c.st->k, rcount = c.ints / c.rt->k;
	int root = e->rank == c.root, place = root && c.in_place;
	struct buf in = buf_new(c.st, count * e->size);
	struct buf got = buf_new(c.rt, rcount), want = buf_new(c.rt, rcount);

	for (int i = 0; i < e->size && root; i++)
		expect(e, &in, &c, c.st, i, c.root, i);
	if (!place)
		expect(e, &want, &c, c.rt, 0, c.root, e->rank);
	CHECK(e, MPI_Scatter(root ? in.at : NULL, count, c.st->h,
			     place ? MPI_IN_PLACE : got.at, rcount, c.rt->h,
			     c.root, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
}

static inline void case_allgather(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	long count = c.ints / c.rt->k;
	struct buf in = send_buf(e, &c, 0);
	struct buf got = buf_new(c.rt, count * e->size);
	struct buf want = buf_new(c.rt, count * e->size);

	if (c.in_place)
		expect(e, &got, &c, c.rt, e->rank, e->rank, 0);
	for (int i = 0; i < e->size; i++)
		expect(e, &want, &c, c.rt, i, i, 0);
	CHECK(e, MPI_Allgather(c.in_place ? MPI_IN_PLACE : in.at,
			       c.ints / c.st->k, c.st->h, got.at, count,
			       c.rt->h, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
}

static inline void case_alltoall(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	long count = c.ints / c.rt->k, scount = c.ints / c.st->k;
	struct buf in = buf_new(c.st, scount * e->size);
	struct buf got = buf_new(c.rt, count * e->size);
	struct buf want = buf_new(c.rt, count * e->size);

	for (int i = 0; i < e->size; i++) {
		expect(e, &in, &c, c.st, i, e->rank, i);
		if (c.in_place)
			expect(e, &got, &c, c.rt, i, e->rank, i);
		expect(e, &want, &c, c.rt, i, i, e->rank);
	}
	CHECK(e,
	      MPI_Alltoall(c.in_place ? MPI_IN_PLACE : in.at, scount, c.st->h,
			   got.at, count, c.rt->h, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
}

/* --- blocks of different sizes: table[i * n + j] ints go from i to j --- */

struct table {
	int *ints;
	const struct itype *t;
	int *counts, *displs;
	long total; /* instances, with holes between the blocks */
};

static inline int *draw_table(struct env *e, int symmetric)
{
	int n = e->size, *v = malloc(n * n * sizeof(*v));

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			v[i * n + j] = symmetric && j < i ? v[j * n + i] :
							    (int)draw_ints(e);
	return v;
}

/* Blocks of @ints[i * step] ints as type t, in reverse order, with a hole. */
static inline struct table lay_out(struct env *e, const struct itype *t,
				   const int *ints, int step)
{
	struct table b = { .t = t };

	b.counts = malloc(e->size * sizeof(int));
	b.displs = malloc(e->size * sizeof(int));
	for (int i = e->size - 1; i >= 0; i--) {
		b.counts[i] = ints[i * step] / t->k;
		b.displs[i] = b.total;
		b.total += b.counts[i] + 1;
	}
	return b;
}

static inline void lay_free(struct table *b)
{
	free(b->counts);
	free(b->displs);
}

static inline void expect_v(struct env *e, struct buf *b, const struct table *l,
			    int i, int from, int to, unsigned salt)
{
	int *v = data(from, to, (long)l->counts[i] * l->t->k, salt);

	buf_put(e, b, l->t, l->displs[i], v, l->counts[i]);
	free(v);
}

static inline void case_gatherv(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	int *ints = draw_table(e, 0), root = e->rank == c.root;
	int place = root && c.in_place;
	struct table l = lay_out(e, c.rt, ints, 1);
	struct buf got = buf_new(c.rt, l.total), want = buf_new(c.rt, l.total);
	struct buf in;

	c.ints = ints[e->rank];
	in = send_buf(e, &c, 0);
	if (place)
		expect_v(e, &got, &l, e->rank, e->rank, 0, c.salt);
	for (int i = 0; i < e->size && root; i++)
		expect_v(e, &want, &l, i, i, 0, c.salt);
	CHECK(e, MPI_Gatherv(place ? MPI_IN_PLACE : in.at, c.ints / c.st->k,
			     c.st->h, root ? got.at : NULL,
			     root ? l.counts : NULL, root ? l.displs : NULL,
			     c.rt->h, c.root, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
	lay_free(&l);
	free(ints);
}

static inline void case_scatterv(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	int *ints = draw_table(e, 0), root = e->rank == c.root;
	int place = root && c.in_place;
	struct table l = lay_out(e, c.st, ints, 1);
	long count = ints[e->rank] / c.rt->k;
	struct buf in = buf_new(c.st, l.total);
	struct buf got = buf_new(c.rt, count), want = buf_new(c.rt, count);

	for (int i = 0; i < e->size && root; i++)
		expect_v(e, &in, &l, i, c.root, i, c.salt);
	c.ints = ints[e->rank];
	if (!place)
		expect(e, &want, &c, c.rt, 0, c.root, e->rank);
	CHECK(e, MPI_Scatterv(root ? in.at : NULL, l.counts, l.displs, c.st->h,
			      place ? MPI_IN_PLACE : got.at, count, c.rt->h,
			      c.root, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
	lay_free(&l);
	free(ints);
}

static inline void case_allgatherv(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	int *ints = draw_table(e, 0);
	struct table l = lay_out(e, c.rt, ints, 1);
	struct buf got = buf_new(c.rt, l.total), want = buf_new(c.rt, l.total);
	struct buf in;

	c.ints = ints[e->rank];
	in = send_buf(e, &c, 0);
	if (c.in_place)
		expect_v(e, &got, &l, e->rank, e->rank, 0, c.salt);
	for (int i = 0; i < e->size; i++)
		expect_v(e, &want, &l, i, i, 0, c.salt);
	CHECK(e, MPI_Allgatherv(c.in_place ? MPI_IN_PLACE : in.at,
				c.ints / c.st->k, c.st->h, got.at, l.counts,
				l.displs, c.rt->h, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
	lay_free(&l);
	free(ints);
}

static inline void case_alltoallv(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	int n = e->size, *ints = draw_table(e, c.in_place);
	struct table s = lay_out(e, c.st, ints + e->rank * n, 1);
	struct table r = lay_out(e, c.rt, ints + e->rank, n);
	struct buf in = buf_new(c.st, s.total);
	struct buf got = buf_new(c.rt, r.total), want = buf_new(c.rt, r.total);

	for (int i = 0; i < n; i++) {
		expect_v(e, &in, &s, i, e->rank, i, c.salt);
		if (c.in_place)
			expect_v(e, &got, &r, i, e->rank, i, c.salt);
		expect_v(e, &want, &r, i, i, e->rank, c.salt);
	}
	CHECK(e, MPI_Alltoallv(c.in_place ? MPI_IN_PLACE : in.at, s.counts,
			       s.displs, c.st->h, got.at, r.counts, r.displs,
			       c.rt->h, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
	lay_free(&s);
	lay_free(&r);
	free(ints);
}

/* As alltoallv with two types in turn, and displacements in bytes. */
static inline void case_alltoallw(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	int n = e->size, *ints = draw_table(e, 0);
	struct table s = lay_out(e, c.st, ints + e->rank * n, 1);
	struct table r = lay_out(e, c.rt, ints + e->rank, n);
	struct buf in = buf_new(c.st, s.total);
	struct buf got = buf_new(c.rt, r.total), want = buf_new(c.rt, r.total);
	MPI_Datatype *st = malloc(n * sizeof(*st));
	MPI_Datatype *rt = malloc(n * sizeof(*rt));

	for (int i = 0; i < n; i++) {
		expect_v(e, &in, &s, i, e->rank, i, c.salt);
		expect_v(e, &want, &r, i, i, e->rank, c.salt);
		s.displs[i] *= c.st->extent;
		r.displs[i] *= c.rt->extent;
		st[i] = s.counts[i] ? c.st->h : MPI_DATATYPE_NULL;
		rt[i] = c.rt->h;
	}
	CHECK(e, MPI_Alltoallw(in.at, s.counts, s.displs, st, got.at, r.counts,
			       r.displs, rt, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
	free(st);
	free(rt);
	lay_free(&s);
	lay_free(&r);
	free(ints);
}

/* --- reductions --- */

#define MODULUS 10007

/* 2x2 matrices, four ints one after the other, `gap` ints apart. */
static inline void matrix_times(const int *a, int *b)
{
	int c[4] = { (a[0] * b[0] + a[1] * b[2]) % MODULUS,
		     (a[0] * b[1] + a[1] * b[3]) % MODULUS,
		     (a[2] * b[0] + a[3] * b[2]) % MODULUS,
		     (a[2] * b[1] + a[3] * b[3]) % MODULUS };

	memcpy(b, c, sizeof(c));
}

static inline void matrix_fn(void *in, void *inout, int *len, MPI_Datatype *dt)
{
	MPI_Aint lb, extent;

	MPI_Type_get_extent(*dt, &lb, &extent);
	for (int i = 0; i < *len; i++)
		matrix_times((int *)((char *)in + i * extent),
			     (int *)((char *)inout + i * extent));
}

static inline void matrix_fn_c(void *in, void *inout, MPI_Count *len,
			       MPI_Datatype *dt)
{
	int n = *len;

	matrix_fn(in, inout, &n, dt);
}

/* An operation on elements of k ints, and its result over ranks [0, last]. */
struct reduction {
	MPI_Op op;
	struct itype t;
	int user; /* matrices */
};

static inline struct reduction draw_reduction(struct env *e)
{
	struct reduction r = { .op = MPI_SUM };
	MPI_Datatype h;

	r.user = draw(e, 0, 1);
	r.t = (struct itype){ MPI_INT, 1, 0, 4, 0, 4 };
	if (!r.user) {
		MPI_Op ops[] = { MPI_SUM, MPI_MAX, MPI_MIN, MPI_BXOR };

		r.op = ops[draw(e, 0, 3)];
		return r;
	}
	if (draw(e, 0, 1))
		MPI_Op_create(matrix_fn, 0, &r.op);
	else
		MPI_Op_create_c(matrix_fn_c, 0, &r.op);
	MPI_Type_contiguous(4, MPI_INT, &h);
	if (draw(e, 0, 1)) {
		MPI_Datatype gapped;

		MPI_Type_create_resized(h, -8, 28, &gapped);
		MPI_Type_free(&h);
		h = gapped;
	}
	r.t = itype_of(h);
	return r;
}

static inline void reduction_free(struct reduction *r)
{
	if (!r->user)
		return;
	MPI_Op_free(&r->op);
	MPI_Type_free(&r->t.h);
}

static inline int *operand(const struct reduction *r, int rank, long elems,
			   unsigned salt)
{
	int *v = data(rank, 0, elems * r->t.k, salt);

	for (long i = 0; r->user && i < elems * r->t.k; i++)
		v[i] %= MODULUS;
	return v;
}

static inline void apply_one(const struct reduction *r, const int *a, int *b)
{
	if (r->user)
		matrix_times(a, b);
	else if (r->op == MPI_SUM)
		*b += *a;
	else if (r->op == MPI_MAX)
		*b = *a > *b ? *a : *b;
	else if (r->op == MPI_MIN)
		*b = *a < *b ? *a : *b;
	else
		*b ^= *a;
}

/* Operand first op … op operand last, in this order. */
static inline int *reduced(const struct reduction *r, int first, int last,
			   long elems, unsigned salt)
{
	int *v = operand(r, last, elems, salt);

	for (int i = last - 1; i >= first; i--) {
		int *a = operand(r, i, elems, salt);

		for (long j = 0; j < elems; j++)
			apply_one(r, a + j * r->t.k, v + j * r->t.k);
		free(a);
	}
	return v;
}

static inline struct buf operand_buf(struct env *e, const struct reduction *r,
				     long elems, unsigned salt)
{
	struct buf b = buf_new(&r->t, elems);
	int *v = operand(r, e->rank, elems, salt);

	buf_put(e, &b, &r->t, 0, v, elems);
	free(v);
	return b;
}

static inline void case_reduce(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	struct reduction r = draw_reduction(e);
	long n = c.ints / 2;
	int root = e->rank == c.root, place = root && c.in_place;
	struct buf in = operand_buf(e, &r, n, c.salt), want = buf_new(&r.t, n);
	struct buf got = place ? operand_buf(e, &r, n, c.salt) :
				 buf_new(&r.t, n);

	if (root) {
		int *v = reduced(&r, 0, e->size - 1, n, c.salt);

		buf_put(e, &want, &r.t, 0, v, n);
		free(v);
	}
	CHECK(e, MPI_Reduce(place ? MPI_IN_PLACE : in.at, root ? got.at : NULL,
			    n, r.t.h, r.op, c.root, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
	reduction_free(&r);
}

static inline void case_allreduce(struct env *e, const struct itype *types)
{
	struct call c = draw_call(e, types);
	struct reduction r = draw_reduction(e);
	long n = c.ints / 2;
	struct buf in = operand_buf(e, &r, n, c.salt), want = buf_new(&r.t, n);
	struct buf got = c.in_place ? operand_buf(e, &r, n, c.salt) :
				      buf_new(&r.t, n);
	int *v = reduced(&r, 0, e->size - 1, n, c.salt);

	buf_put(e, &want, &r.t, 0, v, n);
	free(v);
	CHECK(e, MPI_Allreduce(c.in_place ? MPI_IN_PLACE : in.at, got.at, n,
			       r.t.h, r.op, e->comm) == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
	reduction_free(&r);
}

static inline void scan_case(struct env *e, const struct itype *types, int ex)
{
	struct call c = draw_call(e, types);
	struct reduction r = draw_reduction(e);
	long n = c.ints / 2;
	int last = e->rank - ex, err;
	const void *from;
	struct buf in = operand_buf(e, &r, n, c.salt), want, got;

	got = c.in_place ? operand_buf(e, &r, n, c.salt) : buf_new(&r.t, n);
	want = c.in_place ? operand_buf(e, &r, n, c.salt) : buf_new(&r.t, n);
	if (last >= 0) { /* the result of exscan at rank 0 is not defined */
		int *v = reduced(&r, 0, last, n, c.salt);

		buf_put(e, &want, &r.t, 0, v, n);
		free(v);
	}
	from = c.in_place ? MPI_IN_PLACE : in.at;
	if (ex)
		err = MPI_Exscan(from, got.at, n, r.t.h, r.op, e->comm);
	else
		err = MPI_Scan(from, got.at, n, r.t.h, r.op, e->comm);
	CHECK(e, err == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(in.mem);
	reduction_free(&r);
}

static inline void case_scan(struct env *e, const struct itype *types)
{
	scan_case(e, types, 0);
}

static inline void case_exscan(struct env *e, const struct itype *types)
{
	scan_case(e, types, 1);
}

static inline void reduce_scatter_case(struct env *e, const struct itype *types,
				       int block)
{
	struct call c = draw_call(e, types);
	struct reduction r = draw_reduction(e);
	int n = e->size, *counts = malloc(n * sizeof(*counts));
	long total = 0, start = 0;
	struct buf in, got, want;
	const void *from;
	int *v, err;

	for (int i = 0; i < n; i++) {
		counts[i] = block && i ? counts[0] : draw_ints(e) / 3;
		start += i < e->rank ? counts[i] : 0;
		total += counts[i];
	}
	in = operand_buf(e, &r, total, c.salt);
	got = c.in_place ? operand_buf(e, &r, total, c.salt) :
			   buf_new(&r.t, total);
	want = c.in_place ? operand_buf(e, &r, total, c.salt) :
			    buf_new(&r.t, total);
	v = reduced(&r, 0, n - 1, total, c.salt);
	buf_put(e, &want, &r.t, 0, v + start * r.t.k, counts[e->rank]);
	from = c.in_place ? MPI_IN_PLACE : in.at;
	if (block)
		err = MPI_Reduce_scatter_block(from, got.at, counts[0], r.t.h,
					       r.op, e->comm);
	else
		err = MPI_Reduce_scatter(from, got.at, counts, r.t.h, r.op,
					 e->comm);
	CHECK(e, err == MPI_SUCCESS);
	buf_compare(e, &got, &want);
	free(v);
	free(in.mem);
	free(counts);
	reduction_free(&r);
}

static inline void case_reduce_scatter(struct env *e, const struct itype *types)
{
	reduce_scatter_case(e, types, 0);
}

static inline void case_reduce_scatter_block(struct env *e,
					     const struct itype *types)
{
	reduce_scatter_case(e, types, 1);
}

/* --- all of them --- */

struct coll_case {
	const char *name;
	void (*run)(struct env *e, const struct itype *types);
};

static const struct coll_case coll_cases[] = {
	{ "barrier", case_barrier },
	{ "bcast", case_bcast },
	{ "gather", case_gather },
	{ "gatherv", case_gatherv },
	{ "scatter", case_scatter },
	{ "scatterv", case_scatterv },
	{ "allgather", case_allgather },
	{ "allgatherv", case_allgatherv },
	{ "alltoall", case_alltoall },
	{ "alltoallv", case_alltoallv },
	{ "alltoallw", case_alltoallw },
	{ "reduce", case_reduce },
	{ "allreduce", case_allreduce },
	{ "scan", case_scan },
	{ "exscan", case_exscan },
	{ "reduce_scatter", case_reduce_scatter },
	{ "reduce_scatter_block", case_reduce_scatter_block },
};
#define COLL_CASES ((int)(sizeof(coll_cases) / sizeof(*coll_cases)))

/* @n random calls, of one collective or, when which is -1, of any. */
static inline void run_cases(struct env *e, int which, int n)
{
	struct itype types[NTYPES];

	make_types(types);
	for (int i = 0; i < n; i++) {
		int k = which < 0 ? (int)draw(e, 0, COLL_CASES - 1) : which;

		e->what = coll_cases[k].name;
		coll_cases[k].run(e, types);
	}
	free_types(types);
}

#endif
