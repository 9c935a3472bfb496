// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * How endpoints of other kernel modules come to connections of their own. Whoever has
 * said hello (reach.h) becomes a peer as if its socket had been handed over.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <linux/utsname.h>

#include "kfront.h"
#include "reach.h"

/* --- for reach.h; with its mutex --- */

/* Whoever was lost may come back. */
static enum o2gk_reachable state(void *owner, u32 peer)
{
	struct o2gk_ep *ep = owner;

	if (peer >= ep->size)
		return O2GK_REACH_GONE;
	return o2gk_is_connected(ep, peer) ? O2GK_REACH_HAS : O2GK_REACH_NONE;
}

static int attach(void *owner, u32 peer, struct socket *sock)
{
	return o2gk_kernel_attach(owner, peer, sock);
}

static const struct o2gk_reach_ops ops = { state, attach };

/* --- with the endpoint --- */

static int open_reach(struct o2gk_ep *ep, struct o2gk_reach *r,
		      const struct o2gk_config *c)
{
	int err;

	/* Its own: attaching waits for workers of the endpoint. */
	r->wq = alloc_ordered_workqueue("o2g_reach", WQ_MEM_RECLAIM);
	if (!r->wq)
		return -ENOMEM;
	r->ops = &ops;
	r->owner = ep;
	r->net = ep->net;
	r->memcg = ep->memcg;
	r->gfp = ep->kernel->gfp;
	r->rank = ep->rank;
	strscpy(r->host, utsname()->nodename, sizeof(r->host));
	err = o2gk_reach_open(r, c->secret, c->job ? c->job : "");
	if (err)
		destroy_workqueue(r->wq);
	return err;
}

int o2gk_kernel_reach_open(struct o2gk_ep *ep, const struct o2gk_config *c)
{
	struct o2gk_reach *r;
	int err;

	BUILD_BUG_ON(O2GK_SECRET != TCP_SECRET_SIZE);
	if (!c->secret)
		return 0;
	r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		return -ENOMEM;
	err = open_reach(ep, r, c);
	if (err)
		kfree(r);
	else
		ep->kernel->reach = r;
	return err;
}

void o2gk_kernel_reach_close(struct o2gk_ep *ep)
{
	struct o2gk_reach *r = ep->kernel->reach;

	if (!r)
		return;
	o2gk_reach_close(r);
	destroy_workqueue(r->wq);
	kfree(r);
	ep->kernel->reach = NULL;
}

/* --- the calls --- */

static int copy_address(struct sockaddr_storage *to,
			const struct sockaddr *addr, int len)
{
	if (len < (int)sizeof(struct sockaddr_in) || len > (int)sizeof(*to))
		return -EINVAL;
	memset(to, 0, sizeof(*to));
	memcpy(to, addr, len);
	return 0;
}

int o2gk_listen(struct o2gk_ep *ep, const struct sockaddr *addr, int len)
{
	struct o2gk_reach *r = ep->kernel->reach;
	struct sockaddr_storage at;
	unsigned int alloc;
	u16 port;
	int err = copy_address(&at, addr, len);

	if (err)
		return err;
	if (!r)
		return -ENOKEY;
	alloc = o2gk_alloc_enter(ep);
	err = o2gk_reach_listen(r, &at, len, &port);
	o2gk_alloc_leave(ep, alloc);
	return err ? err : port;
}
EXPORT_SYMBOL_GPL(o2gk_listen);

/* It is over, or nobody waits for it any more: then nothing of it is left. */
static int dial(struct o2gk_reach *r, struct o2gk_dialling *a)
{
	struct o2gk_dialled dialled = { .err = 0 };
	int err;

	init_completion(&dialled.done);
	a->dialled = &dialled;
	err = o2gk_reach_dial(r, a);
	if (err)
		return err;
	err = wait_for_completion_killable(&dialled.done);
	o2gk_reach_dial_stop(r, a->peer);
	return err ? -EINTR : dialled.err;
}

int o2gk_connect(struct o2gk_ep *ep, u32 peer, const struct sockaddr *addr,
		 int len, unsigned int timeout_ms)
{
	struct o2gk_dialling a = { .peer = peer,
				   .to_len = len,
				   .timeout_ms = timeout_ms };
	struct o2gk_reach *r = ep->kernel->reach;
	unsigned int alloc;
	int err = copy_address(&a.to, addr, len);

	if (err)
		return err;
	if (peer >= ep->size || peer == ep->rank)
		return -EINVAL;
	if (!r)
		return -ENOKEY;
	if (o2gk_is_connected(ep, peer))
		return -EISCONN;
	alloc = o2gk_alloc_enter(ep);
	err = dial(r, &a);
	o2gk_alloc_leave(ep, alloc);
	return err;
}
EXPORT_SYMBOL_GPL(o2gk_connect);
