/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "driver_info.h"

int look_open(void)
{
	int fd = open(O2GD_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		fprintf(stderr,
			"o2g: %s not found: the driver is not loaded, so there is nothing to show; load it with `modprobe o2g` or `insmod o2g.ko`\n",
			O2GD_DEVICE);
	else if (fd < 0)
		fprintf(stderr, "o2g: %s: %s\n", O2GD_DEVICE, strerror(errno));
	return fd;
}

static long list(int fd, struct o2gd_list_entry **entries)
{
	struct o2gd_list l = { .count = 64, .entry = sizeof(**entries) };
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
			fprintf(stderr,
				"o2g: the driver does not list its endpoints: %s\n",
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

/* One that has gone meanwhile is left out. */
long look_list(int fd, struct look_ep **eps)
{
	struct o2gd_list_entry *e;
	long n = list(fd, &e), found = 0;

	if (n < 0)
		return n;
	*eps = calloc((size_t)n + 1, sizeof(**eps));
	for (long i = 0; *eps && i < n; i++) {
		struct look_ep *ep = &(*eps)[found];

		*ep = (struct look_ep){ .pid = e[i].pid,
					.uid = e[i].uid,
					.rank = e[i].rank,
					.size = e[i].size,
					.kind = e[i].kind,
					.id = e[i].id };
		found += !driver_info(fd, ep->id, O2GD_ANY, &ep->info);
	}
	free(e);
	if (*eps)
		return found;
	fprintf(stderr, "o2g: out of memory\n");
	return -1;
}

static const char *const drop_words[O2GD_NDROPS] = {
#define WORDS(name, words) [O2GD_DROP_##name] = words,
	O2GD_DROPS(WORDS, WORDS)
#undef WORDS
};

void look_print_drops(const struct o2gd_info *info, const char *before)
{
	for (int i = 0; i < O2GD_NDROPS; i++)
		if (info->drops[i])
			printf("%s refused or dropped: %s: %llu\n", before,
			       drop_words[i],
			       (unsigned long long)info->drops[i]);
}

const char *look_lost(unsigned int why)
{
	switch (why) {
	case O2GD_LOST_CLOSED:
		return "closed by the other side";
	case O2GD_LOST_BYE:
		return "the other side has finished";
	case O2GD_LOST_ERROR:
		return "lost: the connection failed";
	case O2GD_LOST_HEADER:
		return "lost: a broken header";
	case O2GD_LOST_PACKET:
		return "lost: a packet of a kind that the eight calls do not have";
	case O2GD_LOST_MEMORY:
		return "lost: out of memory";
	default:
		return "lost";
	}
}
