/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Addresses as text, as sockaddr, and as the kernel lists them. */
#include "addr.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/if_addr.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *tcp_addr_ip(const struct tcp_addr *a, char *buf, size_t size)
{
	if (!inet_ntop(a->family, a->ip, buf, size))
		snprintf(buf, size, "?");
	return buf;
}

char *tcp_addr_text(const struct tcp_addr *a, char *buf, size_t size)
{
	size_t n;

	tcp_addr_ip(a, buf, size);
	n = strlen(buf);
	snprintf(buf + n, size - n, "/%u", a->prefix);
	return buf;
}

static int parse_prefix(const char *text, u8 *prefix)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (end == text || *end || v > *prefix)
		return -EINVAL;
	*prefix = v;
	return 0;
}

int tcp_addr_parse(const char *text, size_t len, struct tcp_addr *a)
{
	char buf[TCP_ADDR_TEXT], *slash;

	if (len >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, text, len);
	buf[len] = '\0';
	slash = strchr(buf, '/');
	if (slash)
		*slash = '\0';
	memset(a, 0, sizeof(*a));
	a->family = strchr(buf, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(a->family, buf, a->ip) != 1)
		return -EINVAL;
	a->prefix = a->family == AF_INET ? 32 : 128;
	return slash ? parse_prefix(slash + 1, &a->prefix) : 0;
}

bool tcp_addr_same_ip(const struct tcp_addr *a, const struct tcp_addr *b)
{
	return a->family == b->family && !memcmp(a->ip, b->ip, 16);
}

bool tcp_addr_in(const struct tcp_addr *net, const struct tcp_addr *a)
{
	u32 whole = net->prefix / 8, bits = net->prefix % 8;

	if (net->family != a->family || memcmp(net->ip, a->ip, whole))
		return false;
	return !bits || (net->ip[whole] ^ a->ip[whole]) >> (8 - bits) == 0;
}

socklen_t tcp_addr_to_sock(const struct tcp_addr *a, u16 port,
			   struct sockaddr_storage *ss)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	if (a->family == AF_INET) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		memcpy(&v4->sin_addr, a->ip, 4);
		return sizeof(*v4);
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	v6->sin6_scope_id = a->scope;
	memcpy(&v6->sin6_addr, a->ip, 16);
	return sizeof(*v6);
}

void tcp_addr_from_sock(const struct sockaddr_storage *ss, struct tcp_addr *a,
			u16 *port)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)ss;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)ss;

	memset(a, 0, sizeof(*a));
	if (ss->ss_family == AF_INET) {
		a->family = AF_INET;
		a->prefix = 32;
		memcpy(a->ip, &v4->sin_addr, 4);
		*port = ntohs(v4->sin_port);
		return;
	}
	*port = ntohs(v6->sin6_port);
	if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
		a->family = AF_INET;
		a->prefix = 32;
		memcpy(a->ip, v6->sin6_addr.s6_addr + 12, 4);
		return;
	}
	a->family = AF_INET6;
	a->prefix = 128;
	memcpy(a->ip, &v6->sin6_addr, 16);
	if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
		a->scope = v6->sin6_scope_id;
}

static u8 mask_length(const struct sockaddr *sa, u8 family)
{
	const u8 *mask;
	u8 n = 0, size = family == AF_INET ? 4 : 16;

	if (!sa)
		return size * 8;
	mask = family == AF_INET ?
		       (const u8 *)&((const struct sockaddr_in *)sa)->sin_addr :
		       (const u8 *)&((const struct sockaddr_in6 *)sa)->sin6_addr;
	while (n < size * 8 && mask[n / 8] & (0x80 >> n % 8))
		n++;
	return n;
}

static bool is_wireless(const char *ifname)
{
	char path[64 + IF_NAMESIZE];

	snprintf(path, sizeof(path), "/sys/class/net/%s/wireless", ifname);
	return !access(path, F_OK);
}

/*
 * Bridges that container and virtual machine software makes for the guests of
 * one host. They have the same address on every host, so they are the classical
 * wrong choice. By name: a bridge as such may well be the host's real network.
 */
static bool is_guest_bridge(const char *name)
{
	static const char *const names[] = { "docker",	"virbr", "podman",
					     "cni",	"lxcbr", "lxdbr",
					     "incusbr", "br-",	 "vmnet",
					     "vboxnet" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static u32 if_flags(const struct ifaddrs *i)
{
	u32 f = 0;

	if (i->ifa_flags & IFF_UP)
		f |= TCP_IF_UP;
	if (i->ifa_flags & IFF_RUNNING)
		f |= TCP_IF_RUNNING;
	if (i->ifa_flags & IFF_LOOPBACK)
		f |= TCP_IF_LOOPBACK;
	if (i->ifa_flags & IFF_POINTOPOINT)
		f |= TCP_IF_P2P;
	if (is_guest_bridge(i->ifa_name))
		f |= TCP_IF_BRIDGE;
	if (is_wireless(i->ifa_name))
		f |= TCP_IF_WIRELESS;
	return f;
}

static void mark(struct tcp_addr *all, u32 n, const char *hex,
		 const char *ifname, u32 state)
{
	char text[33];

	for (u32 i = 0; i < n; i++) {
		if (all[i].family != AF_INET6 || strcmp(all[i].ifname, ifname))
			continue;
		for (u32 j = 0; j < 16; j++)
			snprintf(text + 2 * j, 3, "%02x", all[i].ip[j]);
		if (strcmp(text, hex))
			continue;
		if (state & IFA_F_DADFAILED)
			all[i].flags |= TCP_ADDR_DUPLICATE;
		else if (state & IFA_F_TENTATIVE && !(state & IFA_F_OPTIMISTIC))
			all[i].flags |= TCP_ADDR_TENTATIVE;
	}
}

/* What getifaddrs does not tell. */
static void read_states(struct tcp_addr *all, u32 n)
{
	char line[128], hex[33], ifname[IF_NAMESIZE];
	FILE *f = fopen("/proc/net/if_inet6", "re");
	u32 state;

	if (!f)
		return;
	/* address, interface's index, prefix, scope, state, interface */
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%32s %*x %*x %*x %x %15s", hex, &state,
			   ifname) == 3)
			mark(all, n, hex, ifname, state);
	fclose(f);
}

int tcp_addr_list(struct tcp_addr *out, u32 max)
{
	struct ifaddrs *list, *i;
	u32 n = 0;
	u16 port;

	if (getifaddrs(&list))
		return -errno;
	for (i = list; i && n < max; i = i->ifa_next) {
		struct sockaddr_storage ss;
		u8 family = i->ifa_addr ? i->ifa_addr->sa_family : 0;

		if (family != AF_INET && family != AF_INET6)
			continue;
		memset(&ss, 0, sizeof(ss));
		memcpy(&ss, i->ifa_addr,
		       family == AF_INET ? sizeof(struct sockaddr_in) :
					   sizeof(struct sockaddr_in6));
		tcp_addr_from_sock(&ss, &out[n], &port);
		out[n].prefix = mask_length(i->ifa_netmask, family);
		out[n].flags = if_flags(i);
		snprintf(out[n].ifname, sizeof(out[n].ifname), "%s",
			 i->ifa_name);
		n++;
	}
	freeifaddrs(list);
	read_states(out, n);
	return n;
}
