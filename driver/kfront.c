// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The front of endpoints of other kernel modules.
 *
 * The core says under ep->lock that something is over, and a callback may want to send.
 * So what there is to tell is put on lists, and whoever lets go of the lock calls the
 * owner before, with the lock dropped and softirqs off (o2gk_kernel_deliver). One at a
 * time does so for an endpoint: what a callback brings about is told by the same loop,
 * and nothing calls itself. What a callback sends is queued, and leaves when that loop
 * is done, in the same softirq if it goes to where the message came from.
 *
 * Memory of a send is the caller's again only when nobody reads it: the other end of a
 * link may be copying from it while its peer is given up here. It has a reference to
 * the list of pages; whoever gives the last one back has the request told
 * (o2gk_kernel_released). The same goes for registered memory.
 */
#include "kfront.h"

#include <linux/err.h>
#include <linux/export.h>
#include <linux/memcontrol.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/sock.h>

#define TURN 64 /* callbacks in one go; then a worker calls */
#define MEMORY (4u << 20)
#define EAGER (16u << 10) /* copied to a late receive under ep->lock */
#define CHUNK (1u << 20)
#define BYE_MS 2000
#define MAX_WORKERS 16

static struct o2gk_request *request_of(struct o2gk_kreq *kr)
{
	return container_of((void *)kr, struct o2gk_request, room[0]);
}

/* --- requests that are over; under ep->lock --- */

static int error_of(int status)
{
	switch (status) {
	case -O2G_ERR_PEER:
		return -ECONNRESET;
	case -O2G_ERR_TRUNCATED:
		return -EMSGSIZE;
	case -O2G_ERR_CANCELLED:
		return -ECANCELED;
	default:
		return status;
	}
}

static void fill(struct o2gk_kreq *kr)
{
	const struct o2g_req *core = &kr->req.core;
	struct o2gk_request *req = request_of(kr);
	bool recv = core->kind == O2G_REQ_RECV;

	req->status = error_of(core->status);
	req->source = core->peer ? core->peer->rank : O2GK_ANY;
	req->tag = core->tag;
	req->length = recv ? core->got : core->len;
	req->message = recv ? core->msg_len : core->len;
}

/* Only what is sent is read by others, so there is a peer. */
static void lend(struct o2gk_kreq *kr)
{
	kr->lent_to = o2gk_peer_of(kr->req.core.peer);
	refcount_inc(&kr->lent_to->refs);
	WRITE_ONCE(kr->lent_to->lent, kr->lent_to->lent + 1);
}

static void unlend(struct o2gk_kreq *kr)
{
	struct o2gk_peer *p = kr->lent_to;

	if (!p)
		return;
	WRITE_ONCE(p->lent, p->lent - 1);
	wake_up_all(&p->ep->kernel->wait);
	o2gk_peer_put(p);
}

void o2gk_kernel_end(struct o2gk_ep *ep, struct o2gk_kreq *kr)
{
	struct o2gk_kernel *k = ep->kernel;

	lockdep_assert_held(&ep->lock);
	if (kr->req.pin) {
		refcount_set(&kr->req.pin->refs, 1); /* for whoever unpins */
		o2gk_pin_later(ep, kr->req.pin);
	}
	fill(kr);
	unlend(kr);
	if (!(request_of(kr)->flags & O2GK_FROM_WORKER)) {
		list_add_tail(&kr->link, &k->finished);
		return;
	}
	list_add_tail(&kr->link, &k->later);
	if (!ep->closing)
		queue_work(ep->wq, &k->worker);
}

static void done(struct o2gk_ep *ep, struct o2gk_req *r)
{
	struct o2gk_kreq *kr = container_of(r, struct o2gk_kreq, req);

	if (r == &ep->kernel->discard)
		return;
	if (kr->known)
		o2g_cookies_del(&ep->kernel->ids, &kr->id);
	list_del_init(&kr->link);
	kr->under_way = false;
	kfree(r->out);
	if (!r->pin || refcount_dec_and_test(&r->pin->refs))
		o2gk_kernel_end(ep, kr);
	else
		lend(kr);
}

static struct o2gk_req *find(struct o2gk_ep *ep, u64 id)
{
	struct o2g_cookie *n = o2g_cookies_find(ep->kernel->ids, id);

	return n ? &container_of(n, struct o2gk_kreq, id)->req : NULL;
}

