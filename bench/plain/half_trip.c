// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* To and fro, with nothing around it. */
#include "plain.h"

enum { TRIPS = 2000, TURNS = 21 };

static double one_turn(const struct plain_pair *p, size_t len,
		       void (*take)(int fd, size_t len))
{
	static const char data[PLAIN_HEADER + PLAIN_MOST];
	double start = plain_now();

	for (int i = 0; i < 2 * TRIPS; i++)
		if (i % 2 == p->side)
			plain_send(p->out, data, len);
		else
			take(p->fd, len);
	return (plain_now() - start) / TRIPS / 2;
}

double plain_half_trip(const struct plain_pair *p, size_t size,
		       void (*take)(int fd, size_t len))
{
	double took[TURNS];

	one_turn(p, PLAIN_HEADER + size, take); /* to warm up */
	for (int t = 0; t < TURNS; t++)
		took[t] = one_turn(p, PLAIN_HEADER + size, take);
	return plain_median(took, TURNS) * 1e6;
}
