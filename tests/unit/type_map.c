/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "type_map.h"

#include <stdlib.h>

#include "../../mpi/datatype/datatype.h"

struct ref *ref_new(void)
{
	struct ref *r = calloc(1, sizeof(*r));

	r->at = malloc(MAX_BYTES * sizeof(long));
	r->elem = malloc(MAX_BYTES * sizeof(long));
	r->align = 1;
	return r;
}

void ref_free(struct ref *r)
{
	free(r->at);
	free(r->elem);
	free(r);
}

struct ref *ref_basic(MPI_Datatype h)
{
	const struct mpii_type *t = mpii_type_get(h);
	struct ref *r = ref_new();

	for (long i = 0; i < t->size; i++)
		r->at[r->n++] = i;
	r->elem[r->nelem++] = r->n;
	r->ub = t->extent;
	r->any = true;
	r->align = t->align;
	return r;
}

bool ref_fits(const struct ref *r, const struct ref *old, long copies)
{
	return r->n + copies * old->n <= MAX_BYTES;
}

void ref_bound(long *lo, long *hi, bool first, long a, long b)
{
	if (first || a < *lo)
		*lo = a;
	if (first || b > *hi)
		*hi = b;
}

void ref_add(struct ref *r, long disp, const struct ref *old)
{
	long base = r->n;

	if (!old->n && !old->marked)
		return;
	for (long i = 0; i < old->n; i++)
		r->at[r->n++] = disp + old->at[i];
	for (long i = 0; i < old->nelem; i++)
		r->elem[r->nelem++] = base + old->elem[i];
	if (old->marked) {
		ref_bound(&r->mlb, &r->mub, !r->marked, disp + old->lb,
			  disp + old->ub);
		r->marked = true;
	} else {
		/* unmarked: lb and ub come from the data */
		ref_bound(&r->lb, &r->ub, !r->any, disp + old->lb,
			  disp + old->ub);
		r->any = true;
	}
	if (old->align > r->align)
		r->align = old->align;
}

void ref_end(struct ref *r)
{
	if (r->marked) {
		r->lb = r->mlb;
		r->ub = r->mub;
	} else if ((r->ub - r->lb) % r->align > 0) {
		r->ub += r->align - (r->ub - r->lb) % r->align;
	}
}

long ref_extent(const struct ref *r)
{
	return r->ub - r->lb;
}

long ref_place(const struct ref *r, long i)
{
	return i / r->n * ref_extent(r) + r->at[i % r->n];
}
