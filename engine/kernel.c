/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The driver: opened, given sockets, closed; and what it is as a carrier. */
#include "kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "async.h"
#include "channels.h"
#include "driver_info.h"
#include "log.h"
#include "mem.h"
#include "settings.h"
#include "uapi/o2g.h"

#define SQ_ENTRIES 1024
#define CQ_ENTRIES 4096
#define DUMP (4u << 20) /* 20,000 short messages that nobody asked for */
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

static int set_up(struct kern *k, const struct o2g_attr *attr)
{
	const struct o2g_settings *set = o2g_settings();
	struct o2gd_setup s = {
		.version = O2GD_VERSION,
		.rank = (u32)attr->rank,
		.size = (u32)attr->size,
		.sq_entries = SQ_ENTRIES,
		.cq_entries = CQ_ENTRIES,
		.dump_size = DUMP,
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
	case -EUSERS:
	case -EDQUOT:
		return "; this user has as many endpoints, or as much memory in them, as the driver allows";
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

int kern_open(const struct o2g_attr *attr, struct kern **kern)
{
	struct kern *k = calloc(1, sizeof(*k));
	int err = k ? open_device(k, attr) : -ENOMEM;

	if (err)
		free(k);
	else
		*kern = k;
	return err;
}

void kern_free(struct kern *k)
{
	if (k)
		close_device(k);
	free(k);
}

int kern_attach(struct o2g_ep *ep)
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

void kern_detach(struct o2g_ep *ep)
{
	struct kern *k = ep->kern;
	u32 ms = BYE_MS;

	kern_batch_flush(ep);
	kern_batch_cleanup(ep);
	kern_call(k, O2GD_BYE, &ms);
	chan_watch_del(k->chan.ep, &k->watch);
	close_device(k);
	kern_end_all(ep);
}

/* --- peers --- */

static int take_socket(struct o2g_ep *ep, struct eng_peer *p, int fd)
{
	struct o2gd_socket s = { .peer = p->cp.core.rank, .fd = fd };
	int err = kern_call(ep->kern, O2GD_SOCKET, &s);

	if (err < 0) {
		o2g_warn("the driver refuses the connection to rank %u: %s",
			 s.peer, strerror(-err));
		return err;
	}
	p->handed = true;
	ep->kern->sockets++;
	return 0;
}

/*
 * To the program a small message is sent when the driver has it. What is left then
 * is for a peer whose connection we have not made yet, or waits for credit.
 */
static bool waits_for_socket(const struct o2g_ep *ep, struct eng_peer *p)
{
	struct o2gd_peer_info i = { .peer = p->cp.core.rank };

	if (p->lost || p->handed || carrier_of(ep, p) != &driver_carrier)
		return false;
	return !kern_call(ep->kern, O2GD_PEER_INFO, &i) && i.queued;
}

static bool waits_for_credit(const struct eng_req *r)
{
	return r->in_driver && r->detached && r->core.kind == O2G_REQ_SEND;
}

static bool all_sent(const struct o2g_ep *ep)
{
	struct eng_peer *p;

	for (u32 i = 0; i < ep->nslabs; i++)
		for (u32 j = 0; j < ENG_SLAB; j++)
			if (waits_for_credit(&ep->slabs[i][j]))
				return false;
	eng_for_each_peer(p, ep)
		if (waits_for_socket(ep, p))
			return false;
	return true;
}

/* A socket to every rank that is not reached by memory? */
static bool has_all(const struct o2g_ep *ep)
{
	unsigned near = eng_channels_local(ep) ? ep->local_size : 1;

	return ep->kern->sockets >= (unsigned)ep->size - near;
}

static void gone(struct o2g_ep *ep, struct eng_peer *p)
{
	u32 rank = p->cp.core.rank;

	if (ep->kern->fd >= 0 && rank != (u32)ep->rank)
		kern_call(ep->kern, O2GD_PEER_DOWN, &rank);
}

/* --- the rest of what a carrier does --- */

static int grow(struct o2g_ep *ep, u32 slots)
{
	return kern_call(ep->kern, O2GD_GROW, &slots);
}

/* The progress thread is to be there for callbacks. */
static void called_back(struct o2g_ep *ep, struct eng_req *r)
{
	ep->kern->callbacks++;
	r->counted = true;
	eng_async_want(ep);
}

static int mem_add(struct o2g_ep *ep, const struct o2g_mem *mem)
{
	struct o2gd_mem m = { .addr = (uintptr_t)mem->base,
			      .len = mem->len,
			      .key = mem->key };

	m.access = (mem->access & O2G_READ ? O2GD_READ : 0) |
		   (mem->access & O2G_WRITE ? O2GD_WRITE : 0);
	return kern_call(ep->kern, O2GD_MEM_ADD, &m);
}

static void mem_drop(struct o2g_ep *ep, const struct o2g_mem *mem)
{
	__u64 key = mem->key;

	kern_call(ep->kern, O2GD_MEM_DROP, &key);
}

static void peer_info(struct o2g_ep *ep, const struct eng_peer *p,
		      struct o2g_peer_info *info)
{
	struct o2gd_peer_info d = { .peer = p->cp.core.rank };

	if (kern_call(ep->kern, O2GD_PEER_INFO, &d))
		return;
	info->messages_sent += d.messages_sent;
	info->bytes_sent += d.bytes_sent;
	info->messages_received += d.messages_received;
	info->bytes_received += d.bytes_received;
}

static void ep_info(struct o2g_ep *ep, struct o2g_ep_info *info)
{
	struct o2gd_info d;

	if (driver_info(ep->kern->fd, 0, O2GD_ANY, &d))
		return;
	info->posted += d.posted;
	info->unexpected += d.unexpected;
	info->unexpected_bytes += d.unexpected_bytes;
	info->unexpected_peak += d.unexpected_peak;
}

const struct carrier driver_carrier = {
	.send = kern_send,
	.inject = kern_inject,
	.post = kern_post,
	.rma = kern_rma,
	.probe = kern_probe,
	.mrecv = kern_mrecv,
	.next_served = kern_next_served,
	.claim = kern_claim,
	.cancel = kern_cancel,
	.called_back = called_back,
	.give_up = kern_give_up,
	.grow = grow,
	.all_sent = all_sent,
	.mem_add = mem_add,
	.mem_drop = mem_drop,
	.take_socket = take_socket,
	.has_all = has_all,
	.gone = gone,
	.peer_info = peer_info,
	.ep_info = ep_info,
};
