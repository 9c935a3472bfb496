/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TLS 1.3 on a socket that has passed its hello (O2G_ENCRYPT). Both ends have made
 * the same key out of the hello (tcp_hello_tls_key): it is the only one they accept,
 * so there are no certificates, and whoever reads along and learns the job's secret
 * later cannot read what was sent (the handshake is psk_dhe_ke).
 *
 * GnuTLS shakes hands. After that the kernel encrypts, where it can, and the socket
 * is used as if it were plain (tls_kernel.h); otherwise GnuTLS does, here. GnuTLS is
 * loaded when it is needed: nobody else pays for it (tls_lib.h).
 *
 * That a stream was cut off is noticed a level above, by the goodbye of a pair, so
 * TLS's own is not sent.
 */
#ifndef TCP_TLS_H
#define TCP_TLS_H

#include <sys/types.h>

#include "env.h"

#define TCP_TLS_KEY 32

struct o2g_seg;
struct tcp_tls;

enum tcp_tls_side { TCP_TLS_CLIENT, TCP_TLS_SERVER };

/* 0, or negative errno with one line in @why. */
int tcp_tls_available(char *why, size_t why_size);
/* "GnuTLS 3.7.9, in the process", for info. */
void tcp_tls_describe_library(char *buf, size_t size);

/* Of a nonblocking socket, which stays the caller's. Where it is available, NULL: out of
 * memory. */
struct tcp_tls *tcp_tls_create(int fd, const u8 key[TCP_TLS_KEY],
			       enum tcp_tls_side side);
void tcp_tls_destroy(struct tcp_tls *t);
/* 1: done, 0: call again when the socket is ready, negative errno: it has failed. */
int tcp_tls_handshake(struct tcp_tls *t);

/* After the handshake: does the kernel do it, in that direction? Then the socket is
 * used as ever, and not the calls below. */
bool tcp_tls_kernel_sends(const struct tcp_tls *t);
bool tcp_tls_kernel_receives(const struct tcp_tls *t);

/*
 * As sendmsg() and recvmsg() that do not wait: bytes, 0 (closed), -EAGAIN or another
 * negative errno. What is sent is taken, even if the socket does not take all of it
 * yet: the rest is pending, and goes first with the next call, of no bytes if need
 * be. Receiving stops short only where the socket is empty.
 */
ssize_t tcp_tls_send(struct tcp_tls *t, const struct o2g_seg *v, u32 n);
ssize_t tcp_tls_recv(struct tcp_tls *t, const struct o2g_seg *v, u32 n);
bool tcp_tls_pending(const struct tcp_tls *t);

/* What an error of the calls above, or of the socket, was about. */
const char *tcp_tls_reason(const struct tcp_tls *t, int err);
/* "TLS 1.3, AES-128-GCM" */
void tcp_tls_describe(const struct tcp_tls *t, char *buf, size_t size);
/* Keys that this end has sent with so far, after the first. */
u32 tcp_tls_updates(const struct tcp_tls *t);

#endif
