/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Neighborhood collectives on all three kinds of topology: every form against
 * what the standard says arrives where. Grids whose dimensions have one or two
 * places, borders, loops, double edges, unlike counts and types.
 */
#include "check.h"

#define MAX 16 /* neighbors of one process */
#define BLOCK 5

static MPI_Comm g;
static int me, nin, nout, in[MAX], out[MAX];
/* Which block of its sender arrives as block i, if it sends one per edge. */
static int edge[MAX];

static int value(int from, int block, int i)
{
	return from * 1000 + block * 50 + i + 1;
}

/* --- the topologies --- */

static void find_edges(void)
{
	int theirs[MAX * 64], n[64], p;

	OK(MPI_Comm_rank(g, &me));
	OK(MPI_Comm_size(g, &p));
	OK(PMPI_Allgather(&nout, 1, MPI_INT, n, 1, MPI_INT, g));
	OK(PMPI_Allgather(out, MAX, MPI_INT, theirs, MAX, MPI_INT, g));
	for (int i = 0; i < nin; i++) {
		int nth = 0, k;

		edge[i] = -1;
		if (in[i] == MPI_PROC_NULL)
			continue;
		for (int j = 0; j < i; j++)
			nth += in[j] == in[i];
		/* the nth edge of in[i] that ends here */
		for (k = 0; k < n[in[i]]; k++)
			if (theirs[in[i] * MAX + k] == me && nth-- == 0)
				break;
		CHECK(k < n[in[i]]);
		edge[i] = k;
	}
}

static void grid(int ndims, const int *dims, const int *periods)
{
	OK(MPI_Cart_create(WORLD, ndims, dims, periods, 1, &g));
	if (g == MPI_COMM_NULL)
		return;
	OK(MPI_Comm_rank(g, &me));
	nin = nout = 2 * ndims;
	for (int i = 0; i < ndims; i++)
		OK(MPI_Cart_shift(g, i, 1, &in[2 * i], &in[2 * i + 1]));
	for (int i = 0; i < nin; i++) {
		out[i] = in[i];
		/* what comes from below was sent upwards */
		edge[i] = in[i] == MPI_PROC_NULL ? -1 : i ^ 1;
	}
}

static void graph(void)
{
	int index[64], edges[512], k = 0;

	for (int i = 0; i < size; i++) {
		edges[k++] = (i + 1) % size;
		edges[k++] = (i + size - 1) % size;
		edges[k++] = i;
		index[i] = k;
	}
	OK(MPI_Graph_create(WORLD, size, index, edges, 1, &g));
	OK(MPI_Comm_rank(g, &me));
	OK(MPI_Graph_neighbors_count(g, me, &nin));
	OK(MPI_Graph_neighbors(g, me, MAX, in));
	nout = nin;
	memcpy(out, in, sizeof(out));
	find_edges();
}

/* To the next rank twice, to rank 0 once, itself once if odd. */
static void dist(void)
{
	int s[4] = { rank, rank, rank, rank }, deg[4] = { 1, 1, 1, 1 };
	int d[4] = { (rank + 1) % size, 0, (rank + 1) % size, rank };
	int w, *volatile un = MPI_UNWEIGHTED;

	OK(MPI_Dist_graph_create(WORLD, 3 + rank % 2, s, deg, d, un,
				 MPI_INFO_NULL, 1, &g));
	OK(MPI_Dist_graph_neighbors_count(g, &nin, &nout, &w));
	CHECK(nin <= MAX);
	OK(MPI_Dist_graph_neighbors(g, MAX, in, un, MAX, out, un));
	find_edges();
}

/* --- the collectives --- */

static int sbuf[MAX * BLOCK * 4], rbuf[MAX * BLOCK * 4];
static int scounts[MAX], sdispls[MAX], rcounts[MAX], rdispls[MAX];
static MPI_Count lscounts[MAX], lrcounts[MAX];
static MPI_Aint lsdispls[MAX], lrdispls[MAX], bsdispls[MAX], brdispls[MAX];
static MPI_Datatype stypes[MAX], rtypes[MAX], pairs;

