/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Graph and distributed graph topologies: what goes in comes out, also in a
 * duplicate; edges named by others; weights; wrong arguments.
 */
#include "check.h"

#define LIST(...) ((int[]){ __VA_ARGS__ })

/* The constants in variables: a compiler warns of what they point to. */
static int *volatile un = MPI_UNWEIGHTED, *volatile none = MPI_WEIGHTS_EMPTY;

/* A ring on all but the last process, with loops and a double edge at 0. */
static void graphs(void)
{
	int n = size > 1 ? size - 1 : 1, index[64], edges[256], k = 0;
	int nn, ne, got[256], gi[64], kind, deg;
	MPI_Comm g, d;

	for (int i = 0; i < n; i++) {
		edges[k++] = (i + 1) % n;
		edges[k++] = (i + n - 1) % n;
		if (i == 0) {
			edges[k++] = 0;
			edges[k++] = (i + 1) % n;
		}
		index[i] = k;
	}
	OK(MPI_Graph_create(WORLD, n, index, edges, 1, &g));
	EQUAL(g == MPI_COMM_NULL, rank >= n);
	OK(MPI_Graph_map(WORLD, n, index, edges, &nn));
	EQUAL(nn, rank < n ? rank : MPI_UNDEFINED);
	if (g == MPI_COMM_NULL)
		return;
	OK(MPI_Comm_dup(g, &d));
	OK(MPI_Comm_free(&g));
	OK(MPI_Topo_test(d, &kind));
	EQUAL(kind, MPI_GRAPH);
	OK(MPI_Graphdims_get(d, &nn, &ne));
	EQUAL(nn, n);
	EQUAL(ne, k);
	OK(MPI_Graph_get(d, n, k, gi, got));
	CHECK(!memcmp(gi, index, n * sizeof(int)));
	CHECK(!memcmp(got, edges, k * sizeof(int)));
	for (int i = 0; i < n; i++) {
		int first = i ? index[i - 1] : 0;

		OK(MPI_Graph_neighbors_count(d, i, &deg));
		EQUAL(deg, index[i] - first);
		OK(MPI_Graph_neighbors(d, i, deg, got));
		CHECK(!memcmp(got, edges + first, deg * sizeof(int)));
	}
	FAILS(MPI_Graph_get(d, n - 1, k, gi, got), MPI_ERR_ARG);
	FAILS(MPI_Graph_get(d, n, k - 1, gi, got), MPI_ERR_ARG);
	FAILS(MPI_Graph_get(d, n, k, NULL, got), MPI_ERR_ARG);
	FAILS(MPI_Graph_neighbors(d, n, 9, got), MPI_ERR_RANK);
	FAILS(MPI_Graph_neighbors(d, 0, 1, got), MPI_ERR_ARG);
	FAILS(MPI_Graph_neighbors(d, 0, 9, NULL), MPI_ERR_ARG);
	FAILS(MPI_Graph_neighbors_count(d, -1, &deg), MPI_ERR_RANK);
	FAILS(MPI_Graph_neighbors_count(d, 0, NULL), MPI_ERR_ARG);
	FAILS(MPI_Graphdims_get(d, NULL, &ne), MPI_ERR_ARG);
	FAILS(MPI_Cartdim_get(d, &nn), MPI_ERR_TOPOLOGY);
	OK(MPI_Comm_free(&d));
}

