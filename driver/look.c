// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Looking at endpoints from outside: `o2g top` and `o2g queues`.
 *
 * The list is the only thing that endpoints share. Its mutex is held while one
 * is looked at, so an endpoint that is being closed waits until that is over.
 */
#include "o2gk.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define MAX_LIST 4096

static DEFINE_MUTEX(all_lock);
static LIST_HEAD(all_eps);

void o2gk_look_add(struct o2gk_ep *ep)
{
	ep->pid = get_pid(task_tgid(current));
	ep->uid = current_uid();
	mutex_lock(&all_lock);
	list_add_tail(&ep->all, &all_eps);
	mutex_unlock(&all_lock);
}

void o2gk_look_remove(struct o2gk_ep *ep)
{
	mutex_lock(&all_lock);
	list_del(&ep->all);
	mutex_unlock(&all_lock);
	put_pid(ep->pid);
}

/* Its own user, on its own host; or somebody who may look at anything. */
static bool may_look(const struct o2gk_ep *ep)
{
	if (!pid_vnr(ep->pid))
		return false; /* of another pid namespace: it has no name here */
	if (capable(CAP_SYS_PTRACE))
		return true;
	return uid_eq(ep->uid, current_uid()) &&
	       net_eq(ep->net, current->nsproxy->net_ns);
}

void o2gk_look_info(struct o2gk_ep *ep, struct o2gd_info *i)
{
	const struct o2g_core_stats *c = &ep->core.stats;
	u32 n, d;

	o2gk_ep_lock(ep);
	o2gk_sq_drain(ep);
	*i = ep->stats;
	i->posted = ep->core.match.nposted;
	i->unexpected = ep->core.match.nunexp;
	i->eager_sent = c->eager_sent;
	i->rts_sent = c->rts_sent;
	i->rts_no_credit = c->rts_no_credit;
	i->stalls = c->stalls;
	i->rts_received = c->rts_recv;
	i->unexpected_total = c->unexpected;
	i->data_received = c->data_recv;
	for (n = 0; n < ep->size; n++) {
		const struct o2gk_peer *p = ep->peers[n];

		if (!p)
			continue;
		i->messages_sent += p->core.msgs_sent;
		i->bytes_sent += p->core.bytes_sent;
		i->messages_received += p->core.msgs_recv;
		i->bytes_received += p->core.bytes_recv;
		for (d = 0; d < O2GD_NDROPS; d++)
			i->drops[d] += p->drops[d];
	}
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
}

static void fill_entry(struct o2gk_ep *ep, struct o2gd_list_entry *e)
{
	memset(e, 0, sizeof(*e));
	e->pid = pid_vnr(ep->pid);
	e->uid = from_kuid_munged(current_user_ns(), ep->uid);
	e->rank = ep->rank;
	e->size = ep->size;
	o2gk_look_info(ep, &e->info);
}

/*
 * What user space gets is copied after the mutex is released: a page fault may
 * take as long as it likes.
 */
int o2gk_look_list(struct o2gd_list *l)
{
	u32 max = min_t(u32, l->max, MAX_LIST);
	struct o2gd_list_entry *e;
	struct o2gk_ep *ep;
	int err = 0;

	e = kvcalloc(max, sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (max && !e)
		return -ENOMEM;
	l->count = 0;
	mutex_lock(&all_lock);
	list_for_each_entry(ep, &all_eps, all) {
		if (!may_look(ep))
			continue;
		if (l->count < max)
			fill_entry(ep, &e[l->count]);
		l->count++;
	}
	mutex_unlock(&all_lock);
	l->max = max;
	if (copy_to_user(u64_to_user_ptr(l->addr), e,
			 min(l->count, max) * sizeof(*e)))
		err = -EFAULT;
	kvfree(e);
	return err;
}

/* --- queues --- */

struct collect {
	struct o2gd_queue_entry *to;
	u32 max, count;
};

static void add(struct collect *c, u32 queue, const struct o2g_match_entry *m,
		u64 length)
{
	if (c->count < c->max) {
		struct o2gd_queue_entry *e = &c->to[c->count];

		e->queue = queue;
		e->source = m->src;
		e->tag = m->tag;
		e->ignore = queue == O2GD_QUEUE_POSTED ? m->ignore : 0;
		e->length = length;
		e->number = m->seq;
	}
	c->count++;
}

static void add_posted(struct o2g_match_entry *m, void *arg)
{
	add(arg, O2GD_QUEUE_POSTED, m,
	    container_of(m, struct o2g_req, match)->len);
}

static void add_unexpected(struct o2g_match_entry *m, void *arg)
{
	add(arg, O2GD_QUEUE_UNEXPECTED, m,
	    container_of(m, struct o2g_unexp, match)->len);
}

static void collect(struct o2gk_ep *ep, struct collect *c)
{
	o2gk_ep_lock(ep);
	o2gk_sq_drain(ep);
	o2g_match_each_posted(&ep->core.match, add_posted, c);
	o2g_match_each_unexpected(&ep->core.match, add_unexpected, c);
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
}

static struct o2gk_ep *find(u32 pid, u32 rank)
{
	struct o2gk_ep *ep;

	list_for_each_entry(ep, &all_eps, all)
		if (may_look(ep) && pid_vnr(ep->pid) == pid &&
		    (rank == O2GD_ANY || rank == ep->rank))
			return ep;
	return NULL;
}

int o2gk_look_queues(struct o2gd_queues *q)
{
	struct collect c = { .max = q->max };
	struct o2gk_ep *ep;
	int err = -ESRCH;

	if (q->max > O2GD_MAX_LOOK)
		return -EINVAL;
	c.to = kvcalloc(q->max, sizeof(*c.to), GFP_KERNEL_ACCOUNT);
	if (q->max && !c.to)
		return -ENOMEM;
	mutex_lock(&all_lock);
	ep = find(q->pid, q->rank);
	if (ep) {
		collect(ep, &c);
		q->rank = ep->rank;
		err = 0;
	}
	mutex_unlock(&all_lock);
	q->count = c.count;
	if (!err && copy_to_user(u64_to_user_ptr(q->addr), c.to,
				 min(c.count, c.max) * sizeof(*c.to)))
		err = -EFAULT;
	kvfree(c.to);
	return err;
}