static void copy(struct o2gk_ep *ep, const struct o2g_sink *to,
		 const struct o2g_seg *from, u64 len)
{
	const struct o2g_seg *seg = to->segs;
	struct iov_iter iter;

	if (seg->type == O2GK_SEG_KERNEL) {
		memcpy(seg->kaddr + to->off, from->kaddr, len);
		return;
	}
	o2gk_seg_iter(seg, ITER_DEST, to->off, len, &iter);
	/* From one of our own to another: not a copy that the kernel would check. */
	WARN_ON_ONCE(_copy_to_iter(from->kaddr, len, &iter) != len);
}

static bool end_first(struct o2gk_ep *ep, struct list_head *receives, int err)
{
	struct o2gk_kreq *kr =
		list_first_entry_or_null(receives, struct o2gk_kreq, link);

	if (!kr)
		return false;
	list_del_init(&kr->link);
	o2g_proto_end_posted(&ep->core, &kr->req.core, err);
	return true;
}

static bool end_posted(struct o2gk_peer *p)
{
	return end_first(p->ep, &p->receives, -O2G_ERR_PEER);
}

/* Those of one peer end with it. */
static bool drop_posted(struct o2gk_ep *ep)
{
	return end_first(ep, &ep->kernel->receives, -O2G_ERR_CANCELLED);
}

/* --- messages for the handler; under ep->lock --- */

static void arrived(struct o2gk_ep *ep, struct o2gk_unexp *u)
{
	struct o2gk_kernel *k = ep->kernel;

	if (k->owner->unposted)
		list_add_tail(&u->untold, &k->untold);
	else
		INIT_LIST_HEAD(&u->untold);
}

bool o2gk_kernel_unexp_free(struct o2gk_ep *ep, struct o2gk_unexp *u)
{
	struct o2gk_kernel *k = ep->kernel;

	if (u->untold.next) /* or it never arrived */
		list_del_init(&u->untold);
	if (k->telling != u)
		return true;
	k->telling_freed = true;
	return false;
}

static bool is_waiting(const struct o2gk_unexp *u)
{
	return u->core.match.queued &&
	       (u->core.complete || u->core.type == O2G_PKT_RTS);
}

/* Those that are still coming in are few: one of a peer. */
static struct o2gk_unexp *next_untold(struct o2gk_kernel *k)
{
	struct o2gk_unexp *u;

	list_for_each_entry(u, &k->untold, untold)
		if (is_waiting(u))
			return u;
	return NULL;
}

/* Its sender is answered as if it had been received. */
static void discard(struct o2gk_ep *ep, struct o2gk_unexp *u)
{
	struct o2g_req *core = &ep->kernel->discard.core;

	memset(core, 0, sizeof(*core));
	core->owner = ep;
	core->kind = O2G_REQ_RECV;
	core->segs = &core->seg0;
	core->nsegs = 1;
	o2g_proto_take(&ep->core, &u->core);
	o2g_proto_mrecv(&ep->core, core, &u->core);
}

static bool tell_message(struct o2gk_ep *ep)
{
	struct o2gk_kernel *k = ep->kernel;
	struct o2gk_unexp *u = next_untold(k);
	bool dealt_with;

	if (!u)
		return false;
	list_del_init(&u->untold);
	k->telling = u;
	k->telling_freed = false;
	k->msg = (struct o2gk_msg){ .source = u->core.peer->rank,
				    .tag = u->core.match.tag,
				    .length = u->core.len };
	if (u->core.complete)
		k->msg.data = u->core.body.kaddr;
	spin_unlock(&ep->lock);
	dealt_with = k->owner->unposted(ep, k->private, &k->msg);
	spin_lock(&ep->lock);
	k->telling = NULL;
	if (k->telling_freed)
		o2gk_unexp_end(ep, u);
	else if (dealt_with && is_waiting(u))
		discard(ep, u);
	return true;
}

/* --- peers that come and go; under ep->lock --- */

static void tell_of(struct o2gk_peer *p, struct list_head *link,
		    struct list_head *list)
{
	refcount_inc(&p->refs);
	WRITE_ONCE(p->telling, p->telling + 1);
	list_add_tail(link, list);
}

static void told(struct o2gk_peer *p)
{
	WRITE_ONCE(p->telling, p->telling - 1);
	wake_up_all(&p->ep->kernel->wait);
	o2gk_peer_put(p);
}

static void met(struct o2gk_peer *p)
{
	struct o2gk_kernel *k = p->ep->kernel;

	if (k->owner->connected)
		tell_of(p, &p->met, &k->met);
}

static void lost(struct o2gk_peer *p)
{
	struct o2gk_kernel *k = p->ep->kernel;

	if (p->done.cqe.tag != O2GD_LOST_LOCAL && k->owner->lost)
		tell_of(p, &p->untold, &k->lost);
}

