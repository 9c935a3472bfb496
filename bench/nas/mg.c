// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * MG: V-cycles of multigrid on a periodic cube, for the potential of ten
 * positive and ten negative charges. All four operators are 27-point stencils
 * whose weights depend on the distance only; each forms sums of rows first, so
 * that a sum is used three times.
 */
#include "mg_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHARGES = 10, COARSEST = 1, MAX_LEVELS = 16 };

static const struct mg_class {
	int log, iterations;
	double smoother[3];
	double norm;
} classes[NAS_CLASSES] = {
#define EARLY                                 \
	{                                     \
		-3.0 / 8, 1.0 / 32, -1.0 / 64 \
	}
	[NAS_S] = { 5, 4, EARLY, 0.5307707005734e-04 },
	[NAS_W] = { 7, 4, EARLY, 0.6467329375339e-05 },
	[NAS_A] = { 8, 4, EARLY, 0.2433365309069e-05 },
	[NAS_B] = { 8,
		    20,
		    { -3.0 / 17, 1.0 / 33, -1.0 / 61 },
		    0.1800564401355e-05 },
#undef EARLY
};

struct mg {
	struct nas nas;
	const struct mg_class *class;
	struct mg_grid grid[MAX_LEVELS]; /* by log; the finest is class->log */
	double *v;			 /* charges */
	double *edges, *corners, *mixed; /* sums of rows */
};

/* rows */

/* Sums of the four rows that touch this one, and of the four beyond them. */
static void sum_rows(const struct mg *m, const struct mg_grid *g,
		     const double *f, int z, int y)
{
	const double *e0 = f + mg_row(g, z, y - 1);
	const double *e1 = f + mg_row(g, z, y + 1);
	const double *e2 = f + mg_row(g, z - 1, y);
	const double *e3 = f + mg_row(g, z + 1, y);
	const double *c0 = f + mg_row(g, z - 1, y - 1);
	const double *c1 = f + mg_row(g, z - 1, y + 1);
	const double *c2 = f + mg_row(g, z + 1, y - 1);
	const double *c3 = f + mg_row(g, z + 1, y + 1);
	double *restrict edges = m->edges, *restrict corners = m->corners;

	for (int x = 0; x < g->n[MG_X] + 2; x++) {
		edges[x] = e0[x] + e1[x] + e2[x] + e3[x];
		corners[x] = c0[x] + c1[x] + c2[x] + c3[x];
	}
}

/* r = v - A u */
static void residual(struct mg *m, struct mg_grid *g, const double *v)
{
	const double a0 = -8.0 / 3, a2 = 1.0 / 6, a3 = 1.0 / 12;
	const double *e = m->edges, *c = m->corners;

	for (int z = 1; z <= g->n[MG_Z]; z++) {
		for (int y = 1; y <= g->n[MG_Y]; y++) {
			long at = mg_row(g, z, y);
			const double *u = g->u + at;

			sum_rows(m, g, g->u, z, y);
			for (int x = 1; x <= g->n[MG_X]; x++)
				g->r[at + x] =
					v[at + x] - a0 * u[x] -
					a2 * (c[x] + e[x - 1] + e[x + 1]) -
					a3 * (c[x - 1] + c[x + 1]);
		}
	}
	mg_grid_exchange(g, g->r);
}

/* u += S r */
static void smooth(struct mg *m, struct mg_grid *g)
{
	const double *s = m->class->smoother;
	const double *e = m->edges, *c = m->corners;

	for (int z = 1; z <= g->n[MG_Z]; z++) {
		for (int y = 1; y <= g->n[MG_Y]; y++) {
			const double *r = g->r + mg_row(g, z, y);
			double *u = g->u + mg_row(g, z, y);

			sum_rows(m, g, g->r, z, y);
			for (int x = 1; x <= g->n[MG_X]; x++)
				u[x] += s[0] * r[x] +
					s[1] * (r[x - 1] + r[x + 1] + e[x]) +
					s[2] * (c[x] + e[x - 1] + e[x + 1]);
		}
	}
	mg_grid_exchange(g, g->u);
}

/* r of the coarse grid is the weighted mean of the fine one's. */
static void restrict_to(struct mg *m, const struct mg_grid *fine,
			struct mg_grid *g)
{
	const double *e = m->edges, *c = m->corners;
	const int *off = fine->offset;

