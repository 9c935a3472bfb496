/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Messages for handlers (SERVED): never matched, kept in the order in which they
 * came until the engine takes them. They cost credit, of their own kind, until they
 * have been handled. A long one is announced by RTS like any other message; the
 * engine receives it when it is its turn, one of each peer at a time, so such bodies
 * take a bounded memory.
 */
#include "proto_impl.h"

enum o2g_proto_reason o2g_served_rx(struct o2g_core *c, struct o2g_peer *p,
				    struct o2g_rx *rx, u64 body)
{
	struct o2g_unexp *u;

	if (!c->ops->served)
		return O2G_PROTO_BAD_STATE;
	if (rx->hdr.length > O2G_SERVED_BODY_MAX)
		return O2G_PROTO_TOO_LONG;
	u = o2g_recv_keep(c, p, &rx->hdr, body);
	if (!u)
		return O2G_PROTO_NO_MEMORY;
	o2g_list_add_tail(&u->served, &p->served);
	rx->unexp = u;
	sink_to_seg(&rx->sink, &u->body, body);
	if (u->complete)
		o2g_served_complete(c, u);
	else
		o2g_list_add_tail(&u->link, &p->arriving);
	return O2G_PROTO_OK;
}

void o2g_served_complete(struct o2g_core *c, struct o2g_unexp *u)
{
	if (o2g_proto_served(u->peer))
		c->ops->served(c, u->peer);
}

struct o2g_unexp *o2g_proto_served(struct o2g_peer *p)
{
	struct o2g_unexp *u;

	if (o2g_list_empty(&p->served))
		return NULL;
	u = o2g_list_first(&p->served, struct o2g_unexp, served);
	return u->complete ? u : NULL;
}

void o2g_proto_take_served(struct o2g_unexp *u)
{
	o2g_list_del(&u->served);
}

void o2g_proto_drop(struct o2g_core *c, struct o2g_unexp *u)
{
	o2g_recv_drop_unexpected(c, u);
}