static void graph_mistakes(void)
{
	int x;
	MPI_Comm g = WORLD;

	OK(MPI_Graph_create(WORLD, 0, NULL, NULL, 0, &g));
	CHECK(g == MPI_COMM_NULL);
	FAILS(MPI_Graph_create(WORLD, -1, LIST(0), LIST(0), 0, &g),
	      MPI_ERR_ARG);
	FAILS(MPI_Graph_create(WORLD, size + 1, LIST(0), LIST(0), 0, &g),
	      MPI_ERR_ARG);
	FAILS(MPI_Graph_create(WORLD, 1, LIST(-1), LIST(0), 0, &g),
	      MPI_ERR_ARG);
	FAILS(MPI_Graph_create(WORLD, 1, LIST(1), LIST(1), 0, &g), MPI_ERR_ARG);
	FAILS(MPI_Graph_create(WORLD, 1, LIST(1), LIST(-1), 0, &g),
	      MPI_ERR_ARG);
	FAILS(MPI_Graph_create(WORLD, 1, NULL, LIST(0), 0, &g), MPI_ERR_ARG);
	FAILS(MPI_Graph_create(WORLD, 1, LIST(1), NULL, 0, &g), MPI_ERR_ARG);
	FAILS(MPI_Graph_create(WORLD, 1, LIST(1), LIST(0), 0, NULL),
	      MPI_ERR_ARG);
	FAILS(MPI_Graph_create(MPI_COMM_NULL, 1, LIST(1), LIST(0), 0, &g),
	      MPI_ERR_COMM);
	FAILS(MPI_Graph_map(WORLD, 1, LIST(1), LIST(3), &x), MPI_ERR_ARG);
	FAILS(MPI_Graph_map(WORLD, 1, LIST(1), LIST(0), NULL), MPI_ERR_ARG);
	FAILS(MPI_Graph_map(MPI_COMM_NULL, 1, LIST(1), LIST(0), &x),
	      MPI_ERR_COMM);
	FAILS(MPI_Graph_get(WORLD, 1, 1, &x, &x), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Graph_neighbors(WORLD, 0, 1, &x), MPI_ERR_TOPOLOGY);
}

/* --- distributed graphs --- */

/* The whole: everyone to the next (weight 10 * rank), 0 to itself twice. */
static void look(MPI_Comm d, int weighted)
{
	int in, out, w, kind, src[8], dst[8], sw[8], dw[8];
	int extra = rank == 0 ? 2 : 0, loops = 0, next = 0;

	OK(MPI_Topo_test(d, &kind));
	EQUAL(kind, MPI_DIST_GRAPH);
	OK(MPI_Dist_graph_neighbors_count(d, &in, &out, &w));
	EQUAL(in, 1 + extra);
	EQUAL(out, 1 + extra);
	EQUAL(w, weighted);
	memset(sw, -1, sizeof(sw));
	memset(dw, -1, sizeof(dw));
	OK(MPI_Dist_graph_neighbors(d, in, src, sw, out, dst, dw));
	for (int i = 0; i < out; i++) {
		if (dst[i] == 0 && rank == 0 &&
		    (dw[i] == 7 || dw[i] == 8 || (!weighted && loops < 2)))
			loops++;
		else if (dst[i] == (rank + 1) % size)
			next++;
		if (weighted && dst[i] != rank)
			EQUAL(dw[i], 10 * rank);
		if (!weighted)
			EQUAL(dw[i], -1);
	}
	EQUAL(loops, extra);
	EQUAL(next, 1);
	for (int i = 0; i < in; i++) {
		CHECK(src[i] == (rank + size - 1) % size ||
		      (rank == 0 && src[i] == 0));
		if (weighted && src[i] != rank)
			EQUAL(sw[i], 10 * src[i]);
	}
	/* less room: the first part; no weights wanted */
	src[0] = src[1] = -5;
	OK(MPI_Dist_graph_neighbors(d, 1, src, un, 0, NULL, un));
	CHECK(src[0] >= 0 && src[1] == -5);
	FAILS(MPI_Dist_graph_neighbors(d, -1, src, sw, 0, dst, dw),
	      MPI_ERR_ARG);
	FAILS(MPI_Dist_graph_neighbors(d, 1, NULL, sw, 0, dst, dw),
	      MPI_ERR_ARG);
	FAILS(MPI_Dist_graph_neighbors(d, 0, src, sw, 1, NULL, dw),
	      MPI_ERR_ARG);
	FAILS(MPI_Dist_graph_neighbors_count(d, NULL, &out, &w), MPI_ERR_ARG);
	FAILS(MPI_Graphdims_get(d, &in, &out), MPI_ERR_TOPOLOGY);
}

