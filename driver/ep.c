// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Endpoints: their lock, how they begin and how they end. */
#include "kfront.h"
#include "o2gk.h"

#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/net.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#define FIRST_BINS 256
#define EXTRA_MAX (64u << 20) /* envelopes beyond the budget */
#define MAX_RANKS BIT(20)
#define PUSHES 8 /* sockets a caller serves itself; workers do the rest */

/* --- the lock --- */

void o2gk_ep_lock(struct o2gk_ep *ep) __acquires(&ep->lock)
{
	spin_lock_bh(&ep->lock);
}

static bool say_unexpected(struct o2gk_ep *ep)
{
	if (ep->file.unexpected == (u32)ep->core.match.nunexp)
		return false;
	ep->file.unexpected = ep->core.match.nunexp;
	WRITE_ONCE(ep->file.shared->unexpected, ep->file.unexpected);
	return true;
}

/*
 * User space posts receives without telling, unless it sees that messages wait
 * for one. So after saying that they do, look once more: either it sees our
 * number or we see its receive. Not again and again, since there may be a receive
 * for each of many messages: it has seen that there are some, and whatever is left
 * in the ring is a worker's.
 */
static void tell_unexpected(struct o2gk_ep *ep)
{
	if (!ep->file.shared || !say_unexpected(ep))
		return;
	smp_mb(); /* pairs with the fence after moving sq_tail */
	o2gk_sq_drain(ep);
	say_unexpected(ep);
}

static bool must_wake(struct o2gk_ep *ep)
{
	if (!ep->file.wake)
		return false;
	ep->file.wake = false;
	smp_mb(); /* pairs with the fence after setting armed */
	if (READ_ONCE(ep->file.shared->armed)) {
		WRITE_ONCE(ep->file.shared->armed, 0);
		return true;
	}
	return atomic_read(&ep->file.waiters);
}

static struct o2gk_peer *take_dirty(struct o2gk_ep *ep)
{
	struct o2gk_peer *p =
		list_first_entry_or_null(&ep->dirty, struct o2gk_peer, dirty);

	if (p)
		list_del_init(&p->dirty);
	return p;
}

/* The next peer this caller sends to itself; the others go to workers. */
static struct o2gk_peer *next_push(struct o2gk_ep *ep,
				   enum o2gk_context context,
				   struct o2gk_peer *own, int *pushes)
{
	struct o2gk_peer *p;

	while ((p = take_dirty(ep))) {
		/* Whoever has its socket's lock does not look after its link. */
		if (p == own && p->link && context != O2GK_LINK)
			o2gk_queue(p, &p->tx_work);
		if (p == own)
			continue;
		if (*pushes) {
			--*pushes;
			refcount_inc(&p->refs);
			return p;
		}
		o2gk_queue(p, &p->tx_work);
	}
	return NULL;
}

void o2gk_ep_unlock(struct o2gk_ep *ep, enum o2gk_context context,
		    struct o2gk_peer *own) __releases(&ep->lock)
{
	int pushes = context == O2GK_CALLER ? PUSHES : 0;
	struct o2gk_peer *p;
	bool wake;

	tell_unexpected(ep);
	if (ep->kernel)
		o2gk_kernel_deliver(ep);
	if (unlikely(o2g_match_wants(&ep->core.match)) && !ep->closing)
		queue_work(ep->wq, &ep->work);
	wake = must_wake(ep);
	if (list_empty(&ep->dirty) || o2gk_kernel_is_inside(ep, context))
		p = NULL; /* or whoever delivers sees to it */
	else
		p = next_push(ep, context, own, &pushes);
	spin_unlock_bh(&ep->lock);
	if (wake)
		wake_up_interruptible_poll(&ep->file.wait,
					   EPOLLIN | EPOLLRDNORM);
	while (p) {
		o2gk_tx_send(p, context);
		o2gk_peer_put(p);
		spin_lock_bh(&ep->lock);
		p = next_push(ep, context, own, &pushes);
		spin_unlock_bh(&ep->lock);
	}
}

/* --- what is left for process context --- */

static void unpin_all(struct o2gk_ep *ep)
{
	struct o2gk_pin *pin, *next;
	LIST_HEAD(list);

	spin_lock_bh(&ep->lock);
	list_splice_init(&ep->unpin, &list);
	ep->nunpin = 0;
	spin_unlock_bh(&ep->lock);
	list_for_each_entry_safe(pin, next, &list, link)
		o2gk_pin_free(pin);
}

