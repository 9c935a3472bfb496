// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A mount, and its connections. The worker of a session closes a connection that is
 * lost and makes another; it tries for as long as the mount is there.
 *
 * For the server a session is its uuid. One that it does not know any more, after
 * it has lost what it keeps of its clients, is dead: its fids are gone, and only a
 * new mount helps.
 */
#include "o2gfs.h"

#include <linux/err.h>
#include <linux/random.h>
#include <linux/slab.h>

#define CONNECT_MS 5000
#define MOUNT_MS 15000
#define HELLO_S 10

struct workqueue_struct *o2gfs_wq;

/* --- what O2G tells us --- */

static void lost(struct o2gk_ep *ep, void *private, u32 peer, int error)
{
	o2gfs_session_break(private);
}

static bool unposted(struct o2gk_ep *ep, void *private,
		     const struct o2gk_msg *msg)
{
	o2gfs_rpc_late(private, msg->tag);
	return true;
}

static const struct o2gk_owner owner = { .lost = lost, .unposted = unposted };

/* --- a connection; one at a time makes or closes it --- */

static struct o2gk_ep *open_endpoint(struct o2gfs_session *s)
{
	struct o2gk_config config = {
		.rank = 1 + get_random_u32() % (FS_RANKS - 1),
		.size = FS_RANKS,
		.gfp = GFP_NOFS,
		.secret = s->secret,
		.job = FS_JOB,
	};

	return o2gk_open(s->net, &config, &owner, s);
}

/* Both have ended when this returns. */
static int wait_both(struct o2gk_ep *ep, struct o2gfs_rpc *rpc)
{
	int err = o2gk_wait(ep, &rpc->recv, HELLO_S * HZ);

	if (err == -ETIME || err == -EINTR) {
		o2gk_disconnect(ep, FS_SERVER_RANK);
		o2gk_wait_end(ep, &rpc->recv);
	}
	o2gk_wait_end(ep, &rpc->send);
	return err;
}

/* The two messages before all others, with the memory of an rpc. */
static int say_hello(struct o2gk_ep *ep, struct o2gfs_rpc *rpc,
		     const struct fs_hello *hello, struct fs_welcome *welcome)
{
	struct o2gk_seg out = { .kind = O2GK_KERNEL,
				.addr = (void *)hello,
				.length = sizeof(*hello) };
	struct o2gk_seg in = { .kind = O2GK_KERNEL,
			       .addr = welcome,
			       .length = sizeof(*welcome) };
	int err;

	rpc->recv.done = rpc->send.done = NULL;
	rpc->recv.flags = rpc->send.flags = 0;
	err = o2gk_irecv(ep, FS_SERVER_RANK, FS_TAG_SESSION, ~0ull, &in, 1,
			 &rpc->recv);
	if (err)
		return err;
	err = o2gk_isend(ep, FS_SERVER_RANK, FS_TAG_SESSION, &out, 1,
			 &rpc->send);
	if (err) {
		o2gk_cancel(ep, &rpc->recv);
		o2gk_wait_end(ep, &rpc->recv);
		return err;
	}
	err = wait_both(ep, rpc);
	if (!err && rpc->recv.message != sizeof(*welcome))
		err = -EPROTO;
	return err;
}

/* Under the gate or before anybody else knows it: the server's answer is good for us. */
static int take_welcome(struct o2gfs_session *s, const struct fs_welcome *w)
{
	u32 status = le32_to_cpu(w->status), msize = le32_to_cpu(w->msize);
	bool first = !s->stats.connections;

	if (status)
		return status > MAX_ERRNO ? -EPROTO : -(int)status;
	if (msize < FS_MSIZE_MIN)
		return -EPROTO;
	if (!first && !le32_to_cpu(w->known))
		return -ESTALE;
	if (first)
		s->client->msize = min(s->client->msize, msize);
	s->epoch = le64_to_cpu(w->epoch);
	return 0;
}

static int greet(struct o2gfs_session *s, struct o2gk_ep *ep)
{
	struct o2gfs_rpc *rpc = o2gfs_rpc_alloc(s, NULL);
	struct {
		struct fs_hello hello;
		struct fs_welcome welcome;
	} *m = kzalloc(sizeof(*m), GFP_NOFS);
	int err = -ENOMEM;

	if (!m)
		goto out;
	memcpy(m->hello.uuid, s->uuid, FS_UUID_SIZE);
	m->hello.version = cpu_to_le32(FS_VERSION);
	m->hello.msize = cpu_to_le32(s->client->msize);
	err = say_hello(ep, rpc, &m->hello, &m->welcome);
	if (!err)
		err = take_welcome(s, &m->welcome);
	kfree(m);
out:
	o2gfs_rpc_free(rpc);
	return err;
}

static void publish(struct o2gfs_session *s, struct o2gk_ep *ep)
{
	down_write(&s->gate);
	spin_lock_bh(&s->lock);
	s->ep = ep;
	s->heard = jiffies;
	s->stats.connections++;
	spin_unlock_bh(&s->lock);
	up_write(&s->gate);
	wake_up_all(&s->wait);
}

