// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The device file: system calls in, arguments copied once. */
#include "dev.h"

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "o2gk.h"

static bool is_ready(const struct o2gk_ep *ep)
{
	/* If it is, what set-up has made can also be seen. */
	return smp_load_acquire(&ep->ready);
}

/* Set up, and by this process? */
static bool is_usable(const struct o2gk_ep *ep)
{
	return is_ready(ep) && current->mm == ep->mm;
}

/* The eight calls, if it is set up for them. */
static struct o2gk_paper *paper_of(const struct o2gk_ep *ep)
{
	/* If it is, what set-up has made can also be seen. */
	return smp_load_acquire(&ep->paper);
}

static int file_open(struct inode *inode, struct file *file)
{
	file->private_data = o2gk_ep_create();
	return file->private_data ? 0 : -ENOMEM;
}

/*
 * A descriptor of it is closed, here or in another process. When that is the end of the
 * process that the endpoint is about, peers are told, though a child may have inherited
 * a descriptor and keep it as long as it likes.
 */
static int file_flush(struct file *file, fl_owner_t id)
{
	struct o2gk_ep *ep = file->private_data;
	struct o2gk_paper *paper = paper_of(ep);

	if (paper && o2gk_is_orphan(ep, o2gk_paper_mm(paper)))
		o2gk_paper_shut(paper);
	if (!is_ready(ep) || !o2gk_is_orphan(ep, ep->mm))
		return 0;
	o2gk_recall(ep);
	o2gk_doom_all(ep);
	return 0;
}

static int file_release(struct inode *inode, struct file *file)
{
	o2gk_ep_destroy(file->private_data);
	return 0;
}

static int file_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct o2gk_ep *ep = file->private_data;
	struct o2gk_paper *paper = paper_of(ep);

	if (paper)
		return o2gk_paper_mmap(paper, vma);
	if (!is_usable(ep))
		return -EBADFD;
	if (vma->vm_pgoff ||
	    vma->vm_end - vma->vm_start != ep->file.area_size ||
	    vma->vm_flags & VM_EXEC || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	o2gk_vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	o2gk_vm_flags_clear(vma, VM_MAYEXEC);
	return o2gk_area_map(vma, ep->file.area);
}

static __poll_t file_poll(struct file *file, poll_table *wait)
{
	struct o2gk_ep *ep = file->private_data;

	if (!is_ready(ep))
		return EPOLLERR;
	poll_wait(file, &ep->file.wait, wait);
	WRITE_ONCE(ep->file.shared->armed, 1);
	smp_mb(); /* pairs with the one after publishing */
	/* Asking changes nothing: descriptors may be nested, and ask twice. */
	if (READ_ONCE(ep->file.arrived) != READ_ONCE(ep->file.shared->seen))
		return EPOLLIN | EPOLLRDNORM;
	return o2gk_cq_seen(ep) ? 0 : EPOLLIN | EPOLLRDNORM;
}

/* --- arguments --- */

/* As the caller has it, which may know less of it than we do, or more. */
struct args {
	void __user *at;
	size_t size;
};

static int take(void *to, size_t size, struct args a)
{
	return copy_struct_from_user(to, size, a.at, a.size);
}

static int give(struct args a, const void *from, size_t size)
{
	size_t both = min(a.size, size);

	if (copy_to_user(a.at, from, both) ||
	    clear_user(a.at + both, a.size - both))
		return -EFAULT;
	return 0;
}

/* --- calls --- */

static int do_setup(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_setup s;
	int err;

	err = take(&s, sizeof(s), arg);
	if (err)
		return err;
	mutex_lock(&ep->mutex);
	err = o2gk_ep_setup(ep, &s);
	mutex_unlock(&ep->mutex);
	if (err)
		return err;
	return give(arg, &s, sizeof(s));
}

