/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The two halves of a link: a ring in our segment, and one in the peer's. */
#include "shm.h"

#include <unistd.h>

/* --- the receiving half: the peer's ring in our segment --- */

enum shm_state shm_rx_state(struct shm *s, u32 place)
{
	const u64 *word = shm_place_word(&s->own, place);

	return word ? shm_state_of(__atomic_load_n(word, __ATOMIC_ACQUIRE)) :
		      SHM_FREE;
}

int shm_rx_use(struct shm_link *l, u32 place, const struct shm_end *ring)
{
	struct shm_mine *m = shm_mine(l->shm, place);
	int err;

	if (!m)
		return -ENOMEM;
	l->rx = *ring;
	l->rx_place = place;
	err = shm_scan_add(l);
	if (err)
		l->rx.ring = NULL;
	else
		m->link = l;
	return err;
}

/* In the hall there is a place for everybody. */
static u32 preferred(const struct shm_seg *theirs, u32 seat)
{
	return theirs->base ? seat : SHM_ANY_PLACE;
}

int shm_rx_hold(struct shm_link *l)
{
	struct shm *s = l->shm;
	struct shm_end ring;
	u32 place;
	int err;

	if (l->rx.ring)
		return 0;
	err = shm_place_hold(s, l->name, preferred(&l->seg, l->seg.seat),
			     &place);
	if (err)
		return err == -EEXIST ? 0 : err;
	err = shm_ring_map(&s->own, place, &ring);
	if (!err) {
		err = shm_rx_use(l, place, &ring);
		if (err)
			shm_ring_unmap(&ring);
	}
	l->rx_held = !err;
	if (err)
		shm_place_unhold(s, l->name, place);
	return err;
}

/*
 * Its memory is free as soon as nobody writes there. If that cannot be said yet
 * the sender lives, and shm_attend() sees it close.
 */
void shm_rx_drop(struct shm_link *l)
{
	struct shm *s = l->shm;

	if (!l->rx.ring)
		return;
	shm_ring_unmap(&l->rx);
	s->mine[l->rx_place].link = NULL;
	if (l->is_silent || shm_rx_state(s, l->rx_place) == SHM_CLOSED)
		shm_place_free(s, l->rx_place);
	else if (l->rx_held)
		shm_place_unhold(s, l->name, l->rx_place);
	l->rx_held = false;
}

/* --- the sending half: our ring in the peer's segment --- */

/* A ring that comes late must not be taken for one of another meeting. */
static void mark(const struct chan_other *o, u64 *marks)
{
	for (u32 i = 0; i < SHM_MARKS; i++)
		marks[i] =
			o && i < o->nsecrets ?
				o->marks[(o->nsecrets - 1 - i) % CHAN_SECRETS] :
				0;
}

static int map_tx_ring(struct shm_link *l)
{
	struct shm *s = l->shm;
	int err = shm_place_take(&l->seg, shm_name(s->own.head->token),
				 preferred(&l->seg, s->own.seat), &l->tx_place);

	if (err)
		return err;
	l->tx_word = shm_place_word(&l->seg, l->tx_place);
	err = shm_ring_map(&l->seg, l->tx_place, &l->tx);
	if (err) {
		shm_place_return(&l->seg, l->tx_place);
		return err;
	}
	l->tx.ring->rank = s->rank;
	l->tx.ring->job = chan_ep_job_id(s->chan.ep);
	mark(l->p->other, l->tx.ring->marks);
	l->tx.ring->card[0] = '\0';
	if (l->seg.base)
		return 0; /* they find us in the hall as well */
	return shm_card(&s->chan, l->tx.ring->card, SHM_CARD_MAX);
}

/*
 * The pidfd first: if its process still lives after the segment was found through
 * its pid, then it is that process's segment.
 */
static int open_by_card(struct shm_link *l, const char *card, int *pidfd)
{
	struct shm_where w;
	int err;

	if (shm_parse_card(card, &w))
		return -EINVAL;
	l->pid = w.pid;
	l->name = shm_name(w.token);
	*pidfd = shm_pidfd(w.pid);
	if (*pidfd == -ESRCH)
		return -ESRCH;
	err = shm_seg_open(&w, l->p->core.wire_rank, &l->seg);
	if (err)
		return shm_process_ended(w.pid, *pidfd) ? -ESRCH : err;
	return shm_process_ended(w.pid, *pidfd) ? -ESRCH : 0;
}

/* Whether its process lives is looked at later. */
static int find_in_hall(struct shm_link *l)
{
	int err = shm_hall_seg(l->shm, l->p->core.rank, &l->seg);

	if (err)
		return err;
	l->pid = l->seg.head->pid;
	l->name = shm_name(l->seg.head->token);
	return 0;
}

int shm_tx_map(struct shm_link *l, const char *card, int *pidfd)
{
	int err;

	*pidfd = -1;
	shm_seg_close(&l->seg); /* of an earlier try */
	l->theirs = NULL;
	err = card ? open_by_card(l, card, pidfd) : find_in_hall(l);
	if (err)
		return err;
	l->theirs = l->seg.head;
	l->fence = !l->shm->can_barrier || l->theirs->no_barrier;
	return map_tx_ring(l);
}

/* All that is needed of it has been mapped. */
static void close_file(struct shm_seg *seg)
{
	if (seg->fd >= 0 && !seg->base)
		close(seg->fd);
	seg->fd = -1;
}

void shm_tx_abandon(struct shm_link *l, int pidfd)
{
	if (pidfd >= 0)
		close(pidfd);
	if (l->tx.ring) {
		shm_ring_unmap(&l->tx);
		shm_place_return(&l->seg, l->tx_place);
	}
	close_file(&l->seg);
}

static void set_state(struct shm_link *l, enum shm_state state)
{
	__atomic_store_n(l->tx_word, shm_name(l->shm->own.head->token) | state,
			 __ATOMIC_SEQ_CST);
}

static void get_attention(struct shm_link *l)
{
	__atomic_fetch_add(&l->theirs->attention, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	shm_wake(l->shm, l->theirs);
}

void shm_tx_attach(struct shm_link *l)
{
	close_file(&l->seg);
	set_state(l, SHM_ATTACHED);
	get_attention(l);
}

void shm_tx_close(struct shm_link *l)
{
	set_state(l, SHM_CLOSED);
	get_attention(l);
}
