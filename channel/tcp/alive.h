/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Hosts that vanish without a word. */
#ifndef TCP_ALIVE_H
#define TCP_ALIVE_H

struct tcp_chan;

/* While there are connections. */
void tcp_alive_start(struct tcp_chan *c);
void tcp_alive_stop(struct tcp_chan *c);

#endif