static int do_paper_init(struct o2gk_ep *ep, void __user *arg)
{
	int err;

	mutex_lock(&ep->mutex);
	err = o2gk_paper_init(ep, arg);
	if (!err)
		o2gk_look_add(ep);
	mutex_unlock(&ep->mutex);
	return err;
}

static int do_grow(struct o2gk_ep *ep, void __user *arg)
{
	u32 n;
	int err;

	if (get_user(n, (u32 __user *)arg))
		return -EFAULT;
	mutex_lock(&ep->mutex);
	err = o2gk_ep_grow(ep, n);
	mutex_unlock(&ep->mutex);
	return err;
}

static int do_socket(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_socket s;
	int err;

	err = take(&s, sizeof(s), arg);
	if (err)
		return err;
	mutex_lock(&ep->mutex);
	err = o2gk_sock_register(ep, s.peer, s.fd);
	mutex_unlock(&ep->mutex);
	return err;
}

/* A call about one peer, named by its number. */
static int do_peer(struct o2gk_ep *ep, void __user *arg,
		   int (*call)(struct o2gk_ep *ep, u32 number))
{
	u32 number;
	int err;

	if (get_user(number, (u32 __user *)arg))
		return -EFAULT;
	if (!o2gk_is_number(ep, number))
		return -EINVAL;
	mutex_lock(&ep->mutex);
	err = call(ep, number);
	mutex_unlock(&ep->mutex);
	return err;
}

static int do_peer_add(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_peer p;
	int err;

	err = take(&p, sizeof(p), arg);
	if (err)
		return err;
	return o2gk_peer_add(ep, p.peer, p.wire_rank);
}

static int do_submit(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_sqe e;
	int err;

	err = take(&e, sizeof(e), arg);
	if (err)
		return err;
	return o2gk_submit(ep, &e);
}

static int do_inject(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_inject i;
	int err;

	err = take(&i, sizeof(i), arg);
	if (err)
		return err;
	return o2gk_inject(ep, &i);
}

static int do_burst(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_burst b;
	int err;

	err = take(&b, sizeof(b), arg);
	if (err)
		return err;
	return o2gk_burst(ep, &b);
}

static int do_cancel(struct o2gk_ep *ep, void __user *arg)
{
	u32 slot;

	if (get_user(slot, (u32 __user *)arg))
		return -EFAULT;
	return o2gk_slot_cancel(ep, slot);
}

static int do_probe(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_probe a;
	int err;

	err = take(&a, sizeof(a), arg);
	if (err)
		return err;
	if (a.pad)
		return -EINVAL;
	err = o2gk_slot_probe(ep, &a);
	if (err)
		return err;
	return give(arg, &a, sizeof(a));
}

static int do_kick(struct o2gk_ep *ep)
{
	o2gk_ep_housekeeping(ep);
	o2gk_ep_lock(ep);
	o2gk_sq_drain_all(ep);
	while (!o2gk_cq_flush(ep)) {
		o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
		cond_resched();
		o2gk_ep_lock(ep);
	}
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	return 0;
}

static bool has_news(const struct o2gk_ep *ep, u32 seen)
{
	return READ_ONCE(ep->file.cq_tail) != seen ||
	       READ_ONCE(ep->file.noverflow);
}

static int wait_for_news(struct o2gk_ep *ep, u32 seen, long left)
{
	DEFINE_WAIT(entry);
	int err = 0;

	atomic_inc(&ep->file.waiters);
	for (;;) {
		/* Full barriers: either we see the news or it sees us. */
		prepare_to_wait_exclusive(&ep->file.wait, &entry,
					  TASK_INTERRUPTIBLE);
		if (has_news(ep, seen))
			break;
		err = left ? 0 : -ETIME;
		if (!err && signal_pending(current))
			err = -EINTR;
		if (err)
			break;
		left = schedule_timeout(left);
	}
	finish_wait(&ep->file.wait, &entry);
	atomic_dec(&ep->file.waiters);
	return err;
}

