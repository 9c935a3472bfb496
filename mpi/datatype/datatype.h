/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the files about datatypes share: kinds of predefined types, how a derived
 * type is put together, and the record of how it was made.
 */
#ifndef DATATYPE_H
#define DATATYPE_H

#include "mpii.h"

/* The C type behind a predefined datatype: what a reduction loop works on. */
enum mpii_kind {
	MPII_K_NONE, /* no arithmetic: characters, MPI_PACKED */
	MPII_K_I8,
	MPII_K_U8,
	MPII_K_I16,
	MPII_K_U16,
	MPII_K_I32,
	MPII_K_U32,
	MPII_K_I64,
	MPII_K_U64,
	MPII_K_I128,
	MPII_K_F16,
	MPII_K_F32,
	MPII_K_F64,
	MPII_K_LD,
	MPII_K_F128,
	MPII_K_C16,
	MPII_K_C32,
	MPII_K_C64,
	MPII_K_CLD,
	MPII_K_C128,
	MPII_K_FLOAT_INT,
	MPII_K_DOUBLE_INT,
	MPII_K_LONG_INT,
	MPII_K_2INT,
	MPII_K_SHORT_INT,
	MPII_K_LONG_DOUBLE_INT,
	MPII_K_2FLOAT,
	MPII_K_2DOUBLE,
	MPII_K_PAIR, /* of MPI_Type_get_value_index, without a name */
	MPII_K_COUNT
};

/* The standard's groups of types that operations are defined on. */
enum mpii_class {
	MPII_C_NONE,
	MPII_C_INTEGER,
	MPII_C_FORTRAN_INTEGER,
	MPII_C_FLOAT,
	MPII_C_LOGICAL,
	MPII_C_COMPLEX,
	MPII_C_BYTE,
	MPII_C_MULTI,
	MPII_C_PAIR,
	MPII_C_COUNT
};

/*
 * The arguments of the constructor, as MPI_Type_get_contents gives them. After
 * a _c call (large) counts and displacements are in counts, after another one
 * in ints and addrs.
 */
struct mpii_made {
	int combiner;
	bool large;
	MPI_Count nints, naddrs, ncounts, ntypes; /* used */
	int *ints;
	MPI_Aint *addrs;
	MPI_Count *counts;
	struct mpii_type **types; /* held */
};

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

/*
 * Layout, layout.c: only size, loops and blocks of the types are read
 * and written. False: out of memory.
 */
bool mpii_layout_repeat(struct mpii_type *t, MPI_Count n, MPI_Aint stride);
bool mpii_layout_append(struct mpii_type *t, MPI_Aint disp,
			const struct mpii_type *part);
bool mpii_layout_copy(struct mpii_type *t, const struct mpii_type *from);
void mpii_layout_end(struct mpii_type *t);
void mpii_layout_free(struct mpii_type *t);

/*
 * The record, contents.c: create with room for so many of each, then
 * put the arguments in their order. A `num` is an int or, in a large call, a
 * count; an `addr` is an address or, in a large call, a count.
 */
struct mpii_made *mpii_made_create(int combiner, bool large, MPI_Count ints,
				   MPI_Count nums, MPI_Count addrs,
				   MPI_Count types);
void mpii_made_int(struct mpii_made *m, int v);
void mpii_made_num(struct mpii_made *m, MPI_Count v);
void mpii_made_nums(struct mpii_made *m, MPI_Count n, const MPI_Count *v);
void mpii_made_addr(struct mpii_made *m, MPI_Count v);
void mpii_made_type(struct mpii_made *m, struct mpii_type *t);
void mpii_made_destroy(struct mpii_made *m);

/*
 * One call that packs or unpacks, packed.c: @count instances of @t at
 * @user, their bytes at @packed from *position on.
 */
struct mpii_packing {
	const char *func;
	struct mpii_comm *comm; /* whose error handler is called, or NULL */
	bool unpack;
	void *user;
	MPI_Count count;
	struct mpii_type *t;
	char *packed;
	MPI_Count size, *position;
};

/* Is that a type for it, and a count? Fills p->t. */
int mpii_packing_type(struct mpii_packing *p, MPI_Datatype datatype);
/* Are both buffers there, and is there room for, or are there, @bytes? */
int mpii_packing_room(const struct mpii_packing *p, MPI_Count bytes);

#endif
