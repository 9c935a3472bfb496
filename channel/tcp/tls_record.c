/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The data of a connection that the kernel does not encrypt.
 *
 * GnuTLS seals records into memory of ours, some of which leave with one call, and
 * reads what was fetched with one. A record lies in one piece of memory, so small
 * pieces are put together first; large ones go in from where they are.
 */
#include "tls_session.h"

#ifdef TCP_HAS_TLS

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "clock.h"
#include "settings.h"

#define RECORDS_MAX (1u << 23) /* AES-GCM: half of what a key is good for */
#define UPDATES_US 200000 /* GnuTLS takes more than 8 a second for an attack */

static u32 bytes_left(const struct tls_bytes *b)
{
	return b->tail - b->head;
}

/* --- what GnuTLS calls --- */

/* There is always room: see send_batch(), and a handshake is short. */
static ssize_t push(gnutls_transport_ptr_t ptr, const void *data, size_t n)
{
	struct tcp_tls *t = ptr;

	if (n > TLS_BATCH * TLS_SEALED - t->out.tail) {
		t->lib->transport_set_errno(t->session, EMSGSIZE);
		return -1;
	}
	memcpy(t->out.buf + t->out.tail, data, n);
	t->out.tail += n;
	return (ssize_t)n;
}

static ssize_t fetch(struct tcp_tls *t, void *to, size_t n)
{
	ssize_t got = tcp_call_recv(t->fd, to, n);

	if (got >= 0)
		return got;
	t->dry = got == -EAGAIN;
	t->lib->transport_set_errno(t->session, (int)-got);
	return -1;
}

static ssize_t pull(gnutls_transport_ptr_t ptr, void *to, size_t n)
{
	struct tcp_tls *t = ptr;
	struct tls_bytes *in = &t->in;

	if (!t->reads_ahead)
		return fetch(t, to, n);
	if (!bytes_left(in)) {
		ssize_t got = fetch(t, in->buf, TLS_AHEAD);

		if (got <= 0)
			return got;
		in->head = 0;
		in->tail = (u32)got;
	}
	if (n > bytes_left(in))
		n = bytes_left(in);
	memcpy(to, in->buf + in->head, n);
	in->head += n;
	return (ssize_t)n;
}

int tls_record_init(struct tcp_tls *t)
{
	t->out.buf = malloc(TLS_BATCH * TLS_SEALED);
	t->in.buf = malloc(TLS_AHEAD);
	t->plain = malloc(TLS_RECORD);
	if (!t->out.buf || !t->in.buf || !t->plain)
		return -ENOMEM;
	t->lib->transport_set_ptr(t->session, t);
	t->lib->transport_set_push_function(t->session, push);
	t->lib->transport_set_pull_function(t->session, pull);
	return 0;
}

void tls_record_cleanup(struct tcp_tls *t)
{
	free(t->out.buf);
	free(t->in.buf);
	free(t->plain);
}

/* --- sending --- */

bool tcp_tls_pending(const struct tcp_tls *t)
{
	return bytes_left(&t->out);
}

int tls_record_flush(struct tcp_tls *t)
{
	struct tls_bytes *out = &t->out;
	ssize_t n;

	while (bytes_left(out)) {
		n = tcp_call_send(t->fd, out->buf + out->head, bytes_left(out));
		if (n < 0)
			return (int)n;
		out->head += (u32)n;
	}
	out->head = out->tail = 0;
	return 0;
}

/* Where in a list of segments we are. */
struct cursor {
	const struct o2g_seg *v;
	u32 n;
	size_t off; /* in v[0] */
};

static void skip_empty(struct cursor *c)
{
	while (c->n && c->off == c->v->len) {
		c->v++;
		c->n--;
		c->off = 0;
	}
}

/* The next record's bytes, in one piece. */
static size_t next_record(struct tcp_tls *t, struct cursor *c, const void **at)
{
	size_t n = 0;

	skip_empty(c);
	if (c->n && c->v->len - c->off >= TLS_RECORD) {
		*at = (const char *)c->v->base + c->off;
		c->off += TLS_RECORD;
		return TLS_RECORD;
	}
	*at = t->plain;
	for (; c->n && n < TLS_RECORD; skip_empty(c)) {
		size_t part = c->v->len - c->off;

		if (part > TLS_RECORD - n)
			part = TLS_RECORD - n;
		memcpy(t->plain + n, (const char *)c->v->base + c->off, part);
		c->off += part;
		n += part;
	}
	return n;
}

