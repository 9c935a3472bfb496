/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef O2G_LIST_H
#define O2G_LIST_H

#include "env.h"

/* A circular doubly linked list; an empty head points at itself. */
struct o2g_list {
	struct o2g_list *next, *prev;
};

static inline void o2g_list_init(struct o2g_list *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool o2g_list_empty(const struct o2g_list *l)
{
	return l->next == l;
}

/* Insert @n before @at: at the tail when @at is the head. */
static inline void o2g_list_add_tail(struct o2g_list *n, struct o2g_list *at)
{
	n->next = at;
	n->prev = at->prev;
	at->prev->next = n;
	at->prev = n;
}

/* Unlink @n and leave it empty, so that deleting it twice is harmless. */
static inline void o2g_list_del(struct o2g_list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	o2g_list_init(n);
}

/* All of @from goes to the tail of @to. */
static inline void o2g_list_splice(struct o2g_list *from, struct o2g_list *to)
{
	if (o2g_list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	o2g_list_init(from);
}

#define o2g_list_first(head, type, member) \
	container_of((head)->next, type, member)

#define o2g_list_for_each(pos, head) \
	for (pos = (head)->next; pos != (head); pos = pos->next)

#define o2g_list_for_each_safe(pos, tmp, head)                   \
	for (pos = (head)->next, tmp = pos->next; pos != (head); \
	     pos = tmp, tmp = pos->next)

#endif
