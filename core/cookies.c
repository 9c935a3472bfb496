/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "cookies.h"

/* Does @a come before @b? */
static bool before(const struct o2g_cookie *a, const struct o2g_cookie *b)
{
	return a->value < b->value || (a->value == b->value && a < b);
}

/* Where @n is, or would be hung in: the first place whose node is lighter. */
static struct o2g_cookie **place_of(struct o2g_cookie **root,
				    const struct o2g_cookie *n)
{
	while (*root && *root != n && (*root)->weight >= n->weight)
		root = before(n, *root) ? &(*root)->left : &(*root)->right;
	return root;
}

/* What was at the new node's place is split into what comes before and after it. */
void o2g_cookies_add(struct o2g_cookie **root, struct o2g_cookie *n)
{
	struct o2g_cookie **place = place_of(root, n), *rest = *place;
	struct o2g_cookie **less = &n->left, **more = &n->right;

	while (rest) {
		if (before(rest, n)) {
			*less = rest;
			less = &rest->right;
			rest = *less;
		} else {
			*more = rest;
			more = &rest->left;
			rest = *more;
		}
	}
	*less = NULL;
	*more = NULL;
	*place = n;
}

/* Its two subtrees become one: the heavier root is on top each time. */
void o2g_cookies_del(struct o2g_cookie **root, struct o2g_cookie *n)
{
	struct o2g_cookie **place = place_of(root, n);
	struct o2g_cookie *less = n->left, *more = n->right;

	while (less && more) {
		if (less->weight >= more->weight) {
			*place = less;
			place = &less->right;
			less = *place;
		} else {
			*place = more;
			place = &more->left;
			more = *place;
		}
	}
	*place = less ? less : more;
}

struct o2g_cookie *o2g_cookies_find(struct o2g_cookie *root, u64 value)
{
	while (root && root->value != value)
		root = value < root->value ? root->left : root->right;
	return root;
}
