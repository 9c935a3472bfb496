/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Addresses: which of this host's to offer, and in which order to try those of
 * a peer. Everything but tcp_addr_list() is a pure function over lists, so that
 * the choice can be tested with made-up hosts.
 */
#ifndef TCP_ADDR_H
#define TCP_ADDR_H

#include <net/if.h>
#include <sys/socket.h>

#include "env.h"

#define TCP_ADDRS 16	 /* most that an endpoint offers */
#define TCP_ADDR_TEXT 64 /* "fe80::…%interface/64" fits */

enum tcp_addr_flags {
	TCP_IF_UP = 1,
	TCP_IF_RUNNING = 2, /* has carrier */
	TCP_IF_LOOPBACK = 4,
	TCP_IF_P2P = 8,	    /* tunnels: usually a VPN */
	TCP_IF_BRIDGE = 16, /* for containers and guests of this host only */
	TCP_IF_WIRELESS = 32,
	/* of an IPv6 address: */
	TCP_ADDR_TENTATIVE =
		64, /* does another host have it? it takes a second */
	TCP_ADDR_DUPLICATE = 128, /* yes, so it is never used */
};

struct tcp_addr {
	u8 family; /* AF_INET or AF_INET6 */
	u8 prefix;
	u8 ip[16]; /* network order; an IPv4 address takes the first 4 */
	u32 scope; /* interface index; link-local IPv6 only, and only ours */
	u32 flags; /* enum tcp_addr_flags; only ours */
	char ifname[IF_NAMESIZE]; /* only ours */
};

/* This host's addresses, as the kernel lists them. Count or negative errno. */
int tcp_addr_list(struct tcp_addr *out, u32 max);

/*
 * The addresses to offer. @wanted is O2G_TCP_INTERFACES, @family 0, 4 or 6.
 * Count, or negative errno with one line in @why.
 */
int tcp_addr_choose(const struct tcp_addr *all, u32 n, const char *wanted,
		    int family, struct tcp_addr *out, u32 max, char *why,
		    size_t why_size);

/* None of those chosen can be used yet. */
bool tcp_addr_all_tentative(const struct tcp_addr *a, u32 n);

/*
 * The peer's addresses that are worth trying from here, best first. Ours are
 * those chosen above. Returns how many.
 */
u32 tcp_addr_order(const struct tcp_addr *ours, u32 nours,
		   const struct tcp_addr *theirs, u32 ntheirs, bool same_node,
		   struct tcp_addr *out, u32 max);

/* "10.0.0.1/24"; returns buf. */
char *tcp_addr_text(const struct tcp_addr *a, char *buf, size_t size);
/* The same without prefix length. */
char *tcp_addr_ip(const struct tcp_addr *a, char *buf, size_t size);
/* An address with or without a prefix length. 0 or -EINVAL. */
int tcp_addr_parse(const char *text, size_t len, struct tcp_addr *a);

bool tcp_addr_same_ip(const struct tcp_addr *a, const struct tcp_addr *b);
bool tcp_addr_in(const struct tcp_addr *net, const struct tcp_addr *a);

socklen_t tcp_addr_to_sock(const struct tcp_addr *a, u16 port,
			   struct sockaddr_storage *ss);
/* An IPv4 address mapped into IPv6 becomes IPv4 again. */
void tcp_addr_from_sock(const struct sockaddr_storage *ss, struct tcp_addr *a,
			u16 *port);

#endif
