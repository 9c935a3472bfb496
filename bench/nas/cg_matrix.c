// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The matrix is the sum of weighted outer products of n random sparse vectors,
 * plus a diagonal. Every rank generates all vectors, which is cheap, and keeps
 * the products that fall into its block.
 */
#include "cg_matrix.h"

#include "nas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONDITION 0.1 /* reciprocal of the condition number wanted */

struct vectors {
	int most; /* entries of a vector */
	int *count, *index;
	double *value;
};

static int find(const int *index, int count, int wanted)
{
	for (int i = 0; i < count; i++)
		if (index[i] == wanted)
			return i;
	return -1;
}

/* Places are drawn below the next power of two, and drawn again if too far. */
static int draw_vector(uint64_t *seed, const struct cg_problem *p, int *index,
		       double *value)
{
	double below = 1 << nas_log2(p->n);
	int count = 0;

	while (count < p->nonzeros) {
		double element = nas_random(seed);
		int place = below * nas_random(seed);

		if (place >= p->n || find(index, count, place) >= 0)
			continue;
		index[count] = place;
		value[count++] = element;
	}
	return count;
}

/* Vector i has one half at place i, whatever was drawn there. */
static int set_half(int *index, double *value, int count, int i)
{
	int at = find(index, count, i);

	if (at < 0)
		at = count++;
	index[at] = i;
	value[at] = 0.5;
	return count;
}

static void vectors_draw(struct vectors *v, const struct cg_problem *p)
{
	uint64_t seed = NAS_SEED;

	nas_random(&seed); /* the specification's program takes one before */
	v->most = p->nonzeros + 1;
	v->count = nas_alloc(p->n, sizeof(int));
	v->index = nas_alloc((size_t)p->n * v->most, sizeof(int));
	v->value = nas_alloc((size_t)p->n * v->most, sizeof(double));
	for (int i = 0; i < p->n; i++) {
		int *index = v->index + (size_t)i * v->most;
		double *value = v->value + (size_t)i * v->most;
		int count = draw_vector(&seed, p, index, value);

		v->count[i] = set_half(index, value, count, i);
	}
}

static void vectors_free(struct vectors *v)
{
	free(v->count);
	free(v->index);
	free(v->value);
}

static bool has_row(const struct cg_block *b, int row)
{
	return row >= b->row0 && row < b->row1;
}

static bool has_column(const struct cg_block *b, int column)
{
	return column >= b->col0 && column < b->col1;
}

/* How many products fall into each row, into begin[row + 1]. */
static void count_products(struct cg_block *b, const struct vectors *v, int n)
{
	for (int i = 0; i < n; i++) {
		const int *index = v->index + (size_t)i * v->most;
		int columns = 0;

		for (int k = 0; k < v->count[i]; k++)
			columns += has_column(b, index[k]);
		for (int k = 0; k < v->count[i]; k++)
			if (has_row(b, index[k]))
				b->begin[index[k] - b->row0 + 1] += columns;
	}
	for (int r = 0; r < b->rows; r++)
		b->begin[r + 1] += b->begin[r];
}

/* Keeps the row in the order of its columns; equal ones are added up. */
static void add_to_row(struct cg_block *b, int row, int *filled, int column,
		       double value)
{
	int *columns = b->column + b->begin[row];
	double *values = b->value + b->begin[row];
	int low = 0, high = *filled;

	while (low < high) {
		int middle = (low + high) / 2;

		if (columns[middle] < column)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < *filled && columns[low] == column) {
		values[low] += value;
		return;
	}
	memmove(columns + low + 1, columns + low,
		(*filled - low) * sizeof(*columns));
	memmove(values + low + 1, values + low,
		(*filled - low) * sizeof(*values));
	columns[low] = column;
	values[low] = value;
	++*filled;
}

static void add_products(struct cg_block *b, const struct vectors *v,
			 const struct cg_problem *p, int i, double weight,
			 int *filled)
{
	const int *index = v->index + (size_t)i * v->most;
	const double *value = v->value + (size_t)i * v->most;

	for (int k = 0; k < v->count[i]; k++) {
		int row = index[k] - b->row0;

		if (!has_row(b, index[k]))
			continue;
		for (int m = 0; m < v->count[i]; m++) {
			double x = value[m] * (value[k] * weight);

			if (index[m] == i && index[k] == i)
				x += CONDITION - p->shift;
			if (has_column(b, index[m]))
				add_to_row(b, row, &filled[row],
					   index[m] - b->col0, x);
		}
	}
}

/* Closes the gaps that added-up products left. */
static void close_rows(struct cg_block *b, const int *filled)
{
	long to = 0;

	for (int r = 0; r < b->rows; r++) {
		long from = b->begin[r];

		memmove(b->column + to, b->column + from,
			filled[r] * sizeof(*b->column));
		memmove(b->value + to, b->value + from,
			filled[r] * sizeof(*b->value));
		b->begin[r] = to;
		to += filled[r];
	}
	b->begin[b->rows] = to;
}

void cg_matrix_create(struct cg_block *b, const struct cg_problem *p)
{
	double weight = 1, ratio = pow(CONDITION, 1.0 / p->n);
	struct vectors v;
	int *filled;

	b->rows = b->row1 - b->row0;
	b->begin = nas_alloc(b->rows + 1, sizeof(*b->begin));
	filled = nas_alloc(b->rows, sizeof(*filled));
	vectors_draw(&v, p);
	count_products(b, &v, p->n);
	b->column = nas_alloc(b->begin[b->rows], sizeof(*b->column));
	b->value = nas_alloc(b->begin[b->rows], sizeof(*b->value));
	for (int i = 0; i < p->n; i++) {
		add_products(b, &v, p, i, weight, filled);
		weight *= ratio;
	}
	close_rows(b, filled);
	free(filled);
	vectors_free(&v);
}
