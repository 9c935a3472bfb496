/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Endpoints: opened and closed here. */
#include "ep.h"

#include <stdlib.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "async.h"
#include "carrier.h"
#include "channels.h"
#include "choose.h"
#include "clock.h"
#include "ended.h"
#include "forked.h"
#include "kernel.h"
#include "log.h"
#include "mem.h"
#include "other.h"
#include "progress.h"
#include "resolve.h"
#include "serve.h"
#include "settings.h"
#include "wait.h"

#define FIRST_BINS 256
#define CLOSE_WAIT_US 2000000

static void set_identity(struct o2g_ep *ep, const struct o2g_attr *attr)
{
	ep->rank = attr->rank;
	ep->size = attr->size;
	ep->owner = getpid();
	ep->resolve = attr->resolve;
	ep->ended = attr->ended;
	ep->on_lost = attr->lost;
	ep->doomed = attr->doomed;
	ep->resolve_arg = attr->arg;
	ep->local_size = attr->local_size;
	ep->sleeps = attr->sleeps;
	ep->listen = attr->listen;
	memcpy(ep->secret, attr->secret, sizeof(ep->secret));
	snprintf(ep->job, sizeof(ep->job), "%s", attr->job ? attr->job : "");
	if (gethostname(ep->host, sizeof(ep->host) - 1))
		snprintf(ep->host, sizeof(ep->host), "unknown");
	for (char *s = ep->host; *s; s++)
		if (*s == ';' || *s == '=')
			*s = '_';
	eng_node_id(ep->node, sizeof(ep->node));
	eng_other_identify(ep);
}

static int init_core(struct o2g_ep *ep)
{
	const struct o2g_settings *set = o2g_settings();
	struct o2g_match_bin *bins = calloc(FIRST_BINS, sizeof(*bins));
	u64 seed;

	if (!bins)
		return -ENOMEM;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = o2g_now_ns();
	o2g_core_init(&ep->core, &eng_core_ops, ep->rank, bins, FIRST_BINS,
		      seed);
	ep->core.any_outlives = ep->doomed;
	ep->core.budget_total = set->unexpected;
	ep->core.budget_peer = set->peer_budget > UINT32_MAX / 2 ?
				       UINT32_MAX / 2 :
				       (u32)set->peer_budget;
	ep->core.data_chunk = set->tcp_chunk ? set->tcp_chunk : 1;
	return 0;
}

/* With all that needs no other memory. */
static struct o2g_ep *ep_alloc(const struct o2g_attr *attr, struct kern *kern)
{
	struct o2g_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return NULL;
	eng_lock_init(&ep->lock);
	ep->callbacks_tail = &ep->callbacks;
	ep->work_tail = &ep->work;
	eng_serve_init(ep);
	ep->kern = kern;
	ep->driver = kern ? &driver_carrier : NULL;
	ep->any = kern ? &both_carriers : &own_carrier;
	set_identity(ep, attr);
	o2g_list_init(&ep->retired);
	eng_resolve_init(ep);
	return ep;
}

static int open_ways(struct o2g_ep *ep)
{
	int err;

	ep_lock(ep);
	err = eng_channels_open(ep);
	if (!err && ep->kern)
		err = kern_attach(ep);
	eng_ended_start(ep);
	ep_unlock(ep);
	return err;
}

int ep_open(const struct o2g_attr *attr, struct kern *kern, struct o2g_ep **out)
{
	struct o2g_ep *ep = ep_alloc(attr, kern);
	int err = -ENOMEM;

	if (!ep)
		goto err_kern;
	err = peers_init(&ep->peers, (u32)attr->size);
	if (err)
		goto err_ep;
	err = init_core(ep);
	if (err)
		goto err_peers;
	err = eng_progress_init(ep);
	if (err)
		goto err_core;
	eng_wait_init(ep);
	err = open_ways(ep);
	if (err)
		goto err_channels;
	ep->listen = NULL;
	eng_async_start(ep);
	eng_forked_add(ep);
	*out = ep;
	return 0;

err_channels:
	eng_channels_close(ep);
	eng_progress_cleanup(ep);
err_core:
	free(ep->core.match.bins);
err_peers:
	peers_cleanup(&ep->peers);
err_ep:
	free(ep);
err_kern:
	kern_free(kern);
	return err;
}

