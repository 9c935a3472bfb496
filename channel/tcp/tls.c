/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The handshake, and who encrypts after it. */
#include "tls.h"
#include "tls_session.h"

#ifdef TCP_HAS_TLS

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "tls_kernel.h"

#define IDENTITY "o2g" /* which key: there is only one */

/* The same at both ends, but for the first of the ciphers, which has a colon after it
 * or is not there: GnuTLS refuses a list with nothing between two colons. */
#define PRIORITY(first_cipher)                          \
	"NONE:+VERS-TLS1.3:" first_cipher               \
	"+CHACHA20-POLY1305:+AEAD:+ECDHE-PSK:+DHE-PSK:" \
	"+GROUP-X25519:+GROUP-SECP256R1:+SIGN-ALL:+COMP-NULL"

static int set_ciphers(const struct tls_lib *lib, gnutls_session_t session)
{
	bool kernel = tls_kernel_there(); /* tls_kernel.h says why it matters */

	return lib->priority_set_direct(
		session, kernel ? PRIORITY("") : PRIORITY("+AES-128-GCM:"),
		NULL);
}

/* A host's policy may forbid them all. */
static int try_ciphers(const struct tls_lib *lib)
{
	gnutls_session_t session;
	int rc = lib->init(&session, GNUTLS_CLIENT);

	if (rc)
		return rc;
	rc = set_ciphers(lib, session);
	lib->deinit(session);
	return rc;
}

int tcp_tls_available(char *why, size_t why_size)
{
	const struct tls_lib *lib = tls_lib_get(why, why_size);
	int rc = lib ? try_ciphers(lib) : 0;

	if (rc)
		snprintf(why, why_size, "GnuTLS refuses %s%s: %s",
			 tls_kernel_there() ? "" : "AES-128-GCM and ",
			 "ChaCha20-Poly1305", lib->strerror(rc));
	return lib && !rc ? 0 : -EOPNOTSUPP;
}

void tcp_tls_describe_library(char *buf, size_t size)
{
	const struct tls_lib *lib = tls_lib_get(buf, size);

	if (lib)
		snprintf(
			buf, size, "GnuTLS %s, %s", lib->check_version(NULL),
			tls_kernel_there() ?
				"data by the kernel" :
				"data by the process (the kernel's module tls is not loaded, or O2G_KTLS=0)");
}

/* --- keys --- */

static int give_key(gnutls_session_t session, const char *name,
		    gnutls_datum_t *key)
{
	const struct tls_lib *lib = tls_lib_get(NULL, 0);
	const struct tcp_tls *t = lib->session_get_ptr(session);

	if (strcmp(name, IDENTITY))
		return -1;
	key->data = (*lib->malloc)(sizeof(t->key));
	if (!key->data)
		return -1;
	memcpy(key->data, t->key, sizeof(t->key));
	key->size = sizeof(t->key);
	return 0;
}

static int set_client_key(struct tcp_tls *t)
{
	gnutls_datum_t key = { t->key, sizeof(t->key) };

	return t->lib->psk_allocate_client_credentials(&t->client) ||
	       t->lib->psk_set_client_credentials(t->client, IDENTITY, &key,
						  GNUTLS_PSK_KEY_RAW) ||
	       t->lib->credentials_set(t->session, GNUTLS_CRD_PSK, t->client);
}

static int set_server_key(struct tcp_tls *t)
{
	if (t->lib->psk_allocate_server_credentials(&t->server))
		return -1;
	t->lib->psk_set_server_credentials_function(t->server, give_key);
	return t->lib->credentials_set(t->session, GNUTLS_CRD_PSK, t->server);
}

/* --- a session --- */

static int session_init(struct tcp_tls *t, enum tcp_tls_side side)
{
	unsigned flags = side == TCP_TLS_SERVER ? GNUTLS_SERVER : GNUTLS_CLIENT;

	/* A ticket would be a record that the kernel does not expect. */
	flags |= GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS;
	if (t->lib->init(&t->session, flags))
		return -ENOMEM;
	t->lib->session_set_ptr(t->session, t);
	t->lib->handshake_set_timeout(t->session, 0);
	if (set_ciphers(t->lib, t->session) ||
	    (side == TCP_TLS_SERVER ? set_server_key(t) : set_client_key(t)))
		return -EIO;
	return tls_record_init(t);
}

struct tcp_tls *tcp_tls_create(int fd, const u8 key[TCP_TLS_KEY],
			       enum tcp_tls_side side)
{
	struct tcp_tls *t = calloc(1, sizeof(*t));
	char why[200];

