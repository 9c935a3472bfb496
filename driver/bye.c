// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Goodbye to all peers, and waiting until it is out. */
#include "o2gk.h"

#include <linux/jiffies.h>
#include <linux/sched/signal.h>

#define PEERS_TURN 64

static bool is_sent(struct o2gk_peer *p)
{
	return !p->sk || p->lost ||
	       (o2g_list_empty(&p->txq) && !o2gk_local_leaving(p));
}

/* Peers may be many: softirqs are let in after so many of them. */
static void breathe(struct o2gk_ep *ep, u32 *n)
{
	if (++*n % PEERS_TURN)
		return;
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	cond_resched();
	o2gk_ep_lock(ep);
}

static bool all_sent(struct o2gk_ep *ep)
{
	unsigned long number = 0;
	struct o2gk_peer *p;
	bool sent = true;
	u32 n = 0;

	o2gk_ep_lock(ep);
	while (sent && (p = o2gk_peer_next(ep, &number))) {
		sent = is_sent(p);
		number++;
		breathe(ep, &n);
	}
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	return sent;
}

static int wait_until_sent(struct o2gk_ep *ep, unsigned long end)
{
	while (!all_sent(ep)) {
		if (time_after(jiffies, end))
			return -ETIME;
		if (schedule_timeout_interruptible(1) &&
		    signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static void say_bye(struct o2gk_ep *ep)
{
	unsigned long number = 0;
	struct o2gk_peer *p;
	u32 n = 0;

	o2gk_ep_lock(ep);
	while ((p = o2gk_peer_next(ep, &number))) {
		if (p->sk)
			o2g_proto_bye(&ep->core, &p->core);
		number++;
		breathe(ep, &n);
	}
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
}

int o2gk_ep_bye(struct o2gk_ep *ep, u32 ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	/* What goes by a link does not wait in line with what is said here. */
	int err = wait_until_sent(ep, end);

	if (err)
		return err;
	say_bye(ep);
	return wait_until_sent(ep, end);
}
