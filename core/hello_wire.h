/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The hello: what goes over a new TCP connection before any packet.
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
 *
 * Processes say it in channel/tcp/hello.c, the driver in driver/hello.c.
 */
#ifndef O2G_HELLO_WIRE_H
#define O2G_HELLO_WIRE_H

#include "env.h"

#define TCP_HELLO_VERSION 1
#define TCP_HELLO_TLS 0x10000 /* beside the version: TLS follows the hello */
#define TCP_SECRET_SIZE 32
#define TCP_NONCE_SIZE 16
#define TCP_MAC_SIZE 32
#define TCP_HOST_SIZE 32

#define TCP_MAGIC_SIZE 4
#define TCP_MAGIC_CHALLENGE "O2Gc"
#define TCP_MAGIC_VERDICT "O2Gv"
/* In the order of enum tcp_purpose. */
#define TCP_MAGIC_ANSWERS "O2Ga", "O2Gs", "O2Go", "O2Gt", "O2Gp"

/* What a mac begins with, and its final zero. */
#define TCP_LABEL_ANSWER "o2g tcp answer"
#define TCP_LABEL_VERDICT "o2g tcp verdict"
#define TCP_LABEL_MEETING "o2g meeting"

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

struct tcp_challenge {
	char magic[TCP_MAGIC_SIZE];
	__le32 version;
	u8 nonce[TCP_NONCE_SIZE];
};

struct tcp_answer {
	char magic[TCP_MAGIC_SIZE];
	__le32 version;
	__le32 src, dst;
	u8 nonce[TCP_NONCE_SIZE];
	char host[TCP_HOST_SIZE]; /* of the initiator, ends in zeros */
	u8 mac[TCP_MAC_SIZE];
};

struct tcp_verdict_msg {
	char magic[TCP_MAGIC_SIZE];
	__le32 code;
	u8 mac[TCP_MAC_SIZE];
};

_Static_assert(sizeof(struct tcp_challenge) == 24, "challenge");
_Static_assert(sizeof(struct tcp_answer) == 96, "answer");
_Static_assert(sizeof(struct tcp_verdict_msg) == 40, "verdict");

#endif
