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
#include "resolve.h"
#include "serve.h"

static struct eng_peer *new_peer(struct o2g_ep *ep)
{
	struct eng_peer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->ep = ep;
	o2g_list_init(&p->asked);
	o2g_list_init(&p->held_rma);
	if (!ep->driver)
		p->carrier = &own_carrier;
	return p;
}

static void make_known(struct o2g_ep *ep, struct eng_peer *p, u32 number)
{
	o2g_peer_init(&ep->core, &p->cp.core, number);
	o2g_list_init(&p->serving);
	o2g_list_add_tail(&p->known, &ep->peers.known);
}

struct eng_peer *eng_peer_get(struct o2g_ep *ep, int rank)
{
	struct eng_peer *p = eng_peer_known(ep, rank);

	if (p || (unsigned)rank >= (unsigned)ep->size)
		return p;
	p = new_peer(ep);
	if (!p)
		return NULL;
	if (peers_set(&ep->peers, (u32)rank, p)) {
		free(p);
		return NULL;
	}
	make_known(ep, p, (u32)rank);
	return p;
}

struct chan_peer *chan_ep_peer(struct chan_ep *cep, u32 rank)
{
	struct eng_peer *p = eng_peer_get(ep_of_chan(cep), (int)rank);

	return p ? &p->cp : NULL;
}

/* Is it found without asking for its address? Only channels that come before any
 * that needs one in O2G_CHANNELS are tried. */
static bool meet(struct o2g_ep *ep, struct eng_peer *p)
{
	for (unsigned i = 0; i < ep->nchans && ep->chans[i]->ops->meet; i++) {
		p->cp.chan = ep->chans[i];
		if (!ep->chans[i]->ops->meet(ep->chans[i], &p->cp))
			return true;
		p->cp.chan = NULL;
	}
	return false;
}

static int connect_peer(struct o2g_ep *ep, struct eng_peer *p)
{
	if ((int)p->cp.core.rank == ep->rank) {
		p->cp.chan = &ep->self_chan;
		return self_chan_ops.connect(&ep->self_chan, &p->cp, "");
	}
	if (p->other)
		return eng_channels_connect(ep, p, p->other->address);
	if (meet(ep, p))
		return 0;
	return ep->resolve ? eng_resolve(ep, p) : -EDESTADDRREQ;
}

struct eng_peer *eng_peer_connect(struct o2g_ep *ep, int rank, int *err)
{
	struct eng_peer *p;

