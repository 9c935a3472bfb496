/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Ports: where a process that knows nothing of us but a line of text can find us.
 * They have nothing to do with the channel's connections. A socket that has passed
 * its hello is the caller's, which talks over it as it likes; the two ends then also
 * share a secret, which was never sent.
 *
 * The name of a port is "o2g1:KEY:CARD": its secret, in hex, and where it is.
 */
#ifndef TCP_PORT_H
#define TCP_PORT_H

#include "card.h"
#include "hello.h"
#include "tls.h"

#define TCP_PORT_NAME 1024
#define TCP_PORT_SECRET 32

struct tcp_port;

/* On an error one line is in @why. */
int tcp_port_open(u32 rank, const char *node, struct tcp_port **port,
		  char *name, size_t size, char *why, size_t why_size);
void tcp_port_close(struct tcp_port *p);
/* Nobody is let in any more: accept, where other threads wait, says -ECANCELED. */
void tcp_port_stop(struct tcp_port *p);
/* The next caller that has the name: a descriptor, or negative errno. */
int tcp_port_accept(struct tcp_port *p, int timeout_ms,
		    u8 secret[TCP_PORT_SECRET]);

/* What a name says. -EINVAL: it is no port's. */
int tcp_port_parse(const char *name, struct tcp_card *card,
		   u8 key[TCP_PORT_SECRET]);
int tcp_port_call(const char *name, const char *node, int timeout_ms,
		  u8 secret[TCP_PORT_SECRET]);

/* port_tls.c: @fd encrypted; the end that talks in clear. Takes @fd in any case. */
int tcp_port_seal(int fd, const u8 secret[TCP_PORT_SECRET],
		  enum tcp_tls_side side);

#endif