	if (!g->active)
		return;
	for (int z = 1; z <= g->n[MG_Z]; z++) {
		for (int y = 1; y <= g->n[MG_Y]; y++) {
			int fz = 2 * z - off[MG_Z], fy = 2 * y - off[MG_Y];
			const double *r = fine->r + mg_row(fine, fz, fy);
			double *to = g->r + mg_row(g, z, y);

			sum_rows(m, fine, fine->r, fz, fy);
			for (int x = 1; x <= g->n[MG_X]; x++) {
				int f = 2 * x - off[MG_X];

				to[x] = 0.5 * r[f] +
					0.25 * (r[f - 1] + r[f + 1] + e[f]) +
					0.125 * (e[f - 1] + e[f + 1] + c[f]) +
					0.0625 * (c[f - 1] + c[f + 1]);
			}
		}
	}
	mg_grid_exchange(g, g->r);
}

/* Half the sum of two points a dimension, which are one where they coincide. */
static void mix_rows(struct mg *m, const struct mg_grid *fine,
		     const struct mg_grid *coarse, int z, int y)
{
	int z0 = (z + fine->offset[MG_Z]) / 2;
	int z1 = (z + fine->offset[MG_Z] + 1) / 2;
	int y0 = (y + fine->offset[MG_Y]) / 2;
	int y1 = (y + fine->offset[MG_Y] + 1) / 2;
	const double *r0 = coarse->u + mg_row(coarse, z0, y0);
	const double *r1 = coarse->u + mg_row(coarse, z0, y1);
	const double *r2 = coarse->u + mg_row(coarse, z1, y0);
	const double *r3 = coarse->u + mg_row(coarse, z1, y1);

	for (int x = 0; x < coarse->n[MG_X] + 2; x++)
		m->mixed[x] = 0.25 * (r0[x] + r1[x] + r2[x] + r3[x]);
}

/* u += what the coarse grid has there; the rim is done here and not sent. */
static void interpolate(struct mg *m, struct mg_grid *fine,
			struct mg_grid *coarse)
{
	const double *mixed = m->mixed;
	int off = fine->offset[MG_X];

	mg_grid_spread(fine, coarse);
	for (int z = 0; z < fine->n[MG_Z] + 2; z++) {
		for (int y = 0; y < fine->n[MG_Y] + 2; y++) {
			double *u = fine->u + mg_row(fine, z, y);

			mix_rows(m, fine, coarse, z, y);
			for (int x = 0; x < fine->n[MG_X] + 2; x++)
				u[x] += 0.5 * (mixed[(x + off) / 2] +
					       mixed[(x + off + 1) / 2]);
		}
	}
}

static void clear(const struct mg_grid *g, double *field)
{
	memset(field, 0, mg_points(g) * sizeof(*field));
}

static void v_cycle(struct mg *m)
{
	struct mg_grid *finest = &m->grid[m->class->log], *g;

	for (g = finest; g->log > COARSEST && g->active; g--)
		restrict_to(m, g, g - 1);
	g = &m->grid[COARSEST];
	if (g->active) {
		clear(g, g->u);
		smooth(m, g);
	}
	for (g++; g <= finest; g++) {
		if (!g->active)
			continue;
		if (g != finest)
			clear(g, g->u);
		interpolate(m, g, g - 1);
		residual(m, g, g == finest ? m->v : g->r);
		smooth(m, g);
	}
	residual(m, finest, m->v);
}

/* the charges */

struct extreme {
	double value; /* negative for the smallest, so that more is better */
	long point;
};

/* Keeps the ten largest, in order. */
static void keep(struct extreme *best, double value, long point)
{
	int i = CHARGES - 1;

	if (value <= best[i].value)
		return;
	for (; i > 0 && best[i - 1].value < value; i--)
		best[i] = best[i - 1];
	best[i] = (struct extreme){ value, point };
}

static void none(struct extreme *best)
{
	for (int i = 0; i < CHARGES; i++)
		best[i] = (struct extreme){ -2, -1 };
}

