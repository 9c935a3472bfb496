/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Places for rings. A segment has as many rings as there are senders, whatever
 * the size of the job: a sender that comes takes the first place that is free,
 * and when it has gone the owner gives the place back, and its memory.
 *
 * A place is a word, the name of its sender and a state:
 *
 *	free -> held		    the owner, for a peer that it connects to
 *	held -> going -> free	    the owner: it is not needed after all
 *	free or held -> taken	    the sender
 *	taken -> free		    the sender: it could not connect
 *	taken -> attached	    the sender: there may be packets
 *	attached -> closed	    the sender, as the last thing it does here
 *	attached or closed -> free  the owner, once the sender has closed the
 *				    ring or its process has ended
 *
 * Only `free` and `held` can be left by two at the same time, and both do it by
 * compare-and-exchange. Two that connect to each other may look for a place for
 * the same ring and find two: the one that the sender attaches counts, and the
 * owner lets go of the other. A sender that is killed before it has attached
 * leaves its place taken; that is all it costs.
 *
 * Rejected: a place for every rank, found by its number (the file grows with the
 * job, and a peer that comes from another job has no number here), a lock for
 * the table (whoever is killed with it would stop all others), and places given
 * out by the owner alone (the first message would wait until the receiver
 * looks, and a sender may be gone by then).
 */
#include "shm.h"

#include <stdlib.h>

#define NPLACES_MAX (SHM_GROUPS_MAX * SHM_GROUP)

u32 shm_places(const struct shm_seg *seg)
{
	u32 top = __atomic_load_n(&seg->head->top, __ATOMIC_ACQUIRE);

	return top <= NPLACES_MAX ? top : NPLACES_MAX;
}

static bool have_group(struct shm_seg *seg, u32 group)
{
	u64 **groups;

	if (group < seg->ngroups)
		return true;
	groups = realloc(seg->groups, (group + 1) * sizeof(*groups));
	if (!groups)
		return false;
	seg->groups = groups;
	while (seg->ngroups <= group)
		groups[seg->ngroups++] = NULL;
	return true;
}

/* NULL when there is no memory for it. */
u64 *shm_place_word(struct shm_seg *seg, u32 place)
{
	u32 group = place / SHM_GROUP;

	if (likely(!group))
		return &seg->head->places[place];
	if (group >= SHM_GROUPS_MAX || !have_group(seg, group))
		return NULL;
	if (!seg->groups[group])
		seg->groups[group] = shm_group_map(seg, group);
	return seg->groups[group] ? seg->groups[group] + place % SHM_GROUP :
				    NULL;
}

static bool change(u64 *word, u64 from, u64 to)
{
	/* Looking is cheap; exchanging takes the line from all others. */
	return __atomic_load_n(word, __ATOMIC_RELAXED) == from &&
	       __atomic_compare_exchange_n(word, &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* Before the place is used, so that whoever looks finds it. */
static void raise_top(struct shm_head *h, u32 top)
{
	u32 old = __atomic_load_n(&h->top, __ATOMIC_RELAXED);

	while (old < top &&
	       !__atomic_compare_exchange_n(&h->top, &old, top, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

static int use_first_free(struct shm_seg *seg, u64 as, u32 *place)
{
	for (u32 i = 0;; i++) {
		u64 *word = shm_place_word(seg, i);

		if (!word)
			return -ENOSPC;
		if (__atomic_load_n(word, __ATOMIC_RELAXED) != SHM_FREE)
			continue;
		raise_top(seg->head, i + 1);
		if (change(word, SHM_FREE, as)) {
			*place = i;
			return 0;
		}
	}
}

/* --- the sender --- */

int shm_place_take(struct shm_seg *seg, u64 name, u32 *place)
{
	u32 n = shm_places(seg);

	for (u32 i = 0; i < n; i++) {
		u64 *word = shm_place_word(seg, i);

		if (word && change(word, name | SHM_HELD, name | SHM_TAKEN)) {
			*place = i;
			return 0;
		}
	}
	return use_first_free(seg, name | SHM_TAKEN, place);
}

/* False: it cannot be wiped, so nobody may use it again. */
static bool make_free(struct shm_seg *seg, u32 place)
{
	u64 *word = shm_place_word(seg, place);

	if (!word || shm_ring_wipe(seg, place))
		return false;
	__atomic_store_n(word, SHM_FREE, __ATOMIC_RELEASE);
	return true;
}

void shm_place_return(struct shm_seg *seg, u32 place)
{
	make_free(seg, place);
}

/* --- the owner --- */

/* NULL when out of memory. */
struct shm_mine *shm_mine(struct shm *s, u32 place)
{
	u32 n = s->nmine ? s->nmine : 8;
	struct shm_mine *mine;

	if (likely(place < s->nmine))
		return &s->mine[place];
	while (n <= place)
		n *= 2;
	mine = realloc(s->mine, n * sizeof(*mine));
	if (!mine)
		return NULL;
	memset(mine + s->nmine, 0, (n - s->nmine) * sizeof(*mine));
	s->mine = mine;
	s->nmine = n;
	return &s->mine[place];
}

/* Has the sender taken a place, of which we have seen nothing yet? */
static bool is_coming(struct shm *s, u64 name)
{
	u32 n = shm_places(&s->own);

	for (u32 i = 0; i < n; i++) {
		u64 *word = shm_place_word(&s->own, i);
		u64 is = word ? __atomic_load_n(word, __ATOMIC_SEQ_CST) : 0;

		if (shm_name(is) == name && shm_state_of(is) >= SHM_TAKEN &&
		    !(i < s->nmine && s->mine[i].seen))
			return true;
	}
	return false;
}

int shm_place_hold(struct shm *s, u64 name, u32 *place)
{
	if (is_coming(s, name))
		return -EEXIST;
	return use_first_free(&s->own, name | SHM_HELD, place);
}

bool shm_place_unhold(struct shm *s, u64 name, u32 place)
{
	u64 *word = shm_place_word(&s->own, place);

	if (!word || !change(word, name | SHM_HELD, name | SHM_GOING))
		return false;
	shm_place_free(s, place);
	return true;
}

void shm_place_free(struct shm *s, u32 place)
{
	struct shm_mine *m = shm_mine(s, place);

	if (m) {
		m->link = NULL;
		m->seen = !make_free(&s->own, place);
	}
}
