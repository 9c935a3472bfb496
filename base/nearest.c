/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "nearest.h"

#include <string.h>

unsigned o2g_distance(const char *a, const char *b)
{
	size_t n = strlen(b);
	unsigned row[64];

	if (n >= 63)
		return 99;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		unsigned diag = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			unsigned best = diag + (a[i - 1] != b[j - 1]);

			diag = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}