static int failed(struct tcp_tls *t, int rc)
{
	t->why = t->lib->strerror(rc);
	return -EKEYREJECTED;
}

/* AES-GCM's keys wear out. The peer changes its own when it has to. */
static int update_key(struct tcp_tls *t)
{
	u64 now;
	int rc;

	if (t->bytes < o2g_settings()->encrypt_rekey &&
	    t->records < RECORDS_MAX)
		return 0;
	now = o2g_now_us();
	if (now - t->updated_us < UPDATES_US)
		return 0;
	t->updated_us = now;
	rc = t->lib->session_key_update(t->session, 0);
	if (rc < 0)
		return failed(t, rc);
	t->bytes = t->records = 0;
	t->updates++;
	return 0;
}

/* As many records as one call sends: plain bytes in them, or negative errno. The
 * message with a new key is a record as well. */
static ssize_t seal_batch(struct tcp_tls *t, struct cursor *c)
{
	ssize_t sealed = 0, rc;
	const void *at;
	size_t n;

	for (int i = 0; i < TLS_BATCH - 1; i++) {
		int err = update_key(t);

		if (err)
			return err;
		n = next_record(t, c, &at);
		if (!n)
			break;
		rc = t->lib->record_send(t->session, at, n);
		if (rc != (ssize_t)n)
			return failed(t, (int)rc);
		t->bytes += n;
		t->records++;
		sealed += rc;
	}
	return sealed;
}

ssize_t tcp_tls_send(struct tcp_tls *t, const struct o2g_seg *v, u32 n)
{
	struct cursor c = { v, n, 0 };
	ssize_t sent = 0, part;
	int err = tls_record_flush(t);

	if (err)
		return err;
	do {
		part = seal_batch(t, &c);
		if (part < 0)
			return part;
		sent += part;
		err = tls_record_flush(t);
	} while (part && !err);
	return err && err != -EAGAIN ? err : sent;
}

/* --- receiving --- */

/* No more will come. GnuTLS says so only once. */
static ssize_t ends(struct tcp_tls *t, int rc)
{
	bool closed = rc == 0 || rc == GNUTLS_E_PREMATURE_TERMINATION;

	if (rc == GNUTLS_E_PULL_ERROR)
		t->ended = -ECONNRESET;
	else
		t->ended = closed ? 1 : -EKEYREJECTED;
	if (t->ended == -EKEYREJECTED)
		t->why =
			rc == GNUTLS_E_DECRYPTION_FAILED ?
				"what has come was not encrypted with the key of this connection" :
				t->lib->strerror(rc);
	return t->ended > 0 ? 0 : t->ended;
}

/* Some bytes of a record, 0, -EAGAIN or another negative errno. */
static ssize_t open_record(struct tcp_tls *t, void *to, size_t n)
{
	ssize_t rc;

	if (t->ended)
		return t->ended > 0 ? 0 : t->ended;
	do {
		t->dry = false;
		rc = t->lib->record_recv(t->session, to, n);
		/* A new key is nothing to us, and more may follow. */
	} while (rc == GNUTLS_E_INTERRUPTED ||
		 (rc == GNUTLS_E_AGAIN && !t->dry));
	if (rc > 0)
		return rc;
	return rc == GNUTLS_E_AGAIN ? -EAGAIN : ends(t, (int)rc);
}

ssize_t tcp_tls_recv(struct tcp_tls *t, const struct o2g_seg *v, u32 n)
{
	struct cursor c = { v, n, 0 };
	ssize_t got = 0, part;

	for (skip_empty(&c); c.n; skip_empty(&c)) {
		part = open_record(t, (char *)c.v->base + c.off,
				   c.v->len - c.off);
		if (part <= 0)
			return got ? got : part;
		c.off += (size_t)part;
		got += part;
	}
	return got;
}

#endif
