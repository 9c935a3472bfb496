/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A few nodes that run dsm/proto, the network between them and threads that read and
 * write, as one value that can be copied, compared and stepped: for the explorer, which
 * takes every step from every state, and the fuzzer, which takes some.
 *
 * Contents are one bit. When a page is written, that copy is the latest and every other
 * one, in a node or in a message, becomes stale; whoever reads must find the latest.
 */
#ifndef DSM_WORLD_H
#define DSM_WORLD_H

#include <stdbool.h>

#include "dsm_proto.h"

#define W_NODES 4
#define W_PAGES 2
#ifndef W_QUEUE
#define W_QUEUE 10
#endif

enum { W_STALE, W_LATEST };

struct w_packet {
	struct dsm_msg msg;
	u8 content;
};

struct w_node {
	struct dsm_page page[W_PAGES];
	u64 dead; /* whom it knows to be */
	u8 content[W_PAGES];
	u8 waiting[W_PAGES]; /* threads: bit 0 a reader, bit 1 a writer */
	u8 woken[W_PAGES];   /* ... those of them that may try again */
	u8 began;	     /* operations, as long as they are counted */
	u8 killed;
};

struct world {
	struct w_node node[W_NODES];
	struct w_packet queue[W_NODES][W_NODES][W_QUEUE]; /* [from][to] */
	u8 length[W_NODES][W_NODES];
	u8 written[W_PAGES]; /* zeros are no longer the latest */
};

/* How the world is set up, and what happens in it. */
struct w_rules {
	unsigned nodes, pages;
	unsigned founders;   /* of the nodes, from the first; 0 all */
	unsigned move_after; /* see struct dsm_proto */
	unsigned operations; /* of each node; 0 no limit */
	bool homes;	     /* nodes ask for homes as well */
	bool kill;	     /* one of them may die, at any moment */
	bool impatient; /* pages may go before those who asked could use them */
};

enum w_kind {
	W_READ,
	W_WRITE,
	W_HOME,	   /* ask for page and home, nobody waits */
	W_RETRY,   /* a thread that was woken: `to` 0 a reader, 1 a writer */
	W_DELIVER, /* the next packet from `node` to `to` */
	W_RESUME,
	W_KILL,
	W_NOTICE /* `node` learns that `to` is dead */
};

struct w_step {
	u8 kind, node, to, page;
};

#define W_STEPS 128

void w_begin(struct world *w, const struct w_rules *rules);
/* What can happen now. */
unsigned w_steps(const struct world *w, const struct w_rules *rules,
		 struct w_step steps[W_STEPS]);
/* NULL, or what is wrong now. */
const char *w_take(struct world *w, const struct w_rules *rules,
		   struct w_step step);
/* The same of a state as a whole. */
const char *w_wrong(const struct world *w, const struct w_rules *rules);
void w_print(struct w_step step);
void w_show(const struct world *w, const struct w_rules *rules);
/* Is nothing under way that happens by itself? */
bool w_quiet(const struct world *w, const struct w_rules *rules);

#endif
