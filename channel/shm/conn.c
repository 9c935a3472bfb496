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

/* In the hall all are alike: what is possible with one is with the others. Should
 * it not be, the core does without. */
static bool can_get(struct shm *s, const struct shm_link *l)
{
	bool can = (l->seg.base && s->hall.can_get) || shm_can_get(s, l);

	if (l->seg.base)
		s->hall.can_get = can;
	return can;
}

static void bind(struct shm_link *l)
{
	struct chan_peer *p = l->p;

	l->bound = true;
	p->link = l;
	p->chan = &l->shm->chan;
	if (!p->host[0])
		memcpy(p->host, l->shm->host, sizeof(p->host));
	p->core.eager_max = o2g_settings()->shm_eager;
	p->core.inject_max = p->core.eager_max + 1;
	l->can_get = l->theirs && can_get(l->shm, l);
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
	err = shm_tx_map(l, card[0] ? card : NULL, &pidfd);
	if ((p->chan && p->chan != &s->chan) ||
	    (err && err != -ESRCH && err != -ENOENT)) {
		shm_tx_abandon(l, pidfd);
		return;
	}
	bind(l);
	if (!err) {
		shm_watch_process(l, pidfd);
		shm_tx_attach(l);
		return;
	}
	shm_tx_abandon(l, pidfd);
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
	err = shm_rx_use(l, place, ring);
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
	shm_rx_drop(l);
	return shm_rx_use(l, place, ring);
}

/* Of another job: is the ring for one of the meetings that we know, or has it come too
 * late or too early? */
static bool is_for(const struct chan_peer *p, const struct shm_ring *ring)
{
	u64 marks[SHM_MARKS];

	memcpy(marks, ring->marks, sizeof(marks));
	return !p->other || chan_is_marked(p->other, marks, SHM_MARKS);
}

/* Whoever attached says which rank it is, and of which job. NULL: not of a peer. */
static struct chan_peer *sender_of(struct shm *s, const struct shm_ring *ring)
{
	u32 rank = __atomic_load_n(&ring->rank, __ATOMIC_RELAXED);
	u64 job = __atomic_load_n(&ring->job, __ATOMIC_RELAXED);

	if (job != chan_ep_job_id(s->chan.ep)) {
		struct chan_peer *p = chan_ep_other(s->chan.ep, job, rank);

		return p && is_for(p, ring) ? p : NULL;
	}
	return rank == s->rank ? NULL : chan_ep_peer(s->chan.ep, rank);
}

/*
 * -EAGAIN: a process of another job that we have not been told of, or not yet of its
 * return. Two jobs that meet tell their members at different times, and whoever hears
 * first may attach before the other has: its place is looked at again by shm_known().
 */
static int attach(struct shm *s, u32 place)
{
	struct shm_end ring;
	struct chan_peer *p;
	struct shm_link *l;
	int err = shm_ring_map(&s->own, place, &ring);

	if (err)
		return err;
	p = sender_of(s, ring.ring);
	l = p ? link_find(s, p) : NULL;
	if (!p || p->core.down)
		err = -ENOENT;
	else if (l)
		err = move_rx(l, place, &ring);
	else
		err = accept_sender(s, p, place, &ring);
	if ((err == -ENOENT || err == -EEXIST) &&
	    ring.ring->job != chan_ep_job_id(s->chan.ep))
		err = -EAGAIN;
	if (err)
		shm_ring_unmap(&ring);
	return err;
}

static void attend_place(struct shm *s, u32 place)
{
	enum shm_state state = shm_rx_state(s, place);
	bool stranger = false;
	struct shm_mine *m;

	if (state != SHM_ATTACHED && state != SHM_CLOSED)
		return;
	m = shm_mine(s, place);
	if (!m)
		return;
	if (!m->seen && m->link && !is_for(m->link->p, m->link->rx.ring)) {
		/* held for it, and taken by one that it has left: not m->link's */
		shm_scan_del(m->link);
		shm_rx_drop(m->link);
		state = shm_rx_state(s, place);
		if (state != SHM_ATTACHED)
			return;
	}
	if (!m->seen && m->link)
		m->link->rx_held = false;
	else if (!m->seen)
		stranger = attach(s, place) == -EAGAIN;
	m = shm_mine(s, place); /* there may be more of them now */
	m->seen = !stranger;
	s->strangers |= stranger;
	if (state == SHM_CLOSED && !m->link)
		shm_place_free(s, place);
}

static void attend_places(struct shm *s)
{
	for (u32 i = 0; i < shm_places(&s->own); i++)
		attend_place(s, i);
}

void shm_known(struct chan *c, struct chan_peer *p)
{
	struct shm *s = container_of(c, struct shm, chan);

	if (!s->strangers)
		return;
	s->strangers = false;
	attend_places(s);
}

/* --- connecting --- */

/* NULL: out of memory. It may have come to us first, and even be gone again. */
static struct shm_link *link_get(struct shm *s, struct chan_peer *p)
{
	struct shm_link *l;

	if (__atomic_load_n(&s->own.head->attention, __ATOMIC_SEQ_CST) !=
	    s->attention)
		attend_places(s);
	l = link_find(s, p);
	return l ? l : link_new(s, p);
}

int shm_connect(struct chan *c, struct chan_peer *p, const char *card)
{
	struct shm *s = container_of(c, struct shm, chan);
	struct shm_link *l = link_get(s, p);
	int pidfd = -1, err;

	if (!l)
		return -ENOMEM;
	if (l->bound)
		return 0;
	err = shm_tx_map(l, card, &pidfd);
	if (!err)
		err = shm_rx_hold(l);
	if (err) {
		if (err == -ENOSPC || err == -ENOMEM)
			warn_no_room(s, err);
		shm_tx_abandon(l, pidfd);
		shm_drop_link(l, false);
		return err;
	}
	bind(l);
	shm_watch_process(l, pidfd);
	shm_tx_attach(l);
	return 0;
}

int shm_meet(struct chan *c, struct chan_peer *p)
{
	struct shm *s = container_of(c, struct shm, chan);
	struct shm_seg seg;

	return shm_hall_seg(s, p->core.rank, &seg) ? -ENOENT :
						     shm_connect(c, p, NULL);
}

/* --- the other end has closed --- */

static void attend_closed(struct shm *s)
{
	struct o2g_list *at;
again:
	o2g_list_for_each(at, &s->links) {
		struct shm_link *l = container_of(at, struct shm_link, all);

		if (l->saw_close || !l->rx.ring ||
		    !(l->gone || shm_rx_state(s, l->rx_place) == SHM_CLOSED))
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
	if (l->tx.ring)
		shm_tx_close(l);
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
		shm_rx_drop(l);
		shm_seg_close(&l->seg);
		free(l);
	}
}

void shm_disconnect(struct chan *c, struct chan_peer *p, bool orderly)
{
	if (p->link)
		shm_drop_link(p->link, orderly);
}
