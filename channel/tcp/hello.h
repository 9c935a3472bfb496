/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The hello as a process says it; core/hello_wire.h has what goes over the wire. */
#ifndef TCP_HELLO_H
#define TCP_HELLO_H

#include "hello_wire.h"

static inline bool tcp_is_other(enum tcp_purpose p)
{
	return p == TCP_OTHER_FIRST || p == TCP_OTHER_SECOND;
}
static inline bool tcp_is_second(enum tcp_purpose p)
{
	return p == TCP_SECOND || p == TCP_OTHER_SECOND;
}

/* What both sides know of the job. */
struct tcp_hello_key {
	const u8 *secret; /* TCP_SECRET_SIZE bytes */
	const char *job;
};

/* -errno when there is no randomness. */
int tcp_hello_challenge(struct tcp_challenge *c, bool tls);
/* Is it one of ours at all? -EBADMSG not O2G, -EPROTO another version (then
 * *version says which), -EKEYREJECTED one encrypts and the other does not, 0 fine. */
int tcp_hello_check_challenge(const struct tcp_challenge *c, bool tls,
			      u32 *version);

int tcp_hello_answer(const struct tcp_hello_key *k,
		     const struct tcp_challenge *c, enum tcp_purpose purpose,
		     u32 src, u32 dst, const char *host, struct tcp_answer *a);
enum tcp_purpose tcp_hello_purpose(const struct tcp_answer *a);
/* The name of a host with a job's number in front; and that number. */
void tcp_hello_name(char name[TCP_HOST_SIZE], u64 job, const char *host);
u64 tcp_hello_job(const struct tcp_answer *a);
/* A key that both ends of a hello that went well can make, and nobody else. */
void tcp_hello_derive(const struct tcp_hello_key *k,
		      const struct tcp_challenge *c, const struct tcp_answer *a,
		      u8 key[32]);
/* The same for TLS on this connection. */
void tcp_hello_tls_key(const struct tcp_hello_key *k,
		       const struct tcp_challenge *c,
		       const struct tcp_answer *a, u8 key[32]);
/* And on a port's connection, from the secret that its ends share. */
void tcp_hello_port_key(const u8 secret[32], u8 key[32]);
/* A port to call @rank from that only ranks of the job can tell from others: see
 * listen.c. A stranger hits one of these by chance, one time in 16. */
bool tcp_hello_is_marked(const struct tcp_hello_key *k, u32 rank, u16 port);
/* True when whoever made it knows the secret and this challenge. */
bool tcp_hello_check_answer(const struct tcp_hello_key *k,
			    const struct tcp_challenge *c,
			    const struct tcp_answer *a);

void tcp_hello_verdict(const struct tcp_hello_key *k,
		       const struct tcp_challenge *c,
		       const struct tcp_answer *a, enum tcp_verdict code,
		       struct tcp_verdict_msg *v);
bool tcp_hello_check_verdict(const struct tcp_hello_key *k,
			     const struct tcp_challenge *c,
			     const struct tcp_answer *a,
			     const struct tcp_verdict_msg *v);

#endif
