/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Dims_create: factors of a number that are as close to each other as
 * possible, by search. Factors are chosen from the largest to the smallest;
 * the smallest can be no more than the root of what is left, so a branch that
 * cannot beat the best spread found so far is cut at once.
 */
#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "topo/topo.h"

struct search {
	int *divisors, ndivisors; /* of the whole number, ascending */
	int k;			  /* factors wanted */
	int *now, *best;	  /* descending */
	int spread;		  /* largest - smallest of best */
};

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* There are at most 1536 for an int. */
static bool find_divisors(struct search *s, int n)
{
	s->divisors = malloc(2048 * sizeof(int));
	if (!s->divisors)
		return false;
	for (int i = 1; i <= n / i; i++) {
		if (n % i)
			continue;
		s->divisors[s->ndivisors++] = i;
		if (i != n / i)
			s->divisors[s->ndivisors++] = n / i;
	}
	qsort(s->divisors, s->ndivisors, sizeof(int), by_value);
	return true;
}

/* base^k, or something above every int. */
static long long power(int base, int k)
{
	long long p = 1;

	if (base == 1)
		return 1;
	while (k-- > 0 && p <= INT32_MAX)
		p *= base;
	return p;
}

/* The largest r with r^k <= n, for n >= 1. */
static int root(int n, int k)
{
	int low = 1, high = n, mid;

	while (low < high) {
		mid = low + (high - low + 1) / 2;
		if (power(mid, k) > n)
			high = mid - 1;
		else
			low = mid;
	}
	return low;
}

/* Choose factor number @level and those after it: their product is n, and none
 * is larger than max. */
static void choose(struct search *s, int level, int n, int max)
{
	int left = s->k - level, f, largest;

	if (left == 1) {
		largest = level ? s->now[0] : n;
		if (n > max || largest - n >= s->spread)
			return;
		s->now[level] = n;
		s->spread = largest - n;
		memcpy(s->best, s->now, s->k * sizeof(int));
		return;
	}
	for (int i = 0; i < s->ndivisors; i++) {
		f = s->divisors[i];
		if (f > max || f > n)
			return;
		if (n % f || power(f, left) < n) /* too small for the largest */
			continue;
		largest = level ? s->now[0] : f;
		if (largest - root(n / f, left - 1) >= s->spread)
			return;
		s->now[level] = f;
		choose(s, level + 1, n / f, f);
	}
}

/* False: out of memory. */
static bool balance(int n, int k, int *factors)
{
	struct search s = { .k = k, .spread = INT32_MAX };
	bool ok = find_divisors(&s, n);

	s.now = malloc(k * sizeof(int));
	s.best = factors;
	ok = ok && s.now;
	if (ok)
		choose(&s, 0, n, n);
	free(s.now);
	free(s.divisors);
	return ok;
}

/* What is left for the dimensions that are 0, of which there are *nfree. */
static int remaining(const char *func, int nnodes, int ndims, const int *dims,
		     int *left, int *nfree)
{
	long long fixed = 1;

	*nfree = 0;
	for (int i = 0; i < ndims; i++) {
		if (dims[i] < 0)
			return mpii_error(NULL, MPI_ERR_DIMS, func,
					  "dims[%d] "
					  "is %d, but must not be negative",
					  i, dims[i]);
		*nfree += dims[i] == 0;
		if (dims[i] && fixed <= nnodes)
			fixed *= dims[i];
	}
	if (nnodes % fixed || (*nfree == 0 && ndims > 0 && fixed != nnodes))
		return mpii_error(NULL, MPI_ERR_DIMS, func,
				  "nnodes is %d, "
				  "which the given dimensions do not divide",
				  nnodes);
	*left = (int)(nnodes / fixed);
	return MPI_SUCCESS;
}

int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
	static const char func[] = "MPI_Dims_create";
	int left = 1, nfree, *factors, k = 0, err;

	if (nnodes < 1)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "nnodes is %d, but must be positive", nnodes);
	if (ndims < 0)
		return mpii_error(NULL, MPI_ERR_DIMS, func,
				  "ndims is %d, but must not be negative",
				  ndims);
	if (ndims > 0 && !dims)
		return mpii_bad_null(NULL, func, "dims");
	err = remaining(func, nnodes, ndims, dims, &left, &nfree);
	if (err || nfree == 0)
		return err;
	factors = malloc(nfree * sizeof(*factors));
	if (!factors || !balance(left, nfree, factors)) {
		free(factors);
		return mpii_no_mem(NULL, func);
	}
	for (int i = 0; i < ndims; i++)
		if (dims[i] == 0)
			dims[i] = factors[k++];
	free(factors);
	return MPI_SUCCESS;
}
MPII_ALIAS(Dims_create);
