/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The initiator's half: several addresses, one connection. */
#ifndef TCP_DIAL_H
#define TCP_DIAL_H

#include "addr.h"

struct tcp_conn;

int tcp_dial_start(struct tcp_conn *k, const struct tcp_addr *to, u32 n,
		   u16 port);
void tcp_dial_stop(struct tcp_conn *k);
void tcp_dial_timer(struct tcp_conn *k);
/* Has this side proved itself on a connection of its own already? */
bool tcp_dial_committed(const struct tcp_conn *k);

#endif
