/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Peers: known on first use, connected on first send, mourned by name. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"
#include "log.h"
#include "user.h"

static struct user_peer *user_peer_of(struct chan_peer *cp)
{
	return container_of(cp, struct user_peer, cp);
}

struct user_peer *user_peer_get(struct user_ep *ep, int rank)
{
	struct user_peer *p;

	if (rank < 0 || rank >= ep->eng.size)
		return NULL;
	p = ep->peers[rank];
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	o2g_peer_init(&ep->core, &p->cp.core, rank);
	p->ep = ep;
	ep->peers[rank] = p;
	return p;
}

struct chan_peer *chan_ep_peer(struct chan_ep *cep, u32 rank)
{
	struct user_peer *p = user_peer_get(user_of_chan(cep), (int)rank);

	return p ? &p->cp : NULL;
}

static int connect_peer(struct user_ep *ep, struct user_peer *p)
{
	char address[O2G_ADDRESS_MAX];
	int rank = p->cp.core.rank, err;

	if (rank == ep->eng.rank) {
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
	return user_channels_connect(ep, p, address);
}

struct user_peer *user_peer_connect(struct user_ep *ep, int rank, int *err)
{
	struct user_peer *p;

	if (rank < 0 || rank >= ep->eng.size) {
		*err = -EINVAL;
		return NULL;
	}
	p = user_peer_get(ep, rank);
	*err = -ENOMEM;
	if (!p)
		return NULL;
	*err = 0;
	/* An inbound connection may have made the peer known already. */
	if (!p->cp.chan && !p->lost)
		*err = connect_peer(ep, p);
	return *err ? NULL : p;
}

static void drop_link(struct user_peer *p, bool orderly)
{
	struct chan *chan = p->cp.chan;

	if (chan && p->cp.link)
		chan->ops->disconnect(chan, &p->cp, orderly);
	p->cp.link = NULL;
}

/* It may have called on other channels than the one that carries it. */
static void forget_elsewhere(struct user_peer *p)
{
	for (unsigned i = 0; i < p->ep->nchans; i++) {
		struct chan *chan = p->ep->chans[i];

		if (chan->ops->forget)
			chan->ops->forget(chan, &p->cp);
	}
}

void chan_peer_lost(struct chan_peer *cp, int err, const char *fmt, ...)
{
	struct user_peer *p = user_peer_of(cp);
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
	if (p->ep->kern)
		kern_peer_lost(p->ep, cp->core.rank);
	o2g_proto_peer_down(&p->ep->core, &cp->core, -O2G_ERR_PEER);
	if (p->ep->on_lost)
		p->ep->on_lost(p->ep->resolve_arg, (int)cp->core.rank,
			       cp->core.said_bye);
	user_ended_give_up(p->ep);
	user_event(p->ep);
}

void user_bye_later(struct user_peer *p, const char *why)
{
	if (p->bye_pending)
		return;
	p->bye_pending = true;
	p->bye_why = why;
	p->next_bye = p->ep->byes;
	p->ep->byes = p;
}

/* Peers that said goodbye while packets were being handled. */
void user_byes(struct user_ep *ep)
{
	struct user_peer *p;

	while ((p = ep->byes)) {
		ep->byes = p->next_bye;
		chan_peer_lost(&p->cp, -O2G_ERR_PEER, "%s", p->bye_why);
	}
}

void user_peers_say_bye(struct user_ep *ep)
{
	for (int i = 0; i < ep->eng.size; i++) {
		struct user_peer *p = ep->peers[i];

		if (p && p->cp.chan && !p->lost && i != ep->eng.rank)
			o2g_proto_bye(&ep->core, &p->cp.core);
	}
}

void user_peers_cleanup(struct user_ep *ep)
{
	for (int i = 0; i < ep->eng.size; i++) {
		struct user_peer *p = ep->peers[i];

		if (!p)
			continue;
		if (!p->lost)
			drop_link(p, true);
		p->lost = true;
		o2g_proto_peer_down(&ep->core, &p->cp.core, -O2G_ERR_PEER);
	}
	if (ep->callbacks) /* which may ask who it was */
		user_run_callbacks(ep);
	for (int i = 0; i < ep->eng.size; i++)
		free(ep->peers[i]);
	free(ep->peers);
}

int user_peer_error(struct o2g_ep *o, int rank, char *text, size_t size)
{
	struct user_ep *ep = user_of(o);
	int ret = -ENOENT;

	if (rank < 0 || rank >= ep->eng.size)
		return -EINVAL;
	user_lock(ep);
	if (ep->peers[rank] && ep->peers[rank]->lost) {
		snprintf(text, size, "%s", ep->peers[rank]->error);
		ret = 0;
	}
	user_unlock(ep);
	return ret;
}

int user_peer_info(struct o2g_ep *o, int rank, struct o2g_peer_info *info)
{
	struct user_ep *ep = user_of(o);
	struct user_peer *p;

	if (rank < 0 || rank >= ep->eng.size)
		return -EINVAL;
	memset(info, 0, sizeof(*info));
	user_lock(ep);
	p = ep->peers[rank];
	if (p) {
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
	user_unlock(ep);
	return 0;
}
