/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: mpi/datatype.c mpi/datatype_array.c mpi/datatype_build.c mpi/datatype_contents.c mpi/datatype_darray.c mpi/datatype_indexed.c mpi/datatype_layout.c mpi/datatype_pack.c mpi/datatype_packed.c mpi/datatype_query.c mpi/datatype_table.c mpi/handle_int.c */
/*
 * Datatypes against a naive reference: a type map written out byte by byte.
 * Random trees of constructors are built in both; size, bounds, packing from
 * any offset, segments and elements must agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../mpi/datatype.h"

/* --- the rest of the MPI library, as far as it is needed here --- */

struct mpii_comm mpii_world = { .obj = { .magic = MPII_COMM } }, mpii_self;
static int last_error;

int mpii_error(struct mpii_comm *c, int code, const char *func,
	       const char *fmt, ...)
{
	last_error = code;
	return code;
}

int mpii_raise(struct mpii_comm *c, int code, const char *func)
{
	last_error = code;
	return code;
}

int mpii_fail(int code, const char *fmt, ...)
{
	return code;
}

int mpii_no_mem(struct mpii_comm *c, const char *func)
{
	return MPI_ERR_NO_MEM;
}

int mpii_bad_null(struct mpii_comm *c, const char *func, const char *arg)
{
	return MPI_ERR_ARG;
}

int mpii_bad_comm(MPI_Comm comm, const char *func)
{
	return MPI_ERR_COMM;
}

int mpii_bad_type(struct mpii_comm *c, MPI_Datatype type, const char *func,
		  const char *arg)
{
	return last_error = MPI_ERR_TYPE;
}

int mpii_bad_count(struct mpii_comm *c, MPI_Count count, const char *func,
		   const char *arg)
{
	return last_error = MPI_ERR_COUNT;
}

int mpii_attr_copy_all(enum mpii_attr_kind kind, void *handle,
		       struct mpii_attr *from, struct mpii_attr **to)
{
	assert_null(from); /* no type here has attributes */
	return MPI_SUCCESS;
}

int mpii_attr_delete_all(enum mpii_attr_kind kind, void *handle,
			 struct mpii_attr **list)
{
	assert_null(*list);
	return MPI_SUCCESS;
}

/* --- the reference --- */

#define MAX_BYTES 20000

struct ref {
	long n;	       /* bytes */
	long *at;      /* displacement of each, in the order of the type map */
	long nelem;    /* basic elements */
	long *elem;    /* where each ends in the packed form */
	long lb, ub;   /* extent as MPI reports it: ub - lb */
	long mlb, mub; /* bounds from markers */
	bool any, marked;
	int align;
};

static struct ref *ref_new(void)
{
	struct ref *r = calloc(1, sizeof(*r));

	r->at = malloc(MAX_BYTES * sizeof(long));
	r->elem = malloc(MAX_BYTES * sizeof(long));
	r->align = 1;
	return r;
}

static void ref_free(struct ref *r)
{
	free(r->at);
	free(r->elem);
	free(r);
}

static struct ref *ref_basic(MPI_Datatype h)
{
	const struct mpii_type *t = mpii_type_get(h);
	struct ref *r = ref_new();

	for (long i = 0; i < t->size; i++)
		r->at[r->n++] = i;
	r->elem[r->nelem++] = r->n;
	r->ub = t->extent;
	r->any = true;
	r->align = t->align;
	return r;
}

static bool ref_fits(const struct ref *r, const struct ref *old, long copies)
{
	return r->n + copies * old->n <= MAX_BYTES;
}

static void ref_bound(long *lo, long *hi, bool first, long a, long b)
{
	if (first || a < *lo)
		*lo = a;
	if (first || b > *hi)
		*hi = b;
}

