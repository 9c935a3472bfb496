/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "given.h"

#include <stdio.h>
#include <stdlib.h>

static int read_port(const char *text, u16 *port)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || v > 65535)
		return -EINVAL;
	*port = (u16)v;
	return 0;
}

int tcp_given_parse(const char *text, struct tcp_given *g)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	bool brackets = len >= 2 && text[0] == '[' && text[len - 1] == ']';

	memset(g, 0, sizeof(*g));
	if (!colon || read_port(colon + 1, &g->port))
		return -EINVAL;
	g->anywhere = len == 0;
	if (g->anywhere)
		return 0;
	if (tcp_addr_parse(text + brackets, len - 2 * brackets, &g->at))
		return -EINVAL;
	/* Without brackets nobody can tell where the address ends. */
	return brackets == (g->at.family == AF_INET6) ? 0 : -EINVAL;
}
