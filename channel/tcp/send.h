/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Sending: at once, in a batch or from a queue. */
#ifndef TCP_SEND_H
#define TCP_SEND_H

#include "conn.h"

#define TCP_SMALL 1024 /* body that may be batched */

/* chan_ops */
int tcp_send(struct chan *c, struct chan_peer *p, const struct o2g_hdr *h,
	     struct o2g_req *req, u64 off, u64 len);
int tcp_inject(struct chan *c, struct chan_peer *p, const struct o2g_hdr *h,
	       const void *buf, u64 len);
void tcp_flush(struct chan *c);

void tcp_flush_timer(struct chan_timer *t);
/* The last packet on this socket: see tcp_out.last_here. */
void tcp_send_moved(struct tcp_conn *k);
/* Send what is queued until it is out or the socket is full. */
void tcp_push(struct tcp_conn *k);
void tcp_send_drop(struct tcp_conn *k);

#endif
