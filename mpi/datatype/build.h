/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* How a derived type is put together. */
#ifndef MPII_DATATYPE_BUILD_H
#define MPII_DATATYPE_BUILD_H

#include "datatype/contents.h"

/*
 * Building a type: begin, then add the parts in the order of the type map, then
 * end. Each add appends count blocks, stride bytes apart, of bl consecutive
 * instances of old. Returns are MPI codes with words recorded; after a failure
 * the type is given back with mpii_type_put.
 */
struct mpii_build {
	struct mpii_type *t;
	bool data, bounds, marked; /* there are data, bounds, set bounds */
	MPI_Aint lb, ub, true_lb, true_ub;
};
int mpii_build_begin(struct mpii_build *b);
int mpii_build_add(struct mpii_build *b, MPI_Aint disp, MPI_Count count,
		   MPI_Aint stride, MPI_Count bl, const struct mpii_type *old);
void mpii_build_end(struct mpii_build *b);
/*
 * *inner becomes count copies of itself, stride bytes apart, from disp on. On
 * success the reference is to the new one, on failure still to the old.
 */
int mpii_type_wrap(struct mpii_type **inner, MPI_Aint disp, MPI_Count count,
		   MPI_Aint stride);
/* Give a type that has ended other bounds. */
void mpii_type_bounds(struct mpii_type *t, MPI_Aint lb, MPI_Aint extent);

/* A subarray or a distributed array once more, as its record says, of another
 * type than then. MPI code with words; *result is held for the caller. */
int mpii_subarray_again(const struct mpii_made *m, struct mpii_type *old,
			struct mpii_type **result);
int mpii_darray_again(const struct mpii_made *m, struct mpii_type *old,
		      struct mpii_type **result);

/* The object of a handle, or MPI_ERR_TYPE raised. */
int mpii_type_arg(const char *func, MPI_Datatype h, struct mpii_type **t);
/* For every constructor: check the arguments they all have … */
int mpii_type_args(const char *func, MPI_Count count, MPI_Datatype oldtype,
		   MPI_Datatype *newtype, struct mpii_type **old);
/* … and return the type, or raise @err (or no memory, when @m is NULL). */
int mpii_type_finish(const char *func, struct mpii_build *b, int err,
		     struct mpii_made *m, MPI_Datatype *newtype);
/* The same for a type that is complete: @m says how it was made. */
int mpii_type_record(const char *func, struct mpii_type *t, struct mpii_made *m,
		     MPI_Datatype *newtype);

#endif