static void do_not_tell(struct o2gk_peer *p, struct list_head *link)
{
	if (list_empty(link))
		return;
	list_del_init(link);
	told(p);
}

/* Whoever forgets it has a reference. */
static void forget(struct o2gk_peer *p)
{
	do_not_tell(p, &p->met);
	do_not_tell(p, &p->untold);
}

static bool tell_met(struct o2gk_ep *ep)
{
	struct o2gk_kernel *k = ep->kernel;
	struct o2gk_peer *p =
		list_first_entry_or_null(&k->met, struct o2gk_peer, met);

	if (!p)
		return false;
	list_del_init(&p->met);
	spin_unlock(&ep->lock);
	k->owner->connected(ep, k->private, p->core.rank);
	spin_lock(&ep->lock);
	told(p);
	return true;
}

static int why_lost(const struct o2gd_cqe *c)
{
	switch ((enum o2gd_lost)c->tag) {
	case O2GD_LOST_BYE:
		return -ESHUTDOWN;
	case O2GD_LOST_HEADER:
	case O2GD_LOST_PACKET:
		return -EPROTO;
	case O2GD_LOST_MEMORY:
		return -ENOMEM;
	case O2GD_LOST_ERROR:
		return c->length ? -(int)c->length : -EFAULT;
	default:
		return -ECONNRESET;
	}
}

static bool tell_lost(struct o2gk_ep *ep)
{
	struct o2gk_kernel *k = ep->kernel;
	struct o2gk_peer *p =
		list_first_entry_or_null(&k->lost, struct o2gk_peer, untold);

	if (!p)
		return false;
	list_del_init(&p->untold);
	spin_unlock(&ep->lock);
	k->owner->lost(ep, k->private, p->core.rank, why_lost(&p->done.cqe));
	spin_lock(&ep->lock);
	told(p);
	return true;
}

/* --- telling --- */

/* Without the lock: it is the caller's again. */
static void tell(struct o2gk_kreq *kr)
{
	struct o2gk_request *req = request_of(kr);

	if (req->done)
		req->done(req);
	else
		complete_all(&kr->ended);
}

static struct o2gk_kreq *take(struct o2gk_kernel *k, struct list_head *from)
{
	struct o2gk_kreq *kr =
		list_first_entry_or_null(from, struct o2gk_kreq, link);

	if (kr) {
		list_del_init(&kr->link);
		k->active--;
	}
	return kr;
}

static bool tell_request(struct o2gk_ep *ep)
{
	struct o2gk_kreq *kr = take(ep->kernel, &ep->kernel->finished);

	if (!kr)
		return false;
	spin_unlock(&ep->lock); /* softirqs stay off */
	tell(kr);
	spin_lock(&ep->lock);
	return true;
}

void o2gk_kernel_deliver(struct o2gk_ep *ep)
{
	struct o2gk_kernel *k = ep->kernel;
	u32 left = TURN;

	if (k->delivering)
		return;
	k->delivering = true;
	while (left && (tell_met(ep) || tell_request(ep) || tell_lost(ep) ||
			tell_message(ep)))
		left--;
	k->delivering = false;
	if (!left && !ep->closing)
		queue_work(ep->wq, &ep->work);
}

static void tell_later(struct o2gk_ep *ep)
{
	struct o2gk_kreq *kr;

	do {
		spin_lock_bh(&ep->lock);
		kr = take(ep->kernel, &ep->kernel->later);
		spin_unlock_bh(&ep->lock);
		if (kr)
			tell(kr);
		cond_resched();
	} while (kr);
}

static void worker(struct work_struct *w)
{
	struct o2gk_kernel *k = container_of(w, struct o2gk_kernel, worker);

	tell_later(k->ep);
}

static const struct o2gk_front kernel_front = {
	.done = done,
	.find = find,
	.copy = copy,
	.arrived = arrived,
	.met = met,
	.lost = lost,
	.forget = forget,
	.end_posted = end_posted,
	.drop_posted = drop_posted,
};

/* --- memory that the other end of a link reads --- */

void o2gk_kernel_released(struct o2gk_pin *pin)
{
	struct o2gk_ep *ep = pin->owner;
	struct o2gk_kernel *k = ep->kernel;

	spin_lock_bh(&k->released_lock);
	list_add_tail(&pin->link, &k->released);
	if (READ_ONCE(ep->closing))
		wake_up_all(&k->wait);
	else
		queue_work(ep->wq, &ep->work);
	spin_unlock_bh(&k->released_lock);
}

