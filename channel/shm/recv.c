/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Receiving. What a ring holds was written by another process: every value is
 * read once and checked before use, and positions are our own, so a sender gone
 * wild can lose its connection and nothing else.
 */
#include "shm.h"
#include "quick.h"

#include <stdlib.h>

#define RECORDS_PER_RING 32 /* before others get their turn */

int shm_scan_add(struct shm_link *l)
{
	struct shm *s = l->shm;
	struct shm_scan *scan;

	if (s->nscan == s->max_scan) {
		u32 max = s->max_scan ? s->max_scan * 2 : 8;

		scan = realloc(s->scan, max * sizeof(*scan));
		if (!scan)
			return -ENOMEM;
		s->scan = scan;
		s->max_scan = max;
	}
	l->scan_index = s->nscan++;
	scan = &s->scan[l->scan_index];
	scan->cell = shm_cell(&l->rx);
	scan->pos = l->rx.cell;
	scan->link = l;
	l->scanned = true;
	return 0;
}

void shm_scan_del(struct shm_link *l)
{
	struct shm *s = l->shm;

	if (!l->scanned)
		return;
	l->scanned = false;
	s->scan[l->scan_index] = s->scan[--s->nscan];
	s->scan[l->scan_index].link->scan_index = l->scan_index;
}

/* Tell the sender how far we are, every quarter of the ring. */
static void publish_head(struct shm_link *l)
{
	struct shm_end *e = &l->rx;

	e->head_cell = e->cell;
	e->head_data = e->at;
	__atomic_store_n(&e->ring->head, e->cell | (u64)e->at << 32,
			 __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&e->ring->waits, __ATOMIC_RELAXED) && l->theirs)
		shm_wake(l->shm, l->theirs);
}

static inline void advance_cells(struct shm_link *l, u32 halves)
{
	struct shm_end *e = &l->rx;

	e->cell += halves;
	if (unlikely(e->cell - e->head_cell > e->cell_mask / 4))
		publish_head(l);
}

static inline void advance(struct shm_link *l, u32 halves, u32 data)
{
	struct shm_end *e = &l->rx;

	e->at += data;
	advance_cells(l, halves);
	if (unlikely(e->at - e->head_data > e->data_mask / 4))
		publish_head(l);
}

static int lose(struct shm_link *l, const char *what)
{
	if (l->bound)
		chan_peer_lost(l->p, -EBADMSG, "malformed packet: %s", what);
	else
		shm_drop_link(l, false);
	return -EBADMSG;
}

static void take_data(struct shm_link *l, u32 n)
{
	struct shm_end *e = &l->rx;
	u32 at = e->at & e->data_mask;
	u32 first = e->data_mask + 1 - at;

	if (first > n)
		first = n;
	chan_sink_write(&l->rxp.sink, e->data + at, first);
	if (first < n)
		chan_sink_write(&l->rxp.sink, e->data, n - first);
}

/* One piece of the body, and the end of the packet if it was the last. */
static inline int take_body(struct shm_link *l, const u8 *in_cell, u32 max,
			    u32 n)
{

	if (unlikely(n > l->body_left || n > shm_piece_max(&l->rx)))
		return lose(l, "body too long");
	if (n > max) {
		take_data(l, n);
		advance(l, 2, shm_round(n));
	} else {
		struct o2g_sink *s = &l->rxp.sink;

		if (likely(n <= s->room && n && s->off + n <= s->segs->len)) {
			shm_copy_short((char *)s->segs->base + s->off, in_cell,
				       n);
			s->off += n;
			s->room -= n;
		} else {
			chan_sink_write(s, in_cell, n);
		}
		advance_cells(l, 2);
	}
	l->body_left -= n;
	l->in_body = l->body_left;
	if (l->in_body)
		return 0;
	o2g_proto_rx_end(l->shm->core, &l->p->core, &l->rxp);
	return 0;
}

