/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The endpoint's lock: one compare-and-swap to take, one exchange to release,
 * a futex when contended. It is recursive, so that completion callbacks may
 * start operations, and it can tell whether somebody waits, so that a thread
 * that spins in a wait holds it only while nobody else wants it.
 */
#ifndef ENG_LOCK_H
#define ENG_LOCK_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct eng_lock {
	atomic_uint state; /* 0 free, 1 held, 2 held and waited for */
	unsigned depth;	   /* owner only */
	_Atomic(void *) owner;
};

static inline long eng_futex_wait(atomic_uint *word, unsigned value,
				  const struct timespec *timeout)
{
	return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout,
		       NULL, 0);
}

static inline void eng_futex_wake(atomic_uint *word, int n)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

void eng_lock_slow(struct eng_lock *l);

static inline bool eng_lock_mine(const struct eng_lock *l)
{
	return atomic_load_explicit(&l->owner, memory_order_relaxed) ==
	       __builtin_thread_pointer();
}

static inline void eng_lock_take(struct eng_lock *l)
{
	unsigned free = 0;

	if (__builtin_expect(eng_lock_mine(l), 0)) {
		l->depth++;
		return;
	}
	if (__builtin_expect(!atomic_compare_exchange_strong_explicit(
				     &l->state, &free, 1, memory_order_acquire,
				     memory_order_relaxed), 0))
		eng_lock_slow(l);
	atomic_store_explicit(&l->owner, __builtin_thread_pointer(),
			      memory_order_relaxed);
}

static inline void eng_lock_release(struct eng_lock *l)
{
	if (__builtin_expect(l->depth != 0, 0)) {
		l->depth--;
		return;
	}
	atomic_store_explicit(&l->owner, NULL, memory_order_relaxed);
	if (__builtin_expect(atomic_exchange_explicit(&l->state, 0,
						      memory_order_release) == 2,
			     0))
		eng_futex_wake(&l->state, 1);
}

static inline bool eng_lock_contended(const struct eng_lock *l)
{
	return atomic_load_explicit(&l->state, memory_order_relaxed) == 2;
}

#endif
