/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_CHOOSE_H
#define ENG_CHOOSE_H

#include <stddef.h>

/* Seen by the o2g command, which prints it. */
#pragma GCC visibility push(default)

/*
 * Which engine serves this process ("user" or "kernel") and one line about why.
 * -EINVAL: O2G_ENGINE is no engine. -ENODEV: it asks for one that is not here.
 * @why is filled in any case.
 */
int o2g_choose_engine(const char **name, char *why, size_t size);

#pragma GCC visibility pop

#endif
