/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Built without GnuTLS's headers: nothing is encrypted, and nobody is told that it
 * is. The rest is never called. */
#include "tls.h"
#include "tls_lib.h"

#ifndef TCP_HAS_TLS

#include <errno.h>
#include <stdio.h>
#include <string.h>

int tcp_tls_available(char *why, size_t why_size)
{
	snprintf(
		why, why_size,
		"this O2G was built without GnuTLS (libgnutls28-dev in Debian)");
	return -EOPNOTSUPP;
}

void tcp_tls_describe_library(char *buf, size_t size)
{
	snprintf(buf, size, "built without GnuTLS");
}

struct tcp_tls *tcp_tls_create(int fd, const u8 key[TCP_TLS_KEY],
			       enum tcp_tls_side side)
{
	return NULL;
}

void tcp_tls_destroy(struct tcp_tls *t)
{
}

int tcp_tls_handshake(struct tcp_tls *t)
{
	return -EOPNOTSUPP;
}

bool tcp_tls_kernel_sends(const struct tcp_tls *t)
{
	return false;
}

bool tcp_tls_kernel_receives(const struct tcp_tls *t)
{
	return false;
}

ssize_t tcp_tls_send(struct tcp_tls *t, const struct o2g_seg *v, u32 n)
{
	return -EOPNOTSUPP;
}

ssize_t tcp_tls_recv(struct tcp_tls *t, const struct o2g_seg *v, u32 n)
{
	return -EOPNOTSUPP;
}

bool tcp_tls_pending(const struct tcp_tls *t)
{
	return false;
}

const char *tcp_tls_reason(const struct tcp_tls *t, int err)
{
	return strerror(-err);
}

void tcp_tls_describe(const struct tcp_tls *t, char *buf, size_t size)
{
	snprintf(buf, size, "no TLS");
}

u32 tcp_tls_updates(const struct tcp_tls *t)
{
	return 0;
}

#endif
