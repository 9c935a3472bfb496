/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The dump area: memory of the program where messages wait that nobody has
 * asked for yet. All that the library keeps about them is in there too, so the
 * area's size is the whole bound.
 *
 * It is cut into blocks; a block knows its size and that of the one before it,
 * so that freed neighbours join at once. The search for room goes on where the
 * last one ended: messages that leave in about the order they came make it a
 * ring. No locks: the caller serialises.
 */
#ifndef ENG_DUMP_H
#define ENG_DUMP_H

#include "match.h"

/* A message in the dump area; its bytes follow. */
struct eng_dump_msg {
	struct o2g_match_entry match;
	struct eng_dump_msg *prev; /* in order of arrival */
	struct queue_entry entry;  /* what the program sees; next links them */
};

struct eng_dump;

/* -EINVAL: too small for even one message. */
int eng_dump_init(void *area, size_t size, struct eng_dump **dump);

/* Room for a message of @len bytes, not yet visible. NULL: none now. */
struct eng_dump_msg *eng_dump_alloc(struct eng_dump *d, u64 len);
/* Show it to the program, as the last one. Its fields are set. */
void eng_dump_append(struct eng_dump *d, struct eng_dump_msg *m);
/* Take it out of the program's sight and give the room back. */
void eng_dump_free(struct eng_dump *d, struct eng_dump_msg *m);

/* The message this entry belongs to; NULL when it is none of this area. */
struct eng_dump_msg *eng_dump_find(struct eng_dump *d, struct queue_entry *e);
/* The longest message that an empty area has room for. */
u64 eng_dump_longest(const struct eng_dump *d);

#endif
