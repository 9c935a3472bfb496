/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Receiving, by recv() or another way. */
#ifndef TCP_RECV_H
#define TCP_RECV_H

#include "conn.h"
#include "tcp.h"

#define TCP_LARGE (24 << 10)  /* a body worth one more call to copy it once */
#define TCP_LONG (32u << 10)  /* a body worth waiting for ... */
#define TCP_LOWAT (128 << 10) /* ... in pieces like this */
#define TCP_LOWAT_AWAY (1 << 20) /* ... while the program computes */
#define TCP_STREAK 16 /* then watching is a waste until the next sleep */

/* chan_ops */
int tcp_poll(struct chan *c);
bool tcp_arm(struct chan *c);
void tcp_disarm(struct chan *c);

/* Take what is there, until there is nothing more or the turn is over. Packets
 * handled. The connection may be gone afterwards. */
int tcp_recv(struct tcp_conn *k);
/* The same, by recv() in any case. */
int tcp_read(struct tcp_conn *k);
/* Bytes that came another way. Packets handled, or negative: the connection is
 * gone. */
int tcp_feed(struct tcp_conn *k, const void *data, size_t n);
/* How many bytes more have to come until waking somebody is worth it: 1 outside
 * of long bodies. */
static inline u64 tcp_worth_waking(const struct tcp_conn *k)
{
	const struct o2g_stream *s = &k->in.stream;
	u64 left = s->in_body ? s->body_left : 0, most;

	if (likely(left < TCP_LONG))
		return 1;
	most = chan_ep_away(k->chan->chan.ep) ? TCP_LOWAT_AWAY : TCP_LOWAT;
	return left < most ? left : most;
}
/* Only the connections that were active last. */
int tcp_poll_hot(struct tcp_chan *c);

#endif
