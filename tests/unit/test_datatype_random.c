/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/mock/mpi_stubs.c tests/unit/type_map.c */
/*
 * Datatypes against a naive reference: random trees of constructors are built in
 * both; size, bounds, packing from any offset, segments and elements must agree.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../mpi/datatype/datatype.h"
#include "type_map.h"

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
		MPI_INT,  MPI_DOUBLE, MPI_CHAR, MPI_SHORT,
		MPI_BYTE, MPI_FLOAT,  MPI_LONG, MPI_C_DOUBLE_COMPLEX,
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
			    (g->gsize[i] + g->psize[i] - 1) / g->psize[i] :
			    1;
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
						 g.order, old->h, &n->h),
			 0);
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
			assert_int_equal(
				packed[i],
				memory[SPAN + ref_place(n->r, off + i)]);
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
	size_t all =
		mpii_type_segs(t, memory + SPAN, count, segs, 4 * MAX_BYTES);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(random_trees__agree_with_type_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
