/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The user engine's endpoints: opened and closed here. */
#include "user.h"

#include "kernel.h"

#include <stdlib.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "settings.h"

#define FIRST_BINS 256
#define CLOSE_WAIT_US 2000000

static void set_identity(struct user_ep *ep, const struct o2g_attr *attr)
{
	ep->eng.rank = attr->rank;
	ep->eng.size = attr->size;
	ep->owner = getpid();
	ep->resolve = attr->resolve;
	ep->ended = attr->ended;
	ep->on_lost = attr->lost;
	ep->doomed = attr->doomed;
	ep->resolve_arg = attr->arg;
	ep->local_size = attr->local_size;
	memcpy(ep->secret, attr->secret, sizeof(ep->secret));
	snprintf(ep->job, sizeof(ep->job), "%s", attr->job ? attr->job : "");
	if (gethostname(ep->host, sizeof(ep->host) - 1))
		snprintf(ep->host, sizeof(ep->host), "unknown");
	for (char *s = ep->host; *s; s++)
		if (*s == ';' || *s == '=')
			*s = '_';
	user_node_id(ep->node, sizeof(ep->node));
}

static int init_core(struct user_ep *ep)
{
	const struct o2g_settings *set = o2g_settings();
	struct o2g_match_bin *bins = calloc(FIRST_BINS, sizeof(*bins));
	u64 seed;

	if (!bins)
		return -ENOMEM;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = o2g_now_ns();
	o2g_core_init(&ep->core, &user_core_ops, ep->eng.rank, bins, FIRST_BINS,
		      seed);
	ep->core.any_outlives = ep->doomed;
	ep->core.budget_total = set->unexpected;
	ep->core.budget_peer = set->peer_budget > UINT32_MAX / 2 ?
				       UINT32_MAX / 2 :
				       (u32)set->peer_budget;
	ep->core.data_chunk = set->tcp_chunk ? set->tcp_chunk : 1;
	return 0;
}

int user_open_as(const struct eng_ops *ops, struct kern *kern,
		 const struct o2g_attr *attr, struct o2g_ep **out)
{
	struct user_ep *ep = calloc(1, sizeof(*ep));
	int err = -ENOMEM;

	if (!ep)
		return -ENOMEM;
	eng_lock_init(&ep->lock);
	ep->callbacks_tail = &ep->callbacks;
	ep->work_tail = &ep->work;
	ep->eng.ops = ops;
	ep->kern = kern;
	set_identity(ep, attr);
	ep->peers = calloc(attr->size, sizeof(*ep->peers));
	if (!ep->peers)
		goto err_ep;
	err = init_core(ep);
	if (err)
		goto err_peers;
	err = user_progress_init(ep);
	if (err)
		goto err_core;
	user_wait_init(ep);
	user_lock(ep);
	err = user_channels_open(ep);
	if (!err && kern)
		err = kern_attach(ep);
	user_ended_start(ep);
	user_unlock(ep);
	if (err)
		goto err_channels;
	err = user_async_start(ep);
	if (err)
		goto err_channels;
	user_forked_add(ep);
	*out = (struct o2g_ep *)ep;
	return 0;

err_channels:
	user_channels_close(ep);
	user_progress_cleanup(ep);
err_core:
	free(ep->core.match.bins);
err_peers:
	free(ep->peers);
err_ep:
	free(ep);
	return err;
}

int user_open(const struct o2g_attr *attr, struct o2g_ep **out)
{
	return user_open_as(&user_ops, NULL, attr, out);
}

/* Nothing sent is still in our hands? */
static int all_sent(void *arg)
{
	struct user_ep *ep = arg;

	for (int i = 0; i < ep->eng.size; i++) {
		struct user_peer *p = ep->peers[i];
		struct o2g_list *l;

		if (!p || p->lost)
			continue;
		o2g_list_for_each(l, &p->cp.core.waiting)
			if (container_of(l, struct o2g_req, link)->state ==
			    O2G_ST_XMIT)
				return 0;
	}
	return !ep->kern || kern_all_sent(ep);
}

static void drop_unexpected(struct o2g_match_entry *e, void *arg)
{
	struct user_ep *ep = arg;
	struct o2g_unexp *u = container_of(e, struct o2g_unexp, match);

	o2g_match_remove(&ep->core.match, e);
	ep->core.ops->unexp_free(&ep->core, u);
}

void user_close(struct o2g_ep *o)
{
	struct user_ep *ep = user_of(o);

	/* In a child the connections and rings are still the parent's, which
	 * goes on: no goodbye may be said on them. */
	if (ep->owner != getpid())
		return;
	user_forked_del(ep);
	user_async_stop(ep);
	user_lock(ep);
	user_flush(ep);
	user_wait_locked(ep, all_sent, ep, CLOSE_WAIT_US);
	user_peers_say_bye(ep);
	user_flush(ep);
	if (ep->kern)
		kern_detach(ep);
	user_peers_cleanup(ep);
	user_channels_close(ep);
	o2g_match_each_unexpected(&ep->core.match, drop_unexpected, ep);
	user_unlock(ep);
	user_progress_cleanup(ep);
	user_reqs_cleanup(ep);
	for (u32 i = 0; i < ep->nmems; i++)
		free(ep->mems[i]);
	free(ep->mems);
	free(ep->core.match.bins);
	free(ep);
}

void user_set_secret(struct o2g_ep *o, const unsigned char *secret)
{
	struct user_ep *ep = user_of(o);

	user_lock(ep);
	memcpy(ep->secret, secret, sizeof(ep->secret));
	user_unlock(ep);
}

int user_address(struct o2g_ep *o, char *address, size_t size)
{
	struct user_ep *ep = user_of(o);
	int err;

	user_lock(ep);
	err = user_channels_card(ep, address, size);
	user_unlock(ep);
	return err;
}

int user_ep_info(struct o2g_ep *o, struct o2g_ep_info *info)
{
	struct user_ep *ep = user_of(o);

	user_lock(ep);
	info->engine = ep->eng.ops->name;
	info->posted = ep->core.match.nposted;
	info->unexpected = ep->core.match.nunexp;
	info->unexpected_bytes = ep->unexp_bytes;
	info->unexpected_peak = ep->unexp_peak;
	user_unlock(ep);
	return 0;
}

const struct eng_ops user_ops = {
	.name = "user",
	.close = user_close,
	.set_secret = user_set_secret,
	.address = user_address,
	.isend = user_isend,
	.inject = user_inject,
	.send = user_send,
	.irecv = user_irecv,
	.recv = user_recv,
	.cancel = user_cancel,
	.probe = user_probe,
	.imrecv = user_imrecv,
	.test = user_test,
	.is_done = user_is_done,
	.peek_status = user_peek_status,
	.detach = user_detach,
	.wait = user_wait,
	.wait_all = user_wait_all,
	.wait_errors = user_wait_errors,
	.wait_until = user_wait_until,
	.wait_shared = user_wait_shared,
	.on_done = user_on_done,
	.after = user_after,
	.nudge = user_nudge,
	.losses = user_losses,
	.progress = user_progress,
	.fd = user_fd,
	.fd_clear = user_fd_clear,
	.mem_register = user_mem_register,
	.mem_deregister = user_mem_deregister,
	.rma = user_rma,
	.peer_info = user_peer_info,
	.ep_info = user_ep_info,
	.peer_error = user_peer_error,
};
