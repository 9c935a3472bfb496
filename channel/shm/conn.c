/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Links. Whoever connects allocates the rings of both directions, so that either
 * both ends can use shared memory or neither tries: it takes a place in the
 * peer's segment and holds one for the peer in its own. It puts its card into
 * its ring, attaches it and counts up the peer's attention. The peer's next poll
 * sees that and completes the link from its side. Both may do this at the same
 * time; place.c has what comes of it.
 *
 * It can still happen that another channel carries what we send to a peer and
 * that the peer sends through shared memory. Then the link has only its
 * receiving half and p->link is not ours (not bound).
 */
#include "shm.h"

#include "log.h"

#include <stdlib.h>
#include <unistd.h>

static struct shm_link *link_find(struct shm *s, struct chan_peer *p)
{
	struct o2g_list *at;

	if (p->chan == &s->chan && p->link)
		return p->link;
	o2g_list_for_each(at, &s->links) {
		struct shm_link *l = container_of(at, struct shm_link, all);

		if (l->p == p)
			return l;
	}
	return NULL;
}

static struct shm_link *link_new(struct shm *s, struct chan_peer *p)
{
	struct shm_link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->shm = s;
	l->p = p;
	l->seg.fd = -1;
	o2g_list_init(&l->queue);
	o2g_list_init(&l->pending);
	o2g_list_add_tail(&l->all, &s->links);
	return l;
}

static void warn_no_room(struct shm *s, int err)
{
	static bool said;
	unsigned kib = shm_ring_bytes(s->cells, s->data) / 1024;

	if (said)
		return;
	said = true;
	o2g_warn(
		"shm: no room for two rings of %u KiB in %s (%s); set O2G_SHM_DIR to a directory with room, O2G_SHM_RING to a smaller size, or O2G_CHANNELS=tcp",
		kib, shm_dir_given() ? o2g_settings()->shm_dir : "memory",
		strerror(-err));
}

/* --- the receiving half: the peer's ring in our segment --- */

static enum shm_state state_of(struct shm *s, u32 place)
{
	const u64 *word = shm_place_word(&s->own, place);

	return word ? shm_state_of(__atomic_load_n(word, __ATOMIC_ACQUIRE)) :
		      SHM_FREE;
}

static bool is_closed(struct shm *s, u32 place)
{
	return state_of(s, place) == SHM_CLOSED;
}

static int use_rx(struct shm_link *l, u32 place, const struct shm_end *ring)
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

