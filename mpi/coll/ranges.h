/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The ranges that table.def is written with, as initialisers { from, to }. */
#ifndef COLL_RANGES_H
#define COLL_RANGES_H

#include <stdint.h>

#define COLL_MANY INT64_MAX

#define RANKS(from, to)  \
	{                \
		from, to \
	}
#define RANKS_FROM(from)        \
	{                       \
		from, COLL_MANY \
	}
#define RANKS_ALL            \
	{                    \
		0, COLL_MANY \
	}
#define ASKED        \
	{            \
		1, 0 \
	} /* no number is in it */
#define BYTES_FROM(from)        \
	{                       \
		from, COLL_MANY \
	}
#define BYTES_TO(to)  \
	{             \
		0, to \
	}
#define BYTES_ALL            \
	{                    \
		0, COLL_MANY \
	}

struct coll_range {
	int64_t from, to;
};

#endif
