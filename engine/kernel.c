/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The kernel engine: opening the driver, giving it sockets, closing it. */
#include "kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "log.h"
#include "settings.h"
#include "uapi/o2g.h"

#define SQ_ENTRIES 1024
#define CQ_ENTRIES 4096
#define DUMP_MIN (4u << 20) /* 20,000 short messages that nobody asked for */
#define DUMP_PER_PEER (48u << 10) /* more than a peer may send unasked */
#define DUMP_MAX (64u << 20)
#define BYE_MS 2000

int kern_call(const struct kern *k, unsigned long request, void *arg)
{
	int ret;

	do
		ret = ioctl(k->fd, request, arg);
	while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

/* --- opening --- */

static u32 dump_size(const struct o2g_attr *attr)
{
	u64 want = (u64)attr->size * DUMP_PER_PEER;
	u64 limit = o2g_settings()->unexpected;

	if (want < DUMP_MIN)
		want = DUMP_MIN;
	if (want > DUMP_MAX)
		want = DUMP_MAX;
	if (want > limit && limit >= DUMP_MIN)
		want = limit;
	return (u32)((want + 65535) & ~65535ull);
}

static int set_up(struct kern *k, const struct o2g_attr *attr)
{
	const struct o2g_settings *set = o2g_settings();
	struct o2gd_setup s = {
		.version = O2GD_VERSION,
		.rank = (u32)attr->rank,
		.size = (u32)attr->size,
		.sq_entries = SQ_ENTRIES,
		.cq_entries = CQ_ENTRIES,
		.dump_size = dump_size(attr),
		.eager_max = set->tcp_eager,
		.data_chunk = set->tcp_chunk ? set->tcp_chunk : 1,
		.peer_budget = set->peer_budget,
	};
	int err = kern_call(k, O2GD_SETUP, &s);

	if (err)
		return err;
	k->map_size = s.map_size;
	k->map = mmap(NULL, k->map_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      k->fd, 0);
	if (k->map == MAP_FAILED)
		return -errno;
	k->shared = k->map;
	k->sq = (struct o2gd_sqe *)((char *)k->map + s.sq_off);
	k->sq_mask = SQ_ENTRIES - 1;
	k->cq = (struct o2gd_cqe *)((char *)k->map + s.cq_off);
	k->cq_mask = CQ_ENTRIES - 1;
	k->dump = (const char *)k->map + s.dump_off;
	return 0;
}

static void close_device(struct kern *k)
{
	if (k->map != MAP_FAILED)
		munmap(k->map, k->map_size);
	if (k->fd >= 0)
		close(k->fd);
	k->map = MAP_FAILED;
	k->fd = -1;
}

static const char *hint(int err)
{
	switch (err) {
	case -EPROTO:
		return "; the driver and this library are of different versions";
	case -ENOMEM:
		return "; raise the limit of locked memory with `ulimit -l`";
	default:
		return "";
	}
}

static int open_device(struct kern *k, const struct o2g_attr *attr)
{
	int err = -ENODEV;

	k->map = MAP_FAILED;
	k->fd = open(O2GD_DEVICE, O_RDWR | O_CLOEXEC);
	if (k->fd >= 0)
		err = set_up(k, attr);
	if (!err)
		return 0;
	o2g_warn("the driver cannot be used: %s%s", strerror(-err), hint(err));
	close_device(k);
	return err;
}

static const struct eng_ops kern_ops; /* below */

int kern_open(const struct o2g_attr *attr, struct o2g_ep **ep)
{
	struct kern *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	err = open_device(k, attr);
	if (!err) {
		err = user_open_as(&kern_ops, k, attr, ep);
		if (!err)
			return 0;
		close_device(k);
	} else if (!strcmp(o2g_settings()->engine, "auto")) {
		err = user_open(attr, ep);
	}
	free(k);
	return err;
}

int kern_attach(struct user_ep *ep)
{
	struct kern *k = ep->kern;

	k->chan.ops = &kern_chan_ops;
	k->chan.ep = (struct chan_ep *)ep;
	k->watch.fd = k->fd;
	k->watch.ready = kern_ready;
	ep->chans[ep->nchans++] = &k->chan;
	kern_batch_init(ep);
	return chan_watch_add(k->chan.ep, &k->watch, EPOLLIN | EPOLLET);
}

void kern_detach(struct user_ep *ep)
{
	struct kern *k = ep->kern;
	u32 ms = BYE_MS;

	kern_batch_flush(ep);
	kern_batch_cleanup(ep);
	kern_call(k, O2GD_BYE, &ms);
	chan_watch_del(k->chan.ep, &k->watch);
	close_device(k);
}

int kern_grow(struct user_ep *ep, u32 slots)
{
	return kern_call(ep->kern, O2GD_GROW, &slots);
}

/* --- peers --- */

int kern_take_socket(struct user_ep *ep, struct chan_peer *p, int fd)
{
	struct o2gd_socket s = { .peer = p->core.rank, .fd = fd };
	int err = kern_call(ep->kern, O2GD_SOCKET, &s);

	if (err < 0) {
		o2g_warn(
			"the driver does not take the connection to rank %u: %s",
			p->core.rank, strerror(-err));
		return err;
	}
	container_of(p, struct user_peer, cp)->handed = true;
	ep->kern->sockets++;
	return 0;
}

/*
 * To the program a small message is sent when the driver has it. What is left then
 * is for a peer whose connection we have not made yet, or waits for credit.
 */
static bool waits_for_socket(const struct user_ep *ep, struct user_peer *p)
{
	struct o2gd_peer_info i = { .peer = p->cp.core.rank };

	if (p->lost || p->handed || !kern_carries(ep, p))
		return false;
	return !kern_call(ep->kern, O2GD_PEER_INFO, &i) && i.queued;
}

static bool waits_for_credit(const struct user_req *r)
{
	return r->in_driver && r->detached && r->core.kind == O2G_REQ_SEND;
}

bool kern_all_sent(const struct user_ep *ep)
{
	for (u32 i = 0; i < ep->nslabs; i++)
		for (u32 j = 0; j < USER_SLAB; j++)
			if (waits_for_credit(&ep->slabs[i][j]))
				return false;
	for (int i = 0; i < ep->eng.size; i++)
		if (ep->peers[i] && waits_for_socket(ep, ep->peers[i]))
			return false;
	return true;
}

bool kern_has_all(const struct user_ep *ep)
{
	unsigned wanted = (unsigned)ep->eng.size - 1;

	for (unsigned i = 0; i < ep->nchans; i++)
		if (!strcmp(ep->chans[i]->ops->name, "shm"))
			wanted = (unsigned)ep->eng.size - ep->local_size;
	return ep->kern->sockets >= wanted;
}

void kern_peer_lost(struct user_ep *ep, u32 rank)
{
	if (ep->kern->fd >= 0 && rank != (u32)ep->eng.rank)
		kern_call(ep->kern, O2GD_PEER_DOWN, &rank);
}

bool kern_carries(const struct user_ep *ep, const struct user_peer *p)
{
	return p->cp.chan && p->cp.chan->hands_over;
}

/* --- the calls --- */

static void kern_close(struct o2g_ep *o)
{
	struct kern *k = user_of(o)->kern;

	user_close(o);
	free(k);
}

static const struct eng_ops kern_ops = {
	.name = "kernel",
	.close = kern_close,
	.set_secret = user_set_secret,
	.address = user_address,
	.isend = kern_isend,
	.inject = kern_inject,
	.send = kern_send,
	.irecv = kern_irecv,
	.recv = kern_recv,
	.cancel = kern_cancel,
	.probe = kern_probe,
	.imrecv = kern_imrecv,
	.test = user_test,
	.is_done = user_is_done,
	.peek_status = user_peek_status,
	.detach = user_detach,
	.wait = user_wait,
	.wait_all = user_wait_all,
	.wait_errors = user_wait_errors,
	.wait_until = user_wait_until,
	.wait_shared = user_wait_shared,
	.on_done = kern_on_done,
	.after = user_after,
	.nudge = user_nudge,
	.losses = user_losses,
	.progress = user_progress,
	.fd = user_fd,
	.fd_clear = user_fd_clear,
	.mem_register = kern_mem_register,
	.mem_deregister = kern_mem_deregister,
	.rma = kern_rma,
	.peer_info = kern_peer_info,
	.ep_info = kern_ep_info,
	.peer_error = user_peer_error,
};
