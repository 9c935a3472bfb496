/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Work that waits for requests and is then done outside the endpoint's lock.
 *
 * A callback of o2g_on_done runs with the lock held and has to be short. Work
 * may copy and compute as long as it likes: whoever makes progress next does it,
 * after letting go of the lock. That is a thread that waits, tests or polls; when
 * there is none, the progress thread, unless the work is for callers only.
 * Threads that wait look at their conditions again afterwards, since the work may
 * have been what they wait for.
 */
#include "async.h"
#include "core_ops.h"
#include "progress.h"
#include "req.h"
#include "work.h"

static void append(struct o2g_ep *ep, struct o2g_work *w)
{
	w->next = NULL;
	*ep->work_tail = w;
	ep->work_tail = &w->next;
}

void eng_work_add(struct o2g_ep *ep, struct o2g_work *w)
{
	ep->works++;
	append(ep, w);
}

/* With the lock, from the core's callbacks. */
static void one_done(void *arg)
{
	struct o2g_work *w = arg;

	if (!--w->pending)
		append(w->ep, w);
}

static bool is_progress_thread(const struct o2g_ep *ep)
{
	return ep->lock.helper == __builtin_thread_pointer();
}

int o2g_after(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
	      struct o2g_work *w)
{
	size_t pending = 0;

	ep_enter_or_exit(ep);
	ep->calls++;
	w->ep = ep;
	for (size_t i = 0; i < n; i++) {
		if (!reqs[i] || eng_is_done(reqs[i]))
			continue;
		/* not before we let go of the lock */
		o2g_on_done(reqs[i], one_done, w);
		pending++;
	}
	w->pending = pending;
	if (pending) {
		ep->works++;
		eng_flush(ep);
		/* The program may leave now and compute. */
		if (!ep->inside && !is_progress_thread(ep))
			eng_async_want(ep);
	}
	ep_unlock(ep);
	return pending == 0;
}

/* The next that this thread may do. */
static struct o2g_work *take(struct o2g_ep *ep)
{
	bool all = !is_progress_thread(ep);
	struct o2g_work **p = &ep->work, *w;

	while (*p && (*p)->callers_only && !all)
		p = &(*p)->next;
	w = *p;
	if (!w)
		return NULL;
	*p = w->next;
	if (!w->next)
		ep->work_tail = p;
	return w;
}

void eng_run_work(struct o2g_ep *ep)
{
	struct o2g_work *w;

	env_assert(ep->lock.depth == 0);
	ep->workers++;
	while ((w = take(ep))) {
		ep->works--;
		ep_unlock(ep);
		w->fn(w);
		ep_lock(ep);
	}
	ep->workers--;
	eng_event(ep);
}

void eng_work_left(struct o2g_ep *ep)
{
	if (ep->inside || ep->workers || is_progress_thread(ep))
		return;
	for (struct o2g_work *w = ep->work; w; w = w->next) {
		if (w->callers_only)
			continue;
		eng_async_kick(ep);
		return;
	}
}