static void adjacent(int weighted)
{
	int me = rank, next = (rank + 1) % size,
	    prev = (rank + size - 1) % size;
	int src[3] = { prev, 0, 0 }, dst[3] = { next, 0, 0 };
	int sw[3] = { 10 * prev, 7, 8 }, dw[3] = { 10 * me, 7, 8 };
	int deg = rank == 0 ? 3 : 1;
	MPI_Comm d, e;

	OK(MPI_Dist_graph_create_adjacent(WORLD, deg, src, weighted ? sw : un,
					  deg, dst, weighted ? dw : un,
					  MPI_INFO_NULL, 1, &d));
	look(d, weighted);
	OK(MPI_Comm_dup(d, &e));
	OK(MPI_Comm_free(&d));
	look(e, weighted);
	OK(MPI_Comm_free(&e));
}

/* The same graph, named by one process for all, or by each for another. */
static void anywhere(int weighted, int one)
{
	int s[66], deg[66], dst[66], w[66], n = 0;
	MPI_Comm d;

	for (int i = 0; i < size; i++) {
		if (one ? rank != size - 1 : (i + 1) % size != rank)
			continue;
		s[n] = i;
		deg[n] = 1;
		w[n] = 10 * i;
		dst[n++] = (i + 1) % size;
	}
	if (rank == size - 1) {
		s[n] = 0;
		deg[n] = 2;
		dst[n] = dst[n + 1] = 0;
		w[n] = 7;
		w[n + 1] = 8;
		n++;
	}
	OK(MPI_Dist_graph_create(WORLD, n, s, deg, dst,
				 !weighted ? un :
				 n	   ? w :
					     none,
				 MPI_INFO_NULL, 0, &d));
	look(d, weighted);
	OK(MPI_Comm_free(&d));
}

static void empty(void)
{
	int in, out, w;
	MPI_Comm d;

	OK(MPI_Dist_graph_create_adjacent(WORLD, 0, NULL, none, 0, NULL, none,
					  MPI_INFO_NULL, 0, &d));
	OK(MPI_Dist_graph_neighbors_count(d, &in, &out, &w));
	CHECK(in == 0 && out == 0 && w == 1);
	OK(MPI_Dist_graph_neighbors(d, 0, NULL, none, 0, NULL, none));
	OK(MPI_Comm_free(&d));
	OK(MPI_Dist_graph_create(WORLD, 0, NULL, NULL, NULL, un, MPI_INFO_NULL,
				 0, &d));
	OK(MPI_Dist_graph_neighbors_count(d, &in, &out, &w));
	CHECK(in == 0 && out == 0 && w == 0);
	OK(MPI_Comm_free(&d));
	OK(MPI_Dist_graph_create(WORLD, 0, NULL, NULL, NULL, none,
				 MPI_INFO_NULL, 0, &d));
	OK(MPI_Dist_graph_neighbors_count(d, &in, &out, &w));
	CHECK(in == 0 && out == 0 && w == 1);
	OK(MPI_Comm_free(&d));
}

#define ADJ(c, in, s, sw, out, d, dw, i, g) \
	MPI_Dist_graph_create_adjacent(c, in, s, sw, out, d, dw, i, 0, g)
#define NOINFO MPI_INFO_NULL

