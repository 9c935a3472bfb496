// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The caller: requests that end before their time, and connections that do. */
#include "kapi.h"

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>

#define MANY 8

/* Requests, with the memory they are about. */
struct pending {
	struct o2gk_request r[MANY];
	struct kapi_mem *m[MANY];
};

static struct pending *pending_new(size_t len)
{
	struct pending *p = kvcalloc(1, sizeof(*p), GFP_KERNEL);
	unsigned int i;

	for (i = 0; p && i < MANY; i++)
		p->m[i] = kapi_mem_new(i % 2 ? KAPI_PAGES : KAPI_VMALLOC, len,
				       KAPI_TO);
	return p;
}

static void pending_free(struct pending *p)
{
	unsigned int i;

	for (i = 0; p && i < MANY; i++)
		kapi_mem_free(p->m[i]);
	kvfree(p);
}

/* --- cancelling --- */

static int cancel_receives(struct kapi_caller *c, struct pending *p)
{
	unsigned int i;
	int err;

	for (i = 0; i < MANY; i++) {
		err = kapi_recv(c, KAPI_TAG_NOBODY, p->m[i], &p->r[i]);
		if (err)
			return err;
	}
	if (o2gk_wait(c->ep, &p->r[3], 1) != -ETIME)
		return -EBADMSG;
	for (i = MANY; i-- > 0;) {
		err = o2gk_cancel(c->ep, &p->r[i]);
		if (err)
			return err;
		err = kapi_wait(c->ep, &p->r[i]);
		if (err != -ECANCELED)
			return -EBADMSG;
	}
	return 0;
}

/* Nobody receives them: the other end is asked, and agrees. */
static int cancel_sends(struct kapi_caller *c, struct pending *p)
{
	unsigned int i;
	int err;

	for (i = 0; i < MANY; i++) {
		err = kapi_send(c, KAPI_TAG_NOBODY, p->m[i], true, &p->r[i]);
		if (err)
			return err;
	}
	for (i = 0; i < MANY; i++) {
		err = o2gk_cancel(c->ep, &p->r[i]);
		if (err && err != -EINPROGRESS)
			return err;
		err = kapi_wait(c->ep, &p->r[i]);
		if (err != -ECANCELED)
			return -EBADMSG;
	}
	return 0;
}

/* The echo comes while its receive is cancelled: it is whole, there or in the next. */
static int cancel_late(struct kapi_caller *c, struct pending *p, size_t len)
{
	struct kapi_order o = { .op = KAPI_ECHO, .length = len };
	u64 seed = get_random_u32();
	int err = kapi_mem_fill(p->m[0], seed);

	if (!err)
		err = kapi_order(c, &o);
	if (!err)
		err = kapi_recv(c, KAPI_TAG_ECHO, p->m[1], &p->r[1]);
	if (!err)
		err = kapi_send(c, KAPI_TAG_DATA, p->m[0], false, &p->r[0]);
	if (err)
		return err;
	usleep_range(1, 1 + get_random_u32() % 3000);
	o2gk_cancel(c->ep, &p->r[1]);
	err = kapi_wait(c->ep, &p->r[0]);
	if (err)
		return err;
	err = kapi_wait(c->ep, &p->r[1]);
	if (err == -ECANCELED) {
		err = kapi_recv(c, KAPI_TAG_ECHO, p->m[1], &p->r[1]);
		if (!err)
			err = kapi_wait(c->ep, &p->r[1]);
	}
	return err ? err : kapi_mem_check(p->m[1], seed, len);
}

int kapi_test_cancel(struct kapi_caller *c)
{
	static const size_t lengths[] = { 100, 10000, 100000 };
	unsigned int i, j;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(lengths) && !err; i++) {
		struct pending *p = pending_new(lengths[i]);

		if (!p)
			return -ENOMEM;
		err = cancel_receives(c, p);
		if (!err)
			err = cancel_sends(c, p);
		for (j = 0; j < 10 && !err; j++)
			err = cancel_late(c, p, lengths[i]);
		if (err)
			kapi_err("cancelling, %zu bytes: %d\n", lengths[i],
				 err);
		pending_free(p);
	}
	return err;
}

/* --- the other end goes --- */

/* Receives and sends that nobody answers. */
static int wait_for_nobody(struct kapi_caller *c, struct pending *p)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < MANY - 2 && !err; i++)
		err = i % 2 ? kapi_recv(c, KAPI_TAG_NOBODY, p->m[i], &p->r[i]) :
			      kapi_send(c, KAPI_TAG_NOBODY, p->m[i], true,
					&p->r[i]);
	return err;
}

