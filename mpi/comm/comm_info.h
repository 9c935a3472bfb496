/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Hints of communicators. */
#ifndef MPII_COMM_COMM_INFO_H
#define MPII_COMM_COMM_INFO_H

#include "comm/comm.h"

/* False: out of memory. */
bool mpii_comm_take_hints(struct mpii_comm *c, const struct mpii_info *from);
bool mpii_comm_describe(const struct mpii_comm *c, struct mpii_info *info);

#endif