static void fill_blocks(void)
{
	for (int i = 0; i < nout; i++)
		for (int j = 0; j < BLOCK; j++)
			sbuf[i * BLOCK + j] = value(me, i, j);
	memset(rbuf, -1, sizeof(rbuf));
}

/* Block i of the receive buffer has @n of what was sent as block @from. */
static void arrived(int i, int at, int from, int n)
{
	for (int j = 0; j < n; j++)
		EQUAL(rbuf[at + j], from < 0 ? -1 : value(in[i], from, j));
	EQUAL(rbuf[at + n], -1);
}

static void check_all(int same)
{
	for (int i = 0; i < nin; i++)
		for (int j = 0; j < BLOCK; j++)
			EQUAL(rbuf[i * BLOCK + j],
			      edge[i] < 0 ?
				      -1 :
				      value(in[i], same ? 0 : edge[i], j));
	EQUAL(rbuf[nin * BLOCK], -1);
}

static void uniform(void)
{
	fill_blocks();
	OK(MPI_Neighbor_allgather(sbuf, BLOCK, MPI_INT, rbuf, BLOCK, MPI_INT,
				  g));
	check_all(1);
	fill_blocks();
	OK(MPI_Neighbor_allgather_c(sbuf, BLOCK, MPI_INT, rbuf, BLOCK, MPI_INT,
				    g));
	check_all(1);
	fill_blocks();
	OK(MPI_Neighbor_alltoall(sbuf, BLOCK, MPI_INT, rbuf, BLOCK, MPI_INT,
				 g));
	check_all(0);
	fill_blocks();
	OK(MPI_Neighbor_alltoall_c(sbuf, BLOCK, MPI_INT, rbuf, BLOCK, MPI_INT,
				   g));
	check_all(0);
}

/* Block k of every sender has 1 + k % BLOCK elements. */
static void plan(void)
{
	for (int i = 0; i < nout; i++) {
		lscounts[i] = scounts[i] = 1 + i % BLOCK;
		lsdispls[i] = sdispls[i] = i * BLOCK;
		bsdispls[i] = sdispls[i] * (MPI_Aint)sizeof(int);
		stypes[i] = MPI_INT;
	}
	for (int i = 0; i < nin; i++) {
		lrcounts[i] = rcounts[i] = edge[i] < 0 ? 3 :
							 1 + edge[i] % BLOCK;
		/* backwards, with gaps */
		lrdispls[i] = rdispls[i] = (nin - 1 - i) * (BLOCK + 1);
		brdispls[i] = rdispls[i] * (MPI_Aint)sizeof(int);
		rtypes[i] = MPI_INT;
		if (rcounts[i] % 2 == 0) { /* the same bytes in other words */
			rtypes[i] = pairs;
			lrcounts[i] = rcounts[i] / 2;
		}
	}
}

static void check_vector(void)
{
	for (int i = 0; i < nin; i++)
		arrived(i, rdispls[i], edge[i],
			edge[i] < 0 ? BLOCK : rcounts[i]);
}

static void vectors(void)
{
	int wcounts[MAX];

	plan();
	fill_blocks();
	OK(MPI_Neighbor_alltoallv(sbuf, scounts, sdispls, MPI_INT, rbuf,
				  rcounts, rdispls, MPI_INT, g));
	check_vector();
	for (int i = 0; i < nin; i++)
		wcounts[i] = (int)lrcounts[i];
	fill_blocks();
	OK(MPI_Neighbor_alltoallw(sbuf, scounts, bsdispls, stypes, rbuf,
				  wcounts, brdispls, rtypes, g));
	check_vector();
	fill_blocks();
	OK(MPI_Neighbor_alltoallw_c(sbuf, lscounts, bsdispls, stypes, rbuf,
				    lrcounts, brdispls, rtypes, g));
	check_vector();
	for (int i = 0; i < nin; i++)
		lrcounts[i] = rcounts[i];
	fill_blocks();
	OK(MPI_Neighbor_alltoallv_c(sbuf, lscounts, lsdispls, MPI_INT, rbuf,
				    lrcounts, lrdispls, MPI_INT, g));
	check_vector();
	/* everybody sends 2 + rank % 3 */
	for (int i = 0; i < nin; i++)
		lrcounts[i] = rcounts[i] = in[i] < 0 ? 1 : 2 + in[i] % 3;
	fill_blocks();
	OK(MPI_Neighbor_allgatherv(sbuf, 2 + me % 3, MPI_INT, rbuf, rcounts,
				   rdispls, MPI_INT, g));
	for (int i = 0; i < nin; i++)
		arrived(i, rdispls[i], edge[i] < 0 ? -1 : 0, rcounts[i]);
	fill_blocks();
	OK(MPI_Neighbor_allgatherv_c(sbuf, 2 + me % 3, MPI_INT, rbuf, lrcounts,
				     lrdispls, MPI_INT, g));
	for (int i = 0; i < nin; i++)
		arrived(i, rdispls[i], edge[i] < 0 ? -1 : 0, rcounts[i]);
}

