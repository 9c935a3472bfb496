/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the sanitizers have to be told about stacks that change, for fiber.c
 * alone; nothing in other builds.
 */
#ifndef MPI_FIBER_SAN_H
#define MPI_FIBER_SAN_H

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

/* fake: the state of the stack that is left; NULL when it is left for good. */
static inline void san_leave(void **fake, const void *stack, size_t size)
{
	__sanitizer_start_switch_fiber(fake, stack, size);
}
static inline void san_arrive(void *fake, const void **from, size_t *size)
{
	__sanitizer_finish_switch_fiber(fake, from, size);
}
#else
static inline void san_leave(void **fake, const void *stack, size_t size)
{
}
static inline void san_arrive(void *fake, const void **from, size_t *size)
{
}
#endif

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

static inline void *san_thread_create(void)
{
	return __tsan_create_fiber(0);
}
static inline void san_thread_destroy(void *t)
{
	__tsan_destroy_fiber(t);
}
static inline void *san_thread_self(void)
{
	return __tsan_get_current_fiber();
}
/* Also orders what comes before and after: it is the same thread in truth. */
static inline void san_thread_switch(void *t)
{
	__tsan_switch_to_fiber(t, 0);
}
#else
static inline void *san_thread_create(void)
{
	return NULL;
}
static inline void san_thread_destroy(void *t)
{
}
static inline void *san_thread_self(void)
{
	return NULL;
}
static inline void san_thread_switch(void *t)
{
}
#endif

#endif
