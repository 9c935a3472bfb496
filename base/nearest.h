/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

/* How many letters to change, add or drop to make a into b; 99: very many. For
 * the nearest real name of a misspelt one. */
unsigned o2g_distance(const char *a, const char *b);

#endif
