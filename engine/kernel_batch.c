/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Small messages in a row: one system call for many of them.
 *
 * The first leaves at once. One that follows within microseconds, with nothing
 * asked of the library in between, is copied to the batch, which leaves as soon as
 * the program waits, tests or hands the driver anything else, and by a timer if it
 * does none of that. A ping-pong receives between two sends and never gets here.
 *
 * What is in the batch is complete for the program. A message that the driver has
 * no credit for becomes a request of its own, in order, which nobody waits for.
 */
#include "kernel.h"

#include <stdlib.h>

#include "clock.h"
#include "uapi/o2g.h"

#define BURST_NS 20000
#define FLUSH_US 50	  /* a batch waits for a flush this long ... */
#define FLUSH_MAX_US 6400 /* ... or this, where it never had to */

static size_t space_for(size_t len)
{
	return sizeof(struct o2gd_small) +
	       ((len + O2GD_BURST_ALIGN - 1) & ~(size_t)(O2GD_BURST_ALIGN - 1));
}

/* Is this the next of several? */
static bool in_burst(struct kern_batch *b)
{
	u64 now, last = b->last_ns;

	if (b->last_turn != b->turn) {
		b->last_turn = b->turn;
		b->last_ns = 0;
		return false;
	}
	now = o2g_now_ns();
	b->last_ns = now;
	/* The clock is not asked for the first: it may be long ago. */
	return last && now - last < BURST_NS;
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
	ep->kern->chan.needs_flush = true;
	b->since_ns = b->last_ns;
	if (b->timer_set)
		return;
	b->timer_set = true;
	chan_timer_set(ep->kern->chan.ep, &b->timer, b->flush_us);
}

void kern_batch_left(struct o2g_ep *ep)
{
	struct kern_batch *b = &ep->kern->batch;

	if (b->last_ns)
		b->last_ns = o2g_now_ns();
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

/*
 * A timer costs a thread its sleep, and most programs wait or test soon after a
 * burst. So it is not taken back when the batch leaves; each time it finds nothing
 * to do the next one is set later, until one has.
 */
static void timer(struct chan_timer *t)
{
	struct kern_batch *b = container_of(t, struct kern_batch, timer);
	struct kern *k = container_of(b, struct kern, batch);

	b->timer_set = false;
	if (!b->len) {
		if (b->flush_us < FLUSH_MAX_US)
			b->flush_us *= 2;
		return;
	}
	b->flush_us = FLUSH_US;
	if (o2g_now_ns() - b->since_ns >= FLUSH_US * 1000 / 2 &&
	    !kern_batch_flush(ep_of_chan(k->chan.ep)))
		return;
	b->timer_set = true;
	chan_timer_set(k->chan.ep, t, FLUSH_US);
}

void kern_batch_init(struct o2g_ep *ep)
{
	struct kern_batch *b = &ep->kern->batch;

	o2g_list_init(&b->timer.link);
	b->timer.fn = timer;
	b->flush_us = FLUSH_US;
}

void kern_batch_cleanup(struct o2g_ep *ep)
{
	struct kern_batch *b = &ep->kern->batch;

	chan_timer_del(ep->kern->chan.ep, &b->timer);
	free(b->buf);
	b->buf = NULL;
	b->len = 0;
}
