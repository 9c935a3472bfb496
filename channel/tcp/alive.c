/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A host that vanishes says nothing. When nothing is on its way to it, the
 * kernel's keepalive finds out. When something is, keepalive is silent and the
 * kernel goes on for a quarter of an hour, so we look ourselves, every few
 * seconds.
 *
 * TCP_USER_TIMEOUT is not the answer: it also ends a connection whose peer is
 * there but does not read, and a rank may well be stopped for an hour, by a
 * debugger or by the batch system. Its kernel still acknowledges, though, so the
 * question is when anything was last acknowledged.
 */
#include "alive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "conn.h"
#include "sock.h"
#include "tcp.h"

static u64 look_us(void)
{
	return tcp_silence_s() * 1000000ull / 6;
}

/* Probes of a closed window double from 0.2 s: 7 of them take 25 s. */
static unsigned most_probes(void)
{
	unsigned n = 1;

	while ((1u << (n + 1)) - 1 <= tcp_silence_s() * 5)
		n++;
	return n;
}

static bool is_silent(int fd)
{
	struct tcp_info i;
	socklen_t len = sizeof(i);

	memset(&i, 0, sizeof(i));
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len))
		return false;
	if (i.tcpi_unacked)
		return i.tcpi_retransmits &&
		       i.tcpi_last_ack_recv > tcp_silence_s() * 1000;
	return i.tcpi_probes >= most_probes();
}

static struct tcp_conn *find_silent(struct tcp_chan *c)
{
	struct o2g_list *i;

	o2g_list_for_each(i, &c->conns) {
		struct tcp_conn *k = container_of(i, struct tcp_conn, all);

		if ((k->state == TCP_OPEN || k->state == TCP_HANDED) &&
		    is_silent(k->out.fd))
			return k;
	}
	return NULL;
}

static void look(struct chan_timer *t)
{
	struct tcp_chan *c = container_of(t, struct tcp_chan, alive_timer);
	struct tcp_conn *k;

	while ((k = find_silent(c)))
		tcp_conn_lost(
			k, -O2G_ERR_PEER,
			"its host has acknowledged nothing for %u s (O2G_TCP_SILENCE)",
			tcp_silence_s());
	if (o2g_list_empty(&c->conns))
		c->alive_set = false;
	else
		chan_timer_set(c->chan.ep, t, look_us());
}

void tcp_alive_start(struct tcp_chan *c)
{
	if (c->alive_set)
		return;
	c->alive_set = true;
	c->alive_timer.fn = look;
	chan_timer_set(c->chan.ep, &c->alive_timer, look_us());
}

void tcp_alive_stop(struct tcp_chan *c)
{
	if (c->alive_set)
		chan_timer_del(c->chan.ep, &c->alive_timer);
	c->alive_set = false;
}
