/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "info.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choose.h"
#include "cmd.h"
#include "settings.h"

static void add_channel(const struct o2g_channel_report *r, void *arg)
{
	struct info *info = arg;

	if (info->nchannels < INFO_MAX_CHANNELS)
		info->channels[info->nchannels++] = *r;
}

static void add_setting(const char *name, const char *value, const char *source,
			const char *help, void *arg)
{
	struct info *info = arg;

	if (info->nsettings == INFO_MAX_SETTINGS)
		return;
	info->settings[info->nsettings++] = (struct info_setting){
		.name = strdup(name),
		.value = value,
		.source = source,
		.help = help,
	};
}

/* --- interfaces --- */

static const void *address_of(const struct sockaddr *sa, unsigned *bytes)
{
	if (sa->sa_family == AF_INET) {
		*bytes = 4;
		return &((const struct sockaddr_in *)sa)->sin_addr;
	}
	*bytes = 16;
	return &((const struct sockaddr_in6 *)sa)->sin6_addr;
}

static unsigned prefix_length(const struct sockaddr *mask)
{
	unsigned bytes, bits = 0;
	const unsigned char *p;

	if (!mask)
		return 0;
	p = address_of(mask, &bytes);
	for (unsigned i = 0; i < bytes; i++)
		bits += (unsigned)__builtin_popcount(p[i]);
	return bits;
}

/* Is "address/prefix" one that a channel tells peers of? */
static bool is_offered(const struct info *info, const char *address)
{
	for (size_t i = 0; i < info->nchannels; i++)
		if (info->channels[i].wanted &&
		    o2g_list_has(info->channels[i].addresses, address))
			return true;
	return false;
}

static void add_interface(struct info *info, const struct ifaddrs *a)
{
	struct info_interface *i = &info->interfaces[info->ninterfaces];
	char ip[INET6_ADDRSTRLEN];
	unsigned bytes;

	if (!a->ifa_addr || info->ninterfaces == INFO_MAX_INTERFACES ||
	    (a->ifa_addr->sa_family != AF_INET &&
	     a->ifa_addr->sa_family != AF_INET6))
		return;
	inet_ntop(a->ifa_addr->sa_family, address_of(a->ifa_addr, &bytes), ip,
		  sizeof(ip));
	snprintf(i->name, sizeof(i->name), "%s", a->ifa_name);
	snprintf(i->address, sizeof(i->address), "%s/%u", ip,
		 prefix_length(a->ifa_netmask));
	i->up = (a->ifa_flags & IFF_UP) && (a->ifa_flags & IFF_RUNNING);
	i->offered = is_offered(info, i->address);
	info->ninterfaces++;
}

static void find_interfaces(struct info *info)
{
	struct ifaddrs *all;

	if (getifaddrs(&all))
		return;
	for (struct ifaddrs *a = all; a; a = a->ifa_next)
		add_interface(info, a);
	freeifaddrs(all);
}

int cmd_info(int argc, char **argv)
{
	static struct info info;
	bool json = argc == 2 && !strcmp(argv[1], "--json");

	if (argc > 2 || (argc == 2 && !json)) {
		fprintf(stderr, "usage: o2g info [--json]\n");
		return 2;
	}
	gethostname(info.host, sizeof(info.host) - 1);
	info.engine_error = o2g_choose_engine(&info.engine, info.engine_why,
					      sizeof(info.engine_why));
	info.encryption_error =
		o2g_report_encryption(info.encryption, sizeof(info.encryption));
	info.channels_error = o2g_report_channels(add_channel, &info);
	find_interfaces(&info);
	o2g_settings_each(add_setting, &info);
	if (json)
		info_json(&info);
	else
		info_text(&info);
	return info.engine_error || info.channels_error ||
			       info.encryption_error ?
		       1 :
		       0;
}
