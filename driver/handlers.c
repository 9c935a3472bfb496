// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Messages for handlers. The handlers are in the process: a completion of its own
 * (O2GD_SLOT_SERVED) tells it that there are such messages, and it takes them as it
 * takes those of a matched probe, one of each peer at a time; it asks for the next of
 * a peer when the last is handled. So they are handled in order, and whatever waits
 * does so here, where it costs its sender credit. All of it under ep->lock.
 */
#include "o2gk.h"

void o2gk_served_init(struct o2gk_ep *ep)
{
	INIT_LIST_HEAD(&ep->file.serving);
	INIT_LIST_HEAD(&ep->file.served_done.link);
	ep->file.served_done.cqe.slot = O2GD_SLOT_SERVED;
	ep->file.served_done.cqe.source = O2GD_ANY;
}

/* The process is told once, until it has found that there are no more. */
static void tell(struct o2gk_ep *ep)
{
	if (ep->file.served_told || !list_empty(&ep->file.served_done.link))
		return;
	ep->file.served_told = true;
	o2gk_cq_post(ep, &ep->file.served_done);
}

void o2gk_served(struct o2g_core *c, struct o2g_peer *peer)
{
	struct o2gk_ep *ep = o2gk_of_core(c);
	struct o2gk_peer *p = o2gk_peer_of(peer);

	lockdep_assert_held(&ep->lock);
	if (p->served_out || !list_empty(&p->serving))
		return;
	list_add_tail(&p->serving, &ep->file.serving);
	tell(ep);
}

/* Of the peer whose turn it is; or the next of this one, with whose last it is done. */
static struct o2gk_peer *next_peer(struct o2gk_ep *ep, u32 number)
{
	struct o2gk_peer *p;

	if (number == O2GD_ANY)
		return list_first_entry_or_null(&ep->file.serving,
						struct o2gk_peer, serving);
	p = o2gk_peer_find(ep, number);
	if (p)
		p->served_out = false;
	return p && o2g_proto_served(&p->core) ? p : NULL;
}

struct o2gk_unexp *o2gk_served_take(struct o2gk_ep *ep, u32 number)
{
	struct o2gk_peer *p = next_peer(ep, number);
	struct o2g_unexp *u;

	lockdep_assert_held(&ep->lock);
	if (!p) {
		if (number == O2GD_ANY)
			ep->file.served_told = false;
		return NULL;
	}
	list_del_init(&p->serving);
	u = o2g_proto_served(&p->core);
	if (WARN_ON_ONCE(!u))
		return NULL;
	o2g_proto_take_served(u);
	p->served_out = true;
	return o2gk_unexp_of(u);
}

void o2gk_served_lost(struct o2gk_peer *p)
{
	lockdep_assert_held(&p->ep->lock);
	if (!o2g_proto_served(&p->core))
		list_del_init(&p->serving);
}

bool o2gk_served_drop(struct o2gk_peer *p, u32 max)
{
	struct o2g_core *c = &p->ep->core;

	lockdep_assert_held(&p->ep->lock);
	list_del_init(&p->serving);
	for (; max && !o2g_list_empty(&p->core.served); max--) {
		struct o2g_unexp *u = o2g_list_first(&p->core.served,
						     struct o2g_unexp, served);

		o2g_proto_take_served(u);
		o2g_proto_drop(c, u);
	}
	return o2g_list_empty(&p->core.served);
}
