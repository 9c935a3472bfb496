/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "choose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"

#define DEVICE "/dev/o2g"

/* This library has no client for the driver yet, whatever the machine has. */
static void why_no_kernel(char *why, size_t size)
{
	if (access(DEVICE, F_OK))
		snprintf(why, size, "%s not found", DEVICE);
	else
		snprintf(why, size,
			 "%s is there, but this libo2g is too old to use it",
			 DEVICE);
}

int o2g_choose_engine(const char **name, char *why, size_t size)
{
	const char *asked = o2g_settings()->engine;
	char reason[128];

	*name = "user";
	if (!strcmp(asked, "user")) {
		snprintf(why, size, "O2G_ENGINE=user");
		return 0;
	}
	why_no_kernel(reason, sizeof(reason));
	if (!strcmp(asked, "auto")) {
		snprintf(why, size, "%s", reason);
		return 0;
	}
	if (!strcmp(asked, "kernel")) {
		snprintf(why, size,
			 "O2G_ENGINE=kernel cannot be met: %s; unset it or use O2G_ENGINE=user",
			 reason);
		return -ENODEV;
	}
	snprintf(why, size,
		 "O2G_ENGINE is \"%s\", but auto, user or kernel is expected",
		 asked);
	return -EINVAL;
}