	if (!t)
		return NULL;
	t->fd = fd;
	memcpy(t->key, key, sizeof(t->key));
	t->lib = tls_lib_get(why, sizeof(why));
	if (!t->lib || session_init(t, side)) {
		tcp_tls_destroy(t);
		return NULL;
	}
	return t;
}

static void forget_key(struct tcp_tls *t)
{
	explicit_bzero(t->key, sizeof(t->key));
	if (t->client)
		t->lib->psk_free_client_credentials(t->client);
	if (t->server)
		t->lib->psk_free_server_credentials(t->server);
	t->client = NULL;
	t->server = NULL;
}

void tcp_tls_destroy(struct tcp_tls *t)
{
	if (!t)
		return;
	if (t->session)
		t->lib->deinit(t->session);
	if (t->lib)
		forget_key(t);
	tls_record_cleanup(t);
	free(t);
}

/* --- the kernel --- */

static int get_key(struct tcp_tls *t, bool read, struct tls_kernel_key *k)
{
	gnutls_datum_t mac, iv, key;

	if (t->lib->record_get_state(t->session, read, &mac, &iv, &key,
				     k->seq) ||
	    key.size != sizeof(k->key) || iv.size != sizeof(k->iv))
		return -EIO;
	memcpy(k->key, key.data, sizeof(k->key));
	memcpy(k->iv, iv.data, sizeof(k->iv));
	return 0;
}

/* What it does not take stays with us: the two directions do not need each other. */
static void use_kernel(struct tcp_tls *t)
{
	struct tls_kernel_key k;

	if (t->lib->cipher_get(t->session) != GNUTLS_CIPHER_CHACHA20_POLY1305 ||
	    !tls_kernel_there() || tls_kernel_prepare(t->fd))
		return;
	t->kernel_sends = !get_key(t, false, &k) && !tls_kernel_send(t->fd, &k);
	t->kernel_receives = !get_key(t, true, &k) &&
			     !tls_kernel_receive(t->fd, &k);
	explicit_bzero(&k, sizeof(k));
}

bool tcp_tls_kernel_sends(const struct tcp_tls *t)
{
	return t->kernel_sends;
}

bool tcp_tls_kernel_receives(const struct tcp_tls *t)
{
	return t->kernel_receives;
}

/* --- the handshake --- */

static int handshake_failed(struct tcp_tls *t, int rc)
{
	bool alert = rc == GNUTLS_E_FATAL_ALERT_RECEIVED;

	if (rc == GNUTLS_E_PREMATURE_TERMINATION || rc == GNUTLS_E_PULL_ERROR ||
	    rc == GNUTLS_E_PUSH_ERROR)
		return -ECONNRESET;
	t->why = alert ? t->lib->alert_get_name(t->lib->alert_get(t->session)) :
			 t->lib->strerror(rc);
	return -EKEYREJECTED;
}

int tcp_tls_handshake(struct tcp_tls *t)
{
	int rc, err;

	do
		rc = t->lib->handshake(t->session);
	while (rc == GNUTLS_E_INTERRUPTED ||
	       rc == GNUTLS_E_WARNING_ALERT_RECEIVED);
	err = tls_record_flush(t);
	if (rc != GNUTLS_E_SUCCESS && rc != GNUTLS_E_AGAIN)
		return handshake_failed(t, rc);
	if (err && err != -EAGAIN)
		return err;
	if (rc || err)
		return 0;
	forget_key(t);
	use_kernel(t);
	t->reads_ahead = true;
	return 1;
}

const char *tcp_tls_reason(const struct tcp_tls *t, int err)
{
	if (err == -EKEYREJECTED && t->why)
		return t->why;
	/* the kernel's words for it */
	if (t->kernel_receives && (err == -EBADMSG || err == -EIO))
		return "what has come was not encrypted with the key of this connection";
	return strerror(-err);
}

void tcp_tls_describe(const struct tcp_tls *t, char *buf, size_t size)
{
	bool all = t->kernel_sends && t->kernel_receives;

	snprintf(buf, size, "TLS 1.3, %s%s",
		 t->lib->cipher_get_name(t->lib->cipher_get(t->session)),
		 all		    ? ", in the kernel" :
		 t->kernel_sends    ? ", sent by the kernel" :
		 t->kernel_receives ? ", received by the kernel" :
				      "");
}

u32 tcp_tls_updates(const struct tcp_tls *t)
{
	return t->updates;
}

#endif
