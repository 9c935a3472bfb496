/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Stacks are mapped once, with a page below that must not be touched, and kept
 * for the next fiber. The fiber itself lies at the top of its stack. Only pages
 * that were used take memory.
 */
#include "coll/fiber.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coll/fiber_san.h"
#include "coll/fiber_switch.h"

#define STACK_SIZE (512 << 10) /* user-defined operations run here too */
#define KEPT_MAX 64

struct mpii_fiber {
	struct fiber_context inside, outside;
	void (*fn)(void *arg);
	void *arg;
	bool ended;
	char *stack; /* lowest usable byte */
	size_t size;
	struct mpii_fiber *next; /* kept for reuse */
	/* sanitizers */
	void *fake, *thread, *outer_thread;
	const void *outer_stack;
	size_t outer_size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpii_fiber *kept;
static int nkept;

static struct mpii_fiber *map(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct mpii_fiber *f;
	char *p = mmap(NULL, STACK_SIZE + page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
		       -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (mprotect(p, page, PROT_NONE)) {
		munmap(p, STACK_SIZE + page);
		return NULL;
	}
	f = (struct mpii_fiber *)(p + page + STACK_SIZE -
				  (sizeof(*f) + 63) / 64 * 64);
	f->stack = p + page;
	f->size = (size_t)((char *)f - f->stack);
	return f;
}

static void unmap(struct mpii_fiber *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	munmap(f->stack - page, STACK_SIZE + page);
}

/* The first thing on the new stack. */
static void enter(void *arg)
{
	struct mpii_fiber *f = arg;

	san_arrive(NULL, &f->outer_stack, &f->outer_size);
	f->fn(f->arg);
	f->ended = true;
	san_leave(NULL, f->outer_stack, f->outer_size);
	san_thread_switch(f->outer_thread);
	mpii_fiber_switch(&f->inside, &f->outside);
	__builtin_unreachable();
}

struct mpii_fiber *mpii_fiber_create(void (*fn)(void *arg), void *arg)
{
	struct mpii_fiber *f;

	pthread_mutex_lock(&lock);
	f = kept;
	if (f) {
		kept = f->next;
		nkept--;
	}
	pthread_mutex_unlock(&lock);
	if (!f)
		f = map();
	if (!f)
		return NULL;
	f->fn = fn;
	f->arg = arg;
	f->ended = false;
	f->thread = san_thread_create();
	fiber_context_init(&f->inside, f->stack, f->size, enter, f);
	return f;
}

/* Neither is inlined: nothing of a thread is carried over a switch. */
__attribute__((noinline)) bool mpii_fiber_resume(struct mpii_fiber *f)
{
	void *fake = NULL;

	f->outer_thread = san_thread_self();
	san_leave(&fake, f->stack, f->size);
	san_thread_switch(f->thread);
	mpii_fiber_switch(&f->outside, &f->inside);
	san_arrive(fake, NULL, NULL);
	return f->ended;
}

__attribute__((noinline)) void mpii_fiber_stop(struct mpii_fiber *f)
{
	san_leave(&f->fake, f->outer_stack, f->outer_size);
	san_thread_switch(f->outer_thread);
	mpii_fiber_switch(&f->inside, &f->outside);
	san_arrive(f->fake, &f->outer_stack, &f->outer_size);
}

void mpii_fiber_destroy(struct mpii_fiber *f)
{
	san_thread_destroy(f->thread);
	pthread_mutex_lock(&lock);
	if (nkept < KEPT_MAX) {
		f->next = kept;
		kept = f;
		nkept++;
		f = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (f)
		unmap(f);
}
