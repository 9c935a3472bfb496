/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * libo2gdsm: memory that the processes of a job share, wherever they run.
 *
 * A region is at the same address in every process. Pages of 4 KiB move to where they
 * are used; at any moment a page has one writer or any number of readers, so memory is
 * sequentially consistent between processes. Threads of one process have what their CPU
 * gives them.
 *
 * Calls return 0 or a negative errno, which o2g_strerror() describes, and may be made
 * from any thread. When a process of the region has died, every call returns
 * -O2G_ERR_PEER, and touching a page that has died with it is a SIGBUS.
 */
#ifndef O2G_DSM_H
#define O2G_DSM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define O2G_DSM_PAGE 4096
#define O2G_DSM_NODES 64    /* processes that can share a region */
#define O2G_DSM_NAME_MAX 63 /* bytes of a region's name */

struct o2g_dsm; /* a region */

/*
 * All processes of the job call this, after MPI_Init or instead of it: a program that
 * has not called it need not know of MPI. -ENOTSUP: this system has no engine for it.
 */
int o2g_dsm_init(void);
/* All processes, when they have closed their regions. */
int o2g_dsm_finalize(void);
int o2g_dsm_rank(void); /* this process, 0 … size-1 */
int o2g_dsm_size(void);

/* --- regions --- */

enum o2g_dsm_flags {
	O2G_DSM_ALONE =
		1 /* made by this process alone; others join when they like */
};

/*
 * Make a region, of zeros, and wait until all processes have it; all give the same
 * name and size. -EEXIST: there is one of that name. -EADDRINUSE: its place is taken
 * in one of the processes (see O2G_DSM_BASE).
 */
int o2g_dsm_create(const char *name, size_t size, unsigned flags,
		   struct o2g_dsm **region);
/* A region that others have made. -ENOENT: there is none of that name. */
int o2g_dsm_join(const char *name, struct o2g_dsm **region);
/* Wait until all who have the region close it; then it is gone. */
int o2g_dsm_close(struct o2g_dsm *region);
void *o2g_dsm_base(const struct o2g_dsm *region);
size_t o2g_dsm_bytes(const struct o2g_dsm *region);
/* fn is called, from a thread of the library, when a process of the region has died. */
int o2g_dsm_on_loss(struct o2g_dsm *region, void (*fn)(void *arg, int rank),
		    void *arg);

/*
 * Memory of the region, as from malloc; any process may free it. What takes a page or
 * more begins at a page of its own. align is 0 or a power of 2. -ENOMEM
 */
int o2g_dsm_alloc(struct o2g_dsm *region, size_t size, size_t align,
		  void **memory);
int o2g_dsm_free(struct o2g_dsm *region, void *memory);

/* --- synchronization --- */

/*
 * Locks, conditions, barriers and counters have names: any number that the processes agree
 * on, such as the address of what a lock protects. They need no memory of the region
 * and no making; each kind has its own names. A lock is had by a thread, and any thread
 * of the process may give it back.
 */
int o2g_dsm_lock(struct o2g_dsm *region, uint64_t name);
/* -EBUSY: somebody has it. */
int o2g_dsm_trylock(struct o2g_dsm *region, uint64_t name);
/* -EPERM: this process does not have it. */
int o2g_dsm_unlock(struct o2g_dsm *region, uint64_t name);
/* Give the lock back, sleep until there is a signal, and have the lock again. */
int o2g_dsm_wait(struct o2g_dsm *region, uint64_t cond, uint64_t lock);
int o2g_dsm_signal(struct o2g_dsm *region, uint64_t cond);
int o2g_dsm_broadcast(struct o2g_dsm *region, uint64_t cond);
/* Wait until n threads are here; n 0: one of each process that made the region. */
int o2g_dsm_barrier(struct o2g_dsm *region, uint64_t name, unsigned n);
/* Counters start at 0. `before` may be NULL. */
int o2g_dsm_add(struct o2g_dsm *region, uint64_t counter, int64_t value,
		int64_t *before);

/* --- hints: whole pages of [start, start + len) --- */

/* I will read this soon: have it come, without waiting. */
int o2g_dsm_prefetch(struct o2g_dsm *region, const void *start, size_t len);
/* I will write this soon. */
int o2g_dsm_will_write(struct o2g_dsm *region, void *start, size_t len);
/* I will write this again and again: be its home. */
int o2g_dsm_home_here(struct o2g_dsm *region, void *start, size_t len);

/*
 * Have the range here, to be read or also written, and wait for that. Before giving it
 * to a system call: without privileges the kernel does not wait for pages inside one,
 * but fails it with EFAULT. Somebody else may take a page back at any time, so a call
 * that fails with EFAULT is to be tried again.
 */
int o2g_dsm_touch(struct o2g_dsm *region, void *start, size_t len, int write);

/* --- looking inside --- */

struct o2g_dsm_stats {
	uint64_t read_faults, write_faults; /* of this process */
	uint64_t taken; /* pages that others took away from this process */
	uint64_t messages, bytes; /* sent by this process, for pages */
	uint64_t moved;		  /* homes that came here */
};
int o2g_dsm_stats(struct o2g_dsm *region, struct o2g_dsm_stats *stats);

/* A page as this process sees it. */
struct o2g_dsm_page {
	void *address;
	int home;	 /* who we take for its home */
	uint32_t faults; /* here */
	uint32_t taken;	 /* from here, by others */
	/* Who was allowed to write, a bit for each rank, and how often that went from one to
	 * another; known to homes only. */
	uint64_t writers;
	uint32_t handovers;
};
/* The n pages that were taken and handed over most, the worst first; how many there are. */
int o2g_dsm_hottest(struct o2g_dsm *region, struct o2g_dsm_page *pages,
		    size_t n);

#ifdef __cplusplus
}
#endif

#endif
