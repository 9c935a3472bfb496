/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The hello of a TCP connection (core/hello_wire.h), made and checked with the kernel's
 * crypto. Process context. Peers are ranks of one job; whoever says hello for another
 * job, or to a port, is a stranger here.
 */
#ifndef O2GK_HELLO_H
#define O2GK_HELLO_H

#include "hello_wire.h"

#define O2GK_JOB_SIZE 64

struct crypto_shash;

/* What both sides know of the job. */
struct o2gk_key {
	struct crypto_shash *mac; /* it has the secret */
	char job[O2GK_JOB_SIZE];
};

int o2gk_key_init(struct o2gk_key *k, const u8 *secret, const char *job);
void o2gk_key_destroy(struct o2gk_key *k);

void o2gk_hello_challenge(struct tcp_challenge *c);
/* -EBADMSG: not O2G; -EPROTO: another version of it. */
int o2gk_hello_check_challenge(const struct tcp_challenge *c);

int o2gk_hello_answer(const struct o2gk_key *k, const struct tcp_challenge *c,
		      u32 src, u32 dst, const char *host, struct tcp_answer *a);
/* 0: whoever made it knows the secret and this challenge. -EBADMSG, -EPROTO likewise;
 * -EKEYREJECTED: it does not. */
int o2gk_hello_check_answer(const struct o2gk_key *k,
			    const struct tcp_challenge *c,
			    const struct tcp_answer *a);
/* Does it ask for a second socket of a pair? */
bool o2gk_hello_is_second(const struct tcp_answer *a);

int o2gk_hello_verdict(const struct o2gk_key *k, const struct tcp_challenge *c,
		       const struct tcp_answer *a, enum tcp_verdict code,
		       struct tcp_verdict_msg *v);
int o2gk_hello_check_verdict(const struct o2gk_key *k,
			     const struct tcp_challenge *c,
			     const struct tcp_answer *a,
			     const struct tcp_verdict_msg *v);

#endif
