/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "tls_kernel.h"

#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "settings.h"

#ifndef TCP_ULP
#define TCP_ULP 31
#endif
#ifndef SOL_TLS
#define SOL_TLS 282
#endif

_Static_assert(TLS_CIPHER_CHACHA20_POLY1305_KEY_SIZE == TLS_KERNEL_KEY, "key");
_Static_assert(TLS_CIPHER_CHACHA20_POLY1305_IV_SIZE == TLS_KERNEL_IV, "iv");
_Static_assert(TLS_CIPHER_CHACHA20_POLY1305_REC_SEQ_SIZE == TLS_KERNEL_SEQ,
	       "seq");

int tls_kernel_prepare(int fd)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) ?
		       -errno :
		       0;
}

/* A socket that is not connected is refused, but for another reason than that
 * nobody knows the word. */
bool tls_kernel_there(void)
{
	int fd, err;

	if (!o2g_settings()->ktls)
		return false;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	err = tls_kernel_prepare(fd);
	close(fd);
	return err == 0 || err == -ENOTCONN;
}

static int set_key(int fd, int direction, const struct tls_kernel_key *k)
{
	struct tls12_crypto_info_chacha20_poly1305 c = {
		.info = { TLS_1_3_VERSION, TLS_CIPHER_CHACHA20_POLY1305 },
	};
	int err;

	memcpy(c.key, k->key, sizeof(c.key));
	memcpy(c.iv, k->iv, sizeof(c.iv));
	memcpy(c.rec_seq, k->seq, sizeof(c.rec_seq));
	err = setsockopt(fd, SOL_TLS, direction, &c, sizeof(c)) ? -errno : 0;
	explicit_bzero(&c, sizeof(c));
	return err;
}

int tls_kernel_send(int fd, const struct tls_kernel_key *k)
{
	return set_key(fd, TLS_TX, k);
}

int tls_kernel_receive(int fd, const struct tls_kernel_key *k)
{
	return set_key(fd, TLS_RX, k);
}
