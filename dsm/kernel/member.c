// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* A node: its endpoint, and who it is connected to. */
#include "dsmk.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/memcontrol.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#define WORKERS 16

struct dsmk_node *dsmk_node_new(void)
{
	struct dsmk_node *n = kzalloc(sizeof(*n), GFP_KERNEL_ACCOUNT);

	if (!n)
		return NULL;
	refcount_set(&n->refs, 1);
	mutex_init(&n->mutex);
	spin_lock_init(&n->lock);
	INIT_LIST_HEAD(&n->regions);
	INIT_LIST_HEAD(&n->out);
	INIT_LIST_HEAD(&n->sends);
	INIT_LIST_HEAD(&n->spares);
	init_waitqueue_head(&n->wait);
	INIT_WORK(&n->loss_work, dsmk_loss_work);
	INIT_DELAYED_WORK(&n->out_work, dsmk_out_work);
	return n;
}

void dsmk_node_get(struct dsmk_node *n)
{
	refcount_inc(&n->refs);
}

/* The last one: of a file, so in process context. */
void dsmk_node_put(struct dsmk_node *n)
{
	if (!refcount_dec_and_test(&n->refs))
		return;
	if (n->ep) {
		/* Callbacks go on until the endpoint is closed, and so may work. */
		cancel_delayed_work_sync(&n->out_work);
		dsmk_out_flush(n, 0);
		o2gk_close(n->ep);
		cancel_work_sync(&n->loss_work);
		cancel_delayed_work_sync(&n->out_work);
	}
	dsmk_out_drop(n);
	dsmk_stock_drop(n);
	if (n->wq)
		destroy_workqueue(n->wq);
	mem_cgroup_put(n->memcg);
	dsmk_user_uncharge(&n->charge);
	kfree(n);
}

struct dsmk_region *dsmk_node_region(struct dsmk_node *n, u32 id)
{
	struct dsmk_region *r, *found = NULL;

	spin_lock_bh(&n->lock);
	list_for_each_entry(r, &n->regions, link) {
		if (r->id == id && refcount_inc_not_zero(&r->refs)) {
			found = r;
			break;
		}
	}
	spin_unlock_bh(&n->lock);
	return found;
}

/* --- the endpoint --- */

static void connected(struct o2gk_ep *ep, void *private, u32 peer)
{
	struct dsmk_node *n = private;

	if (peer >= n->size)
		return;
	spin_lock_bh(&n->lock);
	n->connected |= dsm_only(peer);
	spin_unlock_bh(&n->lock);
	wake_up_all(&n->wait);
}

static void lost(struct o2gk_ep *ep, void *private, u32 peer, int error)
{
	dsmk_node_lost(private, peer);
}

static const struct o2gk_owner owner = {
	.connected = connected,
	.lost = lost,
	.unposted = dsmk_arrived,
};

static int listen(struct dsmk_node *n, u32 *port)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	struct sockaddr_in any4 = { .sin_family = AF_INET };
	int got = o2gk_listen(n->ep, (struct sockaddr *)&any, sizeof(any));

	if (got == -EAFNOSUPPORT || got == -EADDRNOTAVAIL)
		got = o2gk_listen(n->ep, (struct sockaddr *)&any4,
				  sizeof(any4));
	if (got < 0)
		return got;
	*port = got;
	return 0;
}

/* What it leaves when it fails is freed with the node. */
int dsmk_node_open(struct dsmk_node *n, const u8 *secret, const char *job,
		   u32 *port)
{
	struct o2gk_config config = { .rank = n->rank,
				      .size = n->size,
				      .secret = secret,
				      .job = job };
	struct o2gk_ep *ep;
	int err = dsmk_user_charge(&n->charge, 0);

	if (err)
		return err;
	n->memcg = get_mem_cgroup_from_mm(current->mm);
	n->wq = alloc_workqueue("o2g_dsm", WQ_UNBOUND, WORKERS);
	err = n->wq ? dsmk_stock_fill(n) : -ENOMEM;
	if (err)
		return err;
	ep = o2gk_open(current->nsproxy->net_ns, &config, &owner, n);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	n->ep = ep;
	return listen(n, port);
}

static bool is_decided(struct dsmk_node *n, u32 peer)
{
	return dsm_has(READ_ONCE(n->connected) | READ_ONCE(n->dead), peer);
}

int dsmk_node_connect(struct dsmk_node *n, u32 peer,
		      const struct sockaddr_storage *to, int len,
		      unsigned int timeout_ms)
{
	long left;

	if (len)
		return o2gk_connect(n->ep, peer, (struct sockaddr *)to, len,
				    timeout_ms);
	left = wait_event_killable_timeout(n->wait, is_decided(n, peer),
					   msecs_to_jiffies(timeout_ms) + 1);
	if (left <= 0)
		return left ? -EINTR : -ETIMEDOUT;
	return dsm_has(READ_ONCE(n->dead), peer) ? -ECONNRESET : 0;
}
