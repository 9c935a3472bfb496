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

#include "log.h"
#include "process/gone.h"
#include "process/others.h"

/*
 * Those that are gone, the latest first. Added to with libo2g's lock, read without:
 * an entry is complete before it is linked, and stays.
 */
struct loss {
	int peer;
	bool finished; /* in order */
	const struct loss *next;
};
static _Atomic(const struct loss *) losses;

static const struct loss *latest_loss(void)
{
	return atomic_load_explicit(&losses, memory_order_acquire);
}

void mpii_gone_note(void *arg, int peer, int finished)
{
	struct loss *l;

	if (mpii_is_other(peer)) {
		mpii_others_lost(peer, finished);
		return;
	}
	l = malloc(sizeof(*l));
	if (!l) {
		o2g_error("out of memory: whoever waits for what %d was to "
			  "send may wait forever",
			  peer);
		return;
	}
	*l = (struct loss){ peer, finished, latest_loss() };
	atomic_store_explicit(&losses, l, memory_order_release);
}

static bool is_in(const struct loss *l, const struct mpii_group *g)
{
	return mpii_group_rank_of(g, l->peer) >= 0;
}

/* Those of other jobs have no place in the list: they are forgotten some day. */
static bool other_is_gone(int peer, bool finished_too)
{
	enum mpii_other_state state;

	if (!mpii_is_other(peer))
		return false;
	state = mpii_others_state(peer);
	return state == MPII_OTHER_DEAD ||
	       (finished_too && state == MPII_OTHER_FINISHED);
}

static int count_others(const struct mpii_group *g, bool finished_too)
{
	int n = 0;

	for (int i = 0; g->others && i < g->size; i++)
		n += other_is_gone(mpii_group_peer(g, i), finished_too);
	return n;
}

static int dead_other(const struct mpii_group *g)
{
	for (int i = 0; g->others && i < g->size; i++)
		if (other_is_gone(mpii_group_peer(g, i), false))
			return mpii_group_peer(g, i);
	return -1;
}

static int count(const struct mpii_group *g, bool finished_too)
{
	int n = count_others(g, finished_too);

	for (const struct loss *l = latest_loss(); l; l = l->next)
		n += (finished_too || !l->finished) && is_in(l, g);
	return n;
}

/* The latest to die. */
static int latest_member(const struct mpii_comm *c)
{
	for (const struct loss *l = latest_loss(); l; l = l->next)
		if (!l->finished &&
		    (is_in(l, c->group) || (c->inter && is_in(l, c->remote))))
			return l->peer;
	if (dead_other(c->group) >= 0)
		return dead_other(c->group);
	return c->inter ? dead_other(c->remote) : -1;
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
	int left = c->remote_size - count(c->remote, true);

	return c->inter ? !left : c->size > 1 && left == 1;
}

static bool any_is_doomed(struct mpii_comm *c, bool tell)
{
	unsigned dead = count(c->remote, false);

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

bool mpii_gone_any(void)
{
	return latest_loss();
}

int mpii_gone_doomed(void *arg, uint64_t tag, int which)
{
	uint32_t context = (uint32_t)(tag >> 32);
	struct mpii_comm *c = mpii_context_lock(context);
	bool yes = c && is_doomed(c, context % MPII_CTX_COUNT, which);

	mpii_context_unlock();
	return yes;
}
