/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The channel to oneself: a packet is received inside the call that sends it.
 * Large messages go by rendezvous and "get", here a plain copy.
 */
#include "channels.h"
#include "mem.h"

#define VIEW_PIECE 8192

static int self_connect(struct chan *c, struct chan_peer *p, const char *card)
{
	struct o2g_ep *ep = ep_of_chan(c->ep);

	p->core.eager_max = 64 << 10;
	p->core.can_get = true;
	memcpy(p->host, ep->host, sizeof(p->host));
	return 0;
}

static void copy_segs(struct o2g_sink *to, const struct o2g_req *req, u64 off,
		      u64 len)
{
	while (len) {
		struct o2g_seg piece;
		u64 n;

		chan_slice(req->segs, req->nsegs, off, len, &piece, 1, &n);
		chan_sink_write(to, piece.base, n);
		off += n;
		len -= n;
	}
}

static void copy_view(struct o2g_sink *to, const struct o2g_view *view, u64 off,
		      u64 len)
{
	char piece[VIEW_PIECE];

	/* All of it into one piece of memory: no need to copy it twice. */
	if (to->nsegs == 1 && to->room == len) {
		view->read(view, off, (char *)to->segs->base + to->off, len);
		o2g_sink_advance(to, len);
		return;
	}
	while (len) {
		u64 n = len < sizeof(piece) ? len : sizeof(piece);

		view->read(view, off, piece, n);
		chan_sink_write(to, piece, n);
		off += n;
		len -= n;
	}
}

static int self_send(struct chan *c, struct chan_peer *p,
		     const struct o2g_hdr *h, struct o2g_req *req, u64 off,
		     u64 len)
{
	struct o2g_core *core = chan_ep_core(c->ep);
	struct o2g_rx rx;
	enum o2g_proto_reason r = o2g_proto_rx_begin(core, &p->core, h, &rx);

	if (r == O2G_PROTO_NO_MEMORY) {
		eng_bye_later(container_of(p, struct eng_peer, cp),
			      "out of memory");
		return -ENOMEM;
	}
	env_assert(r == O2G_PROTO_OK);
	if (len && req->view)
		copy_view(&rx.sink, req->view, off, len);
	else
		copy_segs(&rx.sink, req, off, len);
	o2g_proto_rx_end(core, &p->core, &rx);
	return 0;
}

static int self_get(struct chan *c, struct chan_peer *p, u64 addr,
		    const struct o2g_seg *segs, u32 nsegs, u64 len)
{
	struct o2g_sink to = { .segs = segs, .nsegs = nsegs, .room = len };

	chan_sink_write(&to, (const void *)(uintptr_t)addr, len);
	return 0;
}

static int self_put(struct chan *c, struct chan_peer *p, u64 addr,
		    const struct o2g_seg *segs, u32 nsegs, u64 len)
{
	chan_gather((void *)(uintptr_t)addr, segs, nsegs, 0, len);
	return 0;
}

static int self_find_key(struct chan *c, struct chan_peer *p, u64 key,
			 u64 offset, u64 len, bool write, u64 *addr)
{
	struct o2g_seg seg;
	int err = eng_mem_find(chan_ep_core(c->ep), &p->core, key, offset, len,
			       write, &seg);

	if (!err)
		*addr = (uintptr_t)seg.base;
	return err;
}

const struct chan_ops self_chan_ops = {
	.name = "self",
	.connect = self_connect,
	.send = self_send,
	.get = self_get,
	.put = self_put,
	.find_key = self_find_key,
};
