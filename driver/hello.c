// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "hello.h"

#include <crypto/algapi.h>
#include <crypto/hash.h>
#include <linux/random.h>

static const char answer_magic[TCP_PURPOSES][TCP_MAGIC_SIZE + 1] = {
	TCP_MAGIC_ANSWERS
};

static void put_magic(char *to, const char *magic)
{
	memcpy(to, magic, TCP_MAGIC_SIZE);
}

static bool is_magic(const char *got, const char *magic)
{
	return !memcmp(got, magic, TCP_MAGIC_SIZE);
}

/* --- the key --- */

int o2gk_key_init(struct o2gk_key *k, const u8 *secret, const char *job)
{
	struct crypto_shash *mac;
	int err;

	if (strlen(job) >= sizeof(k->job))
		return -ENAMETOOLONG;
	mac = crypto_alloc_shash("hmac(sha256)", 0, 0);
	if (IS_ERR(mac))
		return PTR_ERR(mac);
	err = crypto_shash_setkey(mac, secret, TCP_SECRET_SIZE);
	if (err) {
		crypto_free_shash(mac);
		return err;
	}
	k->mac = mac;
	strscpy(k->job, job, sizeof(k->job));
	return 0;
}

void o2gk_key_destroy(struct o2gk_key *k)
{
	crypto_free_shash(k->mac);
	k->mac = NULL;
}

/* The order is that of docs/protocol.md. */
static int mac(const struct o2gk_key *k, const char *label,
	       const struct tcp_challenge *c, const struct tcp_answer *a,
	       __le32 code, u8 *out)
{
	const struct {
		const void *data;
		size_t len;
	} parts[] = {
		{ label, strlen(label) + 1 },
		{ c, sizeof(*c) },
		{ a, offsetof(struct tcp_answer, mac) },
		{ &code, sizeof(code) },
		{ k->job, strlen(k->job) },
	};
	SHASH_DESC_ON_STACK(desc, k->mac);
	unsigned int i;
	int err;

	desc->tfm = k->mac;
	err = crypto_shash_init(desc);
	for (i = 0; i < ARRAY_SIZE(parts) && !err; i++)
		err = crypto_shash_update(desc, parts[i].data, parts[i].len);
	if (!err)
		err = crypto_shash_final(desc, out);
	shash_desc_zero(desc);
	return err;
}

/* In a time that does not tell how much of it is right. */
static int check_mac(const struct o2gk_key *k, const char *label,
		     const struct tcp_challenge *c, const struct tcp_answer *a,
		     __le32 code, const u8 *got)
{
	u8 want[TCP_MAC_SIZE];
	int err = mac(k, label, c, a, code, want);

	if (!err && crypto_memneq(want, got, TCP_MAC_SIZE))
		err = -EKEYREJECTED;
	memzero_explicit(want, sizeof(want));
	return err;
}

/* --- the messages --- */

void o2gk_hello_challenge(struct tcp_challenge *c)
{
	put_magic(c->magic, TCP_MAGIC_CHALLENGE);
	c->version = cpu_to_le32(TCP_HELLO_VERSION);
	get_random_bytes(c->nonce, sizeof(c->nonce));
}

int o2gk_hello_check_challenge(const struct tcp_challenge *c)
{
	if (!is_magic(c->magic, TCP_MAGIC_CHALLENGE))
		return -EBADMSG;
	return le32_to_cpu(c->version) == TCP_HELLO_VERSION ? 0 : -EPROTO;
}

int o2gk_hello_answer(const struct o2gk_key *k, const struct tcp_challenge *c,
		      u32 src, u32 dst, const char *host, struct tcp_answer *a)
{
	memset(a, 0, sizeof(*a));
	put_magic(a->magic, answer_magic[TCP_FIRST]);
	a->version = cpu_to_le32(TCP_HELLO_VERSION);
	a->src = cpu_to_le32(src);
	a->dst = cpu_to_le32(dst);
	memcpy(a->host, host, strnlen(host, TCP_HOST_SIZE - 1));
	get_random_bytes(a->nonce, sizeof(a->nonce));
	return mac(k, TCP_LABEL_ANSWER, c, a, 0, a->mac);
}

bool o2gk_hello_is_second(const struct tcp_answer *a)
{
	return is_magic(a->magic, answer_magic[TCP_SECOND]);
}

int o2gk_hello_check_answer(const struct o2gk_key *k,
			    const struct tcp_challenge *c,
			    const struct tcp_answer *a)
{
	if (!is_magic(a->magic, answer_magic[TCP_FIRST]) &&
	    !o2gk_hello_is_second(a))
		return -EBADMSG;
	if (le32_to_cpu(a->version) != TCP_HELLO_VERSION)
		return -EPROTO;
	return check_mac(k, TCP_LABEL_ANSWER, c, a, 0, a->mac);
}

int o2gk_hello_verdict(const struct o2gk_key *k, const struct tcp_challenge *c,
		       const struct tcp_answer *a, enum tcp_verdict code,
		       struct tcp_verdict_msg *v)
{
	put_magic(v->magic, TCP_MAGIC_VERDICT);
	v->code = cpu_to_le32(code);
	return mac(k, TCP_LABEL_VERDICT, c, a, v->code, v->mac);
}

int o2gk_hello_check_verdict(const struct o2gk_key *k,
			     const struct tcp_challenge *c,
			     const struct tcp_answer *a,
			     const struct tcp_verdict_msg *v)
{
	if (!is_magic(v->magic, TCP_MAGIC_VERDICT))
		return -EBADMSG;
	return check_mac(k, TCP_LABEL_VERDICT, c, a, v->code, v->mac);
}