static void search_here(struct mg *m, struct extreme *high, struct extreme *low)
{
	struct mg_grid *g = &m->grid[m->class->log];
	long side = 1l << g->log;

	for (int z = 0; z < g->n[MG_Z]; z++) {
		for (int y = 0; y < g->n[MG_Y]; y++) {
			long point =
				((g->first[MG_Z] + z) * side + g->first[MG_Y] +
				 y) * side +
				g->first[MG_X];
			uint64_t seed = nas_skip(NAS_SEED, point);

			for (int x = 0; x < g->n[MG_X]; x++) {
				double value = nas_random(&seed);

				keep(high, value, point + x);
				keep(low, -value, point + x);
			}
		}
	}
}

/* Sets the charge where the point is here. */
static void place(struct mg *m, long point, double charge)
{
	struct mg_grid *g = &m->grid[m->class->log];
	int at[MG_DIMS];

	for (int d = 0; d < MG_DIMS; d++) {
		at[d] = (point >> d * g->log & ((1l << g->log) - 1)) -
			g->first[d];
		if (at[d] < 0 || at[d] >= g->n[d])
			return;
	}
	m->v[mg_row(g, at[MG_Z] + 1, at[MG_Y] + 1) + at[MG_X] + 1] = charge;
}

static void place_best(struct mg *m, const struct extreme *mine, double charge)
{
	struct extreme *all = nas_alloc(m->nas.ranks * CHARGES, sizeof(*all));
	struct extreme best[CHARGES];

	MPI_Allgather(mine, CHARGES * sizeof(*mine), MPI_BYTE, all,
		      CHARGES * sizeof(*mine), MPI_BYTE, MPI_COMM_WORLD);
	none(best);
	for (int i = 0; i < m->nas.ranks * CHARGES; i++)
		keep(best, all[i].value, all[i].point);
	for (int i = 0; i < CHARGES; i++)
		place(m, best[i].point, charge);
	free(all);
}

static void set_up(struct mg *m)
{
	struct mg_grid *g = &m->grid[m->class->log];
	struct extreme high[CHARGES], low[CHARGES];

	clear(g, g->u);
	clear(g, m->v);
	none(high);
	none(low);
	search_here(m, high, low);
	place_best(m, high, 1);
	place_best(m, low, -1);
	mg_grid_exchange(g, m->v);
}

/* whole runs */

static double norm(struct mg *m)
{
	struct mg_grid *g = &m->grid[m->class->log];
	double sum = 0, all;

	for (int z = 1; z <= g->n[MG_Z]; z++) {
		for (int y = 1; y <= g->n[MG_Y]; y++) {
			const double *r = g->r + mg_row(g, z, y);

			for (int x = 1; x <= g->n[MG_X]; x++)
				sum += r[x] * r[x];
		}
	}
	MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sqrt(ldexp(all, -3 * g->log));
}

static void prepare(struct mg *m, int *argc, char ***argv)
{
	struct mg_grid *finest;
	int side;

	nas_start(&m->nas, argc, argv, "MG");
	m->class = &classes[m->nas.class];
	side = 1 << m->class->log;
	nas_need_power_of_two(&m->nas, 1024);
	for (int log = COARSEST; log <= m->class->log; log++)
		mg_grid_create(&m->grid[log], &m->nas, log);
	finest = &m->grid[m->class->log];
	m->v = nas_alloc(mg_points(finest), sizeof(double));
	m->edges = nas_alloc(side + 2, sizeof(double));
	m->corners = nas_alloc(side + 2, sizeof(double));
	m->mixed = nas_alloc(side + 2, sizeof(double));
}

int main(int argc, char **argv)
{
	static struct mg m;
	struct nas_result result = { .operation = "floating point" };
	struct mg_grid *finest;
	double start, l2;

	prepare(&m, &argc, &argv);
	finest = &m.grid[m.class->log];
	set_up(&m);
	residual(&m, finest, m.v);
	v_cycle(&m); /* so that memory is touched */
	set_up(&m);
	start = nas_clock_start();
	residual(&m, finest, m.v);
	norm(&m);
	for (int i = 0; i < m.class->iterations; i++)
		v_cycle(&m);
	l2 = norm(&m);
	result.seconds = nas_clock_stop(start);
	for (int d = 0; d < MG_DIMS; d++)
		result.size[d] = 1 << m.class->log;
	result.iterations = m.class->iterations;
	result.operations =
		58.0 * m.class->iterations * ldexp(1, 3 * m.class->log);
	result.verified = fabs(l2 - m.class->norm) / m.class->norm <= 1e-8;
	return nas_finish(&m.nas, &result);
}
