// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * CG: the smallest eigenvalue of a sparse matrix by inverse iteration, each
 * step of which is 25 steps of conjugate gradients.
 *
 * Ranks form a grid, as wide as high or twice as wide, and each has one block
 * of the matrix. A vector is cut by columns: all ranks of a grid column have
 * the same piece. A product of matrix and vector yields a piece cut by rows,
 * summed over the grid row by exchanging and adding, log2(width) times; then
 * each rank swaps with one partner to have it by columns again. Sums of single
 * numbers go over the grid row in the same way.
 */
#include "cg_matrix.h"
#include "nas.h"

#include <math.h>
#include <string.h>

enum { STEPS = 25, TAG = 1 };

static const struct cg_class {
	struct cg_problem problem;
	int iterations;
	double zeta;
} classes[NAS_CLASSES] = {
	[NAS_S] = { { 1400, 7, 10 }, 15, 8.5971775078648 },
	[NAS_W] = { { 7000, 8, 12 }, 15, 10.362595087124 },
	[NAS_A] = { { 14000, 11, 20 }, 15, 17.130235054029 },
	[NAS_B] = { { 75000, 13, 60 }, 75, 22.712745482631 },
};

struct cg {
	struct nas nas;
	const struct cg_class *class;
	int grid_rows, grid_cols;
	int my_row, my_col;
	int partner;		   /* in the swap */
	int part_begin, part_size; /* of the row piece, that the partner gets */
	struct cg_block block;
	int size;		   /* of a piece by columns */
	double *x, *z, *p, *q, *r; /* by columns */
	double *product, *arrived; /* by rows */
};

static int column_limit(const struct cg *c, int column)
{
	return (long)c->class->problem.n * column / c->grid_cols;
}

static int row_limit(const struct cg *c, int row)
{
	return column_limit(c, row * (c->grid_cols / c->grid_rows));
}

static int rank_at(const struct cg *c, int row, int column)
{
	return row * c->grid_cols + column;
}

/*
 * The ranks of grid row i have what grid columns i (or, with a grid twice as
 * wide, 2i and 2i + 1) need. Partners have each other's piece.
 */
static void find_partner(struct cg *c)
{
	int twice = c->grid_cols / c->grid_rows, half = c->my_col % twice;
	int column = c->my_row * twice + half;

	c->partner = rank_at(c, c->my_col / twice, column);
	c->part_begin = column_limit(c, column) - c->block.row0;
	c->part_size = column_limit(c, column + 1) - column_limit(c, column);
}

static void prepare(struct cg *c, int *argc, char ***argv)
{
	int log;

	nas_start(&c->nas, argc, argv, "CG");
	nas_need_power_of_two(&c->nas, 1024);
	c->class = &classes[c->nas.class];
	log = nas_log2(c->nas.ranks);
	c->grid_rows = 1 << log / 2;
	c->grid_cols = c->nas.ranks / c->grid_rows;
	c->my_row = c->nas.rank / c->grid_cols;
	c->my_col = c->nas.rank % c->grid_cols;
	c->block.row0 = row_limit(c, c->my_row);
	c->block.row1 = row_limit(c, c->my_row + 1);
	c->block.col0 = column_limit(c, c->my_col);
	c->block.col1 = column_limit(c, c->my_col + 1);
	find_partner(c);
	cg_matrix_create(&c->block, &c->class->problem);
	c->size = c->block.col1 - c->block.col0;
	c->x = nas_alloc(c->size, sizeof(double));
	c->z = nas_alloc(c->size, sizeof(double));
	c->p = nas_alloc(c->size, sizeof(double));
	c->q = nas_alloc(c->size, sizeof(double));
	c->r = nas_alloc(c->size, sizeof(double));
	c->product = nas_alloc(c->block.rows, sizeof(double));
	c->arrived = nas_alloc(c->block.rows, sizeof(double));
}

