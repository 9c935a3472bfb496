/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What an endpoint tells of itself: card.c has the form. */
#ifndef TCP_CARD_H
#define TCP_CARD_H

#include "addr.h"

struct tcp_card {
	char host[64];
	char node[24];
	u16 port;
	u32 naddrs;
	struct tcp_addr addrs[TCP_ADDRS];
};

int tcp_card_write(const struct tcp_card *card, u32 rank, char *buf,
		   size_t size);
int tcp_card_read(const char *text, struct tcp_card *card);

#endif