/* Calls after each other do not meet, however far ahead one process is. */
static void in_turn(void)
{
	for (int k = 0; k < 20; k++) {
		for (int i = 0; i < nout; i++)
			sbuf[i] = value(me, i, k);
		memset(rbuf, -1, sizeof(rbuf));
		OK(MPI_Neighbor_alltoall(sbuf, 1, MPI_INT, rbuf, 1, MPI_INT,
					 g));
		for (int i = 0; i < nin; i++)
			EQUAL(rbuf[i],
			      edge[i] < 0 ? -1 : value(in[i], edge[i], k));
	}
}

/* Several at once, waited for backwards; the type is given up meanwhile. */
static void at_once(void)
{
	static int to[4][MAX * 2], from[4][MAX * 2];
	MPI_Request q[4];
	MPI_Datatype t;

	OK(MPI_Type_dup(pairs, &t));
	for (int k = 0; k < 4; k++) {
		for (int i = 0; i < 2 * nout; i++)
			to[k][i] = value(me, i / 2, k * 2 + i % 2);
		memset(from[k], -1, sizeof(from[k]));
		OK(MPI_Ineighbor_alltoall(to[k], 1, t, from[k], 2, MPI_INT, g,
					  &q[k]));
	}
	OK(MPI_Type_free(&t));
	for (int k = 3; k >= 0; k--) {
		OK(MPI_Wait(&q[k], IGNORE));
		for (int i = 0; i < 2 * nin; i++)
			EQUAL(from[k][i], edge[i / 2] < 0 ?
						  -1 :
						  value(in[i / 2], edge[i / 2],
							k * 2 + i % 2));
	}
}

/* One that is started again and again, with what is in the buffer then. */
static void persistent(void)
{
	MPI_Request q;

	plan();
	OK(MPI_Neighbor_alltoallv_init(sbuf, scounts, sdispls, MPI_INT, rbuf,
				       rcounts, rdispls, MPI_INT, g,
				       MPI_INFO_NULL, &q));
	/* the arrays are not needed any more */
	memset(scounts, -1, sizeof(scounts));
	memset(sdispls, -1, sizeof(sdispls));
	for (int k = 0; k < 3; k++) {
		fill_blocks();
		OK(MPI_Start(&q));
		OK(MPI_Wait(&q, IGNORE));
		check_vector();
		CHECK(q != MPI_REQUEST_NULL);
	}
	OK(MPI_Request_free(&q));
}

/* Members must call the same form, also those that sat out a small grid. */
static void same_form(void)
{
#ifdef COLL_FORMS_H
	static int round;

	form_turn = round++;
#endif
}

static void all(void)
{
	MPI_Comm d;

	same_form();
	if (g == MPI_COMM_NULL)
		return;
	uniform();
	vectors();
	in_turn();
	at_once();
	persistent();
	OK(MPI_Comm_dup(g, &d));
	OK(MPI_Comm_free(&g));
	g = d;
	uniform();
	OK(MPI_Comm_free(&g));
}

