/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What tls.c (the handshake) and tls_record.c (the data) know of a connection. */
#ifndef TCP_TLS_SESSION_H
#define TCP_TLS_SESSION_H

#include "tls.h"
#include "tls_lib.h"

#ifdef TCP_HAS_TLS

#define TLS_RECORD 16384 /* of plain bytes, at most */
#define TLS_SEALED (TLS_RECORD + 256 + 5)
#define TLS_BATCH 4 /* records sent with one call */
#define TLS_AHEAD (2 * TLS_SEALED)

/* Sealed bytes: [head, tail) of them are there. */
struct tls_bytes {
	u8 *buf;
	u32 head, tail;
};

struct tcp_tls {
	const struct tls_lib *lib;
	gnutls_session_t session;
	gnutls_psk_client_credentials_t client; /* one of the two */
	gnutls_psk_server_credentials_t server;
	u8 key[TCP_TLS_KEY]; /* zeros after the handshake */
	int fd;
	bool kernel_sends, kernel_receives;

	/* sending */
	struct tls_bytes out;
	u8 *plain; /* a record that is in pieces is put together here */
	u64 bytes, records; /* with the present key */
	u32 updates;	    /* of it */
	u64 updated_us;	    /* the last of them */

	/* receiving */
	struct tls_bytes in;
	bool reads_ahead; /* not during the handshake: the kernel may go on */
	bool dry;	  /* the socket had no more */
	int ended;	  /* 1: closed; negative errno */
	const char *why;  /* of an error that is TLS's own */
};

/* Set up sending and receiving: 0 or -ENOMEM. And what GnuTLS calls. */
int tls_record_init(struct tcp_tls *t);
void tls_record_cleanup(struct tcp_tls *t);
/* Send what is sealed: 0, -EAGAIN or another negative errno. */
int tls_record_flush(struct tcp_tls *t);

#endif
#endif
