/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Who knows whom, of two groups that meet. */
#ifndef MPII_PROCESS_KNOWN_H
#define MPII_PROCESS_KNOWN_H

#include "process/meet.h"
#include "process/others.h"

struct mpii_known {
	const struct mpii_set *s;
	const struct mpii_group *group; /* ours, whose members the set has */
	struct mpii_way *way;
	unsigned since; /* mpii_others_clock(), before anybody was heard of */
	struct mpii_look look; /* at the other side: what we have of each, */
	bool *stale;	       /* ... and it has not any more */
};

/* Others wait for us: who has no memory for this aborts. */
void *mpii_known_allocate(size_t n, size_t size);
/* False: we have nothing, so there is nothing to compare. */
bool mpii_known_any(void);
/* By all members of both sides; the other side is in look.who. MPI code. */
int mpii_known_compare(struct mpii_known *k);
/* Before they are made known again: those that are stale end, for us as well. */
void mpii_known_end_stale(const struct mpii_known *k);
/* After that: they may be forgotten again. */
void mpii_known_free(struct mpii_known *k);

#endif
