// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The initiator's half of the hello, with one address.
 *
 *	IDLE -> WAITING -> CONNECTING -> ANSWERED -> IDLE: the owner has the socket
 *	   ^        ^___________|____________|  it has failed: after a while again
 *	   \________|  the time is over, or there is a connection already
 *
 * Until it has said something, whoever answers at the address gets TRY_MS. Once it was
 * sent our answer it may take us for connected at any moment, so it is waited for as long
 * as TCP finds its host alive, or the time for all tries allows.
 *
 * When both ends dial at once, both must agree on which connection stays. The lower rank
 * decides, as in channel/tcp/conn.c: it refuses the other's call (DUPLICATE) when it has
 * already answered on its own, and takes it, dropping its own, when it has not. The
 * higher rank always takes what the lower one offers.
 */
#include "reach.h"

#include <linux/jiffies.h>
#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#define TRY_MS 10000
#define RETRY_MS 100	   /* before the second try; twice that each time, */
#define RETRY_MOST_MS 5000 /* up to this */
#define NOES 2		   /* in a row, and whoever waits is told so */

enum dial_state { IDLE, WAITING, CONNECTING, ANSWERED };

struct o2gk_dial {
	struct o2gk_call call;
	struct o2gk_reach *reach;
	struct list_head link; /* reach->dials */
	struct o2gk_dialling a;
	struct delayed_work work;
	/* under reach->mutex: */
	bool stopped;
	enum dial_state state;
	unsigned long deadline;	 /* of all tries, if there is one */
	unsigned long try_until; /* of this one; WAITING: of the pause */
	unsigned int pause_ms;
	unsigned int noes; /* the last tries that somebody has said no to */
	int err;	   /* what the last try came to */
};

static struct o2gk_dial *find(struct o2gk_reach *r, u32 peer)
{
	struct o2gk_dial *d;

	lockdep_assert_held(&r->mutex);
	list_for_each_entry(d, &r->dials, link)
		if (d->a.peer == peer)
			return d;
	return NULL;
}

static void wake(struct o2gk_call *c)
{
	struct o2gk_dial *d = container_of(c, struct o2gk_dial, call);

	mod_delayed_work(d->reach->wq, &d->work, 0);
}

/* Have the worker look again when the first of its times is over; called by itself.
 * If it was woken meanwhile it does so at once. */
static void set_timer(struct o2gk_dial *d)
{
	unsigned long until = d->try_until;
	bool limited = d->state == WAITING || d->state == CONNECTING;

	if (d->state == IDLE)
		return;
	if (d->a.timeout_ms && (!limited || time_after(until, d->deadline)))
		until = d->deadline;
	else if (!limited)
		return;
	queue_delayed_work(d->reach->wq, &d->work,
			   time_after(until, jiffies) ? until - jiffies : 0);
}

static void begin(struct o2gk_dial *d, unsigned int after_ms)
{
	d->state = WAITING;
	d->err = -ETIMEDOUT;
	d->noes = 0;
	d->pause_ms = RETRY_MS;
	d->try_until = jiffies + msecs_to_jiffies(after_ms);
	d->deadline = jiffies + msecs_to_jiffies(d->a.timeout_ms);
	wake(&d->call);
}

static void end(struct o2gk_dial *d, int err)
{
	o2gk_call_close(&d->call);
	d->state = IDLE;
	if (!d->a.dialled)
		return;
	d->a.dialled->err = err;
	complete(&d->a.dialled->done);
	d->a.dialled = NULL;
}

/* Whoever is there does not want us, and will not later. */
static bool is_no(int err)
{
	switch (err) {
	case -EBADMSG:
	case -EPROTO:
	case -EKEYREJECTED:
	case -ENXIO:
	case -ESTALE:
		return true;
	default:
		return false;
	}
}

/* This try has failed. */
static void fail(struct o2gk_dial *d, int err)
{
	o2gk_call_close(&d->call);
	d->err = err;
	d->noes = is_no(err) ? d->noes + 1 : 0;
	d->state = WAITING;
	d->try_until = jiffies + msecs_to_jiffies(d->pause_ms);
	d->pause_ms = min(2 * d->pause_ms, RETRY_MOST_MS);
}

