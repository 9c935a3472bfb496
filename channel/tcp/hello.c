/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "hello.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <stdio.h>
#include <sys/random.h>

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

static int random_nonce(u8 *nonce)
{
	ssize_t n;

	do
		n = getrandom(nonce, TCP_NONCE_SIZE, 0);
	while (n < 0 && errno == EINTR);
	return n == TCP_NONCE_SIZE ? 0 : -EIO;
}

static void mac(const struct tcp_hello_key *k, const char *label,
		const struct tcp_challenge *c, const struct tcp_answer *a,
		__le32 code, u8 *out)
{
	struct hmac_sha256_ctx ctx;

	hmac_sha256_set_key(&ctx, TCP_SECRET_SIZE, k->secret);
	hmac_sha256_update(&ctx, strlen(label) + 1, (const u8 *)label);
	hmac_sha256_update(&ctx, sizeof(*c), (const u8 *)c);
	hmac_sha256_update(&ctx, offsetof(struct tcp_answer, mac),
			   (const u8 *)a);
	hmac_sha256_update(&ctx, sizeof(code), (const u8 *)&code);
	hmac_sha256_update(&ctx, strlen(k->job), (const u8 *)k->job);
	hmac_sha256_digest(&ctx, TCP_MAC_SIZE, out);
}

int tcp_hello_challenge(struct tcp_challenge *c, bool tls)
{
	put_magic(c->magic, TCP_MAGIC_CHALLENGE);
	c->version = cpu_to_le32(TCP_HELLO_VERSION | (tls ? TCP_HELLO_TLS : 0));
	return random_nonce(c->nonce);
}

int tcp_hello_check_challenge(const struct tcp_challenge *c, bool tls,
			      u32 *version)
{
	u32 v = le32_to_cpu(c->version);

	if (!is_magic(c->magic, TCP_MAGIC_CHALLENGE))
		return -EBADMSG;
	*version = v & ~TCP_HELLO_TLS;
	if (*version != TCP_HELLO_VERSION)
		return -EPROTO;
	return !(v & TCP_HELLO_TLS) == !tls ? 0 : -EKEYREJECTED;
}

int tcp_hello_answer(const struct tcp_hello_key *k,
		     const struct tcp_challenge *c, enum tcp_purpose purpose,
		     u32 src, u32 dst, const char *host, struct tcp_answer *a)
{
	memset(a, 0, sizeof(*a));
	put_magic(a->magic, answer_magic[purpose]);
	a->version = cpu_to_le32(TCP_HELLO_VERSION);
	a->src = cpu_to_le32(src);
	a->dst = cpu_to_le32(dst);
	memcpy(a->host, host, strnlen(host, TCP_HOST_SIZE - 1));
	if (random_nonce(a->nonce))
		return -EIO;
	mac(k, TCP_LABEL_ANSWER, c, a, 0, a->mac);
	return 0;
}

static bool is_for(const struct tcp_answer *a, enum tcp_purpose purpose)
{
	return is_magic(a->magic, answer_magic[purpose]);
}

/* TCP_PURPOSES: none. */
enum tcp_purpose tcp_hello_purpose(const struct tcp_answer *a)
{
	enum tcp_purpose p = TCP_FIRST;

	while (p < TCP_PURPOSES && !is_for(a, p))
		p++;
	return p;
}

void tcp_hello_name(char name[TCP_HOST_SIZE], u64 job, const char *host)
{
	snprintf(name, TCP_HOST_SIZE, "%016llx%.*s", (unsigned long long)job,
		 TCP_HOST_SIZE - 17, host);
}

u64 tcp_hello_job(const struct tcp_answer *a)
{
	unsigned long long job = 0;
	char hex[17] = "";

	memcpy(hex, a->host, 16);
	return sscanf(hex, "%16llx", &job) == 1 ? job : 0;
}

void tcp_hello_derive(const struct tcp_hello_key *k,
		      const struct tcp_challenge *c, const struct tcp_answer *a,
		      u8 key[32])
{
	mac(k, TCP_LABEL_MEETING, c, a, 0, key);
}

void tcp_hello_tls_key(const struct tcp_hello_key *k,
		       const struct tcp_challenge *c,
		       const struct tcp_answer *a, u8 key[32])
{
	mac(k, "o2g tls", c, a, 0, key);
}

void tcp_hello_port_key(const u8 secret[32], u8 key[32])
{
	static const char label[] = "o2g port tls";
	struct hmac_sha256_ctx ctx;

	hmac_sha256_set_key(&ctx, 32, secret);
	hmac_sha256_update(&ctx, sizeof(label), (const u8 *)label);
	hmac_sha256_digest(&ctx, 32, key);
}

/* Not the lowest bit: the kernel hands out ports of one parity first. */
bool tcp_hello_is_marked(const struct tcp_hello_key *k, u32 rank, u16 port)
{
	static const char label[] = "o2g known peer";
	__le32 to = cpu_to_le32(rank);
	struct hmac_sha256_ctx ctx;
	u8 mark;

	hmac_sha256_set_key(&ctx, 32, k->secret);
	hmac_sha256_update(&ctx, sizeof(label), (const u8 *)label);
	hmac_sha256_update(&ctx, sizeof(to), (const u8 *)&to);
	hmac_sha256_digest(&ctx, 1, &mark);
	return (port >> 1 & 15) == (mark & 15);
}

bool tcp_hello_check_answer(const struct tcp_hello_key *k,
			    const struct tcp_challenge *c,
			    const struct tcp_answer *a)
{
	u8 want[TCP_MAC_SIZE];

	if (tcp_hello_purpose(a) == TCP_PURPOSES ||
	    le32_to_cpu(a->version) != TCP_HELLO_VERSION)
		return false;
	mac(k, TCP_LABEL_ANSWER, c, a, 0, want);
	return memeql_sec(want, a->mac, TCP_MAC_SIZE);
}

void tcp_hello_verdict(const struct tcp_hello_key *k,
		       const struct tcp_challenge *c,
		       const struct tcp_answer *a, enum tcp_verdict code,
		       struct tcp_verdict_msg *v)
{
	put_magic(v->magic, TCP_MAGIC_VERDICT);
	v->code = cpu_to_le32(code);
	mac(k, TCP_LABEL_VERDICT, c, a, v->code, v->mac);
}

bool tcp_hello_check_verdict(const struct tcp_hello_key *k,
			     const struct tcp_challenge *c,
			     const struct tcp_answer *a,
			     const struct tcp_verdict_msg *v)
{
	u8 want[TCP_MAC_SIZE];

	if (!is_magic(v->magic, TCP_MAGIC_VERDICT))
		return false;
	mac(k, TCP_LABEL_VERDICT, c, a, v->code, want);
	return memeql_sec(want, v->mac, TCP_MAC_SIZE);
}
