/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the driver says about endpoints; shared by `o2g top` and `o2g queues`. */
#ifndef TOOLS_LOOK_H
#define TOOLS_LOOK_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/o2g.h"

/* The device, for looking; -1, and a line that says why, when it is not there. */
int look_open(void);
struct look_ep {
	uint32_t pid, uid, rank, size,
		kind; /* as struct o2gd_list_entry has them */
	uint64_t id;
	struct o2gd_info info;
};

/* All endpoints that the caller may see; free() them. -1, and a line, on error. */
long look_list(int fd, struct look_ep **eps);
/* What was refused or dropped since the endpoint was opened, by name. */
void look_print_drops(const struct o2gd_info *info, const char *before);
/* Describes why a peer was lost: enum o2gd_lost. */
const char *look_lost(unsigned int why);

#endif
