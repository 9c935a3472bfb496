/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Random numbers that a seed repeats: xorshift64*. */
#ifndef RND_H
#define RND_H

#include <stdint.h>

static uint64_t rng; /* the seed; never 0 */

static inline uint64_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng * 0x2545f4914f6cdd1dull >> 11;
}

#endif