static struct o2g_match_bin *new_bins(struct o2gk_ep *ep, u32 n)
{
	struct mem_cgroup *before = set_active_memcg(ep->memcg);
	struct o2g_match_bin *bins; /* whoever asks may be a worker */

	bins = kvcalloc(n, sizeof(*bins), GFP_KERNEL_ACCOUNT);
	set_active_memcg(before);
	return bins;
}

/* Whoever has begun to move also ends it: meanwhile no larger table is wanted. */
static struct o2g_match_bin *move_bins(struct o2gk_ep *ep,
				       struct o2g_match_bin *bins, u32 n)
{
	struct o2g_match *m = &ep->core.match;
	struct o2g_match_bin *old = bins;

	spin_lock_bh(&ep->lock);
	if (o2g_match_wants(m) && n > m->nbins) {
		o2g_match_rehash_begin(m, bins, n);
		while (!(old = o2g_match_rehash_some(m, O2GK_STEP))) {
			spin_unlock_bh(&ep->lock);
			cond_resched();
			spin_lock_bh(&ep->lock);
		}
	}
	spin_unlock_bh(&ep->lock);
	return old;
}

/* Failing to get memory only costs time. */
static void grow_bins(struct o2gk_ep *ep)
{
	struct o2g_match_bin *bins;
	u32 n;

	/* Without the lock: too late or too early by one call does no harm. */
	if (likely(!data_race(o2g_match_wants(&ep->core.match))))
		return;
	spin_lock_bh(&ep->lock);
	n = o2g_match_wants(&ep->core.match);
	spin_unlock_bh(&ep->lock);
	if (!n)
		return;
	bins = new_bins(ep, n);
	if (bins)
		kvfree(move_bins(ep, bins, n));
}

void o2gk_ep_housekeeping(struct o2gk_ep *ep)
{
	if (READ_ONCE(ep->nunpin))
		unpin_all(ep);
	grow_bins(ep);
	/* Without the lock: too late or too early by one call does no harm. */
	if (unlikely(data_race(ep->reserve.nanswers) < O2GK_ANSWERS))
		o2gk_reserve_fill(ep);
}

static void work(struct work_struct *w)
{
	struct o2gk_ep *ep = container_of(w, struct o2gk_ep, work);
	unsigned int alloc = o2gk_alloc_enter(ep);

	o2gk_ep_housekeeping(ep);
	o2gk_lost_finish_all(ep);
	if (ep->kernel)
		o2gk_kernel_reap(ep);
	o2gk_ep_lock(ep);
	o2gk_sq_drain_all(ep);
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
	o2gk_alloc_leave(ep, alloc);
}

/* --- opening --- */

struct o2gk_ep *o2gk_ep_create(void)
{
	struct o2gk_ep *ep = kzalloc(sizeof(*ep), GFP_KERNEL_ACCOUNT);

	if (!ep)
		return NULL;
	spin_lock_init(&ep->lock);
	mutex_init(&ep->mutex);
	spin_lock_init(&ep->borrow_lock);
	INIT_LIST_HEAD(&ep->borrowers);
	init_waitqueue_head(&ep->file.wait);
	INIT_LIST_HEAD(&ep->file.overflow);
	INIT_LIST_HEAD(&ep->dirty);
	INIT_LIST_HEAD(&ep->losing);
	INIT_LIST_HEAD(&ep->unpin);
	o2gk_served_init(ep);
	INIT_WORK(&ep->work, work);
	xa_init_flags(&ep->peers, XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);
	o2g_list_init(&ep->reserve.answers);
	return ep;
}

static int check_setup(const struct o2gd_setup *s)
{
	if (s->version != O2GD_VERSION)
		return -EPROTO;
	if (!s->size || s->size > MAX_RANKS || s->rank >= s->size || s->pad ||
	    !s->data_chunk || s->data_chunk > O2G_BODY_MAX)
		return -EINVAL;
	return 0;
}

static void init_core(struct o2gk_ep *ep, const struct o2gd_setup *s,
		      struct o2g_match_bin *bins)
{
	u64 share = min_t(u64, s->peer_budget, s->dump_size);

