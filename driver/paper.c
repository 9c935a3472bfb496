// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The eight calls of 2004: opening, waiting, and what is left for workers. */
#include "paper.h"

#include <linux/compat.h>
#include <linux/memcontrol.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define FIRST_BINS 256
#define MAX_SOCKS BIT(20)

static_assert(sizeof(struct o2gd_paper_sock) == 64);

/* --- the lock --- */

void o2gk_paper_lock(struct o2gk_paper *paper) __acquires(&paper->lock)
{
	spin_lock_bh(&paper->lock);
}

void o2gk_paper_breathe(struct o2gk_paper *paper)
{
	o2gk_paper_unlock(paper);
	cond_resched();
	o2gk_paper_lock(paper);
}

static void wake(wait_queue_head_t *q)
{
	if (wq_has_sleeper(q)) /* with the barrier that news needs */
		wake_up_interruptible(q);
}

void o2gk_paper_unlock(struct o2gk_paper *paper) __releases(&paper->lock)
{
	bool news = paper->wake, dump = paper->wake_dumper;

	paper->wake = false;
	paper->wake_dumper = false;
	if (unlikely(o2g_match_wants(&paper->match)) && !paper->closing)
		queue_work(paper->wq, &paper->work);
	spin_unlock_bh(&paper->lock);
	if (dump && atomic_read(&paper->ndumpers))
		wake(&paper->dump_wait);
	else if (dump)
		news = true; /* whoever waits for news does it */
	if (news)
		wake(&paper->wait);
}

void o2gk_paper_news(struct o2gk_paper *paper)
{
	lockdep_assert_held(&paper->lock);
	WRITE_ONCE(paper->news, paper->news + 1);
	/* What is news was written before. */
	smp_store_release(&paper->shared->news, paper->news);
	paper->wake = true;
}

/* --- what is left for process context --- */

/* One worker at a time: what it has begun it also ends. */
static void move_bins(struct o2gk_paper *paper, struct o2g_match_bin *bins,
		      u32 n)
{
	struct o2g_match_bin *old;

	o2gk_paper_lock(paper);
	o2g_match_rehash_begin(&paper->match, bins, n);
	while (!(old = o2g_match_rehash_some(&paper->match, O2GK_STEP))) {
		o2gk_paper_unlock(paper);
		cond_resched();
		o2gk_paper_lock(paper);
	}
	o2gk_paper_unlock(paper);
	kvfree(old);
}

static void grow_bins(struct o2gk_paper *paper)
{
	struct o2g_match_bin *bins;
	struct mem_cgroup *before;
	u32 n;

	o2gk_paper_lock(paper);
	n = o2g_match_wants(&paper->match);
	spin_unlock_bh(&paper->lock); /* it would call for us again */
	if (!n)
		return;
	before = set_active_memcg(paper->memcg); /* this is a worker */
	bins = kvcalloc(n, sizeof(*bins), GFP_KERNEL_ACCOUNT);
	set_active_memcg(before);
	if (bins)
		move_bins(paper, bins, n);
}

static void work(struct work_struct *w)
{
	struct o2gk_paper *paper = container_of(w, struct o2gk_paper, work);

	o2gk_paper_empty_trash(paper);
	grow_bins(paper);
}

/* --- o2g_init --- */

static struct o2gk_paper *alloc(u32 nsocks)
{
	struct o2gk_paper *paper = kzalloc(sizeof(*paper), GFP_KERNEL_ACCOUNT);

