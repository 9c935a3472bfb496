/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A world with nothing in it: the least an env.h must give to the core. Types,
 * byte order, memory copies, errno values, struct o2g_seg and its error codes.
 */
#ifndef O2G_ENV_H
#define O2G_ENV_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u32 __le32;
typedef u64 __le64;
typedef __SIZE_TYPE__ size_t;
typedef _Bool bool;

#define true 1
#define false 0
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr)-offsetof(type, member)))

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little-endian");
#define cpu_to_le32(x) (x)
#define cpu_to_le64(x) (x)
#define le32_to_cpu(x) (x)
#define le64_to_cpu(x) (x)

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define noinline __attribute__((__noinline__))
#define env_assert(cond) ((void)sizeof(cond))

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
void *memmove(void *to, const void *from, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#define EPERM 1
#define EIO 5
#define EAGAIN 11
#define ENOMEM 12
#define EFAULT 14
#define EBUSY 16
#define EINVAL 22
#define ERANGE 34
#define EPROTO 71
#define EBADMSG 74
#define EOPNOTSUPP 95
#define EINPROGRESS 115

/* As in o2g.h. */
#define O2G_ERR_PEER 200
#define O2G_ERR_TRUNCATED 201
#define O2G_ERR_CANCELLED 202
struct o2g_seg {
	void *base;
	size_t len;
};

static inline void env_seg_write(const struct o2g_seg *to, const void *from,
				 size_t n)
{
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
