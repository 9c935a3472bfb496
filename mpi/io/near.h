/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Windows of aggregators in memory that the ranks of their host have mapped: these
 * put their data there themselves, and take it from there.
 */
#ifndef MPII_IO_NEAR_H
#define MPII_IO_NEAR_H

#include "io/cb.h"
#include "io/memory.h"

struct coll;
struct io_told;

/* The windows of an aggregator, as this rank knows them. */
struct io_near {
	struct io_memory memory; /* not mapped: it is on another host */
	uint64_t secret;	 /* which ones were met; 0: none yet */
	bool fresh;		 /* ... just now */
	bool refused;		 /* some rank could not map them */
};

/* At an aggregator whose windows no other access uses: makes them. *where: for the
 * others, if there are any. False: no memory. */
bool io_near_make(struct mpii_file *f, struct io_where *where);
void io_near_free(struct io_cb *cb);
/* All ranks together: map what was not seen before. MPI code with words. */
int io_near_meet(const struct coll *k, struct mpii_file *f,
		 const struct io_told *told);
/* Window @i of aggregator number @agg; NULL: what is there goes as a message. */
char *io_near_window(const struct mpii_file *f, const struct io_told *told,
		     int agg, int i);
/* At an aggregator: has this rank our windows? */
bool io_near_has(const struct mpii_file *f, const struct io_told *told,
		 int rank);

#endif