static void ref_add(struct ref *r, long disp, const struct ref *old)
{
	long base = r->n;

	if (!old->n && !old->marked)
		return;
	for (long i = 0; i < old->n; i++)
		r->at[r->n++] = disp + old->at[i];
	for (long i = 0; i < old->nelem; i++)
		r->elem[r->nelem++] = base + old->elem[i];
	if (old->marked) {
		ref_bound(&r->mlb, &r->mub, !r->marked, disp + old->lb,
			  disp + old->ub);
		r->marked = true;
	} else {
		/* unmarked: lb and ub come from the data */
		ref_bound(&r->lb, &r->ub, !r->any, disp + old->lb,
			  disp + old->ub);
		r->any = true;
	}
	if (old->align > r->align)
		r->align = old->align;
}

static void ref_end(struct ref *r)
{
	if (r->marked) {
		r->lb = r->mlb;
		r->ub = r->mub;
	} else if ((r->ub - r->lb) % r->align > 0) {
		r->ub += r->align - (r->ub - r->lb) % r->align;
	}
}

static long ref_extent(const struct ref *r)
{
	return r->ub - r->lb;
}

/* --- random trees --- */

struct node {
	MPI_Datatype h;
	struct ref *r;
};

static unsigned long long seed = 12345;

static long rnd(long lo, long hi)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return lo + (long)((seed >> 33) % (unsigned long)(hi - lo + 1));
}

static struct node node_basic(void)
{
	static const MPI_Datatype basics[] = {
		MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_SHORT, MPI_BYTE, MPI_FLOAT,
		MPI_LONG, MPI_C_DOUBLE_COMPLEX,
	};
	MPI_Datatype h = basics[rnd(0, 7)];

	return (struct node){ h, ref_basic(h) };
}

static void node_free(struct node *n)
{
	if (!mpii_type_get(n->h)->predefined)
		assert_int_equal(PMPI_Type_free(&n->h), MPI_SUCCESS);
	ref_free(n->r);
}

static void add_blocks(struct ref *r, long disp, long bl, const struct ref *old)
{
	for (long j = 0; j < bl; j++)
		ref_add(r, disp + j * ref_extent(old), old);
}

static struct node random_type(int depth);

static void make_vector(struct node *n, struct node *old)
{
	long count = rnd(0, 5), bl = rnd(0, 4), stride = rnd(-6, 8);
	bool bytes = rnd(0, 1);
	long step = bytes ? stride * 3 : stride * ref_extent(old->r);

	if (!ref_fits(n->r, old->r, count * bl))
		count = 0;
	if (bytes)
		PMPI_Type_create_hvector(count, bl, stride * 3, old->h, &n->h);
	else
		PMPI_Type_vector(count, bl, stride, old->h, &n->h);
	for (long i = 0; i < count; i++)
		add_blocks(n->r, i * step, bl, old->r);
}

static void make_contiguous(struct node *n, struct node *old)
{
	long count = rnd(0, 6);

	if (!ref_fits(n->r, old->r, count))
		count = 0;
	PMPI_Type_contiguous(count, old->h, &n->h);
	add_blocks(n->r, 0, count, old->r);
}

static void make_indexed(struct node *n, struct node *old)
{
	int count = rnd(0, 6), bl[6], disp[6];
	MPI_Aint addr[6];
	bool bytes = rnd(0, 1), block = rnd(0, 1);

	if (!ref_fits(n->r, old->r, count * 3))
		count = 0;
	for (int i = 0; i < count; i++) {
		bl[i] = block && i ? bl[0] : rnd(0, 3);
		disp[i] = rnd(0, 3) ? i * 3 : rnd(-4, 12);
		addr[i] = disp[i] * 2;
		add_blocks(n->r, bytes ? addr[i] : disp[i] * ref_extent(old->r),
			   bl[i], old->r);
	}
	if (block && bytes)
		PMPI_Type_create_hindexed_block(count, count ? bl[0] : 1, addr,
						old->h, &n->h);
	else if (block)
		PMPI_Type_create_indexed_block(count, count ? bl[0] : 1, disp,
					       old->h, &n->h);
	else if (bytes)
		PMPI_Type_create_hindexed(count, bl, addr, old->h, &n->h);
	else
		PMPI_Type_indexed(count, bl, disp, old->h, &n->h);
}

