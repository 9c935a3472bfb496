/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * GnuTLS, loaded by whoever asks for encryption. Linked with libo2g it would cost
 * every rank of every job some milliseconds and a dozen libraries at its start.
 */
#ifndef TCP_TLS_LIB_H
#define TCP_TLS_LIB_H

#if __has_include(<gnutls/gnutls.h>) && !defined(O2G_NO_TLS)
#define TCP_HAS_TLS 1

#include <gnutls/gnutls.h>
#include <stddef.h>

/* What is used of it. */
#define TLS_LIB_CALLS(X)                       \
	X(alert_get)                           \
	X(alert_get_name)                      \
	X(check_version)                       \
	X(cipher_get)                          \
	X(cipher_get_name)                     \
	X(credentials_set)                     \
	X(deinit)                              \
	X(handshake)                           \
	X(handshake_set_timeout)               \
	X(init)                                \
	X(priority_set_direct)                 \
	X(psk_allocate_client_credentials)     \
	X(psk_allocate_server_credentials)     \
	X(psk_free_client_credentials)         \
	X(psk_free_server_credentials)         \
	X(psk_set_client_credentials)          \
	X(psk_set_server_credentials_function) \
	X(record_get_state)                    \
	X(record_recv)                         \
	X(record_send)                         \
	X(session_get_ptr)                     \
	X(session_key_update)                  \
	X(session_set_ptr)                     \
	X(strerror)                            \
	X(transport_set_errno)                 \
	X(transport_set_ptr)                   \
	X(transport_set_pull_function)         \
	X(transport_set_push_function)

struct tls_lib {
#define TLS_LIB_MEMBER(name) __typeof__(gnutls_##name) *name;
	TLS_LIB_CALLS(TLS_LIB_MEMBER)
#undef TLS_LIB_MEMBER
	gnutls_alloc_function *malloc; /* a variable of the library */
};

/* NULL: it cannot be had, and one line in @why says why not. */
const struct tls_lib *tls_lib_get(char *why, size_t why_size);

#endif
#endif