/* For a peer that may not have heard of us yet. */
static int hold_rx(struct shm_link *l)
{
	struct shm *s = l->shm;
	struct shm_end ring;
	u32 place;
	int err;

	if (l->rx.ring)
		return 0;
	err = shm_place_hold(s, l->name, &place);
	if (err)
		return err == -EEXIST ? 0 : err;
	err = shm_ring_map(&s->own, place, &ring);
	if (!err) {
		err = use_rx(l, place, &ring);
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
static void drop_rx(struct shm_link *l)
{
	struct shm *s = l->shm;

	if (!l->rx.ring)
		return;
	shm_ring_unmap(&l->rx);
	s->mine[l->rx_place].link = NULL;
	if (l->is_silent || is_closed(s, l->rx_place))
		shm_place_free(s, l->rx_place);
	else if (l->rx_held)
		shm_place_unhold(s, l->name, l->rx_place);
	l->rx_held = false;
}

/* --- the sending half: our ring in the peer's segment --- */

static int map_tx_ring(struct shm_link *l)
{
	struct shm *s = l->shm;
	int err = shm_place_take(&l->seg, shm_name(s->own.head->token),
				 &l->tx_place);

	if (err)
		return err;
	l->tx_word = shm_place_word(&l->seg, l->tx_place);
	err = shm_ring_map(&l->seg, l->tx_place, &l->tx);
	if (err) {
		shm_place_return(&l->seg, l->tx_place);
		return err;
	}
	l->tx.ring->rank = s->rank;
	return shm_card(&s->chan, l->tx.ring->card, SHM_CARD_MAX);
}

/* The peer's segment and our ring in it. */
static int map_tx(struct shm_link *l, const char *card, int *pidfd)
{
	struct shm *s = l->shm;
	struct shm_where w;
	int err;

	if (shm_parse_card(card, &w))
		return -EINVAL;
	shm_seg_close(&l->seg); /* of an earlier try */
	l->theirs = NULL;
	l->pid = w.pid;
	l->name = shm_name(w.token);
	/*
	 * The pidfd first: if its process still lives after the segment was
	 * found through its pid, then it is that process's segment.
	 */
	*pidfd = shm_pidfd(w.pid);
	if (*pidfd == -ESRCH)
		return -ESRCH;
	err = shm_seg_open(&w, l->p->core.rank, &l->seg);
	if (err)
		return shm_process_ended(w.pid, *pidfd) ? -ESRCH : err;
	l->theirs = l->seg.head;
	if (shm_process_ended(w.pid, *pidfd))
		return -ESRCH;
	l->fence = !s->can_barrier || l->theirs->no_barrier;
	return map_tx_ring(l);
}

/* All that is needed of it has been mapped. */
static void close_file(struct shm_seg *seg)
{
	if (seg->fd >= 0)
		close(seg->fd);
	seg->fd = -1;
}

/* It was not attached: the peer must not see it close either. */
static void abandon_tx(struct shm_link *l, int pidfd)
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

static void announce(struct shm_link *l)
{
	close_file(&l->seg);
	set_state(l, SHM_ATTACHED);
	get_attention(l);
}

static void bind(struct shm_link *l)
{
	struct chan_peer *p = l->p;

	l->bound = true;
	p->link = l;
	p->chan = &l->shm->chan;
	if (!p->host[0])
		gethostname(p->host, sizeof(p->host) - 1);
	p->core.eager_max = o2g_settings()->shm_eager;
	p->core.inject_max = p->core.eager_max + 1;
	l->can_get = l->theirs && shm_can_get(l->shm, l);
	p->core.can_get = l->can_get;
	p->core.get_min = o2g_settings()->shm_get_min;
}

/* --- the other end has attached --- */

/*
 * A sender that we do not know yet. If it cannot be reached it may have gone
 * already, having said all it had to say: then what is in its ring is taken,
 * and answers go nowhere.
 */
static void answer_sender(struct shm_link *l)
{
	struct shm *s = l->shm;
	struct chan_peer *p = l->p;
	char card[SHM_CARD_MAX];
	int pidfd = -1, err;

	memcpy(card, l->rx.ring->card, sizeof(card));
	card[sizeof(card) - 1] = '\0';
	err = map_tx(l, card, &pidfd);
	if ((p->chan && p->chan != &s->chan) ||
	    (err && err != -ESRCH && err != -ENOENT)) {
		abandon_tx(l, pidfd);
		return;
	}
	bind(l);
	if (!err) {
		shm_watch_process(l, pidfd);
		announce(l);
		return;
	}
	abandon_tx(l, pidfd);
	/* Not from here: connect may have called, from inside the core. */
	l->gone = true;
	l->is_silent = true;
	__atomic_fetch_add(&s->own.head->attention, 1, __ATOMIC_SEQ_CST);
}

static int accept_sender(struct shm *s, struct chan_peer *p, u32 place,
			 const struct shm_end *ring)
{
	struct shm_link *l = link_new(s, p);
	int err;

	if (!l)
		return -ENOMEM;
	err = use_rx(l, place, ring);
	if (err)
		shm_drop_link(l, false);
	else
		answer_sender(l);
	return err;
}

/* Its ring is elsewhere than we thought, or we did not know. */
static int move_rx(struct shm_link *l, u32 place, const struct shm_end *ring)
{
	if (l->rx.ring && !l->rx_held)
		return -EEXIST;
	shm_scan_del(l);
	drop_rx(l);
	return use_rx(l, place, ring);
}

/* Whoever attached says which rank it is. */
static int attach(struct shm *s, u32 place)
{
	struct shm_end ring;
	struct chan_peer *p;
	struct shm_link *l;
	u32 rank;
	int err = shm_ring_map(&s->own, place, &ring);

	if (err)
		return err;
	rank = __atomic_load_n(&ring.ring->rank, __ATOMIC_RELAXED);
	p = rank == s->rank ? NULL : chan_ep_peer(s->chan.ep, rank);
	l = p ? link_find(s, p) : NULL;
	if (!p || p->core.down)
		err = -ENOENT;
	else if (l)
		err = move_rx(l, place, &ring);
	else
		err = accept_sender(s, p, place, &ring);
	if (err)
		shm_ring_unmap(&ring);
	return err;
}

static void attend_place(struct shm *s, u32 place)
{
	enum shm_state state = state_of(s, place);
	struct shm_mine *m;

	if (state != SHM_ATTACHED && state != SHM_CLOSED)
		return;
	m = shm_mine(s, place);
	if (!m)
		return;
	if (!m->seen && m->link)
		m->link->rx_held = false;
	else if (!m->seen)
		attach(s, place);
	m = shm_mine(s, place); /* there may be more of them now */
	m->seen = true;
	if (state == SHM_CLOSED && !m->link)
		shm_place_free(s, place);
}

static void attend_places(struct shm *s)
{
	for (u32 i = 0; i < shm_places(&s->own); i++)
		attend_place(s, i);
}

/* --- connecting --- */

int shm_connect(struct chan *c, struct chan_peer *p, const char *card)
{
	struct shm *s = container_of(c, struct shm, chan);
	struct shm_link *l;
	int pidfd = -1, err;

	/* It may have come to us first, and even be gone again. */
	attend_places(s);
	l = link_find(s, p);
	if (l && l->bound)
		return 0;
	if (!l)
		l = link_new(s, p);
	if (!l)
		return -ENOMEM;
	err = map_tx(l, card, &pidfd);
	if (!err)
		err = hold_rx(l);
	if (err) {
		if (err == -ENOSPC || err == -ENOMEM)
			warn_no_room(s, err);
		abandon_tx(l, pidfd);
		shm_drop_link(l, false);
		return err;
	}
	bind(l);
	shm_watch_process(l, pidfd);
	announce(l);
	return 0;
}

/* --- the other end has closed --- */

static void attend_closed(struct shm *s)
{
	struct o2g_list *at;
again:
	o2g_list_for_each(at, &s->links) {
		struct shm_link *l = container_of(at, struct shm_link, all);

		if (l->saw_close || !l->rx.ring ||
		    !(l->gone || is_closed(s, l->rx_place)))
			continue;
		l->saw_close = true;
		shm_drain(l);
		if (!l->dead)
			shm_scan_del(l);
		if (!l->dead && l->bound && !l->p->core.said_bye)
			chan_peer_lost(l->p, -O2G_ERR_PEER,
				       l->gone ? "its process has ended" :
						 "it closed the connection");
		goto again; /* the list may have changed */
	}
}

void shm_attend(struct shm *s)
{
	s->attention =
		__atomic_load_n(&s->own.head->attention, __ATOMIC_SEQ_CST);
	s->depth++;
	attend_closed(s); /* first: it may have come back meanwhile */
	attend_places(s);
	attend_closed(s);
	s->depth--;
}

/* --- the end of a link --- */

static void drop_queue(struct shm_link *l)
{
	while (!o2g_list_empty(&l->queue)) {
		struct o2g_tx *tx =
			o2g_list_first(&l->queue, struct o2g_tx, link);

		o2g_list_del(&tx->link);
		if (!tx->req)
			free(tx);
	}
	o2g_list_del(&l->pending);
}

/*
 * The link is out of every list and of p->link at once; its memory and its
 * rings stay until no loop is under way that may hold it.
 */
void shm_drop_link(struct shm_link *l, bool orderly)
{
	struct shm *s = l->shm;

	if (l->dead)
		return;
	if (orderly && l->tx.ring && !l->failed)
		shm_push_last(l);
	l->dead = true;
	drop_queue(l);
	shm_scan_del(l);
	shm_unwatch_process(l);
	if (l->tx.ring) {
		set_state(l, SHM_CLOSED);
		get_attention(l);
	}
	if (l->bound)
		l->p->link = NULL;
	o2g_list_del(&l->all);
	o2g_list_add_tail(&l->all, &s->graves);
	shm_bury(s);
}

void shm_bury(struct shm *s)
{
	while (!s->depth && !o2g_list_empty(&s->graves)) {
		struct shm_link *l =
			o2g_list_first(&s->graves, struct shm_link, all);

		o2g_list_del(&l->all);
		shm_ring_unmap(&l->tx);
		drop_rx(l);
		shm_seg_close(&l->seg);
		free(l);
	}
}

void shm_disconnect(struct chan *c, struct chan_peer *p, bool orderly)
{
	if (p->link)
		shm_drop_link(p->link, orderly);
}
