// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "soft.h"

#include <stdbool.h>
#include <stdlib.h>

#include "util.h"

/* "A", "A:B", "A:B:STEP" from *p on, which goes behind it. */
static bool take_triplet(const char **p, long t[3])
{
	char *end;

	t[0] = strtol(*p, &end, 10);
	t[1] = t[0];
	t[2] = 1;
	for (int i = 1; i < 3 && end != *p && *end == ':'; i++) {
		*p = end + 1;
		t[i] = strtol(*p, &end, 10);
	}
	if (end == *p || t[2] == 0)
		return false;
	*p = end;
	return true;
}

/* The largest of the triplet that is at most @limit; 0: none. */
static long largest(const long t[3], long limit)
{
	long low = t[2] > 0 ? t[0] : t[1], high = t[2] > 0 ? t[1] : t[0];
	long step = labs(t[2]), from = t[0];

	if (high > limit)
		high = limit;
	if (high < low || high < 1)
		return 0;
	/* members are those that are a number of steps away from the first */
	while (high >= low && labs(high - from) % step)
		high--;
	return high >= low && high > 0 ? high : 0;
}

int soft_number(const char *spec, int most, int slots)
{
	long best = 0, limit = most < slots ? most : slots, t[3];
	const char *p = spec;

	do {
		long n;

		if (!take_triplet(&p, t))
			fail(EXIT_USAGE,
			     "soft is \"%s\", but must be a list of numbers, A:B or A:B:STEP",
			     spec);
		n = largest(t, limit);
		best = n > best ? n : best;
	} while (*p++ == ',');
	if (p[-1])
		fail(EXIT_USAGE,
		     "soft is \"%s\", but must be a list of numbers, A:B or A:B:STEP",
		     spec);
	if (!best)
		fail(EXIT_USAGE,
		     "of %d processes at most, with %d free slots, soft \"%s\" allows no number",
		     most, slots, spec);
	return (int)best;
}
