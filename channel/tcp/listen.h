/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Listening, and the acceptor's half of the hello. */
#ifndef TCP_LISTEN_H
#define TCP_LISTEN_H

#include "channel.h"
#include "hello.h"

#define TCP_HELLO_SLOTS 256  /* where descriptors allow it */
#define TCP_HELLO_US 5000000 /* time a stranger has for its hello */

struct tcp_chan;

/* An accepted socket that has not proved anything yet. */
struct tcp_slot {
	struct chan_watch watch; /* fd -1: free */
	struct tcp_chan *chan;
	struct o2g_list
		link; /* slots_free; slots_used or slots_marked: the oldest
				 first */
	u64 since_us;
	u32 have;
	struct tcp_challenge challenge;
	struct tcp_answer answer;
};

/* A socket that listens at these addresses, or negative errno with one line in
 * @why; its port; and did a connection come in at one of them? */
struct tcp_addr;
int tcp_listen_at(const struct tcp_addr *addrs, u32 n, u32 rank, char *why,
		  size_t why_size);
int tcp_listen_port(int fd);
bool tcp_came_in_at(int fd, const struct tcp_addr *addrs, u32 n);

int tcp_listen(struct tcp_chan *c, char *why, size_t why_size);
void tcp_unlisten(struct tcp_chan *c);
/* Out of descriptors: say so, with what to do, but not a thousand times. */
void tcp_no_fds(struct tcp_chan *c, int err, const char *what);

#endif