static void end_registered(struct o2gk_ep *ep, struct o2gk_pin *pin)
{
	refcount_set(&pin->refs, 1); /* for whoever unpins */
	if (pin->gone)
		complete(pin->gone);
	o2gk_pin_later(ep, pin);
}

void o2gk_kernel_mem_end(struct o2gk_ep *ep, struct o2gk_mem *m)
{
	m->pin->gone = m->gone;
	ep->kernel->lent++;
	if (!refcount_dec_and_test(&m->pin->refs))
		return;
	ep->kernel->lent--;
	end_registered(ep, m->pin);
}

static struct o2gk_pin *next_released(struct o2gk_kernel *k)
{
	struct o2gk_pin *pin;

	spin_lock_bh(&k->released_lock);
	pin = list_first_entry_or_null(&k->released, struct o2gk_pin, link);
	if (pin)
		list_del_init(&pin->link);
	spin_unlock_bh(&k->released_lock);
	return pin;
}

void o2gk_kernel_reap(struct o2gk_ep *ep)
{
	struct o2gk_pin *pin;

	while ((pin = next_released(ep->kernel))) {
		o2gk_ep_lock(ep);
		if (pin->holder) {
			o2gk_kernel_end(ep, pin->holder);
		} else {
			ep->kernel->lent--;
			end_registered(ep, pin);
		}
		o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
	}
}

/* --- opening and closing --- */

static void destroy(struct o2gk_ep *ep)
{
	struct o2gk_kernel *k = ep->kernel;

	o2gk_ep_destroy(ep);
	kfree(k);
}

static int check_config(const struct o2gk_config *c)
{
	if (!c->size || c->rank >= c->size || c->size > BIT(20) ||
	    (c->gfp && c->gfp != GFP_KERNEL && c->gfp != GFP_NOFS &&
	     c->gfp != GFP_NOIO) ||
	    (c->memory && c->memory < 2 * EAGER) || c->memory > U32_MAX)
		return -EINVAL;
	return 0;
}

static struct o2gk_kernel *new_kernel(struct o2gk_ep *ep,
				      const struct o2gk_config *config,
				      const struct o2gk_owner *owner,
				      void *private)
{
	struct o2gk_kernel *k = kzalloc(sizeof(*k), GFP_KERNEL_ACCOUNT);

	if (!k)
		return NULL;
	k->ep = ep;
	k->owner = owner;
	k->private = private;
	k->gfp = config->gfp ? config->gfp : GFP_KERNEL;
	INIT_LIST_HEAD(&k->receives);
	INIT_LIST_HEAD(&k->finished);
	INIT_LIST_HEAD(&k->later);
	INIT_LIST_HEAD(&k->met);
	INIT_LIST_HEAD(&k->lost);
	INIT_LIST_HEAD(&k->untold);
	spin_lock_init(&k->released_lock);
	INIT_LIST_HEAD(&k->released);
	INIT_WORK(&k->worker, worker);
	init_waitqueue_head(&k->wait);
	return k;
}

/* What fails is freed by o2gk_ep_destroy(). */
static int set_up(struct o2gk_ep *ep, struct net *net,
		  const struct o2gk_config *config)
{
	u64 memory = config->memory ? config->memory : MEMORY;
	struct o2gd_setup s = { .rank = config->rank,
				.size = config->size,
				.dump_size = memory,
				.peer_budget = memory,
				.data_chunk = CHUNK,
				.eager_max = EAGER };
	int err;

	ep->front = &kernel_front;
	ep->net = get_net(net);
	ep->memcg = get_mem_cgroup_from_mm(current->mm);
	/* Others may wait for it to get memory. */
	ep->wq = alloc_workqueue("o2g", WQ_UNBOUND | WQ_MEM_RECLAIM,
				 MAX_WORKERS);
	if (!ep->wq)
		return -ENOMEM;
	err = o2gk_ep_prepare(ep, &s);
	if (err)
		return err;
	if (!o2gk_reserve_fill(ep))
		return -ENOMEM;
	err = o2gk_kernel_reach_open(ep, config);
	if (err)
		return err;
	smp_store_release(&ep->ready, true); /* as of a file */
	return 0;
}

