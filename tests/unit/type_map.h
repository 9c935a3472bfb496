/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The naive reference for datatypes: a type map written out byte by byte. */
#ifndef TYPE_MAP_H
#define TYPE_MAP_H

#include <stdbool.h>

#include "mpi.h"

#define MAX_BYTES 20000

struct ref {
	long n;	       /* bytes */
	long *at;      /* displacement of each, in the order of the type map */
	long nelem;    /* basic elements */
	long *elem;    /* where each ends in the packed form */
	long lb, ub;   /* extent as MPI reports it: ub - lb */
	long mlb, mub; /* bounds from markers */
	bool any, marked;
	int align;
};

struct ref *ref_new(void);
struct ref *ref_basic(MPI_Datatype h);
void ref_free(struct ref *r);

/* Is there room for so many copies of @old? */
bool ref_fits(const struct ref *r, const struct ref *old, long copies);
void ref_add(struct ref *r, long disp, const struct ref *old);
/* Nothing is added any more. */
void ref_end(struct ref *r);

long ref_extent(const struct ref *r);
/* The byte that packed byte i of count instances is at. */
long ref_place(const struct ref *r, long i);
/* Widen lo to hi, which hold nothing yet if @first, by a to b. */
void ref_bound(long *lo, long *hi, bool first, long a, long b);

#endif
