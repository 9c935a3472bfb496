// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The server: a thread that does what it is told, and a handler that returns balls. */
#include "kapi.h"

#include <linux/err.h>
#include <linux/inet.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#define BALL 4096 /* bytes of one at most */

struct kapi_server {
	struct o2gk_ep *ep;
	struct task_struct *thread;
	int port;
	bool ending;
	struct o2gk_request in, out, ball;
	bool playing;
	char bytes[BALL];
	struct delayed_work die;
	atomic_t callers; /* that have come so far; of the last order: */
	int caller;
	struct kapi_mem *open; /* what is registered */
	u64 key;
};

/* --- balls: answered where they arrive --- */

static void returned(struct o2gk_request *req)
{
	struct kapi_server *s = req->context;

	WRITE_ONCE(s->playing, false);
}

static bool unposted(struct o2gk_ep *ep, void *private,
		     const struct o2gk_msg *msg)
{
	struct kapi_server *s = private;
	struct o2gk_seg seg = { .kind = O2GK_KERNEL,
				.addr = s->bytes,
				.length = msg->length };

	if (msg->tag != KAPI_TAG_BALL || !msg->data || msg->length > BALL ||
	    READ_ONCE(s->playing))
		return false;
	memcpy(s->bytes, msg->data, msg->length);
	s->playing = true;
	s->ball = (struct o2gk_request){ .done = returned,
					 .context = s,
					 .flags = O2GK_ATOMIC };
	if (o2gk_isend(ep, msg->source, KAPI_TAG_BACK, &seg, 1, &s->ball))
		s->playing = false;
	return true;
}

static void connected(struct o2gk_ep *ep, void *private, u32 peer)
{
	struct kapi_server *s = private;

	atomic_inc(&s->callers);
}

static const struct o2gk_owner owner = { .connected = connected,
					 .unposted = unposted };

/* --- orders --- */

static int wait(struct kapi_server *s, struct o2gk_request *r)
{
	int err = o2gk_wait(s->ep, r, MAX_SCHEDULE_TIMEOUT);

	if (err == -EINTR || err == -ETIME) {
		o2gk_cancel(s->ep, r);
		o2gk_wait_end(s->ep, r);
	}
	return err;
}

static int echo(struct kapi_server *s, const struct kapi_order *o)
{
	struct kapi_mem *m = kapi_mem_new(o->kind, o->length, KAPI_SERVED);
	struct o2gk_seg *segs;
	unsigned int n;
	int err;

	/* What it does not have it does otherwise: the caller need not know. */
	if (IS_ERR(m))
		m = kapi_mem_new(KAPI_VMALLOC, o->length, KAPI_SERVED);
	if (IS_ERR(m))
		return PTR_ERR(m);
	segs = kapi_mem_segs(m, &n);
	memset(&s->in, 0, sizeof(s->in));
	memset(&s->out, 0, sizeof(s->out));
	/* One that has come back sends nothing for what it has ordered before. */
	err = s->caller == atomic_read(&s->callers) ?
		      o2gk_irecv(s->ep, CALLER, KAPI_TAG_DATA, ALL, segs, n,
				 &s->in) :
		      -ECONNRESET;
	if (!err)
		err = wait(s, &s->in);
	if (!err && s->in.length != o->length)
		err = -EMSGSIZE;
	if (!err)
		err = (o->flags & KAPI_SYNC ? o2gk_issend : o2gk_isend)(
			s->ep, CALLER, KAPI_TAG_ECHO, segs, n, &s->out);
	if (!err)
		err = wait(s, &s->out);
	kapi_mem_free(m);
	return err;
}

static void shut(struct kapi_server *s)
{
	if (s->open && o2gk_dereg(s->ep, s->key))
		kapi_err("its own key is not known\n");
	kapi_mem_free(s->open);
	s->open = NULL;
}

