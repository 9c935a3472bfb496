// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Ranks form a box. While a grid has at least one point for each rank in a
 * dimension, all have the same share. The next coarser grid then has a point
 * for every other rank only: point q of it lies at point 2q + 1 of the finer
 * one, so the ranks with odd numbers keep one and the others pause. Coming
 * back, the one that kept a point has, with its rim, what its pausing neighbour
 * below needs, and sends it.
 */
#include "mg_grid.h"

#include <string.h>

enum { TAG_DOWN = 10, TAG_UP = 20, TAG_SPREAD = 30 };

struct box {
	int size[MG_DIMS], at[MG_DIMS];
};

/* Halves z, y, x, z, ... until there is a part for each rank. */
static void box_init(struct box *b, const struct nas *n)
{
	int d = MG_Z, rank = n->rank;

	for (int i = 0; i < MG_DIMS; i++)
		b->size[i] = 1;
	for (int parts = 1; parts < n->ranks; parts *= 2) {
		b->size[d] *= 2;
		d = d == MG_X ? MG_Z : d - 1;
	}
	for (int i = 0; i < MG_DIMS; i++) {
		b->at[i] = rank % b->size[i];
		rank /= b->size[i];
	}
}

static int box_rank(const struct box *b, const int at[MG_DIMS])
{
	return (at[MG_Z] * b->size[MG_Y] + at[MG_Y]) * b->size[MG_X] + at[MG_X];
}

static int rank_beside(const struct box *b, int dim, int distance)
{
	int at[MG_DIMS];

	memcpy(at, b->at, sizeof(at));
	at[dim] = (at[dim] + distance + b->size[dim]) % b->size[dim];
	return box_rank(b, at);
}

static void set_dimension(struct mg_grid *g, const struct box *b, int d)
{
	int points = 1 << g->log, ranks = b->size[d];
	int stride = ranks > points ? ranks / points : 1;
	int number = (b->at[d] + 1) / stride - 1; /* among the active */

	g->n[d] = points > ranks ? points / ranks : 1;
	g->active &= (b->at[d] + 1) % stride == 0;
	g->first[d] = number * g->n[d];
	g->below[d] = rank_beside(b, d, -stride);
	g->above[d] = rank_beside(b, d, stride);
	g->thins[d] = points <= ranks && ranks > 1 && g->log > 1;
	g->offset[d] = g->thins[d] && number % 2;
}

/* Distances, in ranks, from who keeps a point to who pauses. */
static void set_spread(struct mg_grid *g, const struct box *b)
{
	int keeper[MG_DIMS], stride[MG_DIMS];
	bool keeps = true;

	for (int d = 0; d < MG_DIMS; d++) {
		stride[d] = b->size[d] >> g->log;
		if (!stride[d])
			stride[d] = 1;
		keeper[d] = b->at[d];
		if (g->thins[d] && !g->offset[d]) {
			keeper[d] += stride[d];
			keeps = false;
		}
	}
	g->spread_from = keeps ? -1 : box_rank(b, keeper);
	for (int subset = 1; keeps && subset < 8; subset++) {
		int at[MG_DIMS];
		bool possible = true;

		for (int d = 0; d < MG_DIMS; d++) {
			bool move = subset >> d & 1;

			possible &= !move || g->thins[d];
			at[d] = b->at[d] - (move ? stride[d] : 0);
		}
		if (possible)
			g->spread_to[g->spread_count++] = box_rank(b, at);
	}
}

static long face_size(const struct mg_grid *g, int d)
{
	return mg_points(g) / (g->n[d] + 2);
}

void mg_grid_create(struct mg_grid *g, const struct nas *n, int log)
{
	struct box b;
	long largest = 0;

	*g = (struct mg_grid){ .log = log, .active = true };
	box_init(&b, n);
	for (int d = 0; d < MG_DIMS; d++)
		set_dimension(g, &b, d);
	if (g->active)
		set_spread(g, &b);
	for (int d = 0; d < MG_DIMS; d++)
		if (face_size(g, d) > largest)
			largest = face_size(g, d);
	for (int i = 0; i < 4; i++)
		g->faces[i] = nas_alloc(largest, sizeof(double));
	g->u = nas_alloc(mg_points(g), sizeof(double));
	g->r = nas_alloc(mg_points(g), sizeof(double));
}

/* Copies the layer at this place of a dimension into a face, or back. */
static void copy_layer(const struct mg_grid *g, double *field, int d, int at,
		       double *face, bool out)
{
	int low[MG_DIMS] = { 0 }, high[MG_DIMS];

	for (int i = 0; i < MG_DIMS; i++)
		high[i] = g->n[i] + 2;
	low[d] = at;
	high[d] = at + 1;
	for (int z = low[MG_Z]; z < high[MG_Z]; z++) {
		for (int y = low[MG_Y]; y < high[MG_Y]; y++) {
			double *row = field + mg_row(g, z, y) + low[MG_X];
			int width = high[MG_X] - low[MG_X];

			if (width == 1 && out)
				*face = *row;
			else if (width == 1)
				*row = *face;
			else if (out)
				memcpy(face, row, width * sizeof(*row));
			else
				memcpy(row, face, width * sizeof(*row));
			face += width;
		}
	}
}

static void exchange_faces(struct mg_grid *g, int d)
{
	MPI_Request request[2];
	int count = face_size(g, d);

	MPI_Irecv(g->faces[2], count, MPI_DOUBLE, g->below[d], TAG_UP + d,
		  MPI_COMM_WORLD, &request[0]);
	MPI_Irecv(g->faces[3], count, MPI_DOUBLE, g->above[d], TAG_DOWN + d,
		  MPI_COMM_WORLD, &request[1]);
	MPI_Send(g->faces[0], count, MPI_DOUBLE, g->below[d], TAG_DOWN + d,
		 MPI_COMM_WORLD);
	MPI_Send(g->faces[1], count, MPI_DOUBLE, g->above[d], TAG_UP + d,
		 MPI_COMM_WORLD);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

void mg_grid_exchange(struct mg_grid *g, double *field)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int d = 0; d < MG_DIMS; d++) {
		bool alone = g->below[d] == rank;

		copy_layer(g, field, d, 1, g->faces[0], true);
		copy_layer(g, field, d, g->n[d], g->faces[1], true);
		if (!alone)
			exchange_faces(g, d);
		copy_layer(g, field, d, 0, g->faces[alone ? 1 : 2], false);
		copy_layer(g, field, d, g->n[d] + 1, g->faces[alone ? 0 : 3],
			   false);
	}
}

void mg_grid_spread(const struct mg_grid *fine, struct mg_grid *coarse)
{
	int count = mg_points(coarse);

	if (fine->spread_from >= 0)
		MPI_Recv(coarse->u, count, MPI_DOUBLE, fine->spread_from,
			 TAG_SPREAD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < fine->spread_count; i++)
		MPI_Send(coarse->u, count, MPI_DOUBLE, fine->spread_to[i],
			 TAG_SPREAD, MPI_COMM_WORLD);
}
