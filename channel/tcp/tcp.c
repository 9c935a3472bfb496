/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Opening and closing the channel, its card, and its table of functions. */
#include "tcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alive.h"
#include "card.h"
#include "clock.h"
#include "conn.h"
#include "linger.h"
#include "log.h"
#include "recv.h"
#include "secure.h"
#include "send.h"
#include "settings.h"

/* The kernel waits for up to a second, asks, and waits for another. */
#define TENTATIVE_US 4000000

/* A card must survive as printable text without ; , = and blanks. */
void tcp_host_name(char *buf, size_t size)
{
	if (gethostname(buf, size))
		snprintf(buf, size, "unknown");
	buf[size - 1] = '\0';
	for (char *p = buf; *p; p++)
		if (*p <= ' ' || *p > '~' || strchr(";,=+", *p))
			*p = '-';
}

static int chosen_family(void)
{
	int family = o2g_settings()->tcp_family;

	if (family == 0 || family == 4 || family == 6)
		return family;
	o2g_warn("O2G_TCP_FAMILY is %d, but 0, 4 or 6 is expected; using both",
		 family);
	return 0;
}

int tcp_find_addresses(struct tcp_addr addrs[TCP_ADDRS], char *why,
		       size_t why_size)
{
	struct tcp_addr all[128];
	int n;

	n = tcp_addr_list(all, sizeof(all) / sizeof(all[0]));
	if (n < 0) {
		snprintf(why, why_size, "cannot list network interfaces: %s",
			 strerror(-n));
		return n;
	}
	return tcp_addr_choose(all, n, o2g_settings()->tcp_interfaces,
			       chosen_family(), addrs, TCP_ADDRS, why,
			       why_size);
}

/* On a host whose network has just come up the kernel may still ask the others
 * whether its IPv6 addresses are free. Nothing works with those until then, and
 * it takes a second or two. Where shared memory does all nobody waits for that:
 * if it does not reach a rank after all, connecting is tried until it works. */
static int choose_addresses(struct tcp_chan *c, char *why, size_t why_size)
{
	u64 until = o2g_now_us() + TENTATIVE_US;
	char text[TCP_ADDR_TEXT];
	int n;

	for (;;) {
		n = tcp_find_addresses(c->addrs, why, why_size);
		if (n < 0)
			return n;
		c->naddrs = n;
		if (!tcp_addr_all_tentative(c->addrs, c->naddrs) ||
		    !chan_ep_needs_network(c->chan.ep))
			return 0;
		if (o2g_now_us() >= until)
			break;
		usleep(20000);
	}
	snprintf(
		why, why_size,
		"%s %s cannot be used yet, while the kernel finds out whether another host has this address (`ip addr` shows it as tentative); try again in a few seconds",
		c->addrs[0].ifname,
		tcp_addr_text(&c->addrs[0], text, sizeof(text)));
	return -EADDRNOTAVAIL;
}

int tcp_chan_init(struct tcp_chan *c, const struct chan_ops *ops,
		  struct chan_ep *ep, char *why, size_t why_size)
{
	int err = tcp_encrypts() ? tcp_tls_available(why, why_size) : 0;

	if (err)
		return err;
	c->chan.ops = ops;
	c->chan.ep = ep;
	c->chan.hands_over = !tcp_encrypts();
	c->core = chan_ep_core(ep);
	c->key.secret = chan_ep_secret(ep);
	c->key.job = chan_ep_job(ep);
	o2g_list_init(&c->conns);
	o2g_list_init(&c->more);
	o2g_list_init(&c->dirty);
	o2g_list_init(&c->lingering);
	o2g_list_init(&c->flush_timer.link);
	o2g_list_init(&c->linger_timer.link);
	o2g_list_init(&c->alive_timer.link);
	c->flush_timer.fn = tcp_flush_timer;
	o2g_batch_init(&c->batch);
	tcp_lender_init(&c->lender);
	tcp_host_name(c->host, sizeof(c->host));
	err = choose_addresses(c, why, why_size);
	return err ? err : tcp_listen(c, why, why_size);
}

void tcp_chan_cleanup(struct tcp_chan *c)
{
	tcp_unlisten(c);
	/* Connections of peers that another channel carries are still here. */
	while (!o2g_list_empty(&c->conns))
		tcp_conn_destroy(
			o2g_list_first(&c->conns, struct tcp_conn, all));
	tcp_alive_stop(c);
	tcp_linger_finish(c);
	chan_timer_del(c->chan.ep, &c->flush_timer);
	tcp_lender_close(&c->lender);
}

static int tcp_open(struct chan_ep *ep, struct chan **chan, char *why,
		    size_t why_size)
{
	struct tcp_chan *c = calloc(1, sizeof(*c));
	int err;

	if (!c) {
		snprintf(why, why_size, "out of memory");
		return -ENOMEM;
	}
	err = tcp_chan_init(c, &tcp_chan_ops, ep, why, why_size);
	if (err) {
		free(c);
		return err;
	}
	*chan = &c->chan;
	return 0;
}

static void tcp_close(struct chan *chan)
{
	tcp_chan_cleanup(tcp_chan_of(chan));
	free(tcp_chan_of(chan));
}

int tcp_card(struct chan *chan, char *buf, size_t size)
{
	struct tcp_chan *c = tcp_chan_of(chan);
	struct tcp_card card;

	memset(&card, 0, sizeof(card));
	memcpy(card.host, c->host, sizeof(card.host));
	snprintf(card.node, sizeof(card.node), "%s", chan_ep_node(chan->ep));
	card.port = c->port;
	card.naddrs = c->naddrs;
	memcpy(card.addrs, c->addrs, sizeof(card.addrs));
	return tcp_card_write(&card, chan_ep_rank(chan->ep), buf, size);
}

bool tcp_reaches(struct chan *chan, const char *text)
{
	struct tcp_chan *c = tcp_chan_of(chan);
	struct tcp_addr to[TCP_ADDRS];
	struct tcp_card card;

	return !tcp_card_read(text, &card) &&
	       tcp_addr_order(c->addrs, c->naddrs, card.addrs, card.naddrs,
			      !strcmp(card.node, chan_ep_node(chan->ep)), to,
			      TCP_ADDRS);
}

const struct chan_ops tcp_chan_ops = {
	.name = "tcp",
	.open = tcp_open,
	.close = tcp_close,
	.card = tcp_card,
	.reaches = tcp_reaches,
	.connect = tcp_connect,
	.disconnect = tcp_disconnect,
	.forget = tcp_forget,
	.deny = tcp_deny,
	.send = tcp_send,
	.inject = tcp_inject,
	.lend = tcp_lend_chosen,
	.poll = tcp_poll,
	.flush = tcp_flush,
	.arm = tcp_arm,
	.disarm = tcp_disarm,
	.describe = tcp_describe,
};