static void exchange(const double *mine, int count, double *other,
		     int other_count, int rank)
{
	MPI_Request request;

	MPI_Irecv(other, other_count, MPI_DOUBLE, rank, TAG, MPI_COMM_WORLD,
		  &request);
	MPI_Send(mine, count, MPI_DOUBLE, rank, TAG, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Over the ranks of the grid row. */
static void sum_over_row(const struct cg *c, double *values, double *scratch,
			 int count)
{
	for (int step = 1; step < c->grid_cols; step *= 2) {
		exchange(values, count, scratch, count,
			 rank_at(c, c->my_row, c->my_col ^ step));
		for (int i = 0; i < count; i++)
			values[i] += scratch[i];
	}
}

static double dot(const struct cg *c, const double *a, const double *b)
{
	double sum = 0, scratch;

	for (int i = 0; i < c->size; i++)
		sum += a[i] * b[i];
	sum_over_row(c, &sum, &scratch, 1);
	return sum;
}

/* out = A * in, both by columns. */
static void multiply(struct cg *c, const double *in, double *out)
{
	const struct cg_block *b = &c->block;

	for (int row = 0; row < b->rows; row++) {
		double sum = 0;

		for (long k = b->begin[row]; k < b->begin[row + 1]; k++)
			sum += b->value[k] * in[b->column[k]];
		c->product[row] = sum;
	}
	sum_over_row(c, c->product, c->arrived, b->rows);
	if (c->partner == c->nas.rank)
		memcpy(out, c->product + c->part_begin, c->size * sizeof(*out));
	else
		exchange(c->product + c->part_begin, c->part_size, out, c->size,
			 c->partner);
}

/* z so that A * z is about x; returns how far off it is. */
static double solve(struct cg *c)
{
	double rho, sum = 0, scratch;

	memset(c->z, 0, c->size * sizeof(*c->z));
	memcpy(c->r, c->x, c->size * sizeof(*c->r));
	memcpy(c->p, c->r, c->size * sizeof(*c->p));
	rho = dot(c, c->r, c->r);
	for (int step = 0; step < STEPS; step++) {
		double alpha, beta, rho0 = rho;

		multiply(c, c->p, c->q);
		alpha = rho / dot(c, c->p, c->q);
		for (int i = 0; i < c->size; i++) {
			c->z[i] += alpha * c->p[i];
			c->r[i] -= alpha * c->q[i];
		}
		rho = dot(c, c->r, c->r);
		beta = rho / rho0;
		for (int i = 0; i < c->size; i++)
			c->p[i] = c->r[i] + beta * c->p[i];
	}
	multiply(c, c->z, c->r);
	for (int i = 0; i < c->size; i++) {
		double d = c->x[i] - c->r[i];

		sum += d * d;
	}
	sum_over_row(c, &sum, &scratch, 1);
	return sqrt(sum);
}

/* One step of the inverse iteration; returns the estimate. */
static double iterate(struct cg *c, double *residual)
{
	double sums[2] = { 0 }, scratch[2], scale;

	*residual = solve(c);
	for (int i = 0; i < c->size; i++) {
		sums[0] += c->x[i] * c->z[i];
		sums[1] += c->z[i] * c->z[i];
	}
	sum_over_row(c, sums, scratch, 2);
	scale = 1 / sqrt(sums[1]);
	for (int i = 0; i < c->size; i++)
		c->x[i] = scale * c->z[i];
	return c->class->problem.shift + 1 / sums[0];
}

static void start_over(struct cg *c)
{
	for (int i = 0; i < c->size; i++)
		c->x[i] = 1;
}

static double operations(const struct cg_class *c)
{
	double product = c->problem.nonzeros * (c->problem.nonzeros + 1.0);

	return 2.0 * c->iterations * c->problem.n *
	       (3 + product + STEPS * (5 + product) + 3);
}

int main(int argc, char **argv)
{
	static struct cg c;
	struct nas_result result = { .operation = "floating point" };
	double start, residual, zeta = 0;

	prepare(&c, &argc, &argv);
	start_over(&c);
	iterate(&c, &residual); /* so that memory is touched */
	start_over(&c);
	start = nas_clock_start();
	for (int i = 0; i < c.class->iterations; i++)
		zeta = iterate(&c, &residual);
	result.seconds = nas_clock_stop(start);
	result.size[0] = c.class->problem.n;
	result.iterations = c.class->iterations;
	result.operations = operations(c.class);
	result.verified = fabs(zeta - c.class->zeta) / c.class->zeta <= 1e-10;
	return nas_finish(&c.nas, &result);
}