	o2g_core_init(&ep->core, ep->kernel ? &o2gk_kernel_ops : &o2gk_core_ops,
		      s->rank, bins, FIRST_BINS, get_random_u64());
	ep->core.budget_total = s->dump_size;
	ep->core.budget_peer = share;
	ep->core.extra_max = EXTRA_MAX;
	/* What is in kernel memory goes in one, however many wait for their turn. */
	ep->core.data_chunk = max_t(u64, s->data_chunk, O2GD_SMALL);
	ep->core.turn = O2GK_STEP / 4;
	/* No memory is found for operands here, nor is it asked of others. */
	ep->core.atomics_short = true;
	ep->core.atomic_piece = O2G_SHORT;
	ep->core.fetch_piece = 8;
	/* Only the library knows which of them nobody is left for. */
	ep->core.any_outlives = true;
	ep->rank = s->rank;
	ep->file.sq_unmet = O2GD_ANY;
	ep->size = s->size;
	/* A message longer than a piece of the dump area is never unexpected. */
	ep->eager_max = min_t(u64, s->eager_max, 256 << 10);
}

int o2gk_ep_prepare(struct o2gk_ep *ep, const struct o2gd_setup *s)
{
	struct o2g_match_bin *bins =
		kvcalloc(FIRST_BINS, sizeof(*bins), GFP_KERNEL_ACCOUNT);

	if (!bins)
		return -ENOMEM;
	init_core(ep, s, bins);
	return 0;
}

/* Once; under ep->mutex. What fails is freed when the file is closed. */
int o2gk_ep_setup(struct o2gk_ep *ep, struct o2gd_setup *s)
{
	int err = check_setup(s);

	if (err)
		return err;
	if (ep->mm || ep->paper)
		return -EBUSY;
	ep->front = &o2gk_file_front;
	ep->mm = current->mm;
	mmgrab(ep->mm);
	ep->net = get_net(current->nsproxy->net_ns);
	ep->memcg = get_mem_cgroup_from_mm(ep->mm);
	err = o2gk_ep_prepare(ep, s);
	if (err)
		return err;
	ep->file.slabs = kvcalloc(O2GK_MAX_SLABS, sizeof(*ep->file.slabs),
				  GFP_KERNEL_ACCOUNT);
	if (!ep->file.slabs)
		return -ENOMEM;
	err = o2gk_area_create(ep, s);
	if (err)
		return err;
	ep->wq = o2gk_wq_alloc(&ep->charge);
	if (!ep->wq || !o2gk_reserve_fill(ep))
		return -ENOMEM;
	o2gk_look_add(ep);
	/* After all of the above: calls look at this first. */
	smp_store_release(&ep->ready, true);
	return 0;
}

int o2gk_ep_grow(struct o2gk_ep *ep, u32 nslots)
{
	u32 i;

	if (nslots > O2GK_SLAB * O2GK_MAX_SLABS)
		return -E2BIG;
	while (ep->file.nslots < nslots) {
		struct o2gk_req *slab =
			kvcalloc(O2GK_SLAB, sizeof(*slab), GFP_KERNEL_ACCOUNT);

		if (!slab)
			return -ENOMEM;
		for (i = 0; i < O2GK_SLAB; i++) {
			slab[i].slot = ep->file.nslots + i;
			slab[i].gen = 1;
			slab[i].core.owner = ep;
			slab[i].done.req = &slab[i];
			INIT_LIST_HEAD(&slab[i].done.link);
		}
		spin_lock_bh(&ep->lock);
		ep->file.slabs[ep->file.nslots / O2GK_SLAB] = slab;
		ep->file.nslots += O2GK_SLAB;
		spin_unlock_bh(&ep->lock);
	}
	return 0;
}

/* --- closing --- */

/*
 * Nobody else is there any more, but softirqs wait for the lock's sake: everything
 * that a program or a peer can have made long is taken apart in steps.
 */
static void step(struct o2gk_ep *ep)
{
	spin_unlock_bh(&ep->lock);
	cond_resched();
	spin_lock_bh(&ep->lock);
}

static void drop_posted(struct o2gk_ep *ep)
{
	u32 n = 0;

	while (ep->front->drop_posted(ep))
		if (++n % O2GK_STEP == 0)
			step(ep);
}

