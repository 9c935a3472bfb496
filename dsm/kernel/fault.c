// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Threads that need pages. A page that is here is returned locked, and stays locked until
 * it is mapped; so nobody can take it away in between. For one that is not, the thread
 * asks and sleeps without the lock of its memory (VM_FAULT_RETRY), then faults again. Where
 * the caller does not let go of that lock, it is kept: nobody who serves pages needs it.
 */
#include "dsmk.h"

#include <linux/file.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>

void dsmk_wake(struct dsmk_region *r, u32 page)
{
	wait_queue_head_t *wait = dsmk_wait_of(r, page);

	/* Whoever sleeps looks under r->lock, which the caller has. */
	if (wq_has_sleeper(wait))
		wake_up_all(wait);
}

void dsmk_wake_all(struct dsmk_region *r)
{
	u32 i;

	for (i = 0; i < DSMK_WAITS; i++)
		wake_up_all(&r->waits[i]);
}

/* --- pages that are here --- */

/* Under r->lock: the page, if that may be done with it. */
static struct page *usable(struct dsmk_region *r, u32 index,
			   enum dsm_access access)
{
	return r->proto.pages[index].access >= access ? r->slots[index].page :
							NULL;
}

/* It is about to be mapped: whoever wants it back has it as soon as it was held. */
static void used(struct dsmk_region *r, u32 index)
{
	struct dsmk_slot *s = &r->slots[index];

	if (!(s->flags & DSMK_FRESH))
		return;
	s->flags = 0;
	s->came = dsmk_now_us();
	if (list_empty(&s->taken))
		return;
	s->due = s->came + r->hold_us;
	r->kick = true;
	wake_up(&r->take_wait);
	mod_delayed_work(r->node->wq, &r->take_work, 0);
}

/* With the page's lock, once we have waited for it: may it still be mapped so? */
static bool is_still_usable(struct dsmk_region *r, u32 index, struct page *page,
			    enum dsm_access access)
{
	bool still;

	spin_lock_bh(&r->lock);
	r->slots[index].lockers--;
	still = usable(r, index, access) == page;
	if (still)
		used(r, index);
	spin_unlock_bh(&r->lock);
	return still;
}

/* Locked and with a reference, or NULL. */
static struct page *get_locked(struct dsmk_region *r, u32 index,
			       enum dsm_access access)
{
	struct page *page;

	spin_lock_bh(&r->lock);
	page = usable(r, index, access);
	if (page) {
		get_page(page);
		r->slots[index].lockers++;
	}
	spin_unlock_bh(&r->lock);
	if (!page)
		return NULL;
	lock_page(page);
	if (is_still_usable(r, index, page, access))
		return page;
	unlock_page(page);
	put_page(page);
	return NULL;
}

/* --- asking --- */

/* Under r->lock, with all that it takes. */
static enum dsm_result want(struct dsmk_region *r, u32 index,
			    enum dsm_access access, bool home)
{
	u64 *faults = access == DSM_WRITE ? &r->counts->write_faults :
					    &r->counts->read_faults;
	enum dsm_result result = dsm_want(&r->proto, index, access, home);

	if (result == DSM_HAVE)
		return result;
	r->counts->page[index].faults++;
	WRITE_ONCE(*faults, READ_ONCE(*faults) + 1);
	return result;
}

/* 0, it is under way or here; -EAGAIN: not now; -EIO: it is gone. */
static int ask(struct dsmk_region *r, u32 index, enum dsm_access access,
	       bool home, bool waits)
{
	enum dsm_result result;
	int err = dsmk_stock_fill(r->node);

	if (err)
		return err;
	spin_lock_bh(&r->lock);
	if (r->frozen || !dsmk_stock_check(r)) {
		err = -EAGAIN;
	} else {
		if (waits)
			r->slots[index].flags |= DSMK_WAITED;
		result = want(r, index, access, home);
		err = result == DSM_LOST ? -EIO : 0;
	}
	spin_unlock_bh(&r->lock);
	return err;
}

static bool is_answered(struct dsmk_region *r, u32 index,
			enum dsm_access access)
{
	const struct dsm_page *p = &r->proto.pages[index];
	bool yes;

	spin_lock_bh(&r->lock);
	yes = !r->frozen && (p->access >= access || !p->want);
	spin_unlock_bh(&r->lock);
	return yes;
}

/* A thread of the program also wakes for its signals, unless it is in a system call. */
static void wait_for_answer(struct dsmk_region *r, u32 index,
			    enum dsm_access access, unsigned int flags)
{
	wait_queue_head_t *wait = dsmk_wait_of(r, index);
	unsigned int signals = FAULT_FLAG_USER | FAULT_FLAG_INTERRUPTIBLE;

