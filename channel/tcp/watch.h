/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What a connection's sockets are watched for. */
#ifndef TCP_WATCH_H
#define TCP_WATCH_H

#include "conn.h"

/* Have the engine's epoll look at it, or not. */
void tcp_conn_watch(struct tcp_conn *k);
void tcp_conn_unwatch(struct tcp_conn *k);
/* The socket is full: EPOLLOUT will tell when it is not. */
void tcp_conn_block(struct tcp_conn *k);
int tcp_in_ready(struct chan_watch *w, u32 events);
int tcp_out_ready(struct chan_watch *w, u32 events);
/* One of its two sockets. */
int tcp_watch_add(struct tcp_conn *k, struct tcp_sock *s);
/* Be told of room where it sends, or not. */
void tcp_watch_room(struct tcp_conn *k, bool yes);

#endif