/* --- one try --- */

static int try_connect(struct o2gk_dial *d)
{
	struct sockaddr_storage to;
	struct socket *sock;
	int err = o2gk_call_socket(d->reach->net, d->a.to.ss_family, &sock);

	/* All that may fail comes before the peer takes us for connected. */
	if (!err)
		err = o2gk_call_file(sock);
	if (!err)
		err = o2gk_call_open(&d->call, sock);
	if (err)
		return err;
	/* A program of BPF may write to it. */
	to = d->a.to;
	err = kernel_connect(sock, (void *)&to, d->a.to_len, O_NONBLOCK);
	return err == -EINPROGRESS ? 0 : err;
}

static void start(struct o2gk_dial *d)
{
	int err;

	d->state = CONNECTING;
	d->try_until = jiffies + msecs_to_jiffies(TRY_MS);
	err = try_connect(d);
	if (err)
		fail(d, err);
}

static int answer(struct o2gk_dial *d)
{
	const struct o2gk_reach *r = d->reach;
	struct o2gk_call *c = &d->call;
	int err = o2gk_hello_check_challenge(&c->challenge);

	if (!err)
		err = o2gk_hello_answer(&r->key, &c->challenge, r->rank,
					d->a.peer, r->host, &c->answer);
	if (!err)
		err = o2gk_call_send(c->sock, &c->answer, sizeof(c->answer));
	return err;
}

/* 0: the socket is the owner's. */
static int obey(struct o2gk_dial *d)
{
	struct o2gk_call *c = &d->call;
	int err = o2gk_hello_check_verdict(&d->reach->key, &c->challenge,
					   &c->answer, &c->verdict);

	if (err)
		return err;
	switch (le32_to_cpu(c->verdict.code)) {
	case TCP_ACCEPTED:
		return o2gk_reach_attach(d->reach, d->a.peer,
					 o2gk_call_take(c));
	case TCP_GONE:
		return -ESTALE;
	case TCP_NOT_ME:
		return -ENXIO;
	default:
		return -EALREADY; /* it is connecting to us */
	}
}

/* What has come is read, and answered. */
static int listen_to_it(struct o2gk_dial *d)
{
	struct o2gk_call *c = &d->call;
	int got;

	if (d->state == CONNECTING) {
		got = o2gk_call_read(c, &c->challenge, sizeof(c->challenge));
		if (got > 0)
			got = answer(d);
		else if (!got)
			return 0;
		if (got)
			return got;
		d->state = ANSWERED;
	}
	got = o2gk_call_read(c, &c->verdict, sizeof(c->verdict));
	if (got == -ECONNRESET)
		return -EKEYREJECTED; /* a wrong answer gets no verdict */
	if (got <= 0)
		return got;
	got = obey(d);
	if (!got)
		end(d, 0);
	return got;
}

/* --- the worker --- */

static bool is_over(const struct o2gk_dial *d)
{
	return d->a.timeout_ms && !time_after(d->deadline, jiffies);
}

static bool is_refused(const struct o2gk_dial *d)
{
	return d->a.dialled && d->noes >= NOES;
}

/* A pause is over: is there still something to do? */
static void try_again(struct o2gk_dial *d)
{
	struct o2gk_reach *r = d->reach;

	switch (r->ops->state(r->owner, d->a.peer)) {
	case O2GK_REACH_NONE:
		start(d);
		break;
	case O2GK_REACH_HAS: /* it has called us */
		end(d, 0);
		break;
	default:
		end(d, -ECONNRESET);
	}
}

