/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The child of a fork has a copy of its parent's endpoints, but the connections
 * and rings stay the parent's, and so do its threads: a call that used them would
 * hang, or take what is meant for the parent. In a child, every endpoint therefore
 * has this table, whose calls fail.
 */
#include <stdlib.h>
#include <unistd.h>

#include "log.h"
#include "user.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct user_ep *all;

/* Where nothing can be answered that the caller would look at. */
static _Noreturn void give_up(void)
{
	o2g_error("%s", o2g_strerror(-O2G_ERR_FORKED));
	_exit(1);
}

static void no_close(struct o2g_ep *ep)
{
}

static void no_secret(struct o2g_ep *ep, const unsigned char *secret)
{
}

static int no_address(struct o2g_ep *ep, char *address, size_t size)
{
	return -O2G_ERR_FORKED;
}

static int no_isend(struct o2g_ep *ep, int peer, u64 tag,
		    const struct o2g_seg *segs, unsigned nsegs, unsigned flags,
		    struct o2g_req **req)
{
	return -O2G_ERR_FORKED;
}

static int no_inject(struct o2g_ep *ep, int peer, u64 tag, const void *buf,
		     size_t len)
{
	return -O2G_ERR_FORKED;
}

static int no_send(struct o2g_ep *ep, int peer, u64 tag, const void *buf,
		   size_t len, unsigned flags)
{
	return -O2G_ERR_FORKED;
}

static int no_irecv(struct o2g_ep *ep, int source, u64 tag, u64 ignore,
		    const struct o2g_seg *segs, unsigned nsegs,
		    struct o2g_req **req)
{
	return -O2G_ERR_FORKED;
}

static int no_recv(struct o2g_ep *ep, int source, u64 tag, u64 ignore,
		   void *buf, size_t len, struct o2g_status *status)
{
	return -O2G_ERR_FORKED;
}

static int no_cancel(struct o2g_req *req)
{
	return -O2G_ERR_FORKED;
}

static int no_probe(struct o2g_ep *ep, int source, u64 tag, u64 ignore,
		    bool block, struct o2g_msg **msg, struct o2g_status *status)
{
	return -O2G_ERR_FORKED;
}

static int no_imrecv(struct o2g_msg *msg, const struct o2g_seg *segs,
		     unsigned nsegs, struct o2g_req **req)
{
	return -O2G_ERR_FORKED;
}

static int no_test(struct o2g_req *req, struct o2g_status *status)
{
	give_up();
}

static void no_detach(struct o2g_req *req)
{
}

static int no_wait(struct o2g_req *req, struct o2g_status *status)
{
	give_up();
}

static int no_wait_all(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		       struct o2g_status *statuses)
{
	give_up();
}

static int no_wait_until(struct o2g_ep *ep, int (*cond)(void *), void *arg,
			 int64_t timeout_us)
{
	if (!cond(arg))
		give_up();
	return 0;
}

static int no_wait_shared(struct o2g_ep *ep, int (*cond)(void *), void *arg,
			  unsigned *asleep)
{
	give_up();
}

static void no_on_done(struct o2g_req *req, void (*fn)(void *), void *arg)
{
}

static int no_after(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		    struct o2g_work *work)
{
	give_up();
}

static int no_nudge(struct o2g_ep *ep, const int *peers, size_t n)
{
	return -O2G_ERR_FORKED;
}

static int no_progress(struct o2g_ep *ep)
{
	give_up();
}

static int no_fd(struct o2g_ep *ep)
{
	return -O2G_ERR_FORKED;
}

static void no_fd_clear(struct o2g_ep *ep)
{
}

static int no_register(struct o2g_ep *ep, void *base, size_t len,
		       unsigned access, struct o2g_mem **mem,
		       struct o2g_key *key)
{
	return -O2G_ERR_FORKED;
}

static void no_deregister(struct o2g_mem *mem)
{
}

static int no_rma(struct o2g_ep *ep, bool put, int peer,
		  const struct o2g_seg *segs, unsigned nsegs,
		  const struct o2g_key *key, u64 offset, struct o2g_req **req)
{
	return -O2G_ERR_FORKED;
}

static int no_peer_info(struct o2g_ep *ep, int peer, struct o2g_peer_info *info)
{
	return -O2G_ERR_FORKED;
}

static int no_ep_info(struct o2g_ep *ep, struct o2g_ep_info *info)
{
	return -O2G_ERR_FORKED;
}

static int no_peer_error(struct o2g_ep *ep, int peer, char *text, size_t size)
{
	return -O2G_ERR_FORKED;
}

static const struct eng_ops forked_ops = {
	.name = "forked",
	.close = no_close,
	.set_secret = no_secret,
	.address = no_address,
	.isend = no_isend,
	.inject = no_inject,
	.send = no_send,
	.irecv = no_irecv,
	.recv = no_recv,
	.cancel = no_cancel,
	.probe = no_probe,
	.imrecv = no_imrecv,
	.test = no_test,
	.is_done = user_is_done,
	.peek_status = user_peek_status,
	.detach = no_detach,
	.wait = no_wait,
	.wait_all = no_wait_all,
	.wait_errors = no_wait_all,
	.wait_until = no_wait_until,
	.wait_shared = no_wait_shared,
	.on_done = no_on_done,
	.after = no_after,
	.nudge = no_nudge,
	.losses = user_losses,
	.progress = no_progress,
	.fd = no_fd,
	.fd_clear = no_fd_clear,
	.mem_register = no_register,
	.mem_deregister = no_deregister,
	.rma = no_rma,
	.peer_info = no_peer_info,
	.ep_info = no_ep_info,
	.peer_error = no_peer_error,
};

static void in_child(void)
{
	for (struct user_ep *ep = all; ep; ep = ep->next_open)
		ep->eng.ops = &forked_ops;
	all = NULL; /* what the child opens is its own */
	pthread_mutex_init(&lock, NULL);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

void user_forked_add(struct user_ep *ep)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&lock);
	ep->next_open = all;
	all = ep;
	pthread_mutex_unlock(&lock);
}

void user_forked_del(struct user_ep *ep)
{
	struct user_ep **at = &all;

	pthread_mutex_lock(&lock);
	while (*at && *at != ep)
		at = &(*at)->next_open;
	if (*at)
		*at = ep->next_open;
	pthread_mutex_unlock(&lock);
}