static void make_struct(struct node *n, struct node *old, int depth)
{
	struct node part[4] = { *old };
	MPI_Datatype types[4];
	MPI_Aint addr[4];
	int count = rnd(1, 4), bl[4];

	for (int i = 0; i < count; i++) {
		if (i)
			part[i] = random_type(depth - 1);
		types[i] = part[i].h;
		bl[i] = rnd(0, 2);
		addr[i] = rnd(-20, 100);
		if (!ref_fits(n->r, part[i].r, bl[i]))
			bl[i] = 0;
		add_blocks(n->r, addr[i], bl[i], part[i].r);
	}
	PMPI_Type_create_struct(count, bl, addr, types, &n->h);
	for (int i = 1; i < count; i++)
		node_free(&part[i]);
}

static void make_subarray(struct node *n, struct node *old)
{
	int nd = rnd(1, 4), size[4], sub[4], start[4], idx[4] = { 0 };
	int order = rnd(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
	long total = 1, elems = 1, i;

	for (i = 0; i < nd; i++) {
		size[i] = rnd(1, 4);
		sub[i] = rnd(1, size[i]);
		start[i] = rnd(0, size[i] - sub[i]);
		total *= size[i];
		elems *= sub[i];
	}
	if (!ref_fits(n->r, old->r, elems)) {
		make_contiguous(n, old);
		return;
	}
	PMPI_Type_create_subarray(nd, size, sub, start, order, old->h, &n->h);
	for (long e = 0; e < elems; e++) {
		long pos = 0, k = e;

		/* e counts through the subarray, fastest dimension first */
		for (i = 0; i < nd; i++) {
			int d = order == MPI_ORDER_C ? nd - 1 - i : i;

			idx[d] = start[d] + k % sub[d];
			k /= sub[d];
		}
		for (i = nd - 1; i >= 0; i--) {
			int d = order == MPI_ORDER_C ? nd - 1 - i : i;

			pos = pos * size[d] + idx[d];
		}
		ref_add(n->r, pos * ref_extent(old->r), old->r);
	}
	n->r->marked = true;
	n->r->mlb = 0;
	n->r->mub = total * ref_extent(old->r);
}

struct grid {
	int nd, gsize[3], dist[3], darg[3], psize[3], order, rank, size;
};

static struct grid draw_grid(void)
{
	static const int dists[] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK,
				     MPI_DISTRIBUTE_CYCLIC };
	struct grid g = { .nd = rnd(1, 3), .size = 1 };

	for (int i = 0; i < g.nd; i++) {
		g.gsize[i] = rnd(1, 7);
		g.dist[i] = dists[rnd(0, 2)];
		g.psize[i] = g.dist[i] == MPI_DISTRIBUTE_NONE ? 1 : rnd(1, 3);
		g.darg[i] = MPI_DISTRIBUTE_DFLT_DARG;
		if (g.dist[i] == MPI_DISTRIBUTE_CYCLIC && rnd(0, 1))
			g.darg[i] = rnd(1, 4);
		if (g.dist[i] == MPI_DISTRIBUTE_BLOCK && rnd(0, 1))
			g.darg[i] = rnd(3, 5) + 2 / g.psize[i] * 5;
		g.size *= g.psize[i];
	}
	g.order = rnd(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
	g.rank = rnd(0, g.size - 1);
	return g;
}

/* The process that has element k of dimension i. */
static int grid_owner(const struct grid *g, int i, int k)
{
	int b = g->darg[i];

	if (b == MPI_DISTRIBUTE_DFLT_DARG)
		b = g->dist[i] == MPI_DISTRIBUTE_BLOCK ?
			    (g->gsize[i] + g->psize[i] - 1) / g->psize[i] : 1;
	if (g->dist[i] == MPI_DISTRIBUTE_NONE)
		return 0;
	return k / b % g->psize[i];
}

static void make_darray(struct node *n, struct node *old)
{
	struct grid g = draw_grid();
	long total = 1;

	for (int i = 0; i < g.nd; i++)
		total *= g.gsize[i];
	if (!ref_fits(n->r, old->r, total)) {
		make_contiguous(n, old);
		return;
	}
	assert_int_equal(PMPI_Type_create_darray(g.size, g.rank, g.nd, g.gsize,
						 g.dist, g.darg, g.psize,
						 g.order, old->h, &n->h), 0);
	for (long e = 0; e < total; e++) {
		int owner[3], rank = 0;
		long k = e;

		for (int j = 0; j < g.nd; j++) {
			int d = g.order == MPI_ORDER_C ? g.nd - 1 - j : j;

			owner[d] = grid_owner(&g, d, k % g.gsize[d]);
			k /= g.gsize[d];
		}
		for (int d = 0; d < g.nd; d++)
			rank = rank * g.psize[d] + owner[d];
		if (rank == g.rank)
			ref_add(n->r, e * ref_extent(old->r), old->r);
	}
	n->r->marked = true;
	n->r->mlb = 0;
	n->r->mub = total * ref_extent(old->r);
}

static void make_resized(struct node *n, struct node *old)
{
	long lb = rnd(-10, 10), extent = rnd(-5, 60);

	PMPI_Type_create_resized(old->h, lb, extent, &n->h);
	ref_add(n->r, 0, old->r);
	n->r->marked = true;
	n->r->mlb = lb;
	n->r->mub = lb + extent;
}

static void make_dup(struct node *n, struct node *old)
{
	PMPI_Type_dup(old->h, &n->h);
	ref_add(n->r, 0, old->r);
}

static struct node random_type(int depth)
{
	struct node n, old;

	if (depth <= 0)
		return node_basic();
	old = random_type(depth - rnd(1, 2));
	n.h = NULL;
	n.r = ref_new();
	switch (rnd(0, 7)) {
	case 0:
		make_contiguous(&n, &old);
		break;
	case 1:
		make_vector(&n, &old);
		break;
	case 2:
		make_indexed(&n, &old);
		break;
	case 3:
		make_struct(&n, &old, depth);
		break;
	case 4:
		make_subarray(&n, &old);
		break;
	case 5:
		make_resized(&n, &old);
		break;
	case 6:
		make_dup(&n, &old);
		break;
	case 7:
		make_darray(&n, &old);
		break;
	}
	ref_end(n.r);
	assert_non_null(mpii_type_get(n.h));
	node_free(&old);
	return n;
}

/* --- comparisons --- */

static void check_bounds(const struct node *n)
{
	const struct mpii_type *t = mpii_type_get(n->h);
	long lo = 0, hi = 0;

	for (long i = 0; i < n->r->n; i++)
		ref_bound(&lo, &hi, i == 0, n->r->at[i], n->r->at[i] + 1);
	assert_int_equal(t->size, n->r->n);
	assert_int_equal(t->lb, n->r->lb);
	assert_int_equal(t->extent, ref_extent(n->r));
	assert_int_equal(t->true_lb, lo);
	/* the last byte of a predefined type is data here */
	assert_int_equal(t->true_extent, hi - lo);
	assert_int_equal(t->nbasic, n->r->nelem);
}

/* The byte that packed byte i of count instances is at. */
static long ref_place(const struct ref *r, long i)
{
	return i / r->n * ref_extent(r) + r->at[i % r->n];
}

#define SPAN (1 << 20)
static unsigned char memory[2 * SPAN], copy[2 * SPAN], packed[4 * MAX_BYTES];

static bool in_span(const struct node *n, int count)
{
	for (long i = 0; i < n->r->n * count; i++)
		if (labs(ref_place(n->r, i)) >= SPAN)
			return false;
	return true;
}

static void check_pack(const struct node *n, int count)
{
	const struct mpii_type *t = mpii_type_get(n->h);
	long total = n->r->n * count;

	for (int k = 0; k < 4; k++) {
		long off = k ? rnd(0, total) : 0;
		long len = k ? rnd(0, total - off) : total;

		mpii_pack(t, memory + SPAN, count, off, packed, len);
		for (long i = 0; i < len; i++)
			assert_int_equal(packed[i],
					 memory[SPAN + ref_place(n->r,
								 off + i)]);
	}
}

/* Overlapping types have no defined result of unpacking byte by byte; ours goes
 * in order, as the reference does. */
static void check_unpack(const struct node *n, int count)
{
	const struct mpii_type *t = mpii_type_get(n->h);
	long total = n->r->n * count, off = rnd(0, total);
	long len = rnd(0, total - off), lo = 0, hi = 0;
	static unsigned char want[2 * SPAN];

	for (long i = 0; i < total; i++)
		ref_bound(&lo, &hi, i == 0, ref_place(n->r, i),
			  ref_place(n->r, i) + 1);
	for (long i = 0; i < len; i++)
		packed[i] = rnd(0, 255);
	memcpy(want + SPAN + lo, memory + SPAN + lo, hi - lo);
	memcpy(copy + SPAN + lo, memory + SPAN + lo, hi - lo);
	for (long i = 0; i < len; i++)
		want[SPAN + ref_place(n->r, off + i)] = packed[i];
	mpii_unpack(t, copy + SPAN, count, off, packed, len);
	assert_memory_equal(want + SPAN + lo, copy + SPAN + lo, hi - lo);
}

static void check_segs(const struct node *n, int count)
{
	static struct o2g_seg segs[4 * MAX_BYTES];
	const struct mpii_type *t = mpii_type_get(n->h);
	size_t all = mpii_type_segs(t, memory + SPAN, count, segs,
				    4 * MAX_BYTES);
	long k = 0;

	assert_int_equal(all, mpii_type_segs(t, memory + SPAN, count, NULL, 0));
	assert_true(all <= 4 * MAX_BYTES);
	for (size_t i = 0; i < all; i++)
		for (size_t j = 0; j < segs[i].len; j++, k++)
			assert_ptr_equal((char *)segs[i].base + j,
					 memory + SPAN + ref_place(n->r, k));
	assert_int_equal(k, n->r->n * count);
}

static void check_elements(const struct node *n)
{
	const struct mpii_type *t = mpii_type_get(n->h);

	for (int k = 0; k < 5 && n->r->n; k++) {
		long bytes = rnd(0, 2 * n->r->n), rest = bytes % n->r->n;
		long want = bytes / n->r->n * n->r->nelem, i = 0;

		while (rest && n->r->elem[i] < rest)
			i++;
		if (rest)
			want = n->r->elem[i] == rest ? want + i + 1 :
						       MPI_UNDEFINED;
		assert_int_equal(mpii_type_elements(t, bytes), want);
	}
}

static void random_trees__agree_with_type_map(void **state)
{
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = rnd(0, 255);
	for (int i = 0; i < 6000; i++) {
		struct node n = random_type(rnd(1, 5));
		int count = rnd(0, 3);

		check_bounds(&n);
		if (in_span(&n, count)) {
			check_pack(&n, count);
			check_unpack(&n, count);
			check_segs(&n, count);
		}
		check_elements(&n);
		node_free(&n);
	}
}

/* --- particular layouts --- */

static void vector__without_gap_is_contiguous(void **state)
{
	MPI_Datatype h;

	PMPI_Type_vector(10, 4, 4, MPI_DOUBLE, &h);
	assert_true(mpii_type_get(h)->contiguous);
	assert_int_equal(mpii_type_get(h)->nblocks, 1);
	PMPI_Type_free(&h);
	assert_ptr_equal(h, MPI_DATATYPE_NULL);
}

static void vector__huge_is_compact(void **state)
{
	MPI_Datatype v, vv, vvv;
	MPI_Count size;

	PMPI_Type_vector(1 << 30, 1, 2, MPI_DOUBLE, &v);
	PMPI_Type_create_hvector(1 << 20, 1, 1 << 10, v, &vv);
	PMPI_Type_create_hvector(1 << 4, 1, 24, vv, &vvv);
	assert_int_equal(mpii_type_get(vvv)->nblocks, 1);
	assert_int_equal(PMPI_Type_size_x(vvv, &size), 0);
	assert_true(size == (MPI_Count)8 << 54);
	PMPI_Type_free(&v);
	PMPI_Type_free(&vv);
	PMPI_Type_free(&vvv);
}

static void indexed__regular_is_one_run(void **state)
{
	int disp[1000], bl[1000];
	MPI_Datatype h;

	for (int i = 0; i < 1000; i++) {
		disp[i] = 5 * (i / 2) + i % 2;
		bl[i] = 1;
	}
	PMPI_Type_indexed(1000, bl, disp, MPI_INT, &h);
	assert_int_equal(mpii_type_get(h)->nblocks, 1);
	assert_int_equal(mpii_type_get(h)->blocks[0].n, 500);
	assert_int_equal(mpii_type_get(h)->blocks[0].len, 8);
	PMPI_Type_free(&h);
}

static void size__of_more_than_63_bits_is_refused(void **state)
{
	MPI_Datatype a, b = MPI_INT;

	PMPI_Type_contiguous_c((MPI_Count)1 << 60, MPI_CHAR, &a);
	assert_int_equal(PMPI_Type_contiguous(16, a, &b), MPI_ERR_COUNT);
	assert_ptr_equal(b, MPI_INT);
	PMPI_Type_free(&a);
}

static void predefined__are_what_C_says(void **state)
{
	struct { MPI_Datatype h; int size, extent; const char *name; } t[] = {
		{ MPI_CHAR, 1, 1, "MPI_CHAR" },
		{ MPI_INT, sizeof(int), sizeof(int), "MPI_INT" },
		{ MPI_LONG_DOUBLE, sizeof(long double), sizeof(long double),
		  "MPI_LONG_DOUBLE" },
		{ MPI_DOUBLE_INT, 12, 16, "MPI_DOUBLE_INT" },
		{ MPI_SHORT_INT, 6, 8, "MPI_SHORT_INT" },
		{ MPI_LONG_DOUBLE_INT, 20, 32, "MPI_LONG_DOUBLE_INT" },
		{ MPI_2DOUBLE_PRECISION, 16, 16, "MPI_2DOUBLE_PRECISION" },
		{ MPI_COMPLEX32, 32, 32, "MPI_COMPLEX32" },
		{ MPI_REAL2, 2, 2, "MPI_REAL2" },
		{ MPI_AINT, 8, 8, "MPI_AINT" },
		{ MPI_CXX_BOOL, 1, 1, "MPI_CXX_BOOL" },
	};
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Aint lb, extent;
	int size, len;

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		PMPI_Type_size(t[i].h, &size);
		PMPI_Type_get_extent(t[i].h, &lb, &extent);
		PMPI_Type_get_name(t[i].h, name, &len);
		assert_int_equal(size, t[i].size);
		assert_int_equal(lb, 0);
		assert_int_equal(extent, t[i].extent);
		assert_string_equal(name, t[i].name);
		assert_int_equal(len, strlen(name));
	}
}

