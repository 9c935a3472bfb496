/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The core's door to the outside, user-space version. The kernel driver has a
 * file of the same name; the include path picks one.
 */
#ifndef O2G_ENV_H
#define O2G_ENV_H

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(default)
/* struct o2g_seg: the core itself reads only its len. By its path, since the core
 * is compiled without -Iinclude. */
#include "../../include/o2g.h"
#pragma GCC visibility pop

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define cpu_to_le32(x) htole32(x)
#define cpu_to_le64(x) htole64(x)
#define le32_to_cpu(x) le32toh(x)
#define le64_to_cpu(x) le64toh(x)

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define noinline __attribute__((__noinline__))
#endif

#ifndef container_of
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr)-offsetof(type, member)))
#endif

#define env_assert(cond) assert(cond)

/* Write the first @n bytes of a segment; n is small more often than not. */
static inline void env_seg_write(const struct o2g_seg *to, const void *from,
				 size_t n)
{
	if (likely(n == 8))
		memcpy(to->base, from, 8);
	else if (n)
		memcpy(to->base, from, n);
}

static inline void env_seg_set(struct o2g_seg *seg, const void *memory)
{
	seg->base = (void *)memory;
}

/* What env_seg_set() has set, or the engine's memory for a message. */
static inline void *env_seg_memory(const struct o2g_seg *seg)
{
	return seg->base;
}

#endif
