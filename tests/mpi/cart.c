/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Cartesian topologies: MPI_Dims_create, grids, slices, walks, what a duplicate
 * keeps, and wrong arguments.
 */
#include "check.h"

/* --- dimensions --- */

static void dims_are(int nnodes, int ndims, const int *given, const int *want)
{
	int dims[8];

	memcpy(dims, given, ndims * sizeof(int));
	OK(MPI_Dims_create(nnodes, ndims, dims));
	for (int i = 0; i < ndims; i++)
		EQUAL(dims[i], want[i]);
}
#define LIST(...) ((int[]){ __VA_ARGS__ })

static int smallest_spread(int n, int k, int largest, int max)
{
	int best = 1 << 30, s;

	if (k == 1)
		return n <= max ? (largest ? largest : n) - n : best;
	for (int f = 1; f <= max && f <= n; f++) {
		if (n % f)
			continue;
		s = smallest_spread(n / f, k - 1, largest ? largest : f, f);
		best = s < best ? s : best;
	}
	return best;
}

static void dims(void)
{
	int d[40];

	/* the standard's examples */
	dims_are(6, 2, LIST(0, 0), LIST(3, 2));
	dims_are(7, 2, LIST(0, 0), LIST(7, 1));
	dims_are(6, 3, LIST(0, 3, 0), LIST(2, 3, 1));
	FAILS(MPI_Dims_create(7, 3, LIST(0, 3, 0)), MPI_ERR_DIMS);
	dims_are(12, 2, LIST(0, 0), LIST(4, 3));
	dims_are(16, 3, LIST(0, 0, 0), LIST(4, 2, 2));
	dims_are(36, 2, LIST(0, 0), LIST(6, 6));
	dims_are(1, 3, LIST(0, 0, 0), LIST(1, 1, 1));
	dims_are(24, 3, LIST(2, 0, 0), LIST(2, 4, 3));
	dims_are(24, 3, LIST(2, 3, 4), LIST(2, 3, 4));
	dims_are(2147483647, 2, LIST(0, 0), LIST(2147483647, 1));
	dims_are(46341 * 46339, 2, LIST(0, 0), LIST(46341, 46339));
	dims_are(1 << 30, 4, LIST(0, 0, 0, 0), LIST(256, 256, 128, 128));
	/* balanced, and never increasing */
	for (int n = 1; n <= 200; n++) {
		for (int k = 1; k <= 4; k++) {
			int product = 1;

			memset(d, 0, sizeof(d));
			OK(MPI_Dims_create(n, k, d));
			for (int i = 0; i < k; i++) {
				product *= d[i];
				CHECK(i == 0 || d[i] <= d[i - 1]);
			}
			EQUAL(product, n);
			EQUAL(d[0] - d[k - 1], smallest_spread(n, k, 0, n));
		}
	}
	memset(d, 0, sizeof(d));
	OK(MPI_Dims_create(735134400, 40, d));
	FAILS(MPI_Dims_create(0, 1, d), MPI_ERR_ARG);
	FAILS(MPI_Dims_create(-4, 1, d), MPI_ERR_ARG);
	FAILS(MPI_Dims_create(4, -1, d), MPI_ERR_DIMS);
	FAILS(MPI_Dims_create(4, 2, LIST(-2, 0)), MPI_ERR_DIMS);
	FAILS(MPI_Dims_create(4, 2, LIST(2, 1)), MPI_ERR_DIMS);
	FAILS(MPI_Dims_create(4, 2, LIST(8, 0)), MPI_ERR_DIMS);
	FAILS(MPI_Dims_create(4, 2, NULL), MPI_ERR_ARG);
	OK(MPI_Dims_create(4, 0, NULL));
}

/* --- grids --- */

static int wrapped(int at, int n)
{
	return (at % n + n) % n;
}

/* Ask a grid everything and compare with arithmetic. */
static void look(MPI_Comm g, int ndims, const int *dim, const int *period)
{
	int n, kind, me, me2, d[4], p[4], c[4], c2[4], from, to, at, stride = 1;

	OK(MPI_Topo_test(g, &kind));
	EQUAL(kind, MPI_CART);
	OK(MPI_Cartdim_get(g, &n));
	EQUAL(n, ndims);
	OK(MPI_Comm_rank(g, &me));
	OK(MPI_Cart_get(g, 4, d, p, c));
	OK(MPI_Cart_coords(g, me, 4, c2));
	OK(MPI_Cart_rank(g, c, &me2));
	EQUAL(me2, me);
	for (int i = ndims - 1; i >= 0; i--) {
		EQUAL(d[i], dim[i]);
		EQUAL(p[i], period[i]);
		EQUAL(c[i], c2[i]);
		EQUAL(c[i], me / stride % dim[i]);
		for (int step = -dim[i] - 1; step <= dim[i] + 1; step++) {
			OK(MPI_Cart_shift(g, i, step, &from, &to));
			at = c[i] + step;
			if (period[i])
				EQUAL(to,
				      me + (wrapped(at, d[i]) - c[i]) * stride);
			else if (at < 0 || at >= d[i])
				EQUAL(to, MPI_PROC_NULL);
			else
				EQUAL(to, me + step * stride);
			c2[i] = at;
			if (to != MPI_PROC_NULL) {
				OK(MPI_Cart_rank(g, c2, &at));
				EQUAL(at, to);
			} else {
				FAILS(MPI_Cart_rank(g, c2, &at), MPI_ERR_ARG);
			}
			c2[i] = c[i];
			OK(MPI_Cart_shift(g, i, -step, &to, &n));
			EQUAL(to == from, step == 0 || to == from);
			EQUAL(n, from);
		}
		stride *= dim[i];
	}
	OK(MPI_Cart_map(g, ndims, dim, period, &me2));
	CHECK(me2 >= 0 && me2 < stride);
}