	if (!eng_peer_exists(ep, rank)) {
		*err = -EINVAL;
		return NULL;
	}
	p = eng_peer_get(ep, rank);
	*err = -ENOMEM;
	if (!p)
		return NULL;
	*err = 0;
	/* An inbound connection may have made the peer known already. */
	if (!p->cp.chan && !p->lost && !p->resolving)
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

/* Most peers are never lost: the text takes memory when there is one. */
static void remember_error(struct eng_peer *p, const char *why)
{
	static const char fmt[] = "rank %u%s on %s: %s";
	const char *host = p->cp.host[0] ? p->cp.host : "an unknown host";
	const char *whose = p->other ? " of another job" : "";
	u32 rank = p->cp.core.wire_rank;
	int n = snprintf(NULL, 0, fmt, rank, whose, host, why) + 1;

	p->error = malloc((size_t)n);
	if (p->error)
		snprintf(p->error, (size_t)n, fmt, rank, whose, host, why);
}

static const char *error_of(const struct eng_peer *p)
{
	return p->error ? p->error : "a peer; there is no memory to say why";
}

/* Nothing goes to it or comes from it any more; its requests end. */
static void cut_off(struct eng_peer *p, bool orderly)
{
	drop_link(p, orderly);
	forget_elsewhere(p);
	if (p->ep->driver)
		p->ep->driver->gone(p->ep, p);
	eng_resolve_stop(p);
	o2g_proto_peer_down(&p->ep->core, &p->cp.core, -O2G_ERR_PEER);
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
	remember_error(p, why);
	if (err == -EBADMSG)
		o2g_warn("%s; the connection is closed", error_of(p));
	else
		o2g_debug("lost %s", error_of(p));
	if ((err == -EHOSTUNREACH || err == -ECONNREFUSED) &&
	    !cp->core.said_bye)
		eng_ended_untold(p);
	p->unreached = err == -EHOSTUNREACH;
	cut_off(p, false);
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
	struct eng_peer *p;

	eng_for_each_peer(p, ep)
		if (p->cp.chan && !p->lost && (int)p->cp.core.rank != ep->rank)
			o2g_proto_bye(&ep->core, &p->cp.core);
}

/* --- peers of other jobs, which come and go --- */

struct eng_peer *eng_peer_add(struct o2g_ep *ep, struct eng_other *o, u32 rank,
			      int *err)
{
	struct eng_peer *p = new_peer(ep);
	u32 number;

	*err = p ? peers_add(&ep->peers, p, &number) : -ENOMEM;
	if (*err) {
		free(p);
		free(o);
		return NULL;
	}
	make_known(ep, p, number);
	p->other = o;
	p->carrier = &own_carrier; /* the driver knows ranks of our job */
	p->cp.other = &o->chan;
	p->cp.core.wire_rank = rank;
	return p;
}

/* Requests that are free name nobody. */
static void forget_in_free(struct o2g_ep *ep)
{
	for (struct eng_req *r = ep->free_reqs; r; r = r->next)
		r->core.peer = NULL;
}

/* Does anything that its owner has not looked at yet name it? */
static bool is_named(const struct eng_peer *p)
{
	const struct o2g_ep *ep = p->ep;

	for (const struct eng_peer *q = ep->byes; q; q = q->next_bye)
		if (q == p)
			return true;
	for (u32 i = 0; i < ep->nslabs; i++)
		for (u32 j = 0; j < ENG_SLAB; j++)
			if (ep->slabs[i][j].core.peer == &p->cp.core)
				return true;
	return p->taken;
}

static void free_peer(struct eng_peer *p)
{
	o2g_list_del(&p->known);
	eng_serve_forget(p);
	free(p->error);
	free(p->other);
	free(p);
}

static void free_retired(struct o2g_ep *ep)
{
	struct o2g_list *l, *tmp;

	forget_in_free(ep);
	o2g_list_for_each_safe(l, tmp, &ep->retired) {
		struct eng_peer *p = container_of(l, struct eng_peer, known);

		if (!is_named(p))
			free_peer(p);
	}
}

/* As we leave it nobody has to be told. */
static void part_from(struct eng_peer *p)
{
	if (p->lost)
		return;
	if (p->cp.chan && p->cp.link)
		o2g_proto_bye(&p->ep->core, &p->cp.core);
	p->lost = true;
	remember_error(p, "it was disconnected");
	cut_off(p, true);
}

/*
 * The connection ends, and messages that nobody has asked for are dropped. Its
 * memory goes, now or with a later one, when no request names it any more.
 */
void eng_peer_del(struct eng_peer *p)
{
	struct o2g_ep *ep = p->ep;

	part_from(p);
	o2g_proto_forget(&ep->core, &p->cp.core, ~0u);
	eng_serve_forget(p);
	eng_ended_told(p);
	peers_del(&ep->peers, p->cp.core.rank);
	o2g_list_del(&p->known);
	o2g_list_add_tail(&p->known, &ep->retired);
	free_retired(ep);
}

/* --- the end --- */

static void free_all(struct o2g_list *peers)
{
	while (!o2g_list_empty(peers))
		free_peer(o2g_list_first(peers, struct eng_peer, known));
}

void eng_peers_cleanup(struct o2g_ep *ep)
{
	struct eng_peer *p;

	eng_for_each_peer(p, ep) {
		if (!p->lost)
			drop_link(p, true);
		p->lost = true;
		eng_resolve_stop(p);
		o2g_proto_peer_down(&ep->core, &p->cp.core, -O2G_ERR_PEER);
	}
	if (ep->callbacks) /* which may ask who it was */
		eng_run_callbacks(ep);
	free_all(&ep->peers.known);
	free_all(&ep->retired);
	peers_cleanup(&ep->peers);
}

int o2g_peer_error(struct o2g_ep *ep, int rank, char *text, size_t size)
{
	struct eng_peer *p;
	int ret = -ENOENT;

	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	p = eng_peer_known(ep, rank);
	if (p && p->lost) {
		snprintf(text, size, "%s", error_of(p));
		eng_ended_told(p);
		ret = 0;
	} else if (!eng_peer_exists(ep, rank)) {
		ret = -EINVAL;
	}
	ep_unlock(ep);
	return ret;
}

static void describe(struct eng_peer *p, struct o2g_peer_info *info)
{
	struct chan_peer *cp = &p->cp;

	info->alive = !p->lost;
	info->unreached = p->unreached;
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
	int err;

	memset(info, 0, sizeof(*info));
	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	err = eng_peer_exists(ep, rank) ? 0 : -EINVAL;
	p = eng_peer_known(ep, rank);
	if (p) {
		describe(p, info);
		if (ep->driver)
			ep->driver->peer_info(ep, p, info);
	}
	ep_unlock(ep);
	return err;
}
