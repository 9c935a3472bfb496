/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Collective buffering: what a file keeps for it. Some ranks are aggregators.
 * Each has a part of the file, its domain; data goes to or comes from the
 * aggregator of its place, which alone touches the file there.
 *
 * An aggregator knows the views of all ranks, in the short form that they are
 * made of, and so knows by itself which bytes a rank has where. A view that is
 * a long list is not sent around: such a rank tells an aggregator for each
 * window of the file what it has there.
 */
#ifndef MPII_IO_CB_H
#define MPII_IO_CB_H

#include "io/file.h"
#include "io/memory.h"
#include "io/view.h"

struct io_near;

#define IO_VIEW_BLOCKS 16 /* what a view that is sent around may have */

/* Another rank's view. */
struct io_theirs {
	struct io_place place; /* unless it is listed */
	struct mpii_type type;
	bool listed;
};

struct io_cb {
	int *aggs; /* ranks, ascending */
	int naggs;
	int me; /* this rank's place among them, or -1 */
	bool one_host;
	bool company;	       /* other ranks are on this host */
	char *window[2];       /* each of half a buffer, or NULL */
	atomic_flag busy;      /* windows are in use by another access */
	struct io_where where; /* our windows, for other ranks of this host */
	struct io_near *near;  /* those of all aggregators */
};

/* MPI codes with words. */
int io_cb_init(struct mpii_file *f);
void io_cb_free(struct mpii_file *f);
/*
 * All ranks together (meet.c): learn what view each sets with this one, and take
 * the hints of rank 0. @code: this rank has no view, and why. MPI code with words,
 * the same class everywhere.
 */
int io_cb_meet(struct mpii_file *f, struct io_view *v,
	       const struct io_hints *hints, int code);
/* What rank @i has set with it. */
struct io_theirs io_cb_theirs(const struct io_view *v, int i);
/* Other hints, the same at all ranks. */
void io_cb_hints(struct mpii_file *f, const struct io_hints *h);

bool io_cb_same_host(const struct mpii_file *f, int rank);
int io_cb_nodes(const struct mpii_file *f);
/* Domains and windows begin at multiples of this. */
MPI_Count io_cb_unit(const struct mpii_file *f);
/* Bytes of a window. */
MPI_Count io_cb_window(const struct mpii_file *f);

#endif
