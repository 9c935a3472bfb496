/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Datatypes.
 *
 * A datatype is its flattened layout. One instance is a nest of `nloops` loops
 * (outermost first) around a list of runs; a run is `n` pieces of `len` bytes,
 * `stride` apart. So a vector of a million doubles is one run, and a face of a
 * cube one run in one loop. A contiguous type is one piece at displacement 0 as
 * long as its extent. Runs are in the order of the type map: that is the order
 * of the packed form, in which `at` is the place of the run's first byte.
 */
#ifndef MPII_DATATYPE_DATATYPE_H
#define MPII_DATATYPE_DATATYPE_H

#include "mpii.h"

struct mpii_attr;
struct mpii_made; /* how a type was made: contents.h */

struct mpii_block {
	MPI_Aint disp;
	MPI_Count len; /* bytes of a piece */
	MPI_Count n;   /* pieces */
	MPI_Aint stride;
	MPI_Count at;
};

#define MPII_LOOPS 3
struct mpii_loop {
	MPI_Count n;
	MPI_Aint stride;
	MPI_Count bytes; /* packed bytes of one turn */
};

struct mpii_type {
	struct mpii_obj obj;
	MPI_Datatype handle;
	MPI_Count size; /* bytes of data in one instance */
	MPI_Aint lb, extent, true_lb, true_extent;
	bool contiguous; /* count instances are one piece at the buffer */
	bool committed, predefined;
	bool simple;   /* committed and contiguous: what messages ask first */
	bool marked;   /* lb and ub were set, by resized or what acts like it */
	uint8_t kind;  /* predefined: the C type, enum mpii_kind */
	uint8_t class; /* predefined: which operations, enum mpii_class */
	uint8_t nloops;
	int align;
	size_t nblocks;
	struct mpii_block *blocks; /* &one when there is only one */
	struct mpii_block one;
	struct mpii_loop loops[MPII_LOOPS];
	MPI_Count nsegs;    /* pieces in one instance */
	MPI_Datatype basic; /* the one predefined type it is made of, or NULL */
	MPI_Count nbasic;   /* basic elements in one instance */
	char *name;	    /* heap; of a predefined type only if renamed */
	bool renamed;	    /* by MPI_Type_set_name */
	struct mpii_made *made;
	struct mpii_attr *attrs;
};

#define MPII_TYPE_FIRST 512
#define MPII_TYPE_COUNT 256
extern struct mpii_type mpii_types[MPII_TYPE_COUNT];

/* NULL: not a datatype. On the path of every message, hence here. */
static inline struct mpii_type *mpii_type_get(MPI_Datatype h)
{
	uintptr_t v = (uintptr_t)h;
	struct mpii_type *t = (struct mpii_type *)h;

	if (v - MPII_TYPE_FIRST < MPII_TYPE_COUNT)
		t = &mpii_types[v - MPII_TYPE_FIRST];
	else if (v >= MPII_PREDEFINED_END)
		return mpii_is_object(h, MPII_TYPE) ? t : NULL;
	else
		return NULL;
	return t->obj.magic == MPII_TYPE ? t : NULL;
}
void mpii_type_hold(struct mpii_type *t);
void mpii_type_put(struct mpii_type *t);
/* Copy bytes [off, off+n) of the packed form out of / into count instances. */
void mpii_pack(const struct mpii_type *t, const void *buf, MPI_Count count,
	       MPI_Count off, void *out, size_t n);
void mpii_unpack(const struct mpii_type *t, void *buf, MPI_Count count,
		 MPI_Count off, const void *in, size_t n);
/* Local copy between two typed buffers; as much as fits. */
void mpii_copy(const void *from, MPI_Count fcount, const struct mpii_type *ft,
	       void *to, MPI_Count tcount, const struct mpii_type *tt);
/* The segments of count instances: fills at most @max, returns how many there
 * are in all. */
size_t mpii_type_segs(const struct mpii_type *t, const void *buf,
		      MPI_Count count, struct o2g_seg *segs, size_t max);
/* Calls fn(arg, ...) with each piece of bytes [off, off+n) of the packed form, in
 * order. */
typedef void mpii_piece_fn(void *arg, char *piece, MPI_Count len);
void mpii_type_each(const struct mpii_type *t, const void *buf, MPI_Count off,
		    MPI_Count n, mpii_piece_fn *fn, void *arg);
/* The block that holds packed byte @at of its list. */
size_t mpii_type_find_block(const struct mpii_type *t, MPI_Count at);
/* As MPI_Type_get_value_index; MPI_DATATYPE_NULL: there is none. */
MPI_Datatype mpii_type_pair(MPI_Datatype value_type, MPI_Datatype index_type);
/* Elements of the basic type in @bytes, for Get_elements; MPI_UNDEFINED. */
MPI_Count mpii_type_elements(const struct mpii_type *t, MPI_Count bytes);

#endif
