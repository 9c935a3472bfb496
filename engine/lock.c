/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "lock.h"

#include "clock.h"

/* Spin for a moment (holders are quick), then sleep until it is released. */
void eng_lock_slow(struct eng_lock *l)
{
	for (int i = 0; i < 100; i++) {
		unsigned free = 0;

		if (atomic_compare_exchange_weak_explicit(&l->state, &free, 1,
							  memory_order_acquire,
							  memory_order_relaxed))
			return;
		o2g_cpu_relax();
	}
	while (atomic_exchange_explicit(&l->state, 2, memory_order_acquire))
		eng_futex_wait(&l->state, 2, NULL);
}