static void predefined__sit_at_their_handle(void **state)
{
	int n = 0;

	for (uintptr_t v = MPII_TYPE_FIRST;
	     v < MPII_TYPE_FIRST + MPII_TYPE_COUNT; v++) {
		struct mpii_type *t = mpii_type_get((MPI_Datatype)v);

		if (!t)
			continue;
		n++;
		assert_ptr_equal(t->handle, (MPI_Datatype)v);
		assert_true(t->committed && t->predefined);
		assert_true(t->blocks == &t->one || t->nblocks == 2);
	}
	assert_int_equal(n, 70); /* values in the ABI's table */
	assert_null(mpii_type_get(MPI_DATATYPE_NULL));
	assert_null(mpii_type_get(NULL));
	assert_null(mpii_type_get((MPI_Datatype)(uintptr_t)33));
}

static void contents__give_the_arguments_back(void **state)
{
	int bl[] = { 2, 3 }, ints[8], ni, na, nd, combiner;
	MPI_Aint disp[] = { 0, 40 }, addrs[4];
	MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE }, got[4], h, d;

	PMPI_Type_create_struct(2, bl, disp, types, &h);
	PMPI_Type_get_envelope(h, &ni, &na, &nd, &combiner);
	assert_int_equal(ni, 3);
	assert_int_equal(na, 2);
	assert_int_equal(nd, 2);
	assert_int_equal(combiner, MPI_COMBINER_STRUCT);
	PMPI_Type_get_contents(h, 8, 4, 4, ints, addrs, got);
	assert_int_equal(ints[0], 2);
	assert_int_equal(ints[2], 3);
	assert_int_equal(addrs[1], 40);
	assert_ptr_equal(got[1], MPI_DOUBLE);
	assert_int_equal(PMPI_Type_get_contents(h, 2, 4, 4, ints, addrs, got),
			 MPI_ERR_ARG);
	PMPI_Type_dup(h, &d);
	PMPI_Type_free(&h);
	PMPI_Type_get_contents(d, 0, 0, 1, ints, addrs, got);
	assert_non_null(mpii_type_get(got[0]));
	PMPI_Type_free(&got[0]);
	PMPI_Type_free(&d);
}

