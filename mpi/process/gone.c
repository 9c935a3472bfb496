/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Ranks that are gone, and what is not worth waiting for without them.
 *
 * libo2g ends what needs a lost peer itself. Only we know what else does: a
 * collective, which waits for a rank that has given up, or will, because another
 * member died; and a receive from any source, of a communicator that the dead
 * one belongs to. So libo2g asks us about those (attr.doomed), when a peer is
 * lost and then twice a second about what has come to wait since. Nothing of
 * this is on the way of a message.
 *
 * Of each death a receive or probe from any source is told once; then programs
 * which can do without that rank go on with the others. When no other member is
 * left, all such receives fail.
 */
#include <stdlib.h>

#include "process/gone.h"

/* By rank in the world, with libo2g's lock or our own eyes only: 0 or the number
 * of its loss, twice, plus one if it had finished in order. */
static atomic_uint *gone;
static unsigned losses;

bool mpii_gone_start(int size)
{
	if (!gone)
		gone = calloc((size_t)size, sizeof(*gone));
	return gone;
}

void mpii_gone_note(void *arg, int rank, int finished)
{
	atomic_store(&gone[rank], ++losses << 1 | !!finished);
}

static unsigned loss_of(int world)
{
	return atomic_load_explicit(&gone[world], memory_order_relaxed);
}

static bool has_died(int world)
{
	unsigned loss = loss_of(world);

	return loss && !(loss & 1);
}

/* Of those who died in this group the latest, if it was after *loss. */
static int latest(const struct mpii_group *g, unsigned *loss)
{
	int found = -1;

	for (int i = 0; i < g->size; i++) {
		if (!has_died(g->world[i]) || loss_of(g->world[i]) <= *loss)
			continue;
		found = g->world[i];
		*loss = loss_of(found);
	}
	return found;
}

static int latest_member(const struct mpii_comm *c)
{
	unsigned loss = 0;
	int found = latest(c->group, &loss), other = -1;

	if (c->inter)
		other = latest(c->remote, &loss);
	return other >= 0 ? other : found;
}

int mpii_gone_latest(const struct mpii_comm *c)
{
	const struct mpii_comm *whole = mpii_context_lock(c->context);
	int found = latest_member(c);

	if (found < 0 && whole)
		found = latest_member(whole);
	mpii_context_unlock();
	return found;
}

/* Nobody is left who could send something. */
static bool all_gone(const struct mpii_comm *c)
{
	int left = 0;

	for (int i = 0; i < c->remote_size; i++)
		left += !loss_of(c->world[i]);
	return c->inter ? !left : c->size > 1 && left == 1;
}

static bool any_is_doomed(struct mpii_comm *c, bool tell)
{
	unsigned dead = 0;

	for (int i = 0; i < c->remote_size; i++)
		dead += has_died(c->world[i]);
	if (dead == c->deaths_told)
		return all_gone(c);
	if (tell)
		c->deaths_told = dead;
	return true;
}

static bool is_doomed(struct mpii_comm *c, unsigned kind, int which)
{
	switch (kind) {
	case MPII_CTX_PT2PT:
		return which != O2G_DOOMED_ONE &&
		       any_is_doomed(c, which == O2G_DOOMED_ANY);
	case MPII_CTX_COLL:
	case MPII_CTX_ALL:
		return latest_member(c) >= 0;
	default: /* of some members only: these see for themselves */
		return false;
	}
}

int mpii_gone_doomed(void *arg, uint64_t tag, int which)
{
	uint32_t context = (uint32_t)(tag >> 32);
	struct mpii_comm *c = mpii_context_lock(context);
	bool yes = c && is_doomed(c, context % MPII_CTX_COUNT, which);

	mpii_context_unlock();
	return yes;
}