static int connect(struct o2gfs_session *s, unsigned int ms)
{
	struct o2gk_ep *ep = open_endpoint(s);
	int err;

	if (IS_ERR(ep))
		return PTR_ERR(ep);
	WRITE_ONCE(s->broken, false);
	err = o2gk_connect(ep, FS_SERVER_RANK, (struct sockaddr *)&s->from.addr,
			   s->from.addr.ss_family == AF_INET ?
				   sizeof(struct sockaddr_in) :
				   sizeof(struct sockaddr_in6),
			   ms);
	if (!err)
		err = greet(s, ep);
	if (err) {
		o2gk_close(ep);
		return err;
	}
	publish(s, ep);
	return 0;
}

/* All that needed it ends, and waits for the next. */
static void disconnect(struct o2gfs_session *s)
{
	struct o2gk_ep *ep;

	down_write(&s->gate);
	spin_lock_bh(&s->lock);
	ep = s->ep;
	s->ep = NULL;
	spin_unlock_bh(&s->lock);
	up_write(&s->gate);
	if (ep)
		o2gk_close(ep);
	o2gfs_rpc_forget(s);
}

/* --- the worker --- */

static bool is_dead(struct o2gfs_session *s)
{
	return READ_ONCE(s->dead);
}

static void die(struct o2gfs_session *s, int error)
{
	spin_lock_bh(&s->lock);
	if (!s->dead)
		s->dead = error;
	spin_unlock_bh(&s->lock);
	wake_up_all(&s->wait);
	o2gfs_rpc_end_waiting(s, error);
}

/* Once for each reason. */
static void say_why(struct o2gfs_session *s, int err)
{
	if (err == s->said)
		return;
	s->said = err;
	if (err == -ESTALE)
		pr_err("9pnet_o2g: %pISpc does not know this mount any more: unmount it, and mount again\n",
		       &s->from.addr);
	else if (err)
		pr_warn("9pnet_o2g: %pISpc does not answer (%d); trying again\n",
			&s->from.addr, err);
	else
		pr_info("9pnet_o2g: %pISpc is back\n", &s->from.addr);
}

static void reconnect(struct o2gfs_session *s)
{
	unsigned long delay = min(HZ / 5 << min(s->tries, 5u), 5 * HZ);
	int err = connect(s, CONNECT_MS);

	if (err == -ESTALE) {
		say_why(s, err);
		die(s, err);
	} else if (err) {
		/* The first time it may just be starting again. */
		if (s->tries++)
			say_why(s, err);
		o2gfs_session_kick(s, delay);
	} else {
		if (s->said)
			say_why(s, 0);
		s->tries = 0;
	}
}

static void work(struct work_struct *work)
{
	struct o2gfs_session *s =
		container_of(to_delayed_work(work), struct o2gfs_session, work);

	if (!READ_ONCE(s->mounted))
		return;
	if (READ_ONCE(s->broken))
		disconnect(s);
	if (is_dead(s)) {
		o2gfs_rpc_end_waiting(s, s->dead);
		return;
	}
	if (!s->ep)
		reconnect(s);
	if (s->ep)
		o2gfs_rpc_resend(s);
}

void o2gfs_session_kick(struct o2gfs_session *s, unsigned long delay)
{
	if (delay)
		queue_delayed_work(o2gfs_wq, &s->work, delay);
	else
		mod_delayed_work(o2gfs_wq, &s->work, 0);
}

void o2gfs_session_break(struct o2gfs_session *s)
{
	WRITE_ONCE(s->broken, true);
	o2gfs_session_kick(s, 0);
}

/* --- mounting --- */

static struct o2gfs_session *make(struct p9_client *client, struct net *net,
				  const struct o2gfs_source *from)
{
	struct o2gfs_session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	s->client = client;
	s->net = get_net(net);
	s->from = *from;
	get_random_bytes(s->uuid, sizeof(s->uuid));
	init_rwsem(&s->gate);
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->waiting);
	INIT_LIST_HEAD(&s->under_way);
	INIT_LIST_HEAD(&s->abandoned);
	INIT_LIST_HEAD(&s->known);
	init_waitqueue_head(&s->wait);
	INIT_DELAYED_WORK(&s->work, work);
	INIT_DELAYED_WORK(&s->watch, o2gfs_watch);
	return s;
}

static void destroy(struct o2gfs_session *s)
{
	put_net(s->net);
	kfree_sensitive(s);
}

struct o2gfs_session *o2gfs_session_open(struct p9_client *client,
					 struct net *net,
					 const struct o2gfs_source *from)
{
	struct o2gfs_session *s = make(client, net, from);
	int err;

	if (!s)
		return ERR_PTR(-ENOMEM);
	err = o2gfs_key_get(from->key, s->secret);
	if (!err) {
		err = connect(s, MOUNT_MS);
		if (err)
			pr_err("9pnet_o2g: cannot mount from %pISpc (%d)\n",
			       &from->addr, err);
	}
	if (err) {
		cancel_delayed_work_sync(&s->work);
		destroy(s);
		return ERR_PTR(err);
	}
	/* Until now the worker has left the connection to us. */
	WRITE_ONCE(s->mounted, true);
	o2gfs_session_kick(s, 0);
	o2gfs_look_add(s);
	return s;
}

void o2gfs_session_close(struct o2gfs_session *s)
{
	o2gfs_look_del(s);
	die(s, -ESHUTDOWN);
	cancel_delayed_work_sync(&s->work);
	disconnect(s);
	o2gfs_rpc_end_waiting(s, -ESHUTDOWN);
	/* What has ended just now may have asked for them, and one for the other. */
	cancel_delayed_work_sync(&s->watch);
	cancel_delayed_work_sync(&s->work);
	destroy(s);
}
