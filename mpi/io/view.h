/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Views: which bytes of the file belong to the data, and in which order.
 *
 * Data is counted in bytes from the beginning of the view: its position. A view
 * is never listed; a walk goes through a part of it, run by run, and a position
 * is found by dividing down through the filetype's loops and blocks. Filetypes
 * are monotonic, so the data of a piece of the file is one range of positions.
 */
#ifndef MPII_IO_VIEW_H
#define MPII_IO_VIEW_H

#include "datatype/datatype.h"

struct io_rep;
struct io_theirs;

struct io_view {
	atomic_int refs;
	MPI_Offset disp;
	struct mpii_type *etype, *filetype; /* of the program, held */
	/* the filetype as it lies in the file, and the size of an etype there:
	 * other ones where the representation has other sizes */
	const struct mpii_type *layout;
	MPI_Count esize;
	const struct io_rep *rep;
	bool contiguous; /* position p is byte disp + p */
	/* Instances of the filetype interleave, or overlap: the first one can be
	 * read, or written. Programs that use no more set such views. */
	bool read_once, write_once;
	/* what the other ranks have set with it; NULL: all have this one */
	struct io_theirs *theirs;
	struct mpii_block *their_blocks;
};

/* Nowhere below 0, and never going back? And *tiles, from one instance to the
 * next? */
bool io_type_monotonic(const struct mpii_type *t, bool *tiles);
/* Do bytes belong to it twice? Without *tiles, to two instances? */
bool io_type_overlaps(const struct mpii_type *t, bool *tiles);

/* Of MPI_BYTE at 0: what every file starts with. NULL: out of memory. */
struct io_view *io_view_bytes(void);
void io_view_put(struct io_view *v);
static inline struct io_view *io_view_hold(struct io_view *v)
{
	atomic_fetch_add(&v->refs, 1);
	return v;
}

/* A place in a layout: instances of a type from disp on. */
struct io_place {
	const struct mpii_type *t;
	MPI_Offset disp;
	bool contiguous;
};
static inline struct io_place io_view_place(const struct io_view *v)
{
	return (struct io_place){ v->layout, v->disp, v->contiguous };
}
/* Where byte @pos of the data is. */
MPI_Offset io_place_byte(const struct io_place *p, MPI_Count pos);
/* Can file offsets tell all the bytes before position @end? */
bool io_place_reaches(const struct io_place *p, MPI_Count end);
/* The first position at byte @byte of the file or behind it, in [lo, hi]. */
MPI_Count io_place_find(const struct io_place *p, MPI_Offset byte, MPI_Count lo,
			MPI_Count hi);

/* The pieces of data bytes [pos, end), in their order. */
struct io_walk {
	struct io_place p;
	MPI_Count pos, end;
	/* where pos is */
	MPI_Count instance, turn[MPII_LOOPS];
	size_t block;
	MPI_Count piece, skip;
	MPI_Offset base; /* of the block list */
};
void io_walk_start(struct io_walk *w, const struct io_place *p, MPI_Count pos,
		   MPI_Count end);
/* The next n pieces of len bytes, stride apart, from disp on. False: the end. */
bool io_walk_block(struct io_walk *w, struct mpii_block *b);
/* The next piece with all that touches it, at most @max bytes. */
bool io_walk_run(struct io_walk *w, MPI_Offset *off, MPI_Count *len,
		 MPI_Count max);

#endif