int o2g_open(const struct o2g_attr *attr, struct o2g_ep **ep)
{
	struct kern *kern = NULL;
	const char *name;
	char why[160];
	int err;

	if (!attr || attr->size < 1 || attr->rank < 0 ||
	    attr->rank >= attr->size)
		return -EINVAL;
	err = o2g_choose_engine(&name, why, sizeof(why));
	if (err) {
		o2g_error("no engine: %s", why);
		return err;
	}
	o2g_debug("engine %s: %s", name, why);
	if (!strcmp(name, "kernel")) {
		err = kern_open(attr, &kern);
		/* Only whoever asks for the driver insists on it. */
		if (err && strcmp(o2g_settings()->engine, "auto"))
			return err;
	}
	return ep_open(attr, kern, ep);
}

static bool is_being_sent(const struct eng_peer *p)
{
	struct o2g_list *l;

	o2g_list_for_each(l, &p->cp.core.waiting)
		if (container_of(l, struct o2g_req, link)->state == O2G_ST_XMIT)
			return true;
	return false;
}

static bool has_unsent(const struct eng_peer *p)
{
	return !p->lost && (is_being_sent(p) || eng_resolve_holds(p));
}

/* What will not arrive, though the program was not told. */
static void last_words(struct o2g_ep *ep)
{
	struct eng_peer *p;

	eng_ended_last_words(ep);
	eng_for_each_peer(p, ep)
		if (has_unsent(p))
			o2g_warn("rank %u%s%s did not take what was sent to it "
				 "before the end: it is lost",
				 p->cp.core.wire_rank,
				 p->cp.host[0] ? " on " : "", p->cp.host);
}

/* Nothing sent is still in our hands? */
static int all_sent(void *arg)
{
	struct o2g_ep *ep = arg;
	struct eng_peer *p;

	eng_for_each_peer(p, ep)
		if (has_unsent(p))
			return 0;
	return !ep->driver || ep->driver->all_sent(ep);
}

static void drop_unexpected(struct o2g_match_entry *e, void *arg)
{
	struct o2g_ep *ep = arg;
	struct o2g_unexp *u = container_of(e, struct o2g_unexp, match);

	o2g_match_remove(&ep->core.match, e);
	ep->core.ops->unexp_free(&ep->core, u);
}

void o2g_close(struct o2g_ep *ep)
{
	/* In a child the connections and rings are still the parent's, which
	 * goes on: no goodbye may be said on them. */
	if (!ep || ep->owner != getpid())
		return;
	eng_forked_del(ep);
	eng_async_stop(ep);
	ep_lock(ep);
	eng_flush(ep);
	eng_wait_locked(ep, all_sent, ep, CLOSE_WAIT_US);
	last_words(ep);
	eng_peers_say_bye(ep);
	eng_flush(ep);
	if (ep->kern)
		kern_detach(ep);
	eng_peers_cleanup(ep);
	eng_channels_close(ep);
	o2g_match_each_unexpected(&ep->core.match, drop_unexpected, ep);
	ep_unlock(ep);
	eng_progress_cleanup(ep);
	eng_reqs_cleanup(ep);
	eng_mems_cleanup(ep);
	eng_serve_cleanup(ep);
	kern_free(ep->kern);
	free(ep->core.match.bins);
	free(ep);
}

void o2g_set_secret(struct o2g_ep *ep, const unsigned char *secret)
{
	if (!ep_enter(ep))
		return;
	memcpy(ep->secret, secret, sizeof(ep->secret));
	eng_other_identify(ep);
	ep_unlock(ep);
}

int o2g_address(struct o2g_ep *ep, char *address, size_t size)
{
	int err;

	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	err = eng_channels_card(ep, address, size);
	ep_unlock(ep);
	return err;
}

int o2g_rank(const struct o2g_ep *ep)
{
	return ep->rank;
}

int o2g_size(const struct o2g_ep *ep)
{
	return ep->size;
}

int o2g_ep_info(struct o2g_ep *ep, struct o2g_ep_info *info)
{
	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	info->engine = ep->driver ? "kernel" : "user";
	info->posted = ep->core.match.nposted;
	info->unexpected = ep->core.match.nunexp;
	info->unexpected_bytes = ep->unexp_bytes;
	info->unexpected_peak = ep->unexp_peak;
	if (ep->driver)
		ep->driver->ep_info(ep, info);
	ep_unlock(ep);
	return 0;
}
