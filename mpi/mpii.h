/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Inside the MPI library: what every chapter starts from. What a chapter offers
 * the others is in headers of its folder. Every function there is prefixed mpii_;
 * MPI_ names live only in the file of their chapter.
 *
 * Handles are pointers. Predefined ones are the small integers of the ABI and
 * are turned into objects by the mpii_*_get functions; a handle that is neither
 * predefined nor points at an object with the right magic is refused.
 */
#ifndef MPII_H
#define MPII_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "handle.h"

#pragma GCC visibility push(default)
#include "mpi.h"
#include "o2g.h"
#pragma GCC visibility pop

/*
 * Every function is defined as PMPI_X and followed by MPII_ALIAS(X), which adds
 * the weak name MPI_X that a profiling tool may replace. The library itself
 * calls neither: chapters call each other's mpii_ functions.
 */
#define MPII_ALIAS(name)                                          \
	extern __typeof__(PMPI_##name) MPI_##name __attribute__(( \
		weak, alias("PMPI_" #name), visibility("default")))

#define mpii_likely(x) __builtin_expect(!!(x), 1)
#define mpii_unlikely(x) __builtin_expect(!!(x), 0)

/* First in every object. Freed when the count reaches 0. */
struct mpii_obj {
	uint32_t magic;
	atomic_int refs;
	atomic_int number; /* the handle as an integer, 0: has none yet */
};

static inline void mpii_obj_hold(struct mpii_obj *o)
{
	atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
}
/* True when that was the last reference and the caller must free. */
static inline bool mpii_obj_drop(struct mpii_obj *o)
{
	return atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) ==
	       1;
}

/* bindings/handle_int.c: its number means nothing any more. */
void mpii_handle_forget(struct mpii_obj *o);

/* Nobody may name this object from now on. */
static inline void mpii_obj_end(struct mpii_obj *o)
{
	o->magic = MPII_DEAD;
	if (mpii_unlikely(
		    atomic_load_explicit(&o->number, memory_order_relaxed)))
		mpii_handle_forget(o);
}

#endif
