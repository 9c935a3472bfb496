/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The slow goodbye of a socket. */
#ifndef TCP_LINGER_H
#define TCP_LINGER_H

struct tcp_chan;

/* Closes @fd, from which was sent, in its own time. @in: a socket for receiving
 * only that goes with it, or -1. */
void tcp_linger_add(struct tcp_chan *c, int fd, int in);
/* The channel closes: all of them, soon. */
void tcp_linger_finish(struct tcp_chan *c);

#endif
