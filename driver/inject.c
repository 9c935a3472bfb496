// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Small messages that leave without a request, one by one or in a burst: their
 * bodies are copied before the lock is taken, and they leave together when it is
 * let go of. A very small one that finds nothing in line before it leaves at once,
 * from the stack.
 */
#include "o2gk.h"

#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#define STEP O2GK_TX_GATHER /* of a burst, in one go */
#define LONE 192	    /* bytes that may leave from the stack */

struct small {
	struct o2gd_small head;
	struct o2gk_ctl *ctl; /* has the body */
};

/* Its body, from user space: 0, or why not. */
static int take_body(struct o2gk_ep *ep, struct small *s, u64 addr)
{
	int err;

	if (s->head.len > O2GD_SMALL || !o2gk_is_number(ep, s->head.peer))
		return -EINVAL;
	err = o2gk_peer_meet(ep, s->head.peer);
	if (err)
		return err;
	s->ctl = o2gk_ctl_alloc(ep, s->head.len, GFP_KERNEL);
	if (!s->ctl)
		return -ENOMEM;
	if (!copy_from_user(s->ctl->body, u64_to_user_ptr(addr), s->head.len))
		return 0;
	kfree(s->ctl);
	return -EFAULT;
}

/* Under ep->lock. On success the packet is the queue's. */
static int send(struct o2gk_ep *ep, const struct small *s)
{
	struct o2gk_peer *p = o2gk_peer_find(ep, s->head.peer);

	if (!p) /* forgotten just now */
		return -ENOTCONN;
	return o2g_proto_inject(&ep->core, &p->core, s->head.tag, s->ctl->body,
				s->head.len);
}

/* The peer, with a reference, if what is for it may be sent from here. */
static struct o2gk_peer *lone_peer(struct o2gk_ep *ep, u32 number)
{
	struct o2gk_peer *p = o2gk_peer_hold(ep, number);

	if (!p || (READ_ONCE(p->sk) && !READ_ONCE(p->link)))
		return p;
	o2gk_peer_put(p);
	return NULL;
}

/*
 * With the socket's lock from the beginning: whoever else has something for this
 * peer puts it in line, and sends it when we are done. -EAGAIN: not in this way, as
 * when somebody else has it: see tx.c.
 */
static int send_lone(struct o2gk_peer *p, const struct o2gd_inject *i)
{
	struct o2gk_ep *ep = p->ep;
	union {
		struct o2gk_ctl ctl;
		u8 room[sizeof(struct o2gk_ctl) + LONE];
	} u;
	int err = -EAGAIN;

	if (copy_from_user(u.ctl.body, u64_to_user_ptr(i->addr), i->len))
		return -EFAULT;
	o2gk_ctl_init(&u.ctl, i->len);
	u.ctl.lone = true;
	if (!o2gk_trylock_sock(p->sk))
		return -EAGAIN;
	o2gk_ep_lock(ep);
	if (o2g_list_empty(&p->txq) && !p->link)
		err = o2g_proto_inject(&ep->core, &p->core, i->tag, u.ctl.body,
				       i->len);
	o2gk_ep_unlock(ep, O2GK_WORKER, p);
	if (!err)
		o2gk_tx_lone(p, &u.ctl);
	release_sock(p->sk);
	return err;
}

static int inject_lone(struct o2gk_ep *ep, const struct o2gd_inject *i)
{
	struct o2gk_peer *p = i->len <= LONE ? lone_peer(ep, i->peer) : NULL;
	int err;

	if (!p)
		return -EAGAIN;
	err = send_lone(p, i);
	o2gk_peer_put(p);
	return err;
}

int o2gk_inject(struct o2gk_ep *ep, const struct o2gd_inject *i)
{
	struct small s = { .head.peer = i->peer,
			   .head.len = i->len,
			   .head.tag = i->tag };
	int err = inject_lone(ep, i);

	if (err != -EAGAIN)
		return err;
	err = take_body(ep, &s, i->addr);
	if (err)
		return err;
	o2gk_ep_lock(ep);
	err = send(ep, &s);
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	if (err)
		kfree(s.ctl);
	return err;
}

/* --- bursts --- */

/* The next message, at *at; 0, or why there is none. */
static int take_next(struct o2gk_ep *ep, struct small *s, u64 *at, u64 end)
{
	u64 addr = *at + sizeof(s->head);
	int err;

	if (addr > end)
		return -EINVAL;
	if (copy_from_user(&s->head, u64_to_user_ptr(*at), sizeof(s->head)))
		return -EFAULT;
	if (s->head.len > end - addr)
		return -EINVAL;
	err = take_body(ep, s, addr);
	if (!err)
		*at = addr + ALIGN(s->head.len, O2GD_BURST_ALIGN);
	return err;
}

/* How many of them have left. */
static u32 send_some(struct o2gk_ep *ep, const struct small *s, u32 n)
{
	u32 sent = 0, i;

	o2gk_ep_lock(ep);
	while (sent < n && !send(ep, &s[sent]))
		sent++;
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	for (i = sent; i < n; i++)
		kfree(s[i].ctl);
	return sent;
}

int o2gk_burst(struct o2gk_ep *ep, const struct o2gd_burst *b)
{
	u64 at = b->addr, end;
	struct small s[STEP];
	u32 n, some, sent = 0;
	int err = 0;

	if (b->pad || b->len > O2GD_BURST_MAX ||
	    check_add_overflow(at, (u64)b->len, &end))
		return -EINVAL;
	do {
		for (n = 0; n < STEP && at < end && !err; n += !err)
			err = take_next(ep, &s[n], &at, end);
		some = send_some(ep, s, n);
		sent += some;
	} while (some == n && at < end && !err);
	return sent ? sent : err;
}
