// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The eight calls seen from outside, for look.c, which keeps the endpoint from
 * being closed meanwhile. Never waits for the program: only the spinlock is
 * taken, and sockets are only added, each whole before it is counted.
 */
#include "paper.h"

#define PORTION 64 /* sockets, each with all its counters */

struct net *o2gk_paper_net(const struct o2gk_paper *paper)
{
	return paper->net;
}

u32 o2gk_paper_nsocks(const struct o2gk_paper *paper)
{
	return smp_load_acquire(&paper->nsocks); /* pairs with adding one */
}

struct mm_struct *o2gk_paper_mm(const struct o2gk_paper *paper)
{
	return paper->mm;
}

void o2gk_paper_info(struct o2gk_paper *paper, struct o2gd_info *i)
{
	u32 n = o2gk_paper_nsocks(paper), k, d;

	memset(i, 0, sizeof(*i));
	i->pinned_pages = atomic_long_read(&paper->pinned);
	i->pin_refused = atomic_long_read(&paper->pin_refused);
	o2gk_paper_lock(paper);
	i->posted = paper->match.nposted;
	i->unexpected = paper->match.nunexp;
	i->unexpected_bytes = o2gk_paper_used(&paper->area);
	for (k = 0; k < n; k++) {
		const struct o2gk_paper_sock *s = paper->socks[k];

		i->messages_received += s->info.messages;
		i->bytes_received += s->info.bytes;
		i->unexpected_total += s->info.unexpected;
		i->dump_full += s->info.held;
		for (d = 0; d < O2GD_NDROPS; d++)
			i->drops[d] += s->drops[d];
		if (k % PORTION == PORTION - 1)
			o2gk_paper_breathe(paper);
	}
	o2gk_paper_unlock(paper);
}

static void posted(struct o2gk_paper *paper, struct o2gk_found *f)
{
	struct o2gk_paper_recv *r;
	unsigned long number = 0;
	u32 n = 0;

	while ((r = xa_find(&paper->posted, &number, ULONG_MAX, XA_PRESENT))) {
		if (r->match.queued) /* or it only has its number yet */
			o2gk_found_entry(f, O2GD_QUEUE_POSTED, &r->match,
					 r->buffer.iov_len, O2GD_BODY_HERE);
		number++;
		if (++n % O2GK_STEP == 0)
			o2gk_paper_breathe(paper);
	}
}

static void add_message(struct o2g_match_entry *m, void *arg)
{
	const struct o2gk_paper_msg *msg =
		container_of(m, struct o2gk_paper_msg, match);

	o2gk_found_entry(arg, O2GD_QUEUE_UNEXPECTED, m, msg->len,
			 msg->done ? O2GD_BODY_HERE : O2GD_BODY_ARRIVING);
}

void o2gk_paper_queues(struct o2gk_paper *paper, struct o2gk_found *f)
{
	struct o2g_match_walk w;

	o2gk_paper_lock(paper);
	posted(paper, f);
	o2g_match_walk_begin(&paper->match, &w);
	while (!o2g_match_walk(&paper->match, &w, O2GK_STEP, add_message, f))
		o2gk_paper_breathe(paper);
	o2gk_paper_unlock(paper);
}

void o2gk_paper_socks(struct o2gk_paper *paper, struct o2gk_found *f)
{
	u32 n = o2gk_paper_nsocks(paper), k;
	struct o2gd_paper_sock *to = f->to;

	f->count = n;
	o2gk_paper_lock(paper);
	for (k = 0; k < min(n, f->max); k++) {
		const struct o2gk_paper_sock *s = paper->socks[k];

		to[k] = s->info;
		if (!list_empty(&s->held))
			to[k].state = O2GD_PAPER_HOLDS;
		if (k % O2GK_STEP == O2GK_STEP - 1)
			o2gk_paper_breathe(paper);
	}
	o2gk_paper_unlock(paper);
}