static void drop_unexpected(struct o2gk_ep *ep)
{
	struct o2g_match *m = &ep->core.match;
	u32 n = 0;

	o2gk_seek_end(m, &ep->file.sq_seek);
	while (!o2g_list_empty(&m->arrived)) {
		struct o2g_match_entry *e = o2g_list_first(
			&m->arrived, struct o2g_match_entry, order);
		struct o2g_unexp *u = container_of(e, struct o2g_unexp, match);

		o2g_match_remove(m, e);
		o2g_list_del(&u->link);
		o2gk_core_ops.unexp_free(&ep->core, u);
		if (++n % O2GK_STEP == 0)
			step(ep);
	}
}

static void drop_peers(struct o2gk_ep *ep)
{
	unsigned long number = 0;
	struct o2gk_peer *p;

	for (; (p = o2gk_peer_next(ep, &number)); number++) {
		o2gk_peer_lost(p, O2GD_LOST_LOCAL, 0);
		step(ep);
		while (!o2gk_served_drop(p, O2GK_STEP))
			step(ep);
	}
}

static void drop_taken(struct o2gk_ep *ep)
{
	u32 n = 0;

	while (ep->file.taken) {
		struct o2gk_unexp *u =
			container_of(ep->file.taken, struct o2gk_unexp, handle);

		o2g_cookies_del(&ep->file.taken, &u->handle);
		o2gk_peer_put(o2gk_peer_of(u->core.peer));
		o2gk_core_ops.unexp_free(&ep->core, &u->core);
		if (++n % O2GK_STEP == 0)
			step(ep);
	}
}

static void drop_mems(struct o2gk_ep *ep)
{
	u32 n = 0;

	while (ep->mems) {
		struct o2gk_mem *m =
			container_of(ep->mems, struct o2gk_mem, key);

		o2g_cookies_del(&ep->mems, &m->key);
		o2gk_mem_put(ep, m);
		if (++n % O2GK_STEP == 0)
			step(ep);
	}
}

static void free_peers(struct o2gk_ep *ep)
{
	struct o2gk_peer *p;
	unsigned long number;

	xa_for_each_marked(&ep->peers, number, p, O2GK_KNOWN)
		o2gk_peer_put(p);
	xa_destroy(&ep->peers);
}

/* Nobody calls or works for any of them afterwards. */
static void release_sockets(struct o2gk_ep *ep)
{
	struct o2gk_peer *p;
	unsigned long number;

	xa_for_each_marked(&ep->peers, number, p, O2GK_KNOWN)
		if (p->sk)
			o2gk_sock_release(p);
	synchronize_rcu();
	xa_for_each_marked(&ep->peers, number, p, O2GK_KNOWN)
		o2gk_sock_quiet(p);
}

/*
 * The file is gone: no system call, no mapping and no poll is left, and once
 * the sockets are given back no softirq and no worker of a peer either.
 */
static void close_ready(struct o2gk_ep *ep)
{
	WRITE_ONCE(ep->closing, true);
	o2gk_recall(ep);
	if (!ep->kernel)
		o2gk_look_remove(ep);
	release_sockets(ep);
	cancel_work_sync(&ep->work); /* nobody queues it any more */
	spin_lock_bh(&ep->lock);
	drop_posted(ep);
	drop_peers(ep);
	spin_unlock_bh(&ep->lock);
	o2gk_lost_finish_all(ep);
	spin_lock_bh(&ep->lock);
	drop_unexpected(ep);
	drop_taken(ep);
	drop_mems(ep);
	o2gk_reserve_free(ep);
	spin_unlock_bh(&ep->lock);
	if (ep->kernel)
		o2gk_kernel_finish(ep);
	else
		o2gk_file_free(ep);
	unpin_all(ep);
}

void o2gk_ep_destroy(struct o2gk_ep *ep)
{
	if (ep->ready) {
		close_ready(ep);
		free_peers(ep);
	} else {
		o2gk_reserve_free(ep);
		kvfree(ep->file.slabs);
	}
	if (ep->wq)
		destroy_workqueue(ep->wq);
	kvfree(ep->core.match.bins);
	if (ep->mm) {
		o2gk_area_destroy(ep);
		mmdrop(ep->mm);
	}
	if (ep->net) {
		put_net(ep->net);
		mem_cgroup_put(ep->memcg);
	}
	if (ep->paper) {
		o2gk_look_remove(ep);
		o2gk_paper_destroy(ep->paper);
	}
	kfree(ep);
}
