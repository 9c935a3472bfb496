/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The driver's counters, which it gives by name: in the places that we know. */
#ifndef O2G_DRIVER_INFO_H
#define O2G_DRIVER_INFO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "uapi/o2g.h"

#define DRIVER_COUNTERS 256 /* room: a driver may have more than we know */

/* Those that it has; others are 0. */
static inline void driver_info_fill(struct o2gd_info *info,
				    const struct o2gd_counter *c, size_t n)
{
	static const struct {
		const char *name;
		size_t at;
	} known[] = {
#define KNOWN(name) { #name, offsetof(struct o2gd_info, name) },
		O2GD_COUNTED(KNOWN)
#undef KNOWN
#define KNOWN(name, words) \
	{ #name, offsetof(struct o2gd_info, drops) + 8 * O2GD_DROP_##name },
			O2GD_DROPS(KNOWN, KNOWN)
#undef KNOWN
	};

	memset(info, 0, sizeof(*info));
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
		for (size_t i = 0; i < n; i++)
			if (!strncmp(c[i].name, known[k].name, O2GD_NAME))
				memcpy((char *)info + known[k].at, &c[i].value,
				       sizeof(c[i].value));
}

/*
 * Of the endpoint with that @id, or 0 for the descriptor's own; of what it has to do with
 * @peer, or all (O2GD_ANY). 0, or -1 and errno.
 */
static inline int driver_info(int fd, uint64_t id, uint32_t peer,
			      struct o2gd_info *info)
{
	struct o2gd_counter all[DRIVER_COUNTERS];
	struct o2gd_counters c = { .id = id,
				   .peer = peer,
				   .entry = sizeof(all[0]),
				   .max = DRIVER_COUNTERS,
				   .addr = (uintptr_t)all };

	if (ioctl(fd, O2GD_COUNTERS, &c))
		return -1;
	driver_info_fill(info, all, c.count < c.max ? c.count : c.max);
	return 0;
}

#endif