	if (!paper)
		return NULL;
	spin_lock_init(&paper->lock);
	mutex_init(&paper->mutex);
	mutex_init(&paper->late_mutex);
	xa_init_flags(&paper->posted, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	xa_init_flags(&paper->by_rank, XA_FLAGS_LOCK_BH);
	INIT_LIST_HEAD(&paper->held);
	INIT_LIST_HEAD(&paper->late_recvs);
	INIT_LIST_HEAD(&paper->late_msgs);
	INIT_LIST_HEAD(&paper->jobs);
	INIT_LIST_HEAD(&paper->trash);
	init_waitqueue_head(&paper->wait);
	init_waitqueue_head(&paper->dump_wait);
	INIT_WORK(&paper->work, work);
	paper->max_socks = nsocks;
	return paper;
}

static int make_tables(struct o2gk_paper *paper)
{
	unsigned long size = sizeof(*paper->shared) +
			     paper->max_socks * sizeof(struct o2gd_paper_sock);
	struct o2g_match_bin *bins;
	int err;

	bins = kvcalloc(FIRST_BINS, sizeof(*bins), GFP_KERNEL_ACCOUNT);
	if (!bins)
		return -ENOMEM;
	o2g_match_init(&paper->match, bins, FIRST_BINS, get_random_u64());
	paper->socks = kvcalloc(paper->max_socks, sizeof(*paper->socks),
				GFP_KERNEL_ACCOUNT);
	if (!paper->socks)
		return -ENOMEM;
	err = o2gk_user_charge(&paper->charge, PAGE_ALIGN(size) >> PAGE_SHIFT);
	if (err)
		return err;
	paper->wq = o2gk_wq_alloc(&paper->charge);
	if (!paper->wq)
		return -ENOMEM;
	err = account_locked_vm(paper->mm, PAGE_ALIGN(size) >> PAGE_SHIFT,
				true);
	if (err)
		return err;
	paper->map_pages = PAGE_ALIGN(size) >> PAGE_SHIFT;
	paper->map = o2gk_area_alloc(PAGE_ALIGN(size));
	paper->shared = paper->map;
	return paper->map ? 0 : -ENOMEM;
}

/* When no system call, no mapping and no thread is left. */
void o2gk_paper_destroy(struct o2gk_paper *paper)
{
	struct o2gk_paper_recv *r;
	unsigned long number;

	if (!paper)
		return;
	WRITE_ONCE(paper->closing, true);
	o2gk_paper_sock_release_all(paper);
	cancel_work_sync(&paper->work);
	xa_for_each(&paper->posted, number, r)
		list_add_tail(&r->link, &paper->trash);
	list_splice_init(&paper->late_recvs, &paper->trash);
	paper->ntrash = 1;
	o2gk_paper_empty_trash(paper);
	xa_destroy(&paper->posted);
	xa_destroy(&paper->by_rank);
	o2gk_paper_area_destroy(&paper->area);
	if (paper->map_pages)
		account_locked_vm(paper->mm, paper->map_pages, false);
	o2gk_user_uncharge(&paper->charge);
	vfree(paper->map);
	if (paper->wq)
		destroy_workqueue(paper->wq);
	kvfree(paper->socks);
	kvfree(paper->match.bins);
	mmdrop(paper->mm);
	put_net(paper->net);
	mem_cgroup_put(paper->memcg);
	kfree(paper);
}

/* Under ep->mutex. */
int o2gk_paper_init(struct o2gk_ep *ep, void __user *arg)
{
	struct o2gd_paper_init i;
	struct o2gk_paper *paper;
	int err;

	if (copy_from_user(&i, arg, sizeof(i)))
		return -EFAULT;
	if (i.version != O2GD_VERSION)
		return -EPROTO;
	if (!i.nsocks || i.nsocks > MAX_SOCKS)
		return -EINVAL;
	if (in_compat_syscall())
		return -EOPNOTSUPP;
	if (ep->mm || ep->paper)
		return -EBUSY;
	paper = alloc(i.nsocks);
	if (!paper)
		return -ENOMEM;
	paper->mm = current->mm;
	mmgrab(paper->mm);
	paper->net = get_net(current->nsproxy->net_ns);
	paper->memcg = get_mem_cgroup_from_mm(paper->mm);
	err = make_tables(paper);
	i.map_size = paper->map_pages << PAGE_SHIFT;
	if (!err && copy_to_user(arg, &i, sizeof(i)))
		err = -EFAULT;
	if (err)
		o2gk_paper_destroy(paper);
	else
		smp_store_release(&ep->paper, paper); /* made before seen */
	return err;
}

int o2gk_paper_mmap(struct o2gk_paper *paper, struct vm_area_struct *vma)
{
	if (current->mm != paper->mm)
		return -EBADFD;
	if (vma->vm_pgoff || vma->vm_flags & (VM_EXEC | VM_WRITE) ||
	    vma->vm_end - vma->vm_start != paper->map_pages << PAGE_SHIFT ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	o2gk_vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	o2gk_vm_flags_clear(vma, VM_MAYEXEC | VM_MAYWRITE);
	return o2gk_area_map(vma, paper->map);
}

/* --- o2g_register_socket, o2g_set_dump_area --- */

static int do_socket(struct o2gk_paper *paper, void __user *arg)
{
	struct o2gd_socket s;
	int err;

	if (copy_from_user(&s, arg, sizeof(s)))
		return -EFAULT;
	mutex_lock(&paper->mutex);
	err = o2gk_paper_sock_add(paper, s.peer, s.fd);
	mutex_unlock(&paper->mutex);
	return err;
}

static int do_area(struct o2gk_paper *paper, void __user *arg)
{
	struct o2gd_paper_area a;
	int err = -EBUSY;

	if (copy_from_user(&a, arg, sizeof(a)))
		return -EFAULT;
	mutex_lock(&paper->mutex);
	if (!paper->area.len)
		err = o2gk_paper_area_create(paper, a.addr, a.len);
	mutex_unlock(&paper->mutex);
	return err;
}

/* --- o2g_free_entry --- */

static int do_free(struct o2gk_paper *paper, u64 addr)
{
	o2gk_paper_empty_trash(paper);
	return o2gk_paper_msg_remove(paper, addr);
}

/* --- o2g_poll, o2g_start_dumper_thread --- */

static bool has_jobs(const struct o2gk_paper *paper)
{
	return !list_empty_careful(&paper->jobs) || o2gk_paper_is_late(paper);
}

static void serve(struct o2gk_paper *paper)
{
	o2gk_paper_flush(paper);
	o2gk_paper_run_jobs(paper);
}

/* 0: sleep. 1: there is what it waits for, or it should look again. */
static int look(struct o2gk_paper *paper, u32 seen)
{
	if (READ_ONCE(paper->news) != seen)
		return 1;
	if (has_jobs(paper) && !atomic_read(&paper->ndumpers))
		return 1;
	if (!READ_ONCE(paper->nopen) && !READ_ONCE(paper->nlosing))
		return -ENOTCONN;
	return signal_pending(current) ? -EINTR : 0;
}

static int sleep_for_news(struct o2gk_paper *paper, u32 seen)
{
	DEFINE_WAIT(entry);
	int ret;

	for (;;) {
		prepare_to_wait(&paper->wait, &entry, TASK_INTERRUPTIBLE);
		ret = look(paper, seen);
		if (ret)
			break;
		schedule();
	}
	finish_wait(&paper->wait, &entry);
	return ret;
}

static int do_wait(struct o2gk_paper *paper, void __user *arg)
{
	u32 seen;
	int ret;

	if (get_user(seen, (u32 __user *)arg))
		return -EFAULT;
	do {
		if (!atomic_read(&paper->ndumpers))
			serve(paper);
		ret = sleep_for_news(paper, seen);
	} while (ret > 0 && READ_ONCE(paper->news) == seen);
	if (ret == -ENOTCONN) /* what came last may still be late */
		o2gk_paper_settle(paper);
	return READ_ONCE(paper->news) != seen ? 0 : ret;
}

static int do_dump(struct o2gk_paper *paper)
{
	int err;

	atomic_inc(&paper->ndumpers);
	do {
		serve(paper);
		err = wait_event_interruptible_exclusive(paper->dump_wait,
							 has_jobs(paper));
	} while (!err);
	atomic_dec(&paper->ndumpers);
	/* What was meant for this thread is another one's. */
	o2gk_paper_lock(paper);
	paper->wake_dumper = has_jobs(paper);
	o2gk_paper_unlock(paper);
	return -EINTR;
}

long o2gk_paper_call(struct o2gk_paper *paper, unsigned int cmd,
		     unsigned long arg)
{
	if (current->mm != paper->mm)
		return -EBADFD;
	switch (cmd) {
	case O2GD_PAPER_PUT:
		return o2gk_paper_put(paper, arg);
	case O2GD_PAPER_CANCEL:
		return o2gk_paper_cancel(paper, arg);
	case O2GD_PAPER_FREE:
		return do_free(paper, arg);
	case O2GD_PAPER_WAIT:
		return do_wait(paper, (void __user *)arg);
	case O2GD_PAPER_DUMP:
		return do_dump(paper);
	case O2GD_PAPER_SOCKET:
		return do_socket(paper, (void __user *)arg);
	case O2GD_PAPER_AREA:
		return do_area(paper, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}
