/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* See levels.h. Made from what the launcher has told of nodes, without messages. */
#include "coll/levels.h"

#include "coll/state.h"

/* Numbers of nodes in the order of their first ranks; how many there are. */
static int number_nodes(const struct mpii_comm *c, struct coll_levels *l)
{
	const int *node = mpii_nodes();
	int n = 0;

	for (int i = 0; i < c->size; i++) {
		int j = 0;

		l->local_rank[i] = 0;
		while (j < i && node[c->world[j]] != node[c->world[i]])
			j++;
		l->node[i] = j < i ? l->node[j] : n++;
		for (; j < i; j++)
			l->local_rank[i] += l->node[j] == l->node[i];
	}
	return n;
}

/* Of the ranks for which pick says so. */
static struct mpii_comm *part(struct mpii_comm *c, const struct coll_levels *l,
			      bool leaders)
{
	int *world = malloc(c->size * sizeof(*world)), n = 0;
	struct mpii_group *g;
	struct mpii_comm *made;

	if (!world)
		return NULL;
	for (int i = 0; i < c->size; i++)
		if (leaders ? l->local_rank[i] == 0 :
			      l->node[i] == l->node[c->rank])
			world[n++] = c->world[i];
	g = mpii_group_create(n, world);
	made = g ? mpii_comm_create(g, c->context) : NULL;
	if (made)
		made->owns_context = false;
	return made;
}

static void destroy(struct coll_levels *l)
{
	if (l->local)
		mpii_comm_put(l->local);
	if (l->leaders)
		mpii_comm_put(l->leaders);
	free(l->node);
	free(l->local_rank);
	free(l);
}

static struct coll_levels *create(struct mpii_comm *c)
{
	struct coll_levels *l = calloc(1, sizeof(*l));
	int nodes;

	if (!l)
		return NULL;
	l->node = malloc(c->size * sizeof(*l->node));
	l->local_rank = malloc(c->size * sizeof(*l->local_rank));
	nodes = l->node && l->local_rank ? number_nodes(c, l) : 1;
	if (nodes > 1 && nodes < c->size) {
		l->local = part(c, l, false);
		if (l->local_rank[c->rank] == 0)
			l->leaders = part(c, l, true);
	}
	if (l->local && (l->leaders || l->local_rank[c->rank]))
		return l;
	destroy(l);
	return NULL;
}

const struct coll_levels *coll_levels(struct mpii_comm *c)
{
	struct coll_state *s = coll_state(c);

	if (!s)
		return NULL;
	if (mpii_likely(atomic_load_explicit(&s->levels_known,
					     memory_order_acquire)))
		return s->levels;
	pthread_mutex_lock(&coll_state_lock);
	if (!s->levels_known) {
		if (!c->inter && c->size > 2 && mpii_nodes())
			s->levels = create(c);
		s->levels_free = destroy;
		atomic_store_explicit(&s->levels_known, true,
				      memory_order_release);
	}
	pthread_mutex_unlock(&coll_state_lock);
	return s->levels;
}

bool coll_on_one_node(const struct mpii_comm *c)
{
	const int *node = mpii_nodes();

	if (!node || c->inter)
		return false;
	for (int i = 1; i < c->size; i++)
		if (node[c->world[i]] != node[c->world[0]])
			return false;
	return true;
}
