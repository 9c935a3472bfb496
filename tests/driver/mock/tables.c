/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Trees and tables, as simple as they can be. */
#include "unit.h"

#include "mock.h"

#include <stdlib.h>

/* --- trees --- */

static struct rb_node *leftmost(struct rb_node *n)
{
	while (n && n->rb_left)
		n = n->rb_left;
	return n;
}

static struct rb_node *rightmost(struct rb_node *n)
{
	while (n && n->rb_right)
		n = n->rb_right;
	return n;
}

struct rb_node *rb_first(const struct rb_root *root)
{
	return leftmost(root->rb_node);
}

struct rb_node *rb_next(const struct rb_node *n)
{
	if (n->rb_right)
		return leftmost(n->rb_right);
	while (n->parent && n->parent->rb_right == n)
		n = n->parent;
	return n->parent;
}

struct rb_node *rb_prev(const struct rb_node *n)
{
	if (n->rb_left)
		return rightmost(n->rb_left);
	while (n->parent && n->parent->rb_left == n)
		n = n->parent;
	return n->parent;
}

static void put_in_place(struct rb_node *old, struct rb_node *n,
			 struct rb_root *root)
{
	if (!old->parent)
		root->rb_node = n;
	else if (old->parent->rb_left == old)
		old->parent->rb_left = n;
	else
		old->parent->rb_right = n;
	if (n)
		n->parent = old->parent;
}

void rb_erase(struct rb_node *n, struct rb_root *root)
{
	struct rb_node *next;

	if (!n->rb_left || !n->rb_right) {
		put_in_place(n, n->rb_left ? n->rb_left : n->rb_right, root);
		return;
	}
	next = leftmost(n->rb_right); /* which has nothing on its left */
	if (next != n->rb_right) {
		put_in_place(next, next->rb_right, root);
		next->rb_right = n->rb_right;
		next->rb_right->parent = next;
	}
	put_in_place(n, next, root);
	next->rb_left = n->rb_left;
	next->rb_left->parent = next;
}

/* --- tables --- */

static unsigned int find(const struct xarray *xa, unsigned long index)
{
	unsigned int i = 0;

	while (i < xa->n && xa->slots[i].index != index)
		i++;
	return i;
}

void *xa_load(const struct xarray *xa, unsigned long index)
{
	unsigned int i = find(xa, index);

	return i < xa->n ? xa->slots[i].p : NULL;
}

/* What a table takes is the caller's to pay for. */
static void add(struct xarray *xa, unsigned long index, void *p)
{
	if (xa->n == xa->room) {
		xa->room = xa->room ? 2 * xa->room : 16;
		xa->slots = realloc(xa->slots, xa->room * sizeof(*xa->slots));
	}
	xa->slots[xa->n++] = (struct mock_slot){ .index = index, .p = p };
}

int xa_reserve_bh(struct xarray *xa, unsigned long index, gfp_t gfp)
{
	mock_may_sleep(__func__);
	mock_charged(gfp | __GFP_ACCOUNT, __func__);
	if (mock_fails("allocation", __func__, -ENOMEM))
		return -ENOMEM;
	if (find(xa, index) == xa->n)
		add(xa, index, NULL);
	return 0;
}

void *xa_store_bh(struct xarray *xa, unsigned long index, void *p, gfp_t gfp)
{
	unsigned int i = find(xa, index);
	void *old = xa_load(xa, index);

	if (i < xa->n && (!old || xa_is_value(old))) {
		xa->slots[i].p = p;
		return old;
	}
	if (gfp != GFP_ATOMIC)
		mock_may_sleep(__func__);
	if (mock_fails("allocation", __func__, -ENOMEM))
		return (void *)-2;
	if (old)
		mock_bug("there is one", __func__);
	add(xa, index, p);
	return NULL;
}

void *xa_erase_bh(struct xarray *xa, unsigned long index)
{
	unsigned int i = find(xa, index);
	void *p = xa_load(xa, index);

	if (i < xa->n)
		memmove(&xa->slots[i], &xa->slots[i + 1],
			(--xa->n - i) * sizeof(xa->slots[0]));
	return p;
}

/* The next in order of their numbers, of all or of those with a mark. */
void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max,
	      int mark)
{
	struct mock_slot *best = NULL;

	for (unsigned int i = 0; i < xa->n; i++) {
		struct mock_slot *s = &xa->slots[i];

		if ((s->mark || mark == XA_PRESENT) && s->p &&
		    s->index >= *index && s->index <= max &&
		    (!best || s->index < best->index))
			best = s;
	}
	if (best)
		*index = best->index;
	return best ? best->p : NULL;
}

void xa_set_mark(struct xarray *xa, unsigned long index, int mark)
{
	unsigned int i = find(xa, index);

	if (i < xa->n)
		xa->slots[i].mark = true;
}

int xa_alloc_cyclic_bh(struct xarray *xa, u32 *index, void *p,
		       struct xa_limit limit, u32 *next, gfp_t gfp)
{
	mock_may_sleep(__func__);
	if (mock_fails("allocation", __func__, -ENOMEM))
		return -ENOMEM;
	*index = ++*next;
	if (*index > limit.max)
		mock_bug("the numbers are used up", __func__);
	add(xa, *index, p);
	return 0;
}

void xa_destroy(struct xarray *xa)
{
	free(xa->slots);
	xa_init_flags(xa, 0);
}
