/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The choice of addresses.
 *
 * An endpoint offers the addresses of one class only, the best it has: ordinary
 * networks, else guest bridges, else link-local ones, else loopback. Within the
 * class wired interfaces come before wireless ones and those before tunnels.
 * A host name is never resolved: Debian maps it to 127.0.1.1.
 *
 * Whoever connects sorts what the peer offers by how near it is: a network both
 * are on, then the same kind of address (private, global), then the rest. A
 * wrong guess costs time, never correctness, since the hello proves who answers.
 */
#include "addr.h"

#include <stdio.h>

enum rating { NORMAL, GUEST, LINK_LOCAL, LOOPBACK, UNUSABLE };

static bool is_link_local(const struct tcp_addr *a)
{
	if (a->family == AF_INET)
		return a->ip[0] == 169 && a->ip[1] == 254;
	return a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80;
}

static bool is_loopback(const struct tcp_addr *a)
{
	static const u8 v6[16] = { [15] = 1 };

	if (a->family == AF_INET)
		return a->ip[0] == 127;
	return !memcmp(a->ip, v6, 16);
}

static bool is_private(const struct tcp_addr *a)
{
	if (a->family == AF_INET6)
		return (a->ip[0] & 0xfe) == 0xfc;
	return a->ip[0] == 10 || (a->ip[0] == 172 && a->ip[1] >> 4 == 1) ||
	       (a->ip[0] == 192 && a->ip[1] == 168);
}

static enum rating classify(const struct tcp_addr *a)
{
	if (!(a->flags & TCP_IF_UP) || a->flags & TCP_ADDR_DUPLICATE)
		return UNUSABLE;
	if (a->flags & TCP_IF_LOOPBACK || is_loopback(a))
		return LOOPBACK;
	if (!(a->flags & TCP_IF_RUNNING))
		return UNUSABLE;
	if (is_link_local(a))
		return LINK_LOCAL;
	return a->flags & TCP_IF_BRIDGE ? GUEST : NORMAL;
}

/* How much less an interface is liked than a wired one. */
static u32 penalty(const struct tcp_addr *a)
{
	return (a->flags & TCP_IF_WIRELESS ? 1 : 0) +
	       (a->flags & TCP_IF_P2P ? 2 : 0) +
	       (a->flags & TCP_IF_BRIDGE ? 4 : 0);
}

/* Is it named in the list, by interface or by network? */
static bool is_wanted(const struct tcp_addr *a, const char *list)
{
	struct tcp_addr net;

	while (*list) {
		size_t len = strcspn(list, ",");

		if (len == strlen(a->ifname) && !strncmp(list, a->ifname, len))
			return true;
		if (!tcp_addr_parse(list, len, &net) && tcp_addr_in(&net, a))
			return true;
		list += len;
		list += *list == ',';
	}
	return false;
}

/* Stable insertion: few addresses, and equal ones keep the kernel's order. */
static void insert(struct tcp_addr *out, u32 *keys, u32 n,
		   const struct tcp_addr *a, u32 key)
{
	while (n && keys[n - 1] > key) {
		out[n] = out[n - 1];
		keys[n] = keys[n - 1];
		n--;
	}
	out[n] = *a;
	keys[n] = key;
}

static const char *state_text(const struct tcp_addr *a)
{
	if (!(a->flags & TCP_IF_UP))
		return " (down)";
	return a->flags & TCP_ADDR_DUPLICATE ?
		       " (another host has it as well)" :
		       "";
}

static void say_what_there_is(const struct tcp_addr *all, u32 n, char *buf,
			      size_t size)
{
	char text[TCP_ADDR_TEXT];
	size_t at = 0;

	buf[0] = '\0';
	for (u32 i = 0; i < n && at < size; i++)
		at += snprintf(buf + at, size - at, "%s%s %s%s", i ? ", " : "",
			       all[i].ifname,
			       tcp_addr_text(&all[i], text, sizeof(text)),
			       state_text(&all[i]));
}