static void dist_mistakes(void)
{
	int z = 0, x, *zero = &z, *bad = LIST(-1), *far = &size;
	MPI_Comm g = MPI_COMM_NULL;

	FAILS(ADJ(MPI_COMM_NULL, 1, zero, un, 1, zero, un, NOINFO, &g),
	      MPI_ERR_COMM);
	FAILS(ADJ(WORLD, -1, zero, un, 1, zero, un, NOINFO, &g), MPI_ERR_ARG);
	FAILS(ADJ(WORLD, 1, zero, un, -1, zero, un, NOINFO, &g), MPI_ERR_ARG);
	FAILS(ADJ(WORLD, 1, bad, un, 1, zero, un, NOINFO, &g), MPI_ERR_RANK);
	FAILS(ADJ(WORLD, 1, zero, un, 1, far, un, NOINFO, &g), MPI_ERR_RANK);
	FAILS(ADJ(WORLD, 1, NULL, un, 1, zero, un, NOINFO, &g), MPI_ERR_ARG);
	FAILS(ADJ(WORLD, 1, zero, bad, 1, zero, zero, NOINFO, &g), MPI_ERR_ARG);
	FAILS(ADJ(WORLD, 1, zero, zero, 1, zero, un, NOINFO, &g), MPI_ERR_ARG);
	FAILS(ADJ(WORLD, 1, zero, none, 1, zero, zero, NOINFO, &g),
	      MPI_ERR_ARG);
	FAILS(ADJ(WORLD, 1, zero, NULL, 1, zero, zero, NOINFO, &g),
	      MPI_ERR_ARG);
	FAILS(ADJ(WORLD, 1, zero, un, 1, zero, un, (MPI_Info)MPI_INT, &g),
	      MPI_ERR_INFO);
	FAILS(ADJ(WORLD, 1, zero, un, 1, zero, un, NOINFO, NULL), MPI_ERR_ARG);
#define ANY(c, n, s, deg, d, w, i, g) \
	MPI_Dist_graph_create(c, n, s, deg, d, w, i, 0, g)
	FAILS(ANY(MPI_COMM_NULL, 0, zero, zero, zero, un, NOINFO, &g),
	      MPI_ERR_COMM);
	FAILS(ANY(WORLD, -1, zero, zero, zero, un, NOINFO, &g), MPI_ERR_ARG);
	FAILS(ANY(WORLD, 1, far, zero, zero, un, NOINFO, &g), MPI_ERR_RANK);
	FAILS(ANY(WORLD, 1, zero, bad, zero, un, NOINFO, &g), MPI_ERR_ARG);
	FAILS(ANY(WORLD, 1, zero, LIST(1), bad, un, NOINFO, &g), MPI_ERR_RANK);
	FAILS(ANY(WORLD, 1, zero, LIST(1), zero, bad, NOINFO, &g), MPI_ERR_ARG);
	FAILS(ANY(WORLD, 1, zero, NULL, zero, un, NOINFO, &g), MPI_ERR_ARG);
	FAILS(ANY(WORLD, 1, zero, LIST(1), NULL, un, NOINFO, &g), MPI_ERR_ARG);
	FAILS(ANY(WORLD, 1, zero, zero, zero, un, (MPI_Info)MPI_INT, &g),
	      MPI_ERR_INFO);
	FAILS(ANY(WORLD, 1, zero, zero, zero, un, NOINFO, NULL), MPI_ERR_ARG);
	/* weights at one, none at another: all learn it */
	if (size > 1)
		FAILS(ANY(WORLD, 1, &rank, LIST(1), zero, rank ? un : zero,
			  NOINFO, &g),
		      MPI_ERR_ARG);
	FAILS(MPI_Dist_graph_neighbors_count(WORLD, &x, &x, &x),
	      MPI_ERR_TOPOLOGY);
	FAILS(MPI_Dist_graph_neighbors(WORLD, 0, &x, &x, 0, &x, &x),
	      MPI_ERR_TOPOLOGY);
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	graphs();
	graph_mistakes();
	for (int weighted = 0; weighted < 2; weighted++) {
		adjacent(weighted);
		anywhere(weighted, 0);
		anywhere(weighted, 1);
	}
	empty();
	dist_mistakes();
	return finish();
}
