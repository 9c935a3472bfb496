/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The grids of MG, one for each level, cut among the ranks. */
#ifndef NAS_MG_GRID_H
#define NAS_MG_GRID_H

#include "nas.h"

enum { MG_X, MG_Y, MG_Z, MG_DIMS };

/*
 * A field on a grid is an array of (n[z] + 2) planes of (n[y] + 2) rows of
 * n[x] + 2 numbers: what is here, with a rim that belongs to the neighbours.
 */
struct mg_grid {
	int log;	     /* the whole grid has 2^log points a side */
	int n[MG_DIMS];	     /* points here, without the rim */
	int first[MG_DIMS];  /* the first of them, in the whole grid */
	bool active;	     /* has this rank points of this grid? */
	bool thins[MG_DIMS]; /* every other rank has none in the next one */
	int offset[MG_DIMS]; /* next one's point j is 2j - offset */
	int below[MG_DIMS], above[MG_DIMS]; /* neighbours; itself where alone */
	int spread_from; /* where values of the next grid come from */
	int spread_to[7], spread_count; /* and who gets them from here */
	double *u, *r;
	double *faces[4]; /* to send and to receive, below and above */
};

void mg_grid_create(struct mg_grid *g, const struct nas *n, int log);
/* Fills the rim, in all three dimensions, round the corner as well. */
void mg_grid_exchange(struct mg_grid *g, double *field);
/*
 * Gives the ranks that have no points of the coarse grid the values that they
 * need to interpolate from it.
 */
void mg_grid_spread(const struct mg_grid *fine, struct mg_grid *coarse);

static inline long mg_points(const struct mg_grid *g)
{
	return (g->n[MG_X] + 2l) * (g->n[MG_Y] + 2l) * (g->n[MG_Z] + 2l);
}

static inline long mg_row(const struct mg_grid *g, int z, int y)
{
	return ((long)z * (g->n[MG_Y] + 2) + y) * (g->n[MG_X] + 2);
}

#endif
