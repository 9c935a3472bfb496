/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Whether it pays to lend a message, which nobody knows beforehand. Where the cores of
 * the two ends share a cache, both copying at once is quicker than one of them
 * reading what is not in it; where they are far apart, or on real cables, lending is.
 * In virtual machines that changes while a job runs. So it is tried out, for each
 * connection and by length: of every TRIAL_EVERY messages TRIALS take turns, and their
 * times from the request's answer to the receiver's are compared. The best of each way
 * counts, as whatever disturbs one makes it longer. Lending takes the sender less time,
 * and is preferred when they are close.
 */
#include "clock.h"
#include "lend.h"
#include "secure.h"
#include "settings.h"
#include "tcp.h"

#define TRIALS 6
#define TRIAL_EVERY 96
#define LOST_NS 1000000000u /* a trial whose answer takes so long is given up */

/* Below 256 KiB, 1 MiB and 4 MiB, and above. */
static struct tcp_lend_class *class_of(struct tcp_conn *k, u64 len)
{
	int i = 0;

	for (u64 top = 256u << 10; i + 1 < TCP_LEND_CLASSES && len >= top; i++)
		top *= 4;
	return &k->lend.of[i];
}

/* One at a time is looked at; the others go as has been decided. */
static bool trial_begins(struct tcp_conn *k, struct tcp_lend_class *c,
			 const struct o2g_req *req, u64 len)
{
	struct tcp_lend_trial *t = &k->lend.trial;
	u64 now = o2g_now_ns();

	if (t->id && now - t->start < LOST_NS)
		return !c->copies;
	if (c->count >= TRIAL_EVERY)
		c->count = 0;
	if (!c->count)
		c->best[0] = c->best[1] = ~0u;
	t->id = req->id;
	t->start = now;
	t->len = len;
	t->copies = c->count & 1;
	t->class = c;
	return true;
}

bool tcp_lend_chosen(struct chan *chan, struct chan_peer *p,
		     const struct o2g_req *req, u64 len)
{
	struct tcp_conn *k = p->link;
	u64 min = o2g_settings()->tcp_lend;
	struct tcp_lend_class *c;

	if (!min || len < min || req->nsegs != 1 || !k || k->tls ||
	    tcp_encrypts() || tcp_chan_of(chan)->lender.refused)
		return false;
	c = class_of(k, len);
	if (c->count < TRIALS || c->count >= TRIAL_EVERY)
		return trial_begins(k, c, req, len);
	c->count++;
	return !c->copies;
}

bool tcp_lend_compares(const struct tcp_conn *k, const struct o2g_req *req)
{
	const struct tcp_lend_trial *t = &k->lend.trial;

	return t->copies && t->id == req->id;
}

void tcp_lend_answered(struct tcp_conn *k, u64 id)
{
	struct tcp_lend_trial *t = &k->lend.trial;
	struct tcp_lend_class *c = t->class;
	u64 ps;

	if (!t->id || t->id != id)
		return;
	ps = (o2g_now_ns() - t->start) * 1000 / t->len;
	if (ps < c->best[!t->copies])
		c->best[!t->copies] = (u32)ps;
	t->id = 0;
	if (++c->count >= TRIALS)
		c->copies = c->best[true] >
			    c->best[false] + c->best[false] / 16;
}
