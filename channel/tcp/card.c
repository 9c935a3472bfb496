/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The card: "rank=0,host=node1,node=0123456789abcdef,port=40001,
 * addr=10.0.0.1/24+fd00::1/64". Unknown fields are skipped, so that later
 * versions can add some.
 */
#include "card.h"

#include <stdio.h>
#include <stdlib.h>

int tcp_card_write(const struct tcp_card *card, u32 rank, char *buf,
		   size_t size)
{
	char text[TCP_ADDR_TEXT];
	size_t n;

	n = snprintf(buf, size, "rank=%u,host=%s,node=%s,port=%u,addr=", rank,
		     card->host, card->node, card->port);
	for (u32 i = 0; i < card->naddrs && n < size; i++)
		n += snprintf(buf + n, size - n, "%s%s", i ? "+" : "",
			      tcp_addr_text(&card->addrs[i], text,
					    sizeof(text)));
	return n < size ? 0 : -ENOSPC;
}

static int read_addrs(const char *text, size_t len, struct tcp_card *card)
{
	while (len && card->naddrs < TCP_ADDRS) {
		const char *plus = memchr(text, '+', len);
		size_t n = plus ? (size_t)(plus - text) : len;

		if (tcp_addr_parse(text, n, &card->addrs[card->naddrs]))
			return -EINVAL;
		card->naddrs++;
		n += plus != NULL;
		text += n;
		len -= n;
	}
	return 0;
}

static int read_port(const char *text, size_t len, u16 *port)
{
	unsigned v = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		v = v * 10 + (text[i] - '0');
		if (v > 65535)
			return -EINVAL;
	}
	*port = v;
	return v ? 0 : -EINVAL;
}

static void read_text(const char *text, size_t len, char *out, size_t size)
{
	if (len >= size)
		len = size - 1;
	memcpy(out, text, len);
	out[len] = '\0';
}

static int read_field(const char *text, size_t len, struct tcp_card *card)
{
	const char *eq = memchr(text, '=', len);
	size_t name = eq ? (size_t)(eq - text) : len, rest;

	if (!eq)
		return -EINVAL;
	rest = len - name - 1;
	if (name == 4 && !memcmp(text, "addr", 4))
		return read_addrs(eq + 1, rest, card);
	if (name == 4 && !memcmp(text, "port", 4))
		return read_port(eq + 1, rest, &card->port);
	if (name == 4 && !memcmp(text, "host", 4))
		read_text(eq + 1, rest, card->host, sizeof(card->host));
	if (name == 4 && !memcmp(text, "node", 4))
		read_text(eq + 1, rest, card->node, sizeof(card->node));
	return 0;
}

int tcp_card_read(const char *text, struct tcp_card *card)
{
	memset(card, 0, sizeof(*card));
	while (*text) {
		size_t len = strcspn(text, ",");

		if (read_field(text, len, card))
			return -EINVAL;
		text += len;
		text += *text == ',';
	}
	return card->port && card->naddrs ? 0 : -EINVAL;
}
