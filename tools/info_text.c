/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "info.h"

#include <stdio.h>
#include <string.h>

static void channels(const struct info *info)
{
	puts("\nchannels");
	if (info->channels_error)
		printf("  none can be opened: %s\n",
		       strerror(-info->channels_error));
	for (size_t i = 0; i < info->nchannels; i++) {
		const struct o2g_channel_report *c = &info->channels[i];

		if (!c->usable)
			printf("  %-6s not usable: %s\n", c->name, c->why);
		else if (!c->wanted)
			printf("  %-6s not used: O2G_CHANNELS leaves it out\n",
			       c->name);
		else
			printf("  %-6s usable%s%s\n", c->name,
			       c->addresses[0] ? ": " : "", c->addresses);
	}
}

static void interfaces(const struct info *info)
{
	puts("\ninterfaces");
	for (size_t i = 0; i < info->ninterfaces; i++) {
		const struct info_interface *f = &info->interfaces[i];

		printf("  %-10s %-28s %-5s%s\n", f->name, f->address,
		       f->up ? "up" : "down",
		       f->offered ? " offered to peers" : "");
	}
}

static void settings(const struct info *info)
{
	puts("\nsettings");
	for (size_t i = 0; i < info->nsettings; i++) {
		const struct info_setting *s = &info->settings[i];

		printf("  %-20s %-10s %-12s %s\n", s->name,
		       *s->value ? s->value : "\"\"", s->source, s->help);
	}
}

void info_text(const struct info *info)
{
	printf("o2g %s on %s\n\n", O2G_VERSION, info->host);
	if (info->engine_error)
		printf("engine: none: %s\n", info->engine_why);
	else
		printf("%s engine: %s\n", info->engine, info->engine_why);
	printf("encryption: %s\n", info->encryption);
	channels(info);
	interfaces(info);
	settings(info);
	info_hints_text();
	info_coll_text();
}