static int take_more(struct shm_link *l, const struct shm_cell *cell)
{
	u32 n = __atomic_load_n(&cell->bytes, __ATOMIC_RELAXED);

	if (!l->in_body || !n)
		return lose(l, "body without a header");
	return take_body(l, cell->more, sizeof(cell->more), n);
}

static inline bool read_header(struct o2g_hdr *h, const struct shm_cell *cell,
			       u64 ctl, u32 n, bool brief)
{
	h->type = shm_ctl_type(ctl);
	h->flags = shm_ctl_flags(ctl);
	h->credit = cell->credit;
	h->tag = cell->full.tag;
	if (likely(brief)) {
		h->length = n;
		h->cookie = 0;
		h->aux = 0;
		return h->type == O2G_PKT_EAGER;
	}
	h->length = cell->full.length;
	h->cookie = cell->full.cookie;
	h->aux = cell->full.aux;
	return h->type && h->type < O2G_PKT_MAX && h->length <= O2G_BODY_MAX;
}

/* The usual case: a plain message that lies in its cell. */
static inline __attribute__((always_inline)) int
take_brief(struct shm_link *l, const struct shm_cell *cell, u32 halves, u32 n)
{
	enum o2g_proto_reason r;

	if (unlikely(l->in_body))
		return lose(l, "header inside a body");
	r = whole_rx(l->shm->core, &l->p->core, cell->brief.tag, cell->credit,
		     cell->brief.body, n);
	if (unlikely(l->dead))
		return -O2G_ERR_PEER;
	if (unlikely(r != O2G_PROTO_OK))
		return lose(l, o2g_proto_reason_name(r));
	advance_cells(l, halves);
	return 0;
}

static noinline int take_packet(struct shm_link *l, const struct shm_cell *cell,
				u64 ctl)
{
	u32 n = __atomic_load_n(&cell->bytes, __ATOMIC_RELAXED);
	bool brief = shm_ctl_form(ctl) == SHM_BRIEF;
	struct chan_peer *p = l->p;
	enum o2g_proto_reason r;
	struct o2g_hdr h;

	if (likely(brief && n <= sizeof(cell->brief.body) &&
		   shm_ctl_type(ctl) == O2G_PKT_EAGER && !shm_ctl_flags(ctl)))
		return take_brief(l, cell, 2, n);
	if (unlikely(l->in_body))
		return lose(l, "header inside a body");
	if (unlikely(!read_header(&h, cell, ctl, n, brief)))
		return lose(l, "bad header");
	h.src = p->core.wire_rank;
	h.dst = l->shm->rank;
	/* It comes while the core looks for the receive. */
	if (n > sizeof(cell->brief.body))
		shm_prefetch_data(&l->rx, n, 0);
	l->body_left = o2g_wire_body(&h);
	r = o2g_proto_rx_begin(l->shm->core, &p->core, &h, &l->rxp);
	if (unlikely(l->dead))
		return -O2G_ERR_PEER;
	if (unlikely(r != O2G_PROTO_OK))
		return lose(l, o2g_proto_reason_name(r));
	if (likely(brief))
		return take_body(l, cell->brief.body, sizeof(cell->brief.body),
				 n);
	return take_body(l, cell->full.body, sizeof(cell->full.body), n);
}

static inline int take_half(struct shm_link *l, const struct shm_cell *cell,
			    u64 ctl)
{
	u32 n = __atomic_load_n(&cell->bytes, __ATOMIC_RELAXED);
	u8 type = shm_ctl_type(ctl);

	if (likely(type == O2G_PKT_EAGER && n <= SHM_TINY_MAX &&
		   !shm_ctl_flags(ctl)))
		return take_brief(l, cell, 1, n);
	if (type != SHM_PAD || !(l->rx.cell & 1))
		return lose(l, "bad header");
	advance_cells(l, 1);
	return 0;
}

