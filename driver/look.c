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
#define MAX_ENTRY 4096 /* bytes of one, in user space */
#define PEERS_TURN 64

static DEFINE_MUTEX(all_lock);
static LIST_HEAD(all_eps);
static u64 next_id = 1;

void o2gk_look_add(struct o2gk_ep *ep)
{
	ep->pid = get_pid(task_tgid(current));
	ep->cred = get_current_cred();
	mutex_lock(&all_lock);
	ep->id = next_id++;
	list_add_tail(&ep->all, &all_eps);
	mutex_unlock(&all_lock);
}

void o2gk_look_remove(struct o2gk_ep *ep)
{
	mutex_lock(&all_lock);
	list_del(&ep->all);
	mutex_unlock(&all_lock);
	put_pid(ep->pid);
	put_cred(ep->cred);
}

static struct net *net_of(const struct o2gk_ep *ep)
{
	return ep->paper ? o2gk_paper_net(ep->paper) : ep->net;
}

/* Not of a program that has, or had, the rights of somebody else. */
static bool is_mine(const struct cred *its)
{
	const struct cred *me = current_cred();

	return uid_eq(me->uid, its->uid) && uid_eq(me->uid, its->euid) &&
	       uid_eq(me->uid, its->suid) && gid_eq(me->gid, its->gid) &&
	       gid_eq(me->gid, its->egid) && gid_eq(me->gid, its->sgid);
}

/*
 * Its own user, on its own host; or somebody who may look at any process there. As
 * ptrace_may_access() has it, which modules cannot call, by what the process was when it
 * set the endpoint up.
 */
static bool may_look(const struct o2gk_ep *ep)
{
	if (!pid_vnr(ep->pid))
		return false; /* of another pid namespace: it has no name here */
	if (ns_capable(ep->cred->user_ns, CAP_SYS_PTRACE))
		return true;
	return is_mine(ep->cred) &&
	       net_eq(net_of(ep), current->nsproxy->net_ns);
}

static void add_peer(struct o2gd_info *i, const struct o2gk_peer *p)
{
	u32 d;

	i->messages_sent += p->core.msgs_sent;
	i->bytes_sent += p->core.bytes_sent;
	i->messages_received += p->core.msgs_recv;
	i->bytes_received += p->core.bytes_recv;
	for (d = 0; d < O2GD_NDROPS; d++)
		i->drops[d] += p->drops[d];
}

/* They may be many: softirqs are let in after so many of them. */
static void add_peers(struct o2gk_ep *ep, struct o2gd_info *i)
{
	unsigned long number = 0;
	struct o2gk_peer *p;
	u32 n = 0;

	for (; (p = o2gk_peer_next(ep, &number)); number++) {
		add_peer(i, p);
		if (++n % PEERS_TURN)
			continue;
		spin_unlock_bh(&ep->lock);
		cond_resched();
		spin_lock_bh(&ep->lock);
	}
}

static void look_info(struct o2gk_ep *ep, struct o2gd_info *i)
{
	const struct o2g_core_stats *c = &ep->core.stats;

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
	add_peers(ep, i);
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
}

static void fill_entry(struct o2gk_ep *ep, struct o2gd_list_entry *e)
{
	memset(e, 0, sizeof(*e));
	e->pid = pid_vnr(ep->pid);
	e->uid = from_kuid_munged(current_user_ns(), ep->cred->uid);
	e->id = ep->id;
	if (ep->paper) {
		e->kind = O2GD_KIND_PAPER;
		e->rank = O2GD_ANY;
		e->size = o2gk_paper_nsocks(ep->paper);
	} else {
		e->rank = ep->rank;
		e->size = ep->size;
	}
}

/* To an array of user space, whose entries may be shorter than ours, or longer. */
static int give_entries(u64 addr, u32 entry, const void *from, size_t size,
			u32 n)
{
	char __user *to = u64_to_user_ptr(addr);
	size_t both = min_t(size_t, entry, size);
	u32 i;

	for (i = 0; i < n; i++, to += entry, from += size)
		if (copy_to_user(to, from, both) ||
		    clear_user(to + both, entry - both))
			return -EFAULT;
	return 0;
}

static bool is_entry(u32 entry, u32 pad)
{
	return entry && entry <= MAX_ENTRY && !pad;
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
	int err;

	if (!is_entry(l->entry, l->pad))
		return -EINVAL;
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
	err = give_entries(l->addr, l->entry, e, sizeof(*e),
			   min(l->count, max));
	kvfree(e);
	return err;
}

/* --- queues and sockets --- */

void o2gk_found_entry(struct o2gk_found *f, enum o2gd_queue queue,
		      const struct o2g_match_entry *m, u64 length,
		      enum o2gd_body body)
{
	if (f->count < f->max) {
		struct o2gd_queue_entry *e = f->to;

		e += f->count;
		e->queue = queue;
		e->source = m->src;
		e->tag = m->tag;
		e->ignore = queue == O2GD_QUEUE_POSTED ? m->ignore : 0;
		e->length = length;
		e->number = m->seq;
		e->body = body;
	}
	f->count++;
}

static void add_posted(struct o2gk_found *f, const struct o2gk_req *r)
{
	if (r->phase == O2GK_BUSY && r->core.kind == O2G_REQ_RECV &&
	    r->core.state == O2G_ST_POSTED)
		o2gk_found_entry(f, O2GD_QUEUE_POSTED, &r->core.match,
				 r->core.len, O2GD_BODY_HERE);
}

static void breathe(struct o2gk_ep *ep)
{
	spin_unlock_bh(&ep->lock);
	cond_resched();
	spin_lock_bh(&ep->lock);
}