static int open_memory(struct kapi_server *s, const struct kapi_order *o)
{
	struct kapi_key key;
	struct o2gk_seg seg = { .kind = O2GK_KERNEL,
				.addr = &key,
				.length = sizeof(key) };
	struct o2gk_seg *segs;
	unsigned int n;
	int err;

	shut(s);
	s->open = kapi_mem_new(o->kind, o->length, KAPI_SERVED);
	if (IS_ERR(s->open))
		s->open = kapi_mem_new(KAPI_VMALLOC, o->length, KAPI_SERVED);
	err = PTR_ERR_OR_ZERO(s->open);
	if (!err) {
		segs = kapi_mem_segs(s->open, &n);
		err = o2gk_reg(s->ep, segs, n, O2GK_READ | O2GK_WRITE, &s->key);
	}
	if (err) {
		kapi_mem_free(s->open);
		s->open = NULL;
		return err;
	}
	key.key = s->key;
	memset(&s->out, 0, sizeof(s->out));
	err = o2gk_isend(s->ep, CALLER, KAPI_TAG_KEY, &seg, 1, &s->out);
	return err ? err : wait(s, &s->out);
}

static void die(struct work_struct *work)
{
	struct kapi_server *s =
		container_of(work, struct kapi_server, die.work);

	o2gk_disconnect(s->ep, CALLER);
}

static int obey(struct kapi_server *s, const struct kapi_order *o)
{
	switch (o->op) {
	case KAPI_ECHO:
		return echo(s, o);
	case KAPI_OPEN:
		return open_memory(s, o);
	case KAPI_SHUT:
		shut(s);
		return 0;
	case KAPI_DIE:
		schedule_delayed_work(&s->die, usecs_to_jiffies(o->length));
		return 0;
	default:
		return -EINVAL;
	}
}

static int serve(void *arg)
{
	struct kapi_server *s = arg;
	struct kapi_order order;
	struct o2gk_seg seg = { .kind = O2GK_KERNEL,
				.addr = &order,
				.length = sizeof(order) };
	int err;

	allow_signal(SIGKILL); /* how it is told to end */
	while (!READ_ONCE(s->ending)) {
		memset(&s->in, 0, sizeof(s->in));
		err = o2gk_irecv(s->ep, O2GK_ANY, KAPI_TAG_ORDER, ALL, &seg, 1,
				 &s->in);
		if (!err)
			err = wait(s, &s->in);
		s->caller = atomic_read(&s->callers);
		if (!err)
			err = obey(s, &order);
		/* A caller may go in the middle of it. */
		if (err && err != -ECONNRESET && err != -ENOTCONN &&
		    err != -EINTR && err != -ENOENT)
			kapi_err("the server: %d\n", err);
	}
	shut(s);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* --- from outside --- */

static int start(struct kapi_server *s, const struct o2gk_config *config,
		 struct net *net, const char *address, int port)
{
	struct o2gk_config c = *config;
	struct sockaddr_storage at;
	char text[8];
	int err;

	snprintf(text, sizeof(text), "%d", port);
	err = inet_pton_with_scope(&init_net, AF_UNSPEC, address, text, &at);
	if (err)
		return err;
	c.rank = SERVER;
	s->ep = o2gk_open(net, &c, &owner, s);
	if (IS_ERR(s->ep))
		return PTR_ERR(s->ep);
	INIT_DELAYED_WORK(&s->die, die);
	s->port = o2gk_listen(s->ep, (struct sockaddr *)&at, sizeof(at));
	err = s->port < 0 ? s->port : 0;
	if (!err) {
		s->thread = kthread_run(serve, s, "o2g_kapi");
		err = PTR_ERR_OR_ZERO(s->thread);
	}
	if (err)
		o2gk_close(s->ep);
	return err;
}

struct kapi_server *kapi_serve(const struct o2gk_config *config,
			       struct net *net, const char *address, int port)
{
	struct kapi_server *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int err;

	if (!s)
		return ERR_PTR(-ENOMEM);
	err = start(s, config, net, address, port);
	if (!err)
		return s;
	kfree(s);
	return ERR_PTR(err);
}

int kapi_server_port(const struct kapi_server *s)
{
	return s->port;
}

/* In the middle of whatever it does. */
void kapi_serve_end(struct kapi_server *s)
{
	if (IS_ERR_OR_NULL(s))
		return;
	WRITE_ONCE(s->ending, true);
	send_sig(SIGKILL, s->thread, 1);
	kthread_stop(s->thread);
	cancel_delayed_work_sync(&s->die);
	o2gk_close(s->ep);
	kfree(s);
}
