/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Small messages in a row: one system call for many of them.
 *
 * base/burst.h says which: those that follow each other with nothing asked of the
 * library in between. The batch leaves as soon as the program waits, tests or hands
 * the driver anything else, and by a timer if it does none of that.
 *
 * What is in the batch is complete for the program. A message that the driver has
 * no credit for becomes a request of its own, in order, which nobody waits for.
 */
#include "kernel.h"

#include <stdlib.h>

#include "uapi/o2g.h"

static size_t space_for(size_t len)
{
	return sizeof(struct o2gd_small) +
	       ((len + O2GD_BURST_ALIGN - 1) & ~(size_t)(O2GD_BURST_ALIGN - 1));
}

/* Is this the next of several? */
static bool in_burst(struct kern_batch *b)
{
	if (b->burst.turn == b->turn)
		return o2g_burst_goes_on(&b->burst, b->turn);
	o2g_burst_first(&b->burst, b->turn);
	return false;
}

static void append(struct kern_batch *b, u32 rank, u64 tag, const void *buf,
		   size_t len)
{
	struct o2gd_small *m = (struct o2gd_small *)(b->buf + b->len);

	m->peer = rank;
	m->len = (u32)len;
	m->tag = tag;
	if (len)
		memcpy(m + 1, buf, len);
	b->len += space_for(len);
}

static void leave_soon(struct o2g_ep *ep, struct kern_batch *b)
{
	u32 us = o2g_batch_begin(&b->batch, b->burst.last_ns);

	ep->kern->chan.needs_flush = true;
	if (us)
		chan_timer_set(ep->kern->chan.ep, &b->timer, us);
}

void kern_batch_left(struct o2g_ep *ep)
{
	o2g_burst_returned(&ep->kern->batch.burst);
}

bool kern_batch_take(struct o2g_ep *ep, u32 rank, u64 tag, const void *buf,
		     size_t len)
{
	struct kern_batch *b = &ep->kern->batch;

	if (len > KERN_BATCHED || (!in_burst(b) && !b->len))
		return false;
	if (!b->buf)
		b->buf = malloc(O2GD_BURST_MAX);
	if (!b->buf)
		return false;
	if (b->len + space_for(len) > O2GD_BURST_MAX && kern_batch_flush(ep))
		return false;
	append(b, rank, tag, buf, len);
	if (!ep->kern->chan.needs_flush)
		leave_soon(ep, b);
	return true;
}

/* --- the end of a batch --- */

static const struct o2gd_small *message_at(const struct kern_batch *b,
					   size_t at)
{
	return (const struct o2gd_small *)(b->buf + at);
}

/* The place after @n messages. */
static size_t skip(const struct kern_batch *b, size_t at, int n)
{
	while (n-- > 0)
		at += space_for(message_at(b, at)->len);
	return at;
}

/* As a request that keeps its place until there is credit. */
static int submit(struct o2g_ep *ep, const struct o2gd_small *m)
{
	struct o2gd_sqe e = { .op = O2GD_OP_SEND,
			      .peer = m->peer,
			      .tag = m->tag,
			      .addr = (uintptr_t)(m + 1),
			      .len = m->len };
	struct o2g_seg seg = { (void *)(m + 1), m->len };
	struct eng_req *r = eng_req_new(ep, &seg, 1);
	int err;

	if (!r)
		return -ENOMEM;
	r->core.kind = O2G_REQ_SEND;
	r->core.peer = &eng_peer_known(ep, (int)m->peer)->cp.core;
	r->core.tag = m->tag;
	e.slot = r->slot;
	err = kern_submit(ep, r, &e);
	if (err)
		eng_req_free(ep, r);
	else
		o2g_detach(&r->core);
	return err;
}

int kern_batch_flush(struct o2g_ep *ep)
{
	struct kern_batch *b = &ep->kern->batch;
	struct o2gd_burst args = { .addr = (uintptr_t)b->buf,
				   .len = (u32)b->len };
	size_t at, len = b->len;
	int n, err = 0;

	b->turn++;
	if (!len)
		return 0;
	b->len = 0; /* kern_submit also comes here */
	n = kern_call(ep->kern, O2GD_BURST, &args);
	for (at = skip(b, 0, n); at < len && !err; at = skip(b, at, !err))
		err = submit(ep, message_at(b, at));
	ep->kern->chan.needs_flush = err != 0;
	b->len = len - at;
	if (err)
		memmove(b->buf, b->buf + at, b->len);
	return err;
}

static void timer(struct chan_timer *t)
{
	struct kern_batch *b = container_of(t, struct kern_batch, timer);
	struct kern *k = container_of(b, struct kern, batch);

	switch (o2g_batch_timer(&b->batch, b->len, o2g_now_ns())) {
	case O2G_BATCH_GONE:
		return;
	case O2G_BATCH_DUE:
		if (!kern_batch_flush(ep_of_chan(k->chan.ep)))
			return;
		break; /* some had to stay */
	case O2G_BATCH_YOUNG:
		break;
	}
	chan_timer_set(k->chan.ep, t, o2g_batch_again(&b->batch));
}

void kern_batch_init(struct o2g_ep *ep)
{
	struct kern_batch *b = &ep->kern->batch;

	o2g_list_init(&b->timer.link);
	b->timer.fn = timer;
	o2g_batch_init(&b->batch);
}

void kern_batch_cleanup(struct o2g_ep *ep)
{
	struct kern_batch *b = &ep->kern->batch;

	chan_timer_del(ep->kern->chan.ep, &b->timer);
	free(b->buf);
	b->buf = NULL;
	b->len = 0;
}