/* Without blocks there may be no arrays, and there is nothing in it. */
static void contents__of_an_empty_struct(void **state)
{
	MPI_Count ni, na, nc, nd;
	int i, j, k, combiner;
	MPI_Datatype h;

	assert_int_equal(PMPI_Type_create_struct(0, NULL, NULL, NULL, &h),
			 MPI_SUCCESS);
	PMPI_Type_get_envelope(h, &i, &j, &k, &combiner);
	assert_int_equal(combiner, MPI_COMBINER_STRUCT);
	assert_true(i == 1 && j == 0 && k == 0);
	PMPI_Type_free(&h);
	assert_int_equal(PMPI_Type_create_struct_c(0, NULL, NULL, NULL, &h),
			 MPI_SUCCESS);
	PMPI_Type_get_envelope_c(h, &ni, &na, &nc, &nd, &combiner);
	assert_true(ni == 0 && na == 0 && nc == 1 && nd == 0);
	PMPI_Type_free(&h);
}

static void contents__of_large_calls_are_counts(void **state)
{
	MPI_Count ni, na, nc, nd, counts[4];
	MPI_Datatype h, got;
	int combiner, i, j, k;

	PMPI_Type_create_hvector_c(3, 2, 100, MPI_INT, &h);
	PMPI_Type_get_envelope_c(h, &ni, &na, &nc, &nd, &combiner);
	assert_int_equal(combiner, MPI_COMBINER_HVECTOR);
	assert_true(ni == 0 && na == 0 && nc == 3 && nd == 1);
	PMPI_Type_get_contents_c(h, 0, 0, 4, 1, NULL, NULL, counts, &got);
	assert_true(counts[0] == 3 && counts[1] == 2 && counts[2] == 100);
	assert_int_equal(PMPI_Type_get_envelope(h, &i, &j, &k, &combiner),
			 MPI_ERR_TYPE);
	PMPI_Type_free(&h);
}