static void grids(void)
{
	int dims[3], periods[3];

	for (int p = 0; p < 8; p++) {
		dims[0] = dims[1] = dims[2] = 0;
		for (int i = 0; i < 3; i++)
			periods[i] = p >> i & 1;
		OK(MPI_Dims_create(size, 3, dims));
		grid(3, dims, periods);
		all();
	}
	dims[0] = dims[1] = 1;
	periods[0] = periods[1] = 1;
	grid(2, dims, periods);
	all();
	dims[1] = size > 1 ? 2 : 1;
	grid(2, dims, periods);
	all();
	grid(0, dims, periods);
	all();
}

static void wrong(void)
{
	MPI_Comm w = WORLD;
	int x[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, bad[2] = { -1, 1 };
	MPI_Aint a[2] = { 0, 0 };
	MPI_Datatype t[2] = { MPI_INT, MPI_INT };
	MPI_Request q;

	same_form();
	FAILS(MPI_Neighbor_allgather(x, 1, MPI_INT, x, 1, MPI_INT, w),
	      MPI_ERR_TOPOLOGY);
	FAILS(MPI_Neighbor_alltoall(x, 1, MPI_INT, x, 1, MPI_INT,
				    MPI_COMM_NULL),
	      MPI_ERR_COMM);
	OK(MPI_Cart_create(WORLD, 1, &size, x, 0, &g));
	FAILS(MPI_Neighbor_allgather(x, -1, MPI_INT, rbuf, 1, MPI_INT, g),
	      MPI_ERR_COUNT);
	FAILS(MPI_Neighbor_allgather(x, 1, MPI_DATATYPE_NULL, rbuf, 1, MPI_INT,
				     g),
	      MPI_ERR_TYPE);
	FAILS(MPI_Neighbor_allgather_c(NULL, 1, MPI_INT, rbuf, 1, MPI_INT, g),
	      MPI_ERR_BUFFER);
	FAILS(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, rbuf, 1, MPI_INT,
				    g),
	      MPI_ERR_BUFFER);
	FAILS(MPI_Neighbor_alltoall_c(x, 1, MPI_INT, rbuf, -1, MPI_INT, g),
	      MPI_ERR_COUNT);
	FAILS(MPI_Neighbor_allgatherv(x, 1, MPI_INT, rbuf, bad, x, MPI_INT, g),
	      MPI_ERR_COUNT);
	FAILS(MPI_Neighbor_allgatherv(x, 1, MPI_INT, rbuf, NULL, x, MPI_INT, g),
	      MPI_ERR_ARG);
	FAILS(MPI_Neighbor_allgatherv(x, 1, MPI_INT, rbuf, x, NULL, MPI_INT, g),
	      MPI_ERR_ARG);
	FAILS(MPI_Neighbor_alltoallv(x, bad, x, MPI_INT, rbuf, x, x, MPI_INT,
				     g),
	      MPI_ERR_COUNT);
	FAILS(MPI_Neighbor_alltoallv(x, NULL, x, MPI_INT, rbuf, x, x, MPI_INT,
				     g),
	      MPI_ERR_ARG);
	FAILS(MPI_Neighbor_alltoallw(x, x, a, t, rbuf, x, a, NULL, g),
	      MPI_ERR_ARG);
	t[1] = MPI_DATATYPE_NULL;
	FAILS(MPI_Neighbor_alltoallw(x, x, a, t, rbuf, x, a, t, g),
	      MPI_ERR_TYPE);
	FAILS(MPI_Ineighbor_alltoall(x, 1, MPI_INT, rbuf, 1, MPI_INT, g, NULL),
	      MPI_ERR_ARG);
	FAILS(MPI_Neighbor_alltoall_init(x, 1, MPI_INT, rbuf, 1, MPI_INT, g,
					 (MPI_Info)MPI_INT, &q),
	      MPI_ERR_INFO);
	FAILS(MPI_Ineighbor_allgather(x, 1, MPI_INT, rbuf, 1, MPI_INT, w, &q),
	      MPI_ERR_TOPOLOGY);
	OK(MPI_Comm_free(&g));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	OK(MPI_Type_contiguous(2, MPI_INT, &pairs));
	OK(MPI_Type_commit(&pairs));
	grids();
	graph();
	all();
	if (size + 4 <= MAX) {
		dist();
		all();
	}
	wrong();
	OK(MPI_Type_free(&pairs));
	return finish();
}
