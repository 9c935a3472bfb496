/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the ranks have in one window of the file: a list of blocks for each, and
 * for writing, which bytes of the window are covered by all of them.
 */
#ifndef MPII_IO_PART_H
#define MPII_IO_PART_H

#include "io/view.h"

/* One rank's. Its blocks are relative to the beginning of the window. */
struct io_part {
	struct mpii_type type; /* of the blocks: messages are of this type */
	size_t room;	       /* for blocks */
	MPI_Offset lo, hi;     /* first byte and end, in the window */
};
void io_part_free(struct io_part *p);
/* Bytes [pos, end) of the data at a place, in the window that begins at
 * @window. False: no memory. */
bool io_part_fill(struct io_part *p, const struct io_place *place,
		  MPI_Count pos, MPI_Count end, MPI_Offset window);
/* Room for n blocks, to be filled in by somebody else; then it is measured. */
bool io_part_room(struct io_part *p, size_t n);
void io_part_measure(struct io_part *p, size_t n);
/* Leave out what begins at byte @hi of the window or behind it. */
void io_part_cut(struct io_part *p, MPI_Offset hi);

/* Which bytes are covered: a bit for each piece of the largest size that all
 * blocks are multiples of. */
struct io_cover {
	uint64_t *bits;
	size_t room; /* words */
	MPI_Offset lo, hi;
	MPI_Count grain;
	bool whole; /* all of [lo, hi) is */
};
/* By the parts that have data; not @exact: only lo and hi. False: no memory. */
bool io_cover_make(struct io_cover *c, const struct io_part *parts, int n,
		   bool exact);
void io_cover_free(struct io_cover *c);
/* The next range at or behind *lo that is covered. False: none. */
bool io_cover_next(const struct io_cover *c, MPI_Offset *lo, MPI_Offset *hi);

#endif