static int do_wait(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_wait w;
	int err;

	err = take(&w, sizeof(w), arg);
	if (err)
		return err;
	do_kick(ep);
	err = wait_for_news(ep, w.seen,
			    w.timeout_ms == U32_MAX ?
				    MAX_SCHEDULE_TIMEOUT :
				    (long)msecs_to_jiffies(w.timeout_ms));
	return err ? err : do_kick(ep);
}

static int do_fetch(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_fetch f;
	int err;

	err = take(&f, sizeof(f), arg);
	if (err)
		return err;
	return o2gk_fetch(ep, &f);
}

static int do_mem_add(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_mem m;
	int err;

	err = take(&m, sizeof(m), arg);
	if (err)
		return err;
	return o2gk_mem_add(ep, &m);
}

static int do_mem_drop(struct o2gk_ep *ep, void __user *arg)
{
	u64 key;

	if (copy_from_user(&key, arg, sizeof(key)))
		return -EFAULT;
	return o2gk_mem_drop(ep, key, NULL);
}

static int do_bye(struct o2gk_ep *ep, void __user *arg)
{
	u32 ms;

	if (get_user(ms, (u32 __user *)arg))
		return -EFAULT;
	return o2gk_ep_bye(ep, ms);
}

static int do_counters(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_counters c;
	int err = take(&c, sizeof(c), arg);

	if (!err)
		err = o2gk_look_counters(ep, &c);
	return err ? err : give(arg, &c, sizeof(c));
}

static int do_peer_info(struct o2gk_ep *ep, struct args arg)
{
	struct o2gd_peer_info i, asked;
	int err = take(&asked, sizeof(asked), arg);
	struct o2gk_peer *p;

	if (err)
		return err;
	if (!o2gk_is_number(ep, asked.peer))
		return -EINVAL;
	memset(&i, 0, sizeof(i));
	i.peer = asked.peer;
	o2gk_ep_lock(ep);
	i.state = o2gk_peer_state(ep, i.peer);
	p = o2gk_peer_find(ep, i.peer);
	if (p) {
		i.messages_sent = p->core.msgs_sent;
		i.bytes_sent = p->core.bytes_sent;
		i.messages_received = p->core.msgs_recv;
		i.bytes_received = p->core.bytes_recv;
		i.queued = p->txq_len;
	}
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	return give(arg, &i, sizeof(i));
}

static int do_list(struct args arg)
{
	struct o2gd_list l;
	int err;

	err = take(&l, sizeof(l), arg);
	if (err)
		return err;
	err = o2gk_look_list(&l);
	if (err)
		return err;
	return give(arg, &l, sizeof(l));
}

static int do_look(struct args arg, int (*look)(struct o2gd_look *q))
{
	struct o2gd_look q;
	int err;

	err = take(&q, sizeof(q), arg);
	if (err)
		return err;
	err = look(&q);
	if (err)
		return err;
	return give(arg, &q, sizeof(q));
}

/* Those whose arguments are structs. */
static long struct_call(struct o2gk_ep *ep, unsigned int cmd, struct args arg)
{
	switch (cmd) {
	case O2GD_BURST:
		return do_burst(ep, arg);
	case O2GD_INJECT:
		return do_inject(ep, arg);
	case O2GD_SUBMIT:
		return do_submit(ep, arg);
	case O2GD_WAIT:
		return do_wait(ep, arg);
	case O2GD_PROBE:
		return do_probe(ep, arg);
	case O2GD_FETCH:
		return do_fetch(ep, arg);
	case O2GD_SOCKET:
		return do_socket(ep, arg);
	case O2GD_PEER_ADD:
		return do_peer_add(ep, arg);
	case O2GD_MEM_ADD:
		return do_mem_add(ep, arg);
	case O2GD_PEER_INFO:
		return do_peer_info(ep, arg);
	default:
		return -ENOTTY;
	}
}

