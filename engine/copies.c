/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "copies.h"

/* How often the slower one is tried, and if it is slower by far. */
#define TRY_EVERY 16
#define TRY_SELDOM 128

bool eng_copies_both(struct eng_copies *c)
{
	bool both = c->both <= c->one;
	u32 quick = both ? c->both : c->one, slow = both ? c->one : c->both;
	u32 every = slow > quick + quick / 2 ? TRY_SELDOM : TRY_EVERY;

	c->turn++;
	if (!c->both || !c->one)
		return !c->both;
	return c->turn % every ? both : !both;
}

/* Being put off the core makes it slower and nothing makes it quicker than it is:
 * a better time counts more than a worse one. */
static void learn(u32 *rate, u64 len, u64 ns)
{
	u64 now = ns / ((len >> 20) + 1) + 1;
	u32 new = now > UINT32_MAX / 8 ? UINT32_MAX / 8 : (u32)now;

	if (!*rate)
		*rate = new;
	else if (new < *rate)
		*rate = (*rate + new) / 2;
	else
		*rate += (new - *rate) / 8;
}

void eng_copies_one_took(struct eng_copies *c, u64 len, u64 ns)
{
	learn(&c->one, len, ns);
}

void eng_copies_both_took(struct eng_copies *c, u64 len, u64 ns)
{
	learn(&c->both, len, ns);
}
