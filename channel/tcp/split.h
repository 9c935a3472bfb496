/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* A socket for each direction: split.c tells why and how. */
#ifndef TCP_SPLIT_H
#define TCP_SPLIT_H

#include "hello.h"
#include "proto.h"

#define TCP_SPLITS 64 /* connections that have two sockets, at most */

/* A packet between two of us: what follows comes on the second socket. */
#define TCP_PKT_MOVED O2G_PKT_CHANNEL

struct tcp_chan;
struct chan_peer;
struct tcp_conn;

/* A second socket is worth it. It takes its time, and may come to nothing. */
void tcp_split_start(struct tcp_conn *k);
void tcp_split_stop(struct tcp_conn *k);
/* The same, and the socket that was called for is the caller's; -1: none. */
int tcp_split_take(struct tcp_conn *k);
/* MOVED has come. */
enum o2g_proto_reason tcp_split_moved(struct tcp_conn *k,
				      const struct o2g_hdr *h);
/* An accepted socket, @fd, has proved to be @rank's second. */
enum tcp_verdict tcp_split_offer(struct tcp_chan *c, struct chan_peer *p,
				 int fd, struct tcp_conn **conn);

#endif
