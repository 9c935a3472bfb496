/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What inet.c uses of net.c. */
#ifndef MOCK_NET_H
#define MOCK_NET_H

#include "mock.h"

struct socket *mock_sock_open(void);
/* A child of a listener: a copy of it, callbacks and all. */
struct socket *mock_sock_child(const struct sock *listener);
void mock_sock_put(struct socket *s);
/* One that nobody has accepted: it has its listener's callbacks. */
void mock_sock_turn_away(struct socket *s);
void mock_sock_join(struct socket *a, struct socket *b);
int mock_sock_fd(const struct socket *s);
/* The next one of them that listens at a port, or NULL. */
struct sock *mock_sock_at(u16 port);
size_t mock_sock_take(struct sock *sk, void *to, size_t n);
/* What was sent arrives, if it does so at once. */
void mock_arrive(void);

#endif