static void advance(struct o2gk_dial *d)
{
	int err = 0;

	if (d->state >= CONNECTING)
		err = listen_to_it(d);
	if (d->state == CONNECTING && !err &&
	    !time_after(d->try_until, jiffies))
		err = -ETIMEDOUT;
	if (err)
		fail(d, err);
	if (d->state != IDLE && (is_over(d) || is_refused(d)))
		end(d, d->err);
	if (d->state == WAITING && !time_after(d->try_until, jiffies))
		try_again(d);
	set_timer(d);
}

static void dial_work(struct work_struct *work)
{
	struct o2gk_dial *d = container_of(work, struct o2gk_dial, work.work);
	struct o2gk_reach *r = d->reach;
	struct o2gk_reach_scope scope;

	o2gk_reach_enter(r, &scope);
	if (!d->stopped && !r->closing)
		advance(d);
	o2gk_reach_leave(r, &scope);
}

/* --- from outside --- */

static struct o2gk_dial *new_dial(struct o2gk_reach *r,
				  const struct o2gk_dialling *a)
{
	struct mem_cgroup *before = set_active_memcg(r->memcg);
	struct o2gk_dial *d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);

	set_active_memcg(before);
	if (!d)
		return NULL;
	d->reach = r;
	d->a = *a;
	d->call.wake = wake;
	INIT_DELAYED_WORK(&d->work, dial_work);
	return d;
}

/* An idle one, that is not for ever, is used again. */
static int add(struct o2gk_reach *r, struct o2gk_dial **new)
{
	struct o2gk_dial *d = find(r, (*new)->a.peer);

	if (r->closing)
		return -ESHUTDOWN;
	if (d && (d->state != IDLE || d->a.again))
		return -EALREADY;
	if (d) {
		d->a = (*new)->a;
	} else {
		swap(d, *new);
		list_add_tail(&d->link, &r->dials);
	}
	begin(d, 0);
	return 0;
}

int o2gk_reach_dial(struct o2gk_reach *r, const struct o2gk_dialling *a)
{
	struct o2gk_dial *d = new_dial(r, a);
	int err;

	if (!d)
		return -ENOMEM;
	mutex_lock(&r->mutex);
	err = add(r, &d);
	mutex_unlock(&r->mutex);
	kfree(d);
	return err;
}

/* It is on no list any more. Callbacks may be on their way until a grace period is over. */
static void stop(struct o2gk_dial *d)
{
	synchronize_rcu();
	cancel_delayed_work_sync(&d->work);
	kfree(d);
}

/* With the mutex: nothing is done for it from now on. */
static void take_out(struct o2gk_dial *d)
{
	end(d, -ESHUTDOWN);
	d->stopped = true;
	list_del(&d->link);
}

int o2gk_reach_dial_stop(struct o2gk_reach *r, u32 peer)
{
	struct o2gk_dial *d;

	mutex_lock(&r->mutex);
	d = find(r, peer);
	if (d)
		take_out(d);
	mutex_unlock(&r->mutex);
	if (!d)
		return -ENOENT;
	stop(d);
	return 0;
}

void o2gk_dial_stop_all(struct o2gk_reach *r)
{
	struct o2gk_dial *d;

	for (;;) {
		mutex_lock(&r->mutex);
		d = list_first_entry_or_null(&r->dials, struct o2gk_dial, link);
		if (d)
			take_out(d);
		mutex_unlock(&r->mutex);
		if (!d)
			break;
		stop(d);
	}
}

void o2gk_dial_again(struct o2gk_reach *r)
{
	struct o2gk_dial *d;

	lockdep_assert_held(&r->mutex);
	list_for_each_entry(d, &r->dials, link)
		if (d->state == IDLE && d->a.again &&
		    r->ops->state(r->owner, d->a.peer) == O2GK_REACH_NONE)
			begin(d, RETRY_MS);
}

/* What becomes of the other call is seen after the pause. */
bool o2gk_dial_yields(struct o2gk_reach *r, u32 peer)
{
	struct o2gk_dial *d = find(r, peer);

	if (!d || d->state < CONNECTING)
		return true;
	if (d->state == ANSWERED && r->rank < peer)
		return false;
	fail(d, -EALREADY);
	wake(&d->call);
	return true;
}