	if ((flags & signals) == signals)
		wait_event_interruptible(*wait, is_answered(r, index, access));
	else
		wait_event_killable(*wait, is_answered(r, index, access));
}

/* The memory may be unmapped by others once its lock is let go of. */
static vm_fault_t wait_without_lock(struct dsmk_region *r, struct vm_fault *vmf,
				    enum dsm_access access)
{
	struct file *file = get_file(vmf->vma->vm_file);
	u32 index = (u32)vmf->pgoff;
	unsigned int flags = vmf->flags;

	mmap_read_unlock(vmf->vma->vm_mm);
	dsmk_out_flush(r->node, 0);
	wait_for_answer(r, index, access, flags);
	fput(file);
	return VM_FAULT_RETRY;
}

static vm_fault_t wait_with_lock(struct dsmk_region *r, struct vm_fault *vmf,
				 enum dsm_access access)
{
	dsmk_out_flush(r->node, O2GK_ATOMIC);
	wait_for_answer(r, (u32)vmf->pgoff, access, 0);
	return fatal_signal_pending(current) ? VM_FAULT_SIGBUS :
					       VM_FAULT_NOPAGE;
}

static vm_fault_t fetch(struct dsmk_region *r, struct vm_fault *vmf,
			enum dsm_access access)
{
	int err;

	if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return VM_FAULT_RETRY;
	err = ask(r, (u32)vmf->pgoff, access, false, true);
	if (err == -EIO)
		return VM_FAULT_SIGBUS;
	if (err == -ENOMEM)
		return VM_FAULT_OOM;
	if (vmf->flags & FAULT_FLAG_ALLOW_RETRY)
		return wait_without_lock(r, vmf, access);
	return wait_with_lock(r, vmf, access);
}

static vm_fault_t fault(struct vm_fault *vmf)
{
	struct dsmk_region *r = vmf->vma->vm_private_data;
	enum dsm_access access = vmf->flags & FAULT_FLAG_WRITE ? DSM_WRITE :
								 DSM_READ;

	if (vmf->pgoff >= r->proto.npages)
		return VM_FAULT_SIGBUS;
	vmf->page = get_locked(r, (u32)vmf->pgoff, access);
	return vmf->page ? VM_FAULT_LOCKED : fetch(r, vmf, access);
}

/*
 * It is mapped to be read, and somebody writes. This call cannot wait without the lock of
 * the memory; so if it may not be written it is unmapped, and fault() is called for it.
 */
static vm_fault_t mkwrite(struct vm_fault *vmf)
{
	struct dsmk_region *r = vmf->vma->vm_private_data;
	struct page *page = vmf->page;

	if (vmf->pgoff >= r->proto.npages)
		return VM_FAULT_SIGBUS;
	spin_lock_bh(&r->lock);
	r->slots[vmf->pgoff].lockers++;
	spin_unlock_bh(&r->lock);
	lock_page(page);
	if (is_still_usable(r, (u32)vmf->pgoff, page, DSM_WRITE))
		return VM_FAULT_LOCKED;
	unlock_page(page);
	unmap_mapping_range(r->inode->i_mapping,
			    (loff_t)vmf->pgoff << PAGE_SHIFT, PAGE_SIZE, 1);
	return VM_FAULT_NOPAGE;
}

const struct vm_operations_struct dsmk_vm_ops = {
	.fault = fault,
	.page_mkwrite = mkwrite,
};

/* --- hints --- */

/* No more than these are under way for a hint: their home has to hold them all. */
#define WINDOW 1024

static int wait_for_window(struct dsmk_region *r, u32 index,
			   enum dsm_access access)
{
	dsmk_out_flush(r->node, 0);
	return wait_event_interruptible(*dsmk_wait_of(r, index),
					is_answered(r, index, access));
}

int dsmk_want(struct dsmk_region *r, u32 first, u32 n, enum dsm_access access,
	      bool home)
{
	u32 index;
	int err = 0;

	for (index = first; !err && index < first + n; index++) {
		if (index - first >= WINDOW &&
		    wait_for_window(r, index - WINDOW, access))
			return -EINTR;
		err = ask(r, index, access, home, false);
		if (err == -EAGAIN)
			err = 0; /* it is a hint */
		if (index % 16 == 15) {
			dsmk_out_flush(r->node, 0);
			cond_resched();
		}
		if (fatal_signal_pending(current))
			err = -EINTR;
	}
	dsmk_out_flush(r->node, 0);
	return err;
}
