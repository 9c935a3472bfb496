/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

int look_open(void)
{
	int fd = open(O2GD_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		fprintf(stderr, "o2g: %s not found: the driver is not loaded, and without it there is nothing to look at; `modprobe o2g` or `insmod o2g.ko`\n",
			O2GD_DEVICE);
	else if (fd < 0)
		fprintf(stderr, "o2g: %s: %s\n", O2GD_DEVICE, strerror(errno));
	return fd;
}

long look_list(int fd, struct o2gd_list_entry **entries)
{
	struct o2gd_list l = { .count = 64 };
	void *all = NULL;

	for (;;) {
		unsigned room = l.count;
		void *more = realloc(all, room * sizeof(**entries));

		if (!more) {
			fprintf(stderr, "o2g: out of memory\n");
			break;
		}
		all = more;
		l.max = room;
		l.addr = (uintptr_t)all;
		if (ioctl(fd, O2GD_LIST, &l)) {
			fprintf(stderr, "o2g: the driver does not tell: %s\n",
				strerror(errno));
			break;
		}
		/* Again with more room, unless it is the driver that stops. */
		if (l.count <= l.max || l.max < room) {
			*entries = all;
			return l.count < l.max ? l.count : l.max;
		}
		l.count *= 2;
	}
	free(all);
	return -1;
}