static void grids(int reorder)
{
	int dim[3] = { 0, 0, 0 }, none[1], sum, n, result;
	MPI_Comm g, s;

	for (int p = 0; p < 8; p++) {
		int period[3] = { p & 1, p >> 1 & 1, p >> 2 & 1 };

		dim[0] = dim[1] = dim[2] = 0;
		OK(MPI_Dims_create(size, 3, dim));
		OK(MPI_Cart_create(WORLD, 3, dim, period, reorder, &g));
		look(g, 3, dim, period);
		OK(MPI_Comm_compare(g, WORLD, &result));
		CHECK(result == MPI_CONGRUENT ||
		      (reorder && result == MPI_SIMILAR));
		sum = 1;
		OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, g));
		EQUAL(sum, size);
		OK(MPI_Comm_dup(g, &s)); /* with its topology */
		OK(MPI_Comm_free(&g));
		look(s, 3, dim, period);
		OK(MPI_Comm_free(&s));
	}
	/* a grid that is too small for all */
	if (size > 1) {
		dim[0] = size - 1;
		OK(MPI_Cart_create(WORLD, 1, dim, LIST(1), 0, &g));
		EQUAL(g == MPI_COMM_NULL, rank == size - 1);
		if (g != MPI_COMM_NULL) {
			OK(MPI_Comm_size(g, &n));
			EQUAL(n, size - 1);
			OK(MPI_Comm_free(&g));
		}
	}
	/* of no dimensions: one process */
	OK(MPI_Cart_create(WORLD, 0, NULL, NULL, reorder, &g));
	EQUAL(g == MPI_COMM_NULL, rank > 0);
	if (rank == 0) {
		look(g, 0, NULL, NULL);
		OK(MPI_Cart_rank(g, NULL, &n));
		EQUAL(n, 0);
		OK(MPI_Cart_coords(g, 0, 0, none));
		MPI_Comm_set_errhandler(g, MPI_ERRORS_RETURN);
		FAILS(MPI_Cart_shift(g, 0, 1, &n, &sum), MPI_ERR_ARG);
		OK(MPI_Comm_free(&g));
	}
	/* a child of another kind has none */
	OK(MPI_Cart_create(WORLD, 1, &size, LIST(0), reorder, &g));
	OK(MPI_Comm_split(g, 0, 0, &s));
	OK(MPI_Topo_test(s, &n));
	EQUAL(n, MPI_UNDEFINED);
	OK(MPI_Comm_free(&s));
	OK(MPI_Comm_free(&g));
}

static void slices(void)
{
	int dim[3] = { 0, 0, 0 }, period[3] = { 1, 0, 1 }, c[3], cs[3];
	int d[3], p[3], n, k, product, me;
	MPI_Comm g, s;

	OK(MPI_Dims_create(size, 3, dim));
	OK(MPI_Cart_create(WORLD, 3, dim, period, 0, &g));
	OK(MPI_Comm_rank(g, &me));
	OK(MPI_Cart_coords(g, me, 3, c));
	for (int m = 0; m < 8; m++) {
		int remain[3] = { m & 1, m >> 1 & 1, m >> 2 & 1 }, all[64];

		OK(MPI_Cart_sub(g, remain, &s));
		OK(MPI_Cart_get(s, 3, d, p, cs));
		OK(MPI_Cartdim_get(s, &n));
		EQUAL(n, remain[0] + remain[1] + remain[2]);
		k = 0;
		product = 1;
		for (int i = 0; i < 3; i++) {
			if (!remain[i])
				continue;
			EQUAL(d[k], dim[i]);
			EQUAL(p[k], period[i]);
			EQUAL(cs[k], c[i]);
			product *= dim[i];
			k++;
		}
		look(s, n, d, p);
		OK(MPI_Comm_size(s, &n));
		EQUAL(n, product);
		/* all of a slice have our coordinates where it was cut */
		OK(MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, s));
		for (int i = 0; i < n; i++) {
			OK(MPI_Cart_coords(g, all[i], 3, cs));
			for (int j = 0; j < 3; j++)
				CHECK(remain[j] || cs[j] == c[j]);
		}
		OK(MPI_Comm_free(&s));
	}
	OK(MPI_Comm_free(&g));
}

