/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The endpoint's lock.
 *
 * Almost always the thread that opened the endpoint takes it, and nobody else
 * wants it. A locked instruction would make that thread wait, in every call,
 * until the line of the message it has just written to a ring has arrived in
 * its cache; so the lock is biased: its owner takes it with a plain store and
 * a plain load. Another thread that wants it takes `state`, announces itself
 * in `revoke`, has membarrier(2) make every thread pass a fence, and then waits
 * until the owner is out. The progress thread does that. `revoke` then stays set
 * until the owner comes, so that a progress thread which handles one message after
 * the other while the program computes interrupts it once, not with each. The first
 * other thread that comes ends the bias for good, and from then on it is a plain
 * futex lock.
 *
 * It is recursive, so that completion callbacks may start operations, and it
 * can tell whether somebody waits, so that a thread that spins in a wait holds
 * it only while nobody else wants it.
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
	/* the biased owner's way */
	void *bias;	    /* whose it is, NULL for nobody; set at init */
	atomic_uint held;   /* it is in */
	atomic_uint revoke; /* somebody wants it; stays set once bias has ended */
	/* everybody else's way */
	atomic_uint state; /* 0 free, 1 held, 2 held and waited for */
	/* both; written by the holder */
	_Atomic(void *) owner;
	unsigned depth;
	bool via_state; /* holds it by `state` */
	bool shut;	/* nobody gets it any more: the child of a fork */
	void *helper;	/* the one thread that does not end the bias */
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

/* Biased towards the calling thread, where the kernel can do that. */
void eng_lock_init(struct eng_lock *l);
bool eng_lock_slow(struct eng_lock *l);
void eng_lock_release_slow(struct eng_lock *l);
/* Whoever tries from now on is told so; nobody may be about to. */
void eng_lock_shut(struct eng_lock *l);

static inline bool eng_lock_mine(const struct eng_lock *l)
{
	return atomic_load_explicit(&l->owner, memory_order_relaxed) ==
	       __builtin_thread_pointer();
}

/* False: it is shut. That costs only those something who go the slow way. */
static inline bool eng_lock_take(struct eng_lock *l)
{
	if (__builtin_expect(eng_lock_mine(l), 0)) {
		l->depth++;
		return true;
	}
	if (__builtin_expect(l->bias == __builtin_thread_pointer(), 1)) {
		atomic_store_explicit(&l->held, 1, memory_order_relaxed);
		/* The fence between these two is the revoker's membarrier. */
		atomic_signal_fence(memory_order_seq_cst);
		if (__builtin_expect(!atomic_load_explicit(
					     &l->revoke, memory_order_acquire),
				     1)) {
			atomic_store_explicit(&l->owner,
					      __builtin_thread_pointer(),
					      memory_order_relaxed);
			return true;
		}
	}
	return eng_lock_slow(l);
}

static inline void eng_lock_release(struct eng_lock *l)
{
	if (__builtin_expect(l->depth != 0, 0)) {
		l->depth--;
		return;
	}
	if (__builtin_expect(l->via_state, 0)) {
		eng_lock_release_slow(l);
		return;
	}
	atomic_store_explicit(&l->owner, NULL, memory_order_relaxed);
	atomic_store_explicit(&l->held, 0, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(
		    atomic_load_explicit(&l->revoke, memory_order_relaxed), 0))
		eng_futex_wake(&l->held, 1);
}

/* Does somebody wait for us, who hold it? */
static inline bool eng_lock_contended(const struct eng_lock *l)
{
	if (l->via_state)
		return atomic_load_explicit(&l->state, memory_order_relaxed) ==
		       2;
	return atomic_load_explicit(&l->revoke, memory_order_relaxed);
}

#endif
