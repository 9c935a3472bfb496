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
 * In the hall the first places belong to the ranks that have a seat there, one
 * each, which is never used by another.
 *
 * Rejected: a place for every rank of the job, found by its number (a file of its
 * own grows with the job, and a peer of another job has no number here), a lock for
 * the table (whoever is killed with it would stop all others), and places given
 * out by the owner alone (the first message would wait until the receiver
 * looks, and a sender may be gone by then).
 */
#include "shm.h"

#include <stdlib.h>

u32 shm_places(const struct shm_seg *seg)
{
	u32 top = __atomic_load_n(&seg->head->top, __ATOMIC_ACQUIRE);

	return top <= seg->max_places ? top : seg->max_places;
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

	if (unlikely(place >= seg->max_places))
		return NULL;
	if (likely(!group))
		return &seg->head->places[place];
	if (!have_group(seg, group))
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

static bool use_if_free(struct shm_seg *seg, u32 place, u64 *word, u64 as)
{
	if (__atomic_load_n(word, __ATOMIC_RELAXED) != SHM_FREE)
		return false;
	raise_top(seg->head, place + 1);
	return change(word, SHM_FREE, as);
}

static int use_first_free(struct shm_seg *seg, u64 as, u32 *place)
{
	for (u32 i = seg->nseats;; i++) {
		u64 *word = shm_place_word(seg, i);

		if (!word)
			return -ENOSPC;
		if (use_if_free(seg, i, word, as)) {
			*place = i;
			return 0;
		}
	}
}

/* --- the sender --- */

/* In the hall a sender's place is that of its seat: nobody has to search. */
static bool take_preferred(struct shm_seg *seg, u64 name, u32 place)
{
	u64 *word = shm_place_word(seg, place);

	return word && (change(word, name | SHM_HELD, name | SHM_TAKEN) ||
			use_if_free(seg, place, word, name | SHM_TAKEN));
}

int shm_place_take(struct shm_seg *seg, u64 name, u32 prefer, u32 *place)
{
	u32 n = shm_places(seg);

	*place = prefer;
	if (take_preferred(seg, name, prefer))
		return 0;
	for (u32 i = 0; i < n; i++) {
		u64 *word = shm_place_word(seg, i);

		if (word && change(word, name | SHM_HELD, name | SHM_TAKEN)) {
			*place = i;
			return 0;
		}
	}
	return use_first_free(seg, name | SHM_TAKEN, place);
}

/* False: it cannot be wiped, so nobody may use it again. One that belongs to a
 * seat holds nothing yet, or is not made free. */
static bool make_free(struct shm_seg *seg, u32 place)
{
	u64 *word = shm_place_word(seg, place);

	if (!word || (place >= seg->nseats && shm_ring_wipe(seg, place)))
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

int shm_place_hold(struct shm *s, u64 name, u32 prefer, u32 *place)
{
	u64 *word = shm_place_word(&s->own, prefer);

	*place = prefer;
	if (word && use_if_free(&s->own, prefer, word, name | SHM_HELD))
		return 0;
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

/* Whoever had a seat in the hall and has gone does not come back to it. Its ring
 * is left as it is: taking memory out of a file that many have mapped is slow,
 * and at the end of a job all would do so at once. */
static bool is_over(struct shm *s, u32 place)
{
	return place < s->own.nseats &&
	       shm_rx_state(s, place) >= SHM_ATTACHED &&
	       shm_rx_state(s, place) != SHM_GOING;
}

void shm_place_free(struct shm *s, u32 place)
{
	struct shm_mine *m = shm_mine(s, place);

	if (m) {
		m->link = NULL;
		m->seen = is_over(s, place) || !make_free(&s->own, place);
	}
}