static void posted(struct o2gk_ep *ep, struct o2gk_found *f)
{
	u32 i;

	for (i = 0; i < ep->file.nslots; i++) {
		add_posted(f, o2gk_req_find(ep, i));
		if (i % O2GK_STEP == O2GK_STEP - 1)
			breathe(ep);
	}
}

static void add_unexpected(struct o2g_match_entry *m, void *arg)
{
	const struct o2g_unexp *u = container_of(m, struct o2g_unexp, match);

	o2gk_found_entry(arg, O2GD_QUEUE_UNEXPECTED, m, u->len,
			 u->type == O2G_PKT_RTS ? O2GD_BODY_ANNOUNCED :
			 u->complete		? O2GD_BODY_HERE :
						  O2GD_BODY_ARRIVING);
}

static void unexpected(struct o2gk_ep *ep, struct o2gk_found *f)
{
	struct o2g_match_walk w;

	o2g_match_walk_begin(&ep->core.match, &w);
	while (!o2g_match_walk(&ep->core.match, &w, O2GK_STEP, add_unexpected,
			       f))
		breathe(ep);
}

/* What changes meanwhile is shown as it is when it is come to, or not at all. */
static void queues(struct o2gk_ep *ep, struct o2gk_found *f)
{
	if (ep->paper) {
		o2gk_paper_queues(ep->paper, f);
		return;
	}
	o2gk_ep_lock(ep);
	o2gk_sq_drain(ep);
	posted(ep, f);
	unexpected(ep, f);
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
}

static void socks(struct o2gk_ep *ep, struct o2gk_found *f)
{
	if (ep->paper)
		o2gk_paper_socks(ep->paper, f);
}

static struct o2gk_ep *find(u64 id)
{
	struct o2gk_ep *ep;

	list_for_each_entry(ep, &all_eps, all)
		if (ep->id == id)
			return may_look(ep) ? ep : NULL;
	return NULL;
}

static int look(struct o2gd_look *q, size_t size,
		void (*at)(struct o2gk_ep *ep, struct o2gk_found *f))
{
	struct o2gk_found f = { .max = q->max };
	struct o2gk_ep *ep;
	int err = -ESRCH;

	if (q->max > O2GD_MAX_LOOK || !is_entry(q->entry, q->pad))
		return -EINVAL;
	f.to = kvcalloc(q->max, size, GFP_KERNEL_ACCOUNT);
	if (q->max && !f.to)
		return -ENOMEM;
	mutex_lock(&all_lock);
	ep = find(q->id);
	if (ep) {
		at(ep, &f);
		err = 0;
	}
	mutex_unlock(&all_lock);
	q->count = f.count;
	if (!err)
		err = give_entries(q->addr, q->entry, f.to, size,
				   min(f.count, f.max));
	kvfree(f.to);
	return err;
}

int o2gk_look_queues(struct o2gd_look *q)
{
	return look(q, sizeof(struct o2gd_queue_entry), queues);
}

int o2gk_look_socks(struct o2gd_look *q)
{
	return look(q, sizeof(struct o2gd_paper_sock), socks);
}

/* --- counters --- */

/* In the order of struct o2gd_info. */
static const char names[][O2GD_NAME] = {
#define NAME(name) #name,
	O2GD_COUNTED(NAME)
#undef NAME
#define NAME(name, words) #name,
		O2GD_DROPS(NAME, NAME)
#undef NAME
};

static_assert(sizeof(struct o2gd_info) == ARRAY_SIZE(names) * sizeof(u64));

static int peer_counters(struct o2gk_ep *ep, u32 number, struct o2gd_info *i)
{
	struct o2gk_peer *p;

	if (ep->paper)
		return -ENOENT;
	o2gk_ep_lock(ep);
	p = o2gk_peer_find(ep, number);
	if (p)
		add_peer(i, p);
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
	return p ? 0 : -ENOENT;
}

static int count_of(struct o2gk_ep *ep, u32 number, struct o2gd_info *i)
{
	memset(i, 0, sizeof(*i));
	if (number != O2GD_ANY)
		return peer_counters(ep, number, i);
	if (ep->paper)
		o2gk_paper_info(ep->paper, i);
	else
		look_info(ep, i);
	return 0;
}

static int look_by_id(u64 id, u32 number, struct o2gd_info *i)
{
	struct o2gk_ep *ep;
	int err;

	mutex_lock(&all_lock);
	ep = find(id);
	err = ep ? count_of(ep, number, i) : -ESRCH;
	mutex_unlock(&all_lock);
	return err;
}

/* One by one: whoever asks may have no memory left that it could be charged for. */
static int give_counters(const struct o2gd_counters *c, const u64 *values)
{
	u32 n = min_t(u32, c->max, ARRAY_SIZE(names)), i;
	int err = 0;

	for (i = 0; !err && i < n; i++) {
		struct o2gd_counter one = { .value = values[i] };

		memcpy(one.name, names[i], O2GD_NAME);
		err = give_entries(c->addr + (u64)i * c->entry, c->entry, &one,
				   sizeof(one), 1);
	}
	return err;
}

/* @own: of the caller, or NULL if it has none. */
int o2gk_look_counters(struct o2gk_ep *own, struct o2gd_counters *c)
{
	struct o2gd_info i;
	int err = -ESRCH;

	if (!is_entry(c->entry, 0))
		return -EINVAL;
	if (c->id)
		err = look_by_id(c->id, c->peer, &i);
	else if (own)
		err = count_of(own, c->peer, &i);
	if (!err)
		err = give_counters(c, (const u64 *)&i);
	c->count = ARRAY_SIZE(names);
	return err;
}
