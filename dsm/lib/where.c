/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Where this process's node in the kernel can be reached. Processes of one host and one
 * network namespace use the loopback device; others try the addresses of all interfaces,
 * or of those that O2G_TCP_INTERFACES names.
 */
#define _GNU_SOURCE
#include "where.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"

static const void *bytes_of(const struct sockaddr *a)
{
	return a->sa_family == AF_INET ?
		       (const void *)&((const struct sockaddr_in *)a)->sin_addr :
		       (const void *)&((const struct sockaddr_in6 *)a)
			       ->sin6_addr;
}

/* Is an address in a network, such as 10.0.0.0/8? */
static bool is_in(const struct sockaddr *a, const char *network)
{
	const uint8_t *x = bytes_of(a);
	uint8_t y[16];
	char text[64];
	char *slash;
	size_t bits;

	snprintf(text, sizeof(text), "%s", network);
	slash = strchr(text, '/');
	if (!slash)
		return false;
	*slash = '\0';
	if (inet_pton(a->sa_family, text, y) != 1)
		return false;
	bits = strtoul(slash + 1, NULL, 10);
	if (bits > (a->sa_family == AF_INET ? 32 : 128))
		return false;
	for (size_t i = 0; i < bits; i++)
		if ((x[i / 8] ^ y[i / 8]) & 0x80 >> i % 8)
			return false;
	return true;
}

static bool is_named(const struct ifaddrs *i, const char *names)
{
	char *copy = strdup(names), *rest = copy, *name;
	bool found = false;

	while (copy && !found && (name = strsep(&rest, ",")))
		found = !strcmp(name, i->ifa_name) || is_in(i->ifa_addr, name);
	free(copy);
	return found;
}

static bool is_link_local(const struct sockaddr *a)
{
	return a->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(
		       &((const struct sockaddr_in6 *)a)->sin6_addr);
}

static bool wanted(const struct ifaddrs *i)
{
	const char *names = o2g_settings()->tcp_interfaces;
	unsigned up = IFF_UP | IFF_RUNNING;

	if (!i->ifa_addr || (i->ifa_addr->sa_family != AF_INET &&
			     i->ifa_addr->sa_family != AF_INET6))
		return false;
	if ((i->ifa_flags & up) != up || is_link_local(i->ifa_addr))
		return false;
	return *names ? is_named(i, names) : !(i->ifa_flags & IFF_LOOPBACK);
}

static void add(struct dsm_where *w, const struct sockaddr *a)
{
	struct sockaddr_storage *to = &w->addresses[w->n++];

	memset(to, 0, sizeof(*to));
	if (a->sa_family == AF_INET) {
		memcpy(to, a, sizeof(struct sockaddr_in));
		((struct sockaddr_in *)to)->sin_port = htons(w->port);
	} else {
		memcpy(to, a, sizeof(struct sockaddr_in6));
		((struct sockaddr_in6 *)to)->sin6_port = htons(w->port);
	}
}

/* Which kernel, and which of its networks. */
static void name_host(struct dsm_where *w)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot[64] = "", net[64] = "";
	ssize_t n = readlink("/proc/self/ns/net", net, sizeof(net) - 1);

	if (f && !fgets(boot, sizeof(boot), f))
		*boot = '\0';
	if (f)
		fclose(f);
	if (*boot && n > 0)
		snprintf(w->host, sizeof(w->host), "%.*s %s",
			 (int)strcspn(boot, "\n"), boot, net);
}

void dsm_where_am_i(uint16_t port, struct dsm_where *w)
{
	struct ifaddrs *list, *i;

	memset(w, 0, sizeof(*w));
	w->port = port;
	name_host(w);
	if (getifaddrs(&list))
		return;
	for (i = list; i && w->n < DSM_ADDRESSES; i = i->ifa_next)
		if (wanted(i))
			add(w, i->ifa_addr);
	freeifaddrs(list);
}

unsigned dsm_where_is(const struct dsm_where *mine,
		      const struct dsm_where *other,
		      struct sockaddr_storage *addresses)
{
	struct sockaddr_in lo = { .sin_family = AF_INET,
				  .sin_port = htons(other->port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };

	if (*mine->host && !strcmp(mine->host, other->host)) {
		memset(addresses, 0, sizeof(*addresses));
		memcpy(addresses, &lo, sizeof(lo));
		return 1;
	}
	memcpy(addresses, other->addresses, sizeof(other->addresses));
	return other->n <= DSM_ADDRESSES ? other->n : 0;
}
