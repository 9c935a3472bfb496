/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "lock.h"

#include <linux/membarrier.h>
#include <stddef.h>

#include "clock.h"

#define SPINS 100 /* holders are quick */

static int membarrier(int cmd)
{
	return (int)syscall(SYS_membarrier, cmd, 0, 0);
}

/* ThreadSanitizer cannot see what membarrier orders. */
#ifdef __SANITIZE_THREAD__
#define CAN_BIAS false
#else
#define CAN_BIAS true
#endif

void eng_lock_init(struct eng_lock *l)
{
	if (CAN_BIAS &&
	    membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
		l->bias = __builtin_thread_pointer();
	else
		atomic_store(&l->revoke, 1);
}

static void state_take(struct eng_lock *l)
{
	for (int i = 0; i < SPINS; i++) {
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

static void state_release(struct eng_lock *l)
{
	if (atomic_exchange_explicit(&l->state, 0, memory_order_release) == 2)
		eng_futex_wake(&l->state, 1);
}

/*
 * With `state`: keep the biased owner out, and wait until it is. If it is kept out
 * already, since it has not come back since the last time, there is nothing to do.
 */
static void keep_owner_out(struct eng_lock *l)
{
	if (atomic_load_explicit(&l->revoke, memory_order_relaxed))
		return;
	atomic_store(&l->revoke, 1);
	membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	for (int i = 0; i < SPINS; i++) {
		if (!atomic_load_explicit(&l->held, memory_order_acquire))
			return;
		o2g_cpu_relax();
	}
	while (atomic_load_explicit(&l->held, memory_order_acquire))
		eng_futex_wait(&l->held, 1, NULL);
}

bool eng_lock_slow(struct eng_lock *l)
{
	void *self = __builtin_thread_pointer();

	if (l->shut)
		return false;
	if (l->bias == self) {
		/* We said we were in, but somebody wants it: stand back. */
		atomic_store_explicit(&l->held, 0, memory_order_release);
		eng_futex_wake(&l->held, 1);
		state_take(l);
	} else {
		state_take(l);
		if (l->bias) {
			keep_owner_out(l);
			if (self != l->helper)
				l->bias = NULL; /* and revoke stays set */
		}
	}
	l->via_state = true;
	atomic_store_explicit(&l->owner, self, memory_order_relaxed);
	return true;
}

void eng_lock_shut(struct eng_lock *l)
{
	l->shut = true;
	l->bias = NULL;
	atomic_store_explicit(&l->owner, NULL, memory_order_relaxed);
}

void eng_lock_release_slow(struct eng_lock *l)
{
	l->via_state = false;
	atomic_store_explicit(&l->owner, NULL, memory_order_relaxed);
	/* The owner is back, and goes its own way again. */
	if (l->bias == __builtin_thread_pointer())
		atomic_store_explicit(&l->revoke, 0, memory_order_release);
	state_release(l);
}
