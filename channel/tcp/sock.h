/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Sockets: options, errors, names. */
#ifndef TCP_SOCK_H
#define TCP_SOCK_H

#include "env.h"

/* Sizes count from the first segment on: set before listen or connect. */
void tcp_sock_buffers(int fd);
void tcp_sock_options(int fd);
/* One to connect with, or negative errno. */
int tcp_sock_create(int family);
/* The same, with a port for which @fits, if the kernel offers one soon. */
int tcp_sock_create_at(int family, bool (*fits)(const void *arg, u16 port),
		       const void *arg);
/* Why it broke: negative errno, or 0 if it did not. */
int tcp_sock_error(int fd);
/* Have the two hosts met? Nothing is said about the process behind the port. */
bool tcp_sock_connected(int fd);
/* While it is set up, and little is sent: the kernel ends it with ETIMEDOUT when
 * the other host is silent for O2G_TCP_SILENCE. See alive.c for later. */
void tcp_sock_limit_silence(int fd, bool on);
/* A message of @size bytes, of which there are *have. 1: all there, 0: not yet,
 * negative: closed. */
int tcp_sock_read(int fd, void *to, u32 size, u32 *have);
/* "10.0.0.1:4711 -> 10.0.0.2:4001" */
void tcp_sock_describe(int fd, char *buf, size_t size);

/* O2G_TCP_TIMEOUT and O2G_TCP_SILENCE. */
u64 tcp_timeout_us(void);
unsigned tcp_silence_s(void);

#endif