static void arguments__wrong_ones_are_named(void **state)
{
	MPI_Datatype h = MPI_INT;
	int neg[] = { -1 }, zero[] = { 0 }, one[] = { 1 }, size, pos = 0;
	char buf[8];

	assert_int_equal(PMPI_Type_contiguous(-1, MPI_INT, &h), MPI_ERR_COUNT);
	assert_int_equal(PMPI_Type_contiguous(1, MPI_DATATYPE_NULL, &h),
			 MPI_ERR_TYPE);
	assert_int_equal(PMPI_Type_vector(1, -1, 1, MPI_INT, &h), MPI_ERR_ARG);
	assert_int_equal(PMPI_Type_indexed(1, neg, zero, MPI_INT, &h),
			 MPI_ERR_ARG);
	assert_int_equal(PMPI_Type_create_subarray(1, one, one, one,
						   MPI_ORDER_C, MPI_INT, &h),
			 MPI_ERR_ARG);
	assert_int_equal(PMPI_Type_create_subarray(1, one, one, zero, 3,
						   MPI_INT, &h), MPI_ERR_ARG);
	assert_int_equal(PMPI_Type_free(&h), MPI_ERR_TYPE);
	assert_int_equal(PMPI_Type_size((MPI_Datatype)MPI_COMM_WORLD, &size),
			 MPI_ERR_TYPE);
	assert_int_equal(PMPI_Pack(buf, 3, MPI_INT, packed, 11, &pos,
				   MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
	PMPI_Type_contiguous(2, MPI_INT, &h);
	assert_int_equal(PMPI_Pack(buf, 1, h, packed, 11, &pos,
				   MPI_COMM_WORLD), MPI_ERR_TYPE);
	PMPI_Type_free(&h);
}

static void pack__goes_on_where_it_was(void **state)
{
	double d[4] = { 1, 2, 3, 4 }, back[4] = { 0 };
	char buf[64];
	int i = 7, j = 0, pos = 0, size;
	MPI_Datatype h;

	PMPI_Type_vector(2, 1, 2, MPI_DOUBLE, &h);
	PMPI_Type_commit(&h);
	PMPI_Pack_size(1, h, MPI_COMM_WORLD, &size);
	assert_int_equal(size, 16);
	PMPI_Pack(&i, 1, MPI_INT, buf, sizeof(buf), &pos, MPI_COMM_WORLD);
	PMPI_Pack(d, 1, h, buf, sizeof(buf), &pos, MPI_COMM_WORLD);
	assert_int_equal(pos, 20);
	pos = 0;
	PMPI_Unpack(buf, 20, &pos, &j, 1, MPI_INT, MPI_COMM_WORLD);
	PMPI_Unpack(buf, 20, &pos, back, 1, h, MPI_COMM_WORLD);
	assert_int_equal(pos, 20);
	assert_int_equal(j, 7);
	assert_true(back[0] == 1 && back[1] == 0 && back[2] == 3);
	PMPI_Type_free(&h);
}

static void copy__between_layouts(void **state)
{
	static int from[60000], to[60000];
	MPI_Datatype a, b;

	for (int i = 0; i < 60000; i++)
		from[i] = i;
	PMPI_Type_vector(10000, 2, 5, MPI_INT, &a);
	PMPI_Type_vector(20000, 1, 3, MPI_INT, &b);
	mpii_copy(from, 1, mpii_type_get(a), to, 1, mpii_type_get(b));
	for (int i = 0; i < 20000; i++)
		assert_int_equal(to[3 * i], i / 2 * 5 + i % 2);
	PMPI_Type_free(&a);
	PMPI_Type_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_trees__agree_with_type_map),
		cmocka_unit_test(vector__without_gap_is_contiguous),
		cmocka_unit_test(vector__huge_is_compact),
		cmocka_unit_test(indexed__regular_is_one_run),
		cmocka_unit_test(size__of_more_than_63_bits_is_refused),
		cmocka_unit_test(predefined__are_what_C_says),
		cmocka_unit_test(predefined__sit_at_their_handle),
		cmocka_unit_test(contents__give_the_arguments_back),
		cmocka_unit_test(contents__of_an_empty_struct),
		cmocka_unit_test(contents__of_large_calls_are_counts),
		cmocka_unit_test(arguments__wrong_ones_are_named),
		cmocka_unit_test(pack__goes_on_where_it_was),
		cmocka_unit_test(copy__between_layouts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
