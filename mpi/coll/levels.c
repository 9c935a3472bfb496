/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* See levels.h. Made from what the launcher has told of nodes, without messages. */
#include "coll/levels.h"

#include "coll/state.h"
#include "process/nodes.h"

static int node_of(const struct mpii_comm *c, int rank)
{
	return mpii_node_of(mpii_comm_peer(c, rank));
}

/* Numbers of nodes in the order of their first ranks; how many there are. */
static int number_nodes(const struct mpii_comm *c, struct coll_levels *l)
{
	int n = 0;

	for (int i = 0; i < c->size; i++) {
		int j = 0;

		l->local_rank[i] = 0;
		while (j < i && node_of(c, j) != node_of(c, i))
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
	int *peers = malloc(c->size * sizeof(*peers)), n = 0;
	struct mpii_group *g;
	struct mpii_comm *made;

	if (!peers)
		return NULL;
	for (int i = 0; i < c->size; i++)
		if (leaders ? l->local_rank[i] == 0 :
			      l->node[i] == l->node[c->rank])
			peers[n++] = mpii_comm_peer(c, i);
	g = mpii_group_create(n, peers);
	made = g ? mpii_comm_build(g, c->context) : NULL;
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

/* *nodes: how many there are. NULL: not in levels, or out of memory. */
static struct coll_levels *create(struct mpii_comm *c, int *nodes)
{
	struct coll_levels *l = calloc(1, sizeof(*l));

	*nodes = 0;
	if (!l)
		return NULL;
	l->node = malloc(c->size * sizeof(*l->node));
	l->local_rank = malloc(c->size * sizeof(*l->local_rank));
	if (l->node && l->local_rank)
		*nodes = number_nodes(c, l);
	if (*nodes > 1 && *nodes < c->size) {
		l->local = part(c, l, false);
		if (l->local_rank[c->rank] == 0)
			l->leaders = part(c, l, true);
	}
	if (l->local && (l->leaders || l->local_rank[c->rank]))
		return l;
	destroy(l);
	return NULL;
}

static enum coll_place find_place(struct coll_state *s, struct mpii_comm *c)
{
	int nodes;

	/* no launcher has told all members about all */
	if (c->inter || c->group->others || !mpii_nodes_known())
		return COLL_UNKNOWN;
	s->levels_free = destroy;
	s->levels = create(c, &nodes);
	if (s->levels)
		return COLL_IN_LEVELS;
	if (nodes == 1)
		return COLL_TOGETHER;
	return nodes == c->size ? COLL_APART : COLL_UNKNOWN;
}

enum coll_place coll_place(struct mpii_comm *c)
{
	struct coll_state *s = coll_state(c);

	if (!s)
		return COLL_UNKNOWN;
	if (mpii_likely(atomic_load_explicit(&s->place_known,
					     memory_order_acquire)))
		return s->place;
	pthread_mutex_lock(&coll_state_lock);
	if (!s->place_known) {
		s->place = find_place(s, c);
		atomic_store_explicit(&s->place_known, true,
				      memory_order_release);
	}
	pthread_mutex_unlock(&coll_state_lock);
	return s->place;
}

const struct coll_levels *coll_levels(struct mpii_comm *c)
{
	return coll_place(c) == COLL_IN_LEVELS ? coll_state_get(c)->levels :
						 NULL;
}
