/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Unexpected messages of a peer by their cookie, so that CANCEL, which names one, need
 * not walk them all: a peer can make them many, and CANCEL them as often as it likes.
 *
 * A tree by (cookie, address) that is also a heap by weight: a treap. Weights come
 * from the number of arrival and a secret of the endpoint, so whatever cookies a peer
 * chooses, also the same one each time, the tree is as deep as a random one: a few
 * dozen for a million messages. Nothing is allocated: the nodes are in the messages.
 *
 * Rejected: a table of bins like match.h's, which would have to grow in softirq; a list
 * for each peer, which is as long as that peer likes.
 */
#ifndef O2G_COOKIES_H
#define O2G_COOKIES_H

#include "env.h"

struct o2g_cookie {
	struct o2g_cookie *left, *right;
	u64 value;
	u64 weight;
};

/* A tree is a pointer to its root, NULL when empty. Caller fills value and weight. */
void o2g_cookies_add(struct o2g_cookie **root, struct o2g_cookie *n);
/* @n is in the tree. */
void o2g_cookies_del(struct o2g_cookie **root, struct o2g_cookie *n);
/* One with this value, or NULL. */
struct o2g_cookie *o2g_cookies_find(struct o2g_cookie *root, u64 value);

#endif
