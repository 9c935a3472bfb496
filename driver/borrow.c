// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Workers with the memory of an endpoint's process.
 *
 * A page of it may never come: a file system of somebody's own, or userfaultfd, is to
 * deliver it. The process itself can be killed while it waits for one, a worker
 * cannot; and with the socket's lock that it holds, closing the endpoint would wait
 * for ever, perhaps for a descriptor that is closed right after it. So workers may be
 * killed as well: waiting for the page ends, the copy fails, and so does the
 * connection. That is done when the endpoint is closed, and when its process is gone
 * while a worker keeps the process's memory, and with that the mapping of the endpoint.
 * And when whoever has sent what a worker copies is given up: a module that closes its
 * endpoint waits for its memory, and not for a process at the other end (parcel.c).
 */
#include "kfront.h"
#include "o2gk.h"

#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

/* False once there is no process any more. */
static bool add(struct o2gk_ep *ep, struct o2gk_borrower *b)
{
	bool can;

	b->task = current;
	spin_lock(&ep->borrow_lock);
	can = !ep->recalled && mmget_not_zero(ep->mm);
	if (can)
		list_add(&b->link, &ep->borrowers);
	spin_unlock(&ep->borrow_lock);
	return can;
}

bool o2gk_borrow(struct o2gk_ep *ep, struct o2gk_borrower *b)
{
	if (!ep->mm) { /* it is no process's, and its memory is at hand */
		b->alloc = o2gk_alloc_enter(ep);
		return true;
	}
	allow_kernel_signal(SIGKILL);
	if (!add(ep, b)) {
		disallow_signal(SIGKILL);
		return false;
	}
	kthread_use_mm(ep->mm);
	return true;
}

void o2gk_unborrow(struct o2gk_ep *ep, struct o2gk_borrower *b)
{
	if (!ep->mm) {
		o2gk_alloc_leave(ep, b->alloc);
		return;
	}
	kthread_unuse_mm(ep->mm);
	spin_lock(&ep->borrow_lock);
	list_del(&b->link);
	spin_unlock(&ep->borrow_lock);
	disallow_signal(SIGKILL); /* and forget one that has come */
	mmput(ep->mm);
}

/* Unless the memory was recalled as well. */
void o2gk_borrow_on(struct o2gk_ep *ep)
{
	disallow_signal(SIGKILL);
	allow_kernel_signal(SIGKILL);
	spin_lock(&ep->borrow_lock);
	if (ep->recalled)
		send_sig(SIGKILL, current, 1);
	spin_unlock(&ep->borrow_lock);
}

void o2gk_recall(struct o2gk_ep *ep)
{
	struct o2gk_borrower *b;

	spin_lock(&ep->borrow_lock);
	WRITE_ONCE(ep->recalled, true);
	list_for_each_entry(b, &ep->borrowers, link)
		send_sig(SIGKILL, b->task, 1);
	spin_unlock(&ep->borrow_lock);
}

/* Has the process that the endpoint is about just ended, or become another program? */
bool o2gk_is_orphan(const struct o2gk_ep *ep, const struct mm_struct *mm)
{
	if (task_tgid(current) != ep->pid)
		return false;
	if (current->flags & PF_EXITING)
		return !atomic_read(&current->signal->live);
	return current->mm != mm;
}
