/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Opening and closing the channel, and its table of functions. */
#include "chan.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "settings.h"
#include "tcp/lend.h"
#include "tcp/send.h"

/* Where ranks take turns on a core nobody waits for the lock of a socket. */
static void set_split(struct bpf_chan *b, const struct chan_ep *ep)
{
	int64_t asked = o2g_settings()->bpf_split;

	b->adapts = asked < 0;
	b->talk = !b->adapts ? (u32)asked : chan_ep_crowded(ep) ? 0 : BPF_TALK;
	b->tcp.splits = b->talk > 0;
}

static int bpf_open(struct chan_ep *ep, struct chan **chan, char *why,
		    size_t why_size)
{
	struct bpf_chan *b = calloc(1, sizeof(*b));
	int err;

	if (!b) {
		snprintf(why, why_size, "out of memory");
		return -ENOMEM;
	}
	if (o2g_settings()->encrypt) {
		snprintf(
			why, why_size,
			"O2G_ENCRYPT=1, and a sockmap takes no socket with TLS: tcp does that");
		err = -EOPNOTSUPP;
		goto err_free;
	}
	err = bpf_place_take(&b->place, why, why_size);
	if (err)
		goto err_free;
	b->head = b->given_back = b->place.seat->head;
	b->retry.fn = bpf_retry;
	o2g_list_init(&b->retry.link);
	b->tcp.intake = &bpf_intake;
	set_split(b, ep);
	err = tcp_chan_init(&b->tcp, &bpf_chan_ops, ep, why, why_size);
	if (err)
		goto err_place;
	b->bell.fd = b->place.bell;
	b->bell.ready = bpf_bell_ready;
	err = chan_watch_add(ep, &b->bell, EPOLLIN | EPOLLET);
	if (err) {
		snprintf(why, why_size, "cannot watch its ring buffer: %s",
			 strerror(-err));
		goto err_tcp;
	}
	*chan = &b->tcp.chan;
	return 0;
err_tcp:
	tcp_chan_cleanup(&b->tcp);
err_place:
	bpf_place_leave(&b->place);
err_free:
	free(b);
	return err;
}

static void bpf_close(struct chan *chan)
{
	struct bpf_chan *b = bpf_chan_of(chan);

	tcp_chan_cleanup(&b->tcp);
	chan_timer_del(chan->ep, &b->retry);
	chan_watch_del(chan->ep, &b->bell);
	bpf_place_leave(&b->place);
	free(b);
}

const struct chan_ops bpf_chan_ops = {
	.name = "bpf",
	.speaks = "tcp",
	.open = bpf_open,
	.close = bpf_close,
	.card = tcp_card,
	.reaches = tcp_reaches,
	.connect = tcp_connect,
	.disconnect = tcp_disconnect,
	.forget = tcp_forget,
	.deny = tcp_deny,
	.send = tcp_send,
	.inject = tcp_inject,
	.lend = tcp_lend_chosen,
	.poll = bpf_poll,
	.flush = tcp_flush,
	.arm = bpf_arm,
	.disarm = bpf_disarm,
	.describe = tcp_describe,
};
