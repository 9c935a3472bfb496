/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the server has done, for `o2g fs status`. */
#ifndef FSD_STATS_H
#define FSD_STATS_H

#include <stdatomic.h>

#include "p9.h"

#define FSD_BINS 24 /* of latency: below 2^i microseconds */

struct fsd_op_stats {
	atomic_ullong count, errors, ns;
	atomic_ullong bins[FSD_BINS];
};

struct fsd_stats {
	atomic_ullong read, written, replayed, refused;
	struct fsd_op_stats ops[P9_TYPES];
};

static inline void fsd_stats_add(struct fsd_op_stats *o, u64 ns, bool error)
{
	unsigned bin = 0;

	for (u64 us = ns / 1000; us && bin < FSD_BINS - 1; us >>= 1)
		bin++;
	atomic_fetch_add_explicit(&o->count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&o->ns, ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&o->bins[bin], 1, memory_order_relaxed);
	if (error)
		atomic_fetch_add_explicit(&o->errors, 1, memory_order_relaxed);
}

#endif
