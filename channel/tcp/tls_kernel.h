/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * kTLS: the kernel encrypts what a socket sends and decrypts what it receives, with
 * the keys that the handshake has agreed on.
 *
 * Keys last. A kernel before 6.14 cannot change those of a socket, and AES-GCM's are
 * worn out after 2^24.5 records; those of ChaCha20-Poly1305 outlive the counter of
 * records. So an end whose kernel encrypts offers that cipher alone.
 */
#ifndef TCP_TLS_KERNEL_H
#define TCP_TLS_KERNEL_H

#include "env.h"

#define TLS_KERNEL_KEY 32
#define TLS_KERNEL_IV 12
#define TLS_KERNEL_SEQ 8

/* One direction of a connection that uses ChaCha20-Poly1305. */
struct tls_kernel_key {
	u8 key[TLS_KERNEL_KEY];
	u8 iv[TLS_KERNEL_IV];
	u8 seq[TLS_KERNEL_SEQ];
};

/* Has the kernel got it, and may it be used (O2G_KTLS)? */
bool tls_kernel_there(void);
/* The socket will take keys. Until it has some it is as it was. */
int tls_kernel_prepare(int fd);
int tls_kernel_send(int fd, const struct tls_kernel_key *k);
int tls_kernel_receive(int fd, const struct tls_kernel_key *k);

#endif
