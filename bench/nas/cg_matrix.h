/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The random sparse matrix of CG: one block of it, in compressed rows. */
#ifndef NAS_CG_MATRIX_H
#define NAS_CG_MATRIX_H

struct cg_problem {
	int n, nonzeros; /* order; entries of each random vector */
	double shift;
};

struct cg_block {
	int row0, row1, col0, col1; /* half-open */
	int rows;
	long *begin; /* of each row in the arrays below; one more at the end */
	int *column; /* from col0 */
	double *value;
};

/* The four limits are set by the caller. */
void cg_matrix_create(struct cg_block *b, const struct cg_problem *p);

#endif
