/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Between the hello and the connection: the handshake of TLS, where O2G_ENCRYPT asks
 * for it. The pair is DIALING meanwhile, and what is sent waits in its queue.
 */
#ifndef TCP_SECURE_H
#define TCP_SECURE_H

#include "hello.h"
#include "tls.h"

struct tcp_conn;

/* Does O2G_ENCRYPT ask for it? */
bool tcp_encrypts(void);

/*
 * @fd has passed the hello of @k: it carries the pair from now, or after the
 * handshake. Negative errno: it does not, and is the caller's.
 */
int tcp_secure_open(struct tcp_conn *k, int fd, const struct tcp_challenge *c,
		    const struct tcp_answer *a, enum tcp_tls_side side);
void tcp_secure_stop(struct tcp_conn *k);

#endif
