/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "choose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"
#include "uapi/o2g.h"

/* Can the driver be used? 0, or -errno and why not. */
static int driver_available(char *why, size_t size)
{
	int fd;

	if (o2g_settings()->encrypt) {
		snprintf(why, size,
			 "O2G_ENCRYPT=1, and the driver does not encrypt");
		return -ENODEV;
	}
	fd = open(O2GD_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno == ENOENT)
		snprintf(why, size, "%s not found", O2GD_DEVICE);
	else
		snprintf(why, size, "%s cannot be opened: %s", O2GD_DEVICE,
			 strerror(errno));
	return -ENODEV;
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
	if (strcmp(asked, "auto") && strcmp(asked, "kernel")) {
		snprintf(
			why, size,
			"O2G_ENGINE is \"%s\", but auto, user or kernel is expected",
			asked);
		return -EINVAL;
	}
	if (!driver_available(reason, sizeof(reason))) {
		*name = "kernel";
		snprintf(why, size, "%s is there", O2GD_DEVICE);
		return 0;
	}
	if (!strcmp(asked, "kernel")) {
		snprintf(
			why, size,
			"O2G_ENGINE=kernel cannot be met: %s; unset it or use O2G_ENGINE=user",
			reason);
		return -ENODEV;
	}
	snprintf(why, size, "%s", reason);
	return 0;
}
