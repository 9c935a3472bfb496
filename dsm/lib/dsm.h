/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the files of libo2gdsm share.
 *
 *	job.c	  the endpoint beside MPI's, its thread, who has died
 *	call.c	  questions to other processes and their answers
 *	names.c	  regions by name, at rank 0
 *	region.c  regions: made, joined, closed
 *	pages.c	  what the protocol asks of its engine, with userfaultfd
 *	fault.c	  threads that need pages
 *	kernel.c  the other engine, the module o2g_dsm
 *	where.c	  ... and where it is reached
 *	sync.c	  locks, conditions, barriers, counters: the calls
 *	objects.c ... and who keeps them
 *	heap.c	  memory of a region, at its first founder
 *	hints.c	  hints; numbers
 *
 * Locks. `dsm.lock` covers the lists of regions and of callers, and what is kept here for
 * others; a region's `lock` covers its protocol and comes after it; the endpoint's own
 * comes last: handlers run without it, and `lost` only leaves a note.
 */
#ifndef DSM_H
#define DSM_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

#include "counts.h"
#include "dsm_proto.h"
#include "o2g.h"
#include "o2g_dsm.h"

/* What serves the pages: pages.c with fault.c, or kernel.c. */
struct dsm_engine {
	/* All processes, when the library's own endpoint is open. */
	int (*begin)(MPI_Comm comm);
	void (*end)(void);
	/* Who is dead; @known: of whom the library knows. */
	u64 (*dead)(u64 known);
	int (*start)(struct o2g_dsm *r);
	void (*stop)(struct o2g_dsm *r);
	/* Have pages [first, last) come, without waiting. */
	int (*want)(struct o2g_dsm *r, u32 first, u32 last,
		    enum dsm_access access, bool home);
	/* Who we take for a page's home. */
	int (*home)(struct o2g_dsm *r, u32 page);
	/* A node has died: all pages draw their conclusions. */
	void (*lost)(struct o2g_dsm *r, int rank);
};
extern const struct dsm_engine dsm_user_engine, dsm_kernel_engine;
/* Is the module loaded, and may we use it? */
bool dsm_kernel_there(void);

struct o2g_dsm {
	struct o2g_dsm *next;
	u32 id;
	char name[O2G_DSM_NAME_MAX + 1];
	char *base;
	size_t bytes;
	dsm_set founders;
	atomic_bool lost; /* somebody has died */
	bool tell;	  /* ... and the program has yet to be told */
	void (*on_loss)(void *arg, int rank);
	void *on_loss_arg;

	bool mapped;
	struct dsm_counts *counts;
	size_t counts_bytes;
	int fd; /* the module's file of it */

	/* the engine of processes */
	pthread_mutex_t lock;
	struct dsm_proto proto;
	int uffd;
	int gone_fd; /* a file without content: mapped, it is a SIGBUS */
	_Alignas(64) char copy[DSM_PAGE_SIZE]; /* of the page that was taken */
	pthread_t fault_thread;
};

/* --- messages; the tag says which --- */

#define DSM_TAG_PAGE \
	0x1000000000000000ull /* + region: struct dsm_msg, a page */
#define DSM_TAG_CALL 0x2000000000000000ull   /* struct dsm_call */
#define DSM_TAG_ANSWER 0x3000000000000000ull /* struct dsm_answer */
#define DSM_TAG_HELLO 0x4000000000000000ull
#define DSM_TAG_KIND 0xf000000000000000ull

enum dsm_op {
	DSM_NAME_CREATE,
	DSM_NAME_READY,
	DSM_NAME_JOIN,
	DSM_NAME_CLOSE,
	DSM_OBJ_LOCK,
	DSM_OBJ_TRYLOCK,
	DSM_OBJ_UNLOCK,
	DSM_OBJ_ENTER, /* a condition: be counted among those who wait */
	DSM_OBJ_SLEEP, /* ... and wait */
	DSM_OBJ_SIGNAL,
	DSM_OBJ_BROADCAST,
	DSM_OBJ_BARRIER,
	DSM_OBJ_ADD,
	DSM_HEAP_ALLOC,
	DSM_HEAP_FREE
};

struct dsm_call {
	u32 op;
	u32 region;
	u64 id; /* the caller's, for the answer */
	u64 a, b;
	char name[O2G_DSM_NAME_MAX + 1];
};

struct dsm_answer {
	u64 id;
	int64_t result; /* 0 or negative */
	u64 a, b, c, d;
};

/* --- the job --- */

struct dsm_caller;

struct dsm_job {
	struct o2g_ep *ep; /* NULL: not begun */
	const struct dsm_engine *engine;
	unsigned char secret[O2G_SECRET_SIZE];
	int rank, size;
	pthread_mutex_t lock;
	struct o2g_dsm *regions;
	struct dsm_caller *callers;
	u64 next_id;
	pthread_t thread;
	atomic_bool ends;
	_Atomic u64 dead, noted; /* who has died; whom the regions know of */
	bool began_mpi;
};
extern struct dsm_job dsm;

/* With dsm.lock. */
struct o2g_dsm *dsm_region_find(u32 id);
/* 0 or -O2G_ERR_PEER: what a call does first. */
int dsm_region_check(const struct o2g_dsm *r);

/* call.c: ask @rank, and wait for the answer. The region may be NULL. */
int dsm_ask(struct o2g_dsm *r, int rank, struct dsm_call *call,
	    struct dsm_answer *answer);
/* A rank has died: whoever waits looks again. */
void dsm_callers_lost(void);
void dsm_answer(int rank, const struct dsm_answer *answer);
void dsm_answer_with(int rank, u64 id, int result);
void dsm_call_arrived(int from, const struct dsm_call *call);
void dsm_answer_arrived(const struct dsm_answer *answer);

/* What is kept for others: with dsm.lock, from a handler or the caller itself. */
void dsm_names_serve(int from, const struct dsm_call *call);
void dsm_names_lost(int rank);
void dsm_objects_serve(int from, const struct dsm_call *call);
void dsm_objects_forget(u32 region);
void dsm_heap_serve(int from, const struct dsm_call *call);
void dsm_heap_forget(u32 region);

/* region.c: at its place; 0 or a negative errno, which is logged. */
int dsm_region_map(struct o2g_dsm *r, int flags, int fd);
/* hints.c: what is counted of it. */
int dsm_counts_map(struct o2g_dsm *r);
void dsm_counts_unmap(struct o2g_dsm *r);

/* pages.c */
int dsm_pages_start(struct o2g_dsm *r);
void dsm_pages_stop(struct o2g_dsm *r);
extern const struct dsm_ops dsm_user_ops;
void dsm_pages_wake(struct o2g_dsm *r, u32 page);
/* fault.c */
void dsm_page_arrived(struct o2g_dsm *r, int from, const void *data,
		      size_t len);

#endif
