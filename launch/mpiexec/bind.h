/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef EXEC_BIND_H
#define EXEC_BIND_H

#include <stdbool.h>

struct rank;

/* Is this a thing one can bind to or deal ranks over? */
bool bind_is_level(const char *name);

/* How many of these this host has, at least 1. */
int bind_count(const char *level);

/* In the proxy: decides where each rank may run. NULL, or why that cannot be. */
char *bind_init(void);
/* In the child, before exec. */
void bind_apply(const struct rank *r);

#endif
