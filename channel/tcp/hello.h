/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The hello: what goes over a new connection before any packet.
 *
 *	acceptor  -> initiator   challenge  magic version nonce
 *	initiator -> acceptor    answer     magic version src dst nonce host mac
 *	acceptor  -> initiator   verdict    magic code mac
 *
 * All integers are little-endian. A mac is HMAC-SHA256, keyed with the job's
 * secret, over a label, both nonces, both ranks, the host name, the code and the
 * name of the job. The acceptor's nonce is new for every connection, so a
 * recorded answer is worth nothing; the labels differ, so neither side's mac can
 * be handed back to it. The challenge says whether TLS follows, and every mac covers
 * it: nobody in between can talk the two out of encryption.
 */
#ifndef TCP_HELLO_H
#define TCP_HELLO_H

#include "env.h"

#define TCP_HELLO_VERSION 1
#define TCP_HELLO_TLS 0x10000 /* beside the version: TLS follows the hello */
#define TCP_NONCE_SIZE 16
#define TCP_MAC_SIZE 32
#define TCP_HOST_SIZE 32

enum tcp_verdict {
	TCP_ACCEPTED = 1,
	TCP_DUPLICATE, /* another connection of this pair stands or wins */
	TCP_NOT_ME,    /* this is not the endpoint you look for */
	TCP_GONE,      /* we have given you up for lost */
};

/* What an answer asks for: its magic says. */
enum tcp_purpose {
	TCP_FIRST,
	TCP_SECOND,	  /* split.c */
	TCP_OTHER_FIRST,  /* the same, of another job, */
	TCP_OTHER_SECOND, /* which the host's name starts with: 16 hex digits */
	TCP_CALL,	  /* to a port that was opened: no peer yet */
	TCP_PURPOSES
};
static inline bool tcp_is_other(enum tcp_purpose p)
{
	return p == TCP_OTHER_FIRST || p == TCP_OTHER_SECOND;
}
static inline bool tcp_is_second(enum tcp_purpose p)
{
	return p == TCP_SECOND || p == TCP_OTHER_SECOND;
}

struct tcp_challenge {
	char magic[4];
	__le32 version;
	u8 nonce[TCP_NONCE_SIZE];
};

struct tcp_answer {
	char magic[4];
	__le32 version;
	__le32 src, dst;
	u8 nonce[TCP_NONCE_SIZE];
	char host[TCP_HOST_SIZE]; /* of the initiator, ends in zeros */
	u8 mac[TCP_MAC_SIZE];
};

struct tcp_verdict_msg {
	char magic[4];
	__le32 code;
	u8 mac[TCP_MAC_SIZE];
};

_Static_assert(sizeof(struct tcp_challenge) == 24, "challenge");
_Static_assert(sizeof(struct tcp_answer) == 96, "answer");
_Static_assert(sizeof(struct tcp_verdict_msg) == 40, "verdict");

/* What both sides know of the job. */
struct tcp_hello_key {
	const u8 *secret; /* 32 bytes */
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