static inline int take_one(struct shm_link *l, const struct shm_cell *cell,
			   u64 ctl)
{
	if (likely(shm_ctl_form(ctl) == SHM_TINY))
		return take_half(l, cell, ctl);
	if (unlikely(l->rx.cell & 1))
		return lose(l, "cell out of place");
	if (unlikely(shm_ctl_type(ctl) == SHM_MORE))
		return take_more(l, cell);
	return take_packet(l, cell, ctl);
}

/* Up to @max records of one ring. */
static int take(struct shm_link *l, int max)
{
	int n = 0;

	if (unlikely(l->p->core.down)) {
		shm_drop_link(l, false);
		return 0;
	}
	while (n < max) {
		const struct shm_cell *cell = shm_cell(&l->rx);
		u64 ctl;
		int err;

		if (!shm_ready(cell, l->rx.cell, &ctl))
			break;
		err = take_one(l, cell, ctl);
		n++;
		if (unlikely(err || l->dead))
			return n;
		/* The next message waits better here than as an unexpected
		 * one: the program may be about to ask for it. */
		if (shm_ctl_type(ctl) == O2G_PKT_EAGER &&
		    !l->shm->core->match.nposted)
			break;
	}
	if (likely(l->scanned)) {
		l->shm->scan[l->scan_index].cell = shm_cell(&l->rx);
		l->shm->scan[l->scan_index].pos = l->rx.cell;
	}
	return n;
}

void shm_drain(struct shm_link *l)
{
	while (!l->dead && l->rx.ring && take(l, RECORDS_PER_RING))
		;
}

/* Every link once, from the front: pushing may lose any of them. */
static int push_pending(struct shm *s)
{
	struct o2g_list *at;
	u32 turns = 0;
	int n = 0;

	o2g_list_for_each(at, &s->pending)
		turns++;
	while (turns-- && !o2g_list_empty(&s->pending)) {
		struct shm_link *l =
			o2g_list_first(&s->pending, struct shm_link, pending);

		o2g_list_del(&l->pending);
		o2g_list_add_tail(&l->pending, &s->pending);
		n += shm_push(l);
	}
	return n;
}

int shm_poll(struct chan *c)
{
	struct shm *s = container_of(c, struct shm, chan);
	int n = 0;

	s->depth++;
	if (unlikely(__atomic_load_n(&s->own.head->attention,
				     __ATOMIC_ACQUIRE) != s->attention))
		shm_attend(s);
	for (u32 i = 0; i < s->nscan; i++) {
		u64 ctl;

		if (shm_ready(s->scan[i].cell, s->scan[i].pos, &ctl))
			n += take(s->scan[i].link, RECORDS_PER_RING);
	}
	if (unlikely(!o2g_list_empty(&s->pending)))
		n += push_pending(s);
	s->depth--;
	if (unlikely(!o2g_list_empty(&s->graves)))
		shm_bury(s);
	return n;
}

/* Is there anything that poll would do? Asked after the barrier of arm. */
bool shm_work_waits(struct shm *s)
{
	struct o2g_list *at;
	u64 ctl;

	if (__atomic_load_n(&s->own.head->attention, __ATOMIC_ACQUIRE) !=
	    s->attention)
		return true;
	for (u32 i = 0; i < s->nscan; i++)
		if (shm_ready(s->scan[i].cell, s->scan[i].pos, &ctl))
			return true;
	o2g_list_for_each(at, &s->pending)
		if (shm_can_push(container_of(at, struct shm_link, pending)))
			return true;
	return false;
}

void shm_deny(struct chan *c, const void *base, size_t len)
{
	struct shm *s = container_of(c, struct shm, chan);
	struct o2g_list *l, *tmp;

	o2g_list_for_each_safe(l, tmp, &s->links) {
		struct shm_link *k = container_of(l, struct shm_link, all);

		if (k->in_body)
			chan_rx_deny(&k->rxp, base, len);
	}
}
