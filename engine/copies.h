/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * One copy or two? A large message of a peer on this host can be read out of its
 * memory, one copy by one core, or come through the ring, two copies by both ends at
 * once. Which is quicker depends on the caches: the first while they hold the data,
 * the second when they do not. Nobody can know that in advance, so both are timed,
 * and the quicker one is used; the other gets a turn now and then.
 */
#ifndef ENG_COPIES_H
#define ENG_COPIES_H

#include "env.h"

struct eng_copies {
	u32 one, both; /* ns for each MiB, smoothed; 0: not tried yet */
	u32 turn;
	u64 since; /* both have been copying, one message is timed; 0: none is */
};

/* Is it the turn of two copies? */
bool eng_copies_both(struct eng_copies *c);
/* That took so long. */
void eng_copies_one_took(struct eng_copies *c, u64 len, u64 ns);
void eng_copies_both_took(struct eng_copies *c, u64 len, u64 ns);

#endif
