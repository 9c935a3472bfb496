/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Sets of nodes. A region has at most DSM_NODES of them. */
#ifndef DSM_SET_H
#define DSM_SET_H

#include "dsm_env.h"

#define DSM_NODES 64

typedef u64 dsm_set;

static inline dsm_set dsm_only(unsigned node)
{
	return (dsm_set)1 << node;
}

static inline bool dsm_has(dsm_set set, unsigned node)
{
	return set >> node & 1;
}

/* The lowest number in a set that is not empty. */
static inline unsigned dsm_first(dsm_set set)
{
	return (unsigned)__builtin_ctzll(set);
}

static inline unsigned dsm_count(dsm_set set)
{
	unsigned n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

/* The next one after @last in turn, so that nobody waits for ever. */
static inline unsigned dsm_after(dsm_set set, unsigned last)
{
	dsm_set above = last + 1 < DSM_NODES ? set >> (last + 1) << (last + 1) :
					       0;

	return dsm_first(above ? above : set);
}

#endif
