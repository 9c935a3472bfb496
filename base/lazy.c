/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "lazy.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#define RANGES 64
#define PAGE 4096u

/* Read without a lock: a range is there when its end is set, which is done last. */
static struct {
	_Atomic uintptr_t start, end;
} ranges[RANGES];
static atomic_uint used; /* slots that were ever used */

int o2g_lazy_add(void *start, size_t len)
{
	for (unsigned i = 0; i < RANGES; i++) {
		uintptr_t none = 0;

		if (!atomic_compare_exchange_strong(&ranges[i].start, &none,
						    (uintptr_t)start))
			continue;
		atomic_store(&ranges[i].end, (uintptr_t)start + len);
		if (i >= atomic_load(&used))
			atomic_store(&used, i + 1);
		return 0;
	}
	return -ENOSPC;
}

void o2g_lazy_remove(void *start)
{
	for (unsigned i = 0; i < RANGES; i++)
		if (atomic_load(&ranges[i].start) == (uintptr_t)start) {
			atomic_store(&ranges[i].end, 0);
			atomic_store(&ranges[i].start, 0);
		}
}

bool o2g_lazy_any(void)
{
	return atomic_load_explicit(&used, memory_order_relaxed) != 0;
}

/* What others write there meanwhile stays. */
static void touch(uintptr_t from, uintptr_t to, bool write)
{
	for (uintptr_t at = from; at < to; at = (at & -(uintptr_t)PAGE) + PAGE)
		if (write)
			__atomic_fetch_or((char *)at, 0, __ATOMIC_RELAXED);
		else
			__atomic_load_n((const char *)at, __ATOMIC_RELAXED);
}

bool o2g_lazy_touch(const void *buf, size_t len, bool write)
{
	uintptr_t first = (uintptr_t)buf, last = first + len;
	bool any = false;

	for (unsigned i = 0; i < atomic_load(&used); i++) {
		uintptr_t start = atomic_load(&ranges[i].start);
		uintptr_t end = atomic_load(&ranges[i].end);

		if (first >= end || last <= start)
			continue;
		touch(first > start ? first : start, last < end ? last : end,
		      write);
		any = true;
	}
	return any;
}
