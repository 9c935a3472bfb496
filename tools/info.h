/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What `o2g info` finds (info.c) and how it is shown (info_text.c, info_json.c). */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "report.h"

#define INFO_MAX_CHANNELS 8
#define INFO_MAX_INTERFACES 128
#define INFO_MAX_SETTINGS 128

struct info_interface {
	char name[16];
	char address[64]; /* with its prefix length */
	bool up;
	bool offered; /* peers are told to use it */
};

struct info_setting {
	const char *name, *value, *source, *help;
};

struct info {
	char host[256];
	const char *engine;
	char engine_why[256];
	int engine_error; /* 0, or negative: there is none as asked for */
	int channels_error;
	char encryption[512];
	int encryption_error;
	struct o2g_channel_report channels[INFO_MAX_CHANNELS];
	size_t nchannels;
	struct info_interface interfaces[INFO_MAX_INTERFACES];
	size_t ninterfaces;
	struct info_setting settings[INFO_MAX_SETTINGS];
	size_t nsettings;
};

void info_text(const struct info *info);
void info_json(const struct info *info);
/* info_coll.c */
void info_coll_text(void);
void info_coll_json(void);
/* info_hints.c */
void info_hints_text(void);
void info_hints_json(void);

#endif
