/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "info.h"

#include <stdio.h>

static void string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < ' ')
			printf("\\u%04x", (unsigned char)*s);
		else
			putchar(*s);
	}
	putchar('"');
}

/* Every member but the first of its object begins with a comma. */
static void member(bool first, const char *name, const char *value)
{
	printf("%s\"%s\": ", first ? "" : ", ", name);
	string(value);
}

static void flag(const char *name, bool value)
{
	printf(", \"%s\": %s", name, value ? "true" : "false");
}

static void channels(const struct info *info)
{
	puts("  \"channels\": [");
	for (size_t i = 0; i < info->nchannels; i++) {
		const struct o2g_channel_report *c = &info->channels[i];

		printf("    { ");
		member(true, "name", c->name);
		flag("wanted", c->wanted);
		flag("usable", c->usable);
		member(false, "addresses", c->addresses);
		member(false, "why", c->why);
		printf(" }%s\n", i + 1 < info->nchannels ? "," : "");
	}
	puts("  ],");
}

static void interfaces(const struct info *info)
{
	puts("  \"interfaces\": [");
	for (size_t i = 0; i < info->ninterfaces; i++) {
		const struct info_interface *f = &info->interfaces[i];

		printf("    { ");
		member(true, "name", f->name);
		member(false, "address", f->address);
		flag("up", f->up);
		flag("offered", f->offered);
		printf(" }%s\n", i + 1 < info->ninterfaces ? "," : "");
	}
	puts("  ],");
}

static void settings(const struct info *info)
{
	puts("  \"settings\": [");
	for (size_t i = 0; i < info->nsettings; i++) {
		const struct info_setting *s = &info->settings[i];

		printf("    { ");
		member(true, "name", s->name);
		member(false, "value", s->value);
		member(false, "source", s->source);
		member(false, "help", s->help);
		printf(" }%s\n", i + 1 < info->nsettings ? "," : "");
	}
	puts("  ]");
}

void info_json(const struct info *info)
{
	printf("{\n  ");
	member(true, "version", O2G_VERSION);
	printf(",\n  ");
	member(true, "host", info->host);
	printf(",\n  \"engine\": { ");
	member(true, "name", info->engine_error ? "" : info->engine);
	member(false, "why", info->engine_why);
	puts(" },");
	printf("  ");
	member(true, "encryption", info->encryption);
	puts(",");
	channels(info);
	interfaces(info);
	info_coll_json();
	info_hints_json();
	settings(info);
	puts("}");
}