static int explain(const struct tcp_addr *all, u32 n, const char *wanted,
		   int family, char *why, size_t size)
{
	char have[400];

	say_what_there_is(all, n, have, sizeof(have));
	if (*wanted)
		snprintf(
			why, size,
			"O2G_TCP_INTERFACES is \"%s\", but this host has no such address%s; it has: %s",
			wanted, family ? " of O2G_TCP_FAMILY" : "", have);
	else if (family)
		snprintf(
			why, size,
			"O2G_TCP_FAMILY is %d, but this host has no such address; it has: %s",
			family, have);
	else
		snprintf(
			why, size,
			"no network interface with an address is up (ip addr shows them)%s%s",
			n ? "; there is: " : "", have);
	return -EADDRNOTAVAIL;
}

bool tcp_addr_all_tentative(const struct tcp_addr *a, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (!(a[i].flags & TCP_ADDR_TENTATIVE))
			return false;
	return n;
}

int tcp_addr_choose(const struct tcp_addr *all, u32 n, const char *wanted,
		    int family, struct tcp_addr *out, u32 max, char *why,
		    size_t why_size)
{
	u32 keys[TCP_ADDRS], count = 0;
	enum rating best = UNUSABLE;

	if (max > TCP_ADDRS)
		max = TCP_ADDRS;
	for (u32 i = 0; i < n; i++) {
		const struct tcp_addr *a = &all[i];
		enum rating c = classify(a);

		if (family && a->family != (family == 4 ? AF_INET : AF_INET6))
			continue;
		/* What the user names is used, whatever it is; but it is up. */
		if (*wanted && !is_wanted(a, wanted))
			continue;
		if (*wanted && a->flags & TCP_IF_UP && !is_link_local(a) &&
		    !(a->flags & TCP_ADDR_DUPLICATE))
			c = NORMAL;
		if (c == UNUSABLE || c > best)
			continue;
		if (c < best)
			count = 0;
		best = c;
		if (count < max) {
			insert(out, keys, count, a, penalty(a));
			count++;
		}
	}
	if (!count)
		return explain(all, n, wanted, family, why, why_size);
	return count;
}

#define NO_WAY 1000

static u32 score(const struct tcp_addr *ours, u32 nours,
		 const struct tcp_addr *a, bool same_node)
{
	u32 best = NO_WAY;

	if (is_loopback(a))
		return same_node ? 0 : NO_WAY;
	for (u32 i = 0; i < nours; i++) {
		const struct tcp_addr *o = &ours[i];
		u32 s = 300;

		if (o->family != a->family)
			continue;
		if (is_link_local(a) && !is_link_local(o))
			continue;
		if (tcp_addr_same_ip(o, a))
			/* Ours too: the same host, or a twin elsewhere. */
			s = same_node ? 1 : 400;
		else if (o->prefix == a->prefix && tcp_addr_in(o, a))
			s = 100 + penalty(o);
		else if (is_private(o) == is_private(a))
			s = 200 + penalty(o);
		/* A twin makes every other network it could be on irrelevant. */
		if (s == 400)
			return s;
		if (s < best)
			best = s;
	}
	return best;
}

u32 tcp_addr_order(const struct tcp_addr *ours, u32 nours,
		   const struct tcp_addr *theirs, u32 ntheirs, bool same_node,
		   struct tcp_addr *out, u32 max)
{
	u32 keys[TCP_ADDRS], n = 0;

	if (max > TCP_ADDRS)
		max = TCP_ADDRS;
	for (u32 i = 0; i < ntheirs; i++) {
		u32 s = score(ours, nours, &theirs[i], same_node);
		struct tcp_addr a = theirs[i];

		if (s == NO_WAY)
			continue;
		if (a.family == AF_INET || !is_link_local(&a)) {
			if (n < max) {
				insert(out, keys, n, &a, s);
				n++;
			}
			continue;
		}
		/* Link-local IPv6 says nothing about the link: try ours all. */
		for (u32 j = 0; j < nours && n < max; j++) {
			if (!ours[j].scope ||
			    same_node != tcp_addr_same_ip(&ours[j], &a))
				continue;
			a.scope = ours[j].scope;
			insert(out, keys, n, &a, s);
			n++;
		}
	}
	return n;
}