static long call(struct o2gk_ep *ep, unsigned int cmd, struct args arg)
{
	switch (cmd) {
	case O2GD_CANCEL:
		return do_cancel(ep, arg.at);
	case O2GD_GROW:
		return do_grow(ep, arg.at);
	case O2GD_PEER_DOWN:
		return do_peer(ep, arg.at, o2gk_peer_down);
	case O2GD_PEER_FORGET:
		return do_peer(ep, arg.at, o2gk_peer_forget);
	case O2GD_MEM_DROP:
		return do_mem_drop(ep, arg.at);
	case O2GD_BYE:
		return do_bye(ep, arg.at);
	default:
		return struct_call(ep, cmd, arg);
	}
}

#define STRUCT_CALL(cmd) [_IOC_NR(cmd)] = cmd

/* The call that we know by that number, though its struct may be shorter or longer. */
static unsigned int known_as(unsigned int cmd)
{
	static const unsigned int calls[] = {
		STRUCT_CALL(O2GD_SETUP),    STRUCT_CALL(O2GD_SOCKET),
		STRUCT_CALL(O2GD_SUBMIT),   STRUCT_CALL(O2GD_INJECT),
		STRUCT_CALL(O2GD_PROBE),    STRUCT_CALL(O2GD_WAIT),
		STRUCT_CALL(O2GD_FETCH),    STRUCT_CALL(O2GD_MEM_ADD),
		STRUCT_CALL(O2GD_COUNTERS), STRUCT_CALL(O2GD_PEER_INFO),
		STRUCT_CALL(O2GD_LIST),	    STRUCT_CALL(O2GD_QUEUES),
		STRUCT_CALL(O2GD_BURST),    STRUCT_CALL(O2GD_PAPER_SOCKS),
		STRUCT_CALL(O2GD_PEER_ADD),
	};
	unsigned int nr = _IOC_NR(cmd), ours;

	ours = nr < ARRAY_SIZE(calls) ? calls[nr] : 0;
	if (!ours || !_IOC_SIZE(cmd) || _IOC_TYPE(cmd) != O2GD_IOC ||
	    _IOC_DIR(cmd) != _IOC_DIR(ours))
		return cmd;
	return ours;
}

/*
 * The endpoint is about the memory of the process that set it up: a descriptor
 * that reached another one, by fork or over a socket, is of no use there.
 */
static long file_ioctl(struct file *file, unsigned int cmd, unsigned long at)
{
	struct args arg = { (void __user *)at, _IOC_SIZE(cmd) };
	struct o2gk_ep *ep = file->private_data;
	bool usable = is_usable(ep);
	struct o2gk_paper *paper;

	/* These two are a call for each message: no others are looked at first. */
	if (usable && cmd == O2GD_INJECT)
		return do_inject(ep, arg);
	if (usable && cmd == O2GD_KICK)
		return do_kick(ep);
	cmd = known_as(cmd);
	switch (cmd) {
	case O2GD_SETUP:
		return do_setup(ep, arg);
	case O2GD_LIST:
		return do_list(arg);
	case O2GD_QUEUES:
		return do_look(arg, o2gk_look_queues);
	case O2GD_PAPER_SOCKS:
		return do_look(arg, o2gk_look_socks);
	case O2GD_COUNTERS:
		return do_counters(usable ? ep : NULL, arg);
	case O2GD_PAPER_INIT:
		return do_paper_init(ep, arg.at);
	}
	paper = paper_of(ep);
	if (paper)
		return o2gk_paper_call(paper, cmd, at);
	return usable ? call(ep, cmd, arg) : -EBADFD;
}

const struct file_operations o2gk_fops = {
	.owner = THIS_MODULE,
	.open = file_open,
	.flush = file_flush,
	.release = file_release,
	.unlocked_ioctl = file_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = file_mmap,
	.poll = file_poll,
	.llseek = noop_llseek,
};
