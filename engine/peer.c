/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Peers: known on first use, connected on first send, mourned by name. */
#include "peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "carrier.h"
#include "channels.h"
#include "ended.h"
#include "log.h"

struct eng_peer *eng_peer_get(struct o2g_ep *ep, int rank)
{
	struct eng_peer *p;

	if (rank < 0 || rank >= ep->size)
		return NULL;
	p = ep->peers[rank];
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	o2g_peer_init(&ep->core, &p->cp.core, rank);
	p->ep = ep;
	if (!ep->driver)
		p->carrier = &own_carrier;
	ep->peers[rank] = p;
	return p;
}

struct chan_peer *chan_ep_peer(struct chan_ep *cep, u32 rank)
{
	struct eng_peer *p = eng_peer_get(ep_of_chan(cep), (int)rank);

	return p ? &p->cp : NULL;
}

static int connect_peer(struct o2g_ep *ep, struct eng_peer *p)
{
	char address[O2G_ADDRESS_MAX];
	int rank = p->cp.core.rank, err;

	if (rank == ep->rank) {
		p->cp.chan = &ep->self_chan;
		return self_chan_ops.connect(&ep->self_chan, &p->cp, "");
	}
	if (!ep->resolve)
		return -EDESTADDRREQ;
	err = ep->resolve(ep->resolve_arg, rank, address, sizeof(address));
	if (err) {
		chan_peer_lost(&p->cp, err, "its address is not known");
		return err;
	}
	return eng_channels_connect(ep, p, address);
}

struct eng_peer *eng_peer_connect(struct o2g_ep *ep, int rank, int *err)
{
	struct eng_peer *p;

	if (rank < 0 || rank >= ep->size) {
		*err = -EINVAL;
		return NULL;
	}
	p = eng_peer_get(ep, rank);
	*err = -ENOMEM;
	if (!p)
		return NULL;
	*err = 0;
	/* An inbound connection may have made the peer known already. */
	if (!p->cp.chan && !p->lost)
		*err = connect_peer(ep, p);
	return *err ? NULL : p;
}

static void drop_link(struct eng_peer *p, bool orderly)
{
	struct chan *chan = p->cp.chan;

	if (chan && p->cp.link)
		chan->ops->disconnect(chan, &p->cp, orderly);
	p->cp.link = NULL;
}

/* It may have called on other channels than the one that carries it. */
static void forget_elsewhere(struct eng_peer *p)
{
	for (unsigned i = 0; i < p->ep->nchans; i++) {
		struct chan *chan = p->ep->chans[i];

		if (chan->ops->forget)
			chan->ops->forget(chan, &p->cp);
	}
}

void chan_peer_lost(struct chan_peer *cp, int err, const char *fmt, ...)
{
	struct eng_peer *p = eng_peer_of(cp);
	char why[640];
	va_list ap;

	if (p->lost)
		return;
	p->lost = true;
	atomic_fetch_add(&p->ep->losses, 1);
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (cp->core.said_bye)
		snprintf(why, sizeof(why), "it has finished");
	snprintf(p->error, sizeof(p->error), "rank %u on %s: %s", cp->core.rank,
		 cp->host[0] ? cp->host : "an unknown host", why);
	if (err == -EBADMSG)
		o2g_warn("%s; the connection is closed", p->error);
	else
		o2g_debug("lost %s", p->error);
	drop_link(p, false);
	forget_elsewhere(p);
	if (p->ep->driver)
		p->ep->driver->gone(p->ep, p);
	o2g_proto_peer_down(&p->ep->core, &cp->core, -O2G_ERR_PEER);
	if (p->ep->on_lost)
		p->ep->on_lost(p->ep->resolve_arg, (int)cp->core.rank,
			       cp->core.said_bye);
	eng_ended_give_up(p->ep);
	eng_event(p->ep);
}

void eng_bye_later(struct eng_peer *p, const char *why)
{
	if (p->bye_pending)
		return;
	p->bye_pending = true;
	p->bye_why = why;
	p->next_bye = p->ep->byes;
	p->ep->byes = p;
}

/* Peers that said goodbye while packets were being handled. */
void eng_byes(struct o2g_ep *ep)
{
	struct eng_peer *p;

	while ((p = ep->byes)) {
		ep->byes = p->next_bye;
		chan_peer_lost(&p->cp, -O2G_ERR_PEER, "%s", p->bye_why);
	}
}

void eng_peers_say_bye(struct o2g_ep *ep)
{
	for (int i = 0; i < ep->size; i++) {
		struct eng_peer *p = ep->peers[i];

		if (p && p->cp.chan && !p->lost && i != ep->rank)
			o2g_proto_bye(&ep->core, &p->cp.core);
	}
}

void eng_peers_cleanup(struct o2g_ep *ep)
{
	for (int i = 0; i < ep->size; i++) {
		struct eng_peer *p = ep->peers[i];

		if (!p)
			continue;
		if (!p->lost)
			drop_link(p, true);
		p->lost = true;
		o2g_proto_peer_down(&ep->core, &p->cp.core, -O2G_ERR_PEER);
	}
	if (ep->callbacks) /* which may ask who it was */
		eng_run_callbacks(ep);
	for (int i = 0; i < ep->size; i++)
		free(ep->peers[i]);
	free(ep->peers);
}

int o2g_peer_error(struct o2g_ep *ep, int rank, char *text, size_t size)
{
	const struct eng_peer *p;
	int ret = -ENOENT;

	if (rank < 0 || rank >= ep->size)
		return -EINVAL;
	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	p = eng_peer_known(ep, rank);
	if (p && p->lost) {
		snprintf(text, size, "%s", p->error);
		ret = 0;
	}
	ep_unlock(ep);
	return ret;
}

static void describe(struct eng_peer *p, struct o2g_peer_info *info)
{
	struct chan_peer *cp = &p->cp;

	info->alive = !p->lost;
	snprintf(info->host, sizeof(info->host), "%s", cp->host);
	info->messages_sent = cp->core.msgs_sent;
	info->bytes_sent = cp->core.bytes_sent;
	info->messages_received = cp->core.msgs_recv;
	info->bytes_received = cp->core.bytes_recv;
	if (cp->chan)
		snprintf(info->channel, sizeof(info->channel), "%s",
			 cp->chan->ops->name);
	if (cp->chan && cp->link && cp->chan->ops->describe)
		cp->chan->ops->describe(cp->chan, cp, info->address,
					sizeof(info->address));
}

int o2g_peer_info(struct o2g_ep *ep, int rank, struct o2g_peer_info *info)
{
	struct eng_peer *p;

	if (rank < 0 || rank >= ep->size)
		return -EINVAL;
	memset(info, 0, sizeof(*info));
	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	p = eng_peer_known(ep, rank);
	if (p) {
		describe(p, info);
		if (ep->driver)
			ep->driver->peer_info(ep, p, info);
	}
	ep_unlock(ep);
	return 0;
}