/* Messages go there and back until there is nobody any more. */
static int until_it_dies(struct kapi_caller *c, struct pending *p, size_t len)
{
	struct kapi_order o = { .op = KAPI_ECHO, .length = len };
	struct o2gk_request *in = &p->r[MANY - 2], *out = &p->r[MANY - 1];
	unsigned long end = jiffies + kapi_timeout * HZ;
	int err;

	do {
		err = kapi_order(c, &o);
		if (err)
			break;
		err = kapi_recv(c, KAPI_TAG_ECHO, p->m[MANY - 2], in);
		if (err)
			break;
		err = kapi_send(c, KAPI_TAG_DATA, p->m[MANY - 1], false, out);
		if (!err)
			err = kapi_wait(c->ep, out);
		if (err) /* and it ends with the connection, if not before */
			o2gk_cancel(c->ep, in);
		kapi_wait(c->ep, in);
	} while (!err && time_before(jiffies, end));
	return err == -ECONNRESET || err == -ENOTCONN ? 0 : -EBADMSG;
}

static int die(struct kapi_caller *c, struct pending *p, size_t len)
{
	struct kapi_order o = { .op = KAPI_DIE,
				.length = get_random_u32() % 50000 };
	int losses = atomic_read(&c->lost), err;
	unsigned int i;

	err = kapi_order(c, &o);
	if (!err)
		err = until_it_dies(c, p, len);
	for (i = 0; i < MANY - 2; i++)
		if (kapi_wait(c->ep, &p->r[i]) != -ECONNRESET && !err)
			err = -EBADMSG;
	for (i = 0; i < 1000 && atomic_read(&c->lost) == losses; i++)
		msleep(10);
	if (!err && atomic_read(&c->lost) != losses + 1)
		err = -EBADMSG;
	return err;
}

/* It comes back, and all is as before. */
static int come_back(struct kapi_caller *c, size_t len)
{
	int err;

	if (o2gk_is_connected(c->ep, SERVER))
		return -EISCONN;
	err = kapi_connect(c);
	if (!err && o2gk_connect(c->ep, SERVER, (struct sockaddr *)&c->to,
				 sizeof(c->to), 1000) != -EISCONN)
		err = -EBADMSG;
	return err ? err : kapi_echo(c, KAPI_VMALLOC, KAPI_PAGES, len, 0);
}

int kapi_test_death(struct kapi_caller *c)
{
	static const size_t lengths[] = { 10, 10000, 100000, 1 << 20 };
	unsigned int i, rounds = c->process ? 1 : ARRAY_SIZE(lengths);
	int err = 0;

	for (i = 0; i < rounds && !err; i++) {
		size_t len = min(lengths[c->process ? 3 : i], c->most);
		struct pending *p = pending_new(len);

		if (!p)
			return -ENOMEM;
		err = wait_for_nobody(c, p);
		if (!err)
			err = die(c, p, len);
		if (!err && !c->process)
			err = come_back(c, len);
		if (err)
			kapi_err("its end, %zu bytes: %d\n", len, err);
		pending_free(p);
	}
	return err;
}

/* --- our own end --- */

static struct pending *left;

static void ended(struct o2gk_request *req)
{
	struct pending *p = req->context;
	bool last = true;
	unsigned int i;

	req->context = NULL;
	if (req->status != -ECANCELED && req->status != -ECONNRESET)
		kapi_err("left behind: %d\n", req->status);
	for (i = 0; i < MANY; i++)
		last &= !p->r[i].context;
	if (last)
		kapi_say("all have ended\n");
}

void kapi_left_free(void)
{
	pending_free(left);
}

/* The module is to be unloaded now: its memory is there until all have ended. */
int kapi_test_leave(struct kapi_caller *c)
{
	struct pending *p = pending_new(1 << 20);
	unsigned int i, n;
	int err = 0;

	if (!p)
		return -ENOMEM;
	left = p;
	for (i = 0; i < MANY; i++)
		p->r[i] = (struct o2gk_request){ .done = ended, .context = p };
	for (i = 0; i < MANY && !err; i++) {
		struct o2gk_seg *segs = kapi_mem_segs(p->m[i], &n);

		err = i % 2 ? o2gk_irecv(c->ep, i % 4 == 1 ? SERVER : O2GK_ANY,
					 KAPI_TAG_NOBODY, ALL, segs, n,
					 &p->r[i]) :
			      o2gk_issend(c->ep, SERVER, KAPI_TAG_NOBODY, segs,
					  n, &p->r[i]);
	}
	return err;
}
