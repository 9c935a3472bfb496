/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Ranks by peer: a hash table of the group's members, made when it is first asked
 * for, then never changed. Where there is no memory for it, and in small groups,
 * members are looked at one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "comm/group.h"
#include "process/others.h"

#define SMALL 8

struct mpii_group_index {
	unsigned bits; /* of the number of slots: at most half are in use */
	struct slot {
		int peer, rank; /* peer -1: free */
	} slots[];
};

static struct slot *slot_of(struct mpii_group_index *x, int peer)
{
	unsigned i = (uint32_t)peer * 2654435769u >> (32 - x->bits);

	while (x->slots[i].peer >= 0 && x->slots[i].peer != peer)
		i = (i + 1) & ((1u << x->bits) - 1);
	return &x->slots[i];
}

static struct mpii_group_index *make(const struct mpii_group *g)
{
	struct mpii_group_index *x;
	unsigned bits = 5;
	size_t bytes;

	while ((1 << bits) / 2 < g->size)
		bits++;
	bytes = sizeof(x->slots[0]) << bits;
	x = malloc(sizeof(*x) + bytes);
	if (!x)
		return NULL;
	x->bits = bits;
	memset(x->slots, -1, bytes);
	for (int i = 0; i < g->size; i++)
		*slot_of(x, g->peers[i]) = (struct slot){ g->peers[i], i };
	return x;
}

/* NULL: out of memory. */
static struct mpii_group_index *index_of(const struct mpii_group *group)
{
	struct mpii_group *g = (struct mpii_group *)group;
	struct mpii_group_index *x = atomic_load(&g->index), *mine;

	if (mpii_likely(x))
		return x;
	mine = make(g);
	if (!mine || atomic_compare_exchange_strong(&g->index, &x, mine))
		return mine;
	free(mine); /* another thread was faster */
	return x;
}

static int find(const struct mpii_group *g, int peer)
{
	struct mpii_group_index *x = g->size > SMALL ? index_of(g) : NULL;
	const struct slot *s;

	if (x) {
		s = slot_of(x, peer);
		return s->peer == peer ? s->rank : MPI_UNDEFINED;
	}
	for (int i = 0; i < g->size; i++)
		if (g->peers[i] == peer)
			return i;
	return MPI_UNDEFINED;
}

/* One that was disconnected has another number when it is met again. */
static int find_again(const struct mpii_group *g, int peer)
{
	struct o2g_identity who = mpii_identity(peer);

	for (int i = 0; i < g->size; i++)
		if (mpii_is_other(g->peers[i]) &&
		    !mpii_identity_compare(mpii_identity(g->peers[i]), who))
			return i;
	return MPI_UNDEFINED;
}

int mpii_group_rank_of(const struct mpii_group *g, int peer)
{
	int rank;

	if (peer < 0) /* of a receive that nobody answered */
		return MPI_UNDEFINED;
	if (!g->peers)
		return peer < g->size ? peer : MPI_UNDEFINED;
	rank = find(g, peer);
	if (mpii_unlikely(rank == MPI_UNDEFINED && g->others &&
			  mpii_is_other(peer)))
		rank = find_again(g, peer);
	return rank;
}
