/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A socket that says its hello, at either end: nobody's before that is over. Nothing
 * here waits; wake() tells, in any context, that it is worth trying again. It may still
 * be called once, for nothing, until a grace period after the call was closed.
 */
#ifndef O2GK_CALL_H
#define O2GK_CALL_H

#include "hello.h"
#include "o2gk.h"

struct o2gk_call {
	struct socket *sock; /* NULL: there is none */
	struct sock *sk;     /* its, for those callbacks that come late */
	void (*wake)(struct o2gk_call *c);
	struct o2gk_callbacks saved;
	u32 have; /* bytes of the message that is being read */
	struct tcp_challenge challenge;
	struct tcp_answer answer;
	struct tcp_verdict_msg verdict;
};

/* A new socket of that network, without a file; -errno. */
int o2gk_call_socket(struct net *net, int family, struct socket **sock);
/* It gets a file, so that it is as from sockfd_lookup(); or it is closed. */
int o2gk_call_file(struct socket *sock);
/* @sock, with or without a file, is the call's, or closed if that fails. */
int o2gk_call_open(struct o2gk_call *c, struct socket *sock);
void o2gk_call_close(struct o2gk_call *c);
/* The call has no socket any more: the caller has. */
struct socket *o2gk_call_take(struct o2gk_call *c);
/* 1: the message is whole, 0: not yet, or -errno. The next one starts from 0 again. */
int o2gk_call_read(struct o2gk_call *c, void *to, u32 size);
int o2gk_call_send(struct socket *sock, const void *from, u32 size);

#endif