/* --- wrong arguments --- */

static void wrong(void)
{
	int one[2] = { 1, 1 }, big = size + 1, x, y, c[2];
	MPI_Comm g = MPI_COMM_NULL, s;

	FAILS(MPI_Cart_create(MPI_COMM_NULL, 1, one, one, 0, &g), MPI_ERR_COMM);
	FAILS(MPI_Cart_create(WORLD, -1, one, one, 0, &g), MPI_ERR_DIMS);
	FAILS(MPI_Cart_create(WORLD, 1, &big, one, 0, &g), MPI_ERR_DIMS);
	FAILS(MPI_Cart_create(WORLD, 1, LIST(0), one, 0, &g), MPI_ERR_DIMS);
	FAILS(MPI_Cart_create(WORLD, 2, LIST(1, -3), one, 0, &g), MPI_ERR_DIMS);
	FAILS(MPI_Cart_create(WORLD, 3, LIST(70000, 70000, 70000),
			      LIST(0, 0, 0), 0, &g),
	      MPI_ERR_DIMS);
	FAILS(MPI_Cart_create(WORLD, 1, NULL, one, 0, &g), MPI_ERR_ARG);
	FAILS(MPI_Cart_create(WORLD, 1, one, NULL, 0, &g), MPI_ERR_ARG);
	FAILS(MPI_Cart_create(WORLD, 1, one, one, 0, NULL), MPI_ERR_ARG);
	FAILS(MPI_Cart_map(WORLD, 1, &big, one, &x), MPI_ERR_DIMS);
	FAILS(MPI_Cart_map(WORLD, 1, one, one, NULL), MPI_ERR_ARG);
	FAILS(MPI_Cart_map(MPI_COMM_NULL, 1, one, one, &x), MPI_ERR_COMM);
	FAILS(MPI_Topo_test(MPI_COMM_NULL, &x), MPI_ERR_COMM);
	FAILS(MPI_Topo_test(WORLD, NULL), MPI_ERR_ARG);
	/* no grid */
	FAILS(MPI_Cartdim_get(WORLD, &x), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Cart_get(WORLD, 1, c, c, c), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Cart_rank(WORLD, c, &x), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Cart_coords(WORLD, 0, 1, c), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Cart_shift(WORLD, 0, 1, &x, &y), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Cart_sub(WORLD, one, &s), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Graphdims_get(WORLD, &x, &y), MPI_ERR_TOPOLOGY);
	/* a grid, asked wrongly */
	OK(MPI_Cart_create(WORLD, 1, &size, LIST(0), 0, &g));
	FAILS(MPI_Cartdim_get(g, NULL), MPI_ERR_ARG);
	FAILS(MPI_Cartdim_get(MPI_COMM_NULL, &x), MPI_ERR_COMM);
	FAILS(MPI_Cart_get(g, 0, c, c, c), MPI_ERR_ARG);
	FAILS(MPI_Cart_get(g, 1, c, NULL, c), MPI_ERR_ARG);
	FAILS(MPI_Cart_rank(g, LIST(-1), &x), MPI_ERR_ARG);
	FAILS(MPI_Cart_rank(g, &size, &x), MPI_ERR_ARG);
	FAILS(MPI_Cart_rank(g, NULL, &x), MPI_ERR_ARG);
	FAILS(MPI_Cart_rank(g, c, NULL), MPI_ERR_ARG);
	FAILS(MPI_Cart_coords(g, size, 1, c), MPI_ERR_RANK);
	FAILS(MPI_Cart_coords(g, -1, 1, c), MPI_ERR_RANK);
	FAILS(MPI_Cart_coords(g, 0, 0, c), MPI_ERR_ARG);
	FAILS(MPI_Cart_coords(g, 0, 1, NULL), MPI_ERR_ARG);
	FAILS(MPI_Cart_shift(g, 1, 1, &x, &y), MPI_ERR_ARG);
	FAILS(MPI_Cart_shift(g, -1, 1, &x, &y), MPI_ERR_ARG);
	FAILS(MPI_Cart_shift(g, 0, 1, NULL, &y), MPI_ERR_ARG);
	FAILS(MPI_Cart_sub(g, NULL, &s), MPI_ERR_ARG);
	FAILS(MPI_Cart_sub(g, one, NULL), MPI_ERR_ARG);
	FAILS(MPI_Graph_neighbors_count(g, 0, &x), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Dist_graph_neighbors_count(g, &x, &x, &y), MPI_ERR_TOPOLOGY);
	OK(MPI_Comm_free(&g));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	dims();
	grids(0);
	grids(1);
	slices();
	wrong();
	return finish();
}