struct o2gk_ep *o2gk_open(struct net *net, const struct o2gk_config *config,
			  const struct o2gk_owner *owner, void *private)
{
	struct o2gk_ep *ep;
	int err = check_config(config);

	BUILD_BUG_ON(sizeof(struct o2gk_kreq) >
		     sizeof_field(struct o2gk_request, room));
	if (err)
		return ERR_PTR(err);
	ep = o2gk_ep_create();
	if (!ep)
		return ERR_PTR(-ENOMEM);
	ep->kernel = new_kernel(ep, config, owner, private);
	err = ep->kernel ? set_up(ep, net, config) : -ENOMEM;
	if (!err)
		return ep;
	destroy(ep);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(o2gk_open);

void o2gk_close(struct o2gk_ep *ep)
{
	unsigned int alloc = o2gk_alloc_enter(ep);

	o2gk_kernel_reach_close(ep);
	o2gk_ep_bye(ep, BYE_MS);
	o2gk_alloc_leave(ep, alloc);
	destroy(ep);
}
EXPORT_SYMBOL_GPL(o2gk_close);

/* All peers are gone. What is not over yet is being read at the other end of a link. */
void o2gk_kernel_finish(struct o2gk_ep *ep)
{
	struct o2gk_kernel *k = ep->kernel;
	bool over;

	for (;;) {
		o2gk_kernel_reap(ep);
		cancel_work_sync(&k->worker);
		tell_later(ep);
		spin_lock_bh(&ep->lock);
		o2gk_kernel_deliver(ep);
		over = !k->active && !k->lent && list_empty(&k->met) &&
		       list_empty(&k->lost);
		spin_unlock_bh(&ep->lock);
		if (over)
			break;
		wait_event_timeout(k->wait, !list_empty_careful(&k->released),
				   1);
	}
	cancel_work_sync(&ep->work);
}

/* What TCP allocates for it, and that it is not in the middle of anything else. */
void o2gk_kernel_tune(struct o2gk_peer *p, struct sock *sk)
{
	p->tuned = o2gk_own_begin(sk, p->ep->kernel->gfp);
}

void o2gk_kernel_untune(struct o2gk_peer *p)
{
	o2gk_atomic_end(p->sk, p->tuned);
}

/* --- peers --- */

/* A peer that was lost comes again: its owner has heard of the loss before. */
static int forget_lost(struct o2gk_ep *ep, u32 number)
{
	struct o2gk_peer *p = o2gk_peer_hold(ep, number);
	int err = 0;

	if (!p)
		return 0;
	if (READ_ONCE(p->lost)) {
		o2gk_lost_finish(p);
		wait_event(ep->kernel->wait, !READ_ONCE(p->telling));
		o2gk_peer_forget(ep, number);
	} else if (READ_ONCE(p->sk)) {
		err = -EISCONN;
	}
	o2gk_peer_put(p);
	return err;
}

static int attach(struct o2gk_ep *ep, u32 peer, struct socket *sock)
{
	int err;

	if (peer >= ep->size)
		return -EINVAL;
	err = forget_lost(ep, peer);
	if (!err)
		err = o2gk_peer_meet(ep, peer);
	return err ? err : o2gk_sock_attach(ep, peer, sock);
}

int o2gk_kernel_attach(struct o2gk_ep *ep, u32 peer, struct socket *sock)
{
	int err;

	mutex_lock(&ep->mutex);
	err = attach(ep, peer, sock);
	mutex_unlock(&ep->mutex);
	if (!err) { /* the owner is told */
		o2gk_ep_lock(ep);
		o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	}
	return err;
}

int o2gk_attach(struct o2gk_ep *ep, u32 peer, struct socket *sock)
{
	unsigned int alloc = o2gk_alloc_enter(ep);
	int err = o2gk_kernel_attach(ep, peer, sock);

	o2gk_alloc_leave(ep, alloc);
	return err;
}
EXPORT_SYMBOL_GPL(o2gk_attach);

int o2gk_disconnect(struct o2gk_ep *ep, u32 peer)
{
	struct o2gk_peer *p = o2gk_peer_hold(ep, peer);

	if (!p)
		return -ENOENT;
	mutex_lock(&ep->mutex);
	o2gk_peer_forget(ep, peer);
	mutex_unlock(&ep->mutex);
	wait_event(ep->kernel->wait,
		   !READ_ONCE(p->telling) && !READ_ONCE(p->lent));
	o2gk_peer_put(p);
	return 0;
}
EXPORT_SYMBOL_GPL(o2gk_disconnect);

bool o2gk_is_connected(struct o2gk_ep *ep, u32 peer)
{
	const struct o2gk_peer *p;
	bool is;

	spin_lock_bh(&ep->lock);
	p = o2gk_peer_find(ep, peer);
	is = p && p->sk && !p->lost;
	spin_unlock_bh(&ep->lock);
	return is;
}
EXPORT_SYMBOL_GPL(o2gk_is_connected);
