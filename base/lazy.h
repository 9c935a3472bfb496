/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Memory whose pages come when the program touches them, but not when the kernel does in a
 * system call, which fails with EFAULT: what userfaultfd watches, without privileges. Whoever
 * makes such memory says so here; whoever gives a buffer to the kernel and gets EFAULT
 * touches it and tries again.
 */
#ifndef BASE_LAZY_H
#define BASE_LAZY_H

#include <stdbool.h>
#include <stddef.h>

/* Seen by libo2gdsm, which shares the one copy inside libo2g. */
#pragma GCC visibility push(default)

/* -ENOSPC: there are many already. */
int o2g_lazy_add(void *start, size_t len);
void o2g_lazy_remove(void *start);

#pragma GCC visibility pop

/* Is there any? */
bool o2g_lazy_any(void);
/* Touch whatever of a buffer is such memory. False: nothing is, so EFAULT is what it
 * says. It may take as long as the pages take to come. */
bool o2g_lazy_touch(const void *buf, size_t len, bool write);

#endif
