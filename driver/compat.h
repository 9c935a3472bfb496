/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Everything that differs between kernels, from 6.1 on. */
#ifndef O2GK_COMPAT_H
#define O2GK_COMPAT_H

#include <linux/mm.h>
#include <linux/uio.h>
#include <linux/version.h>
#include <net/ipv6.h>
#include <net/sock.h>

/* A listener for both takes connections of IPv4 as sockets of IPv6. */
static inline bool o2gk_is_v6(const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	return sk->sk_family == AF_INET6 &&
	       !ipv6_addr_v4mapped(&sk->sk_v6_daddr);
#else
	return false;
#endif
}

/* Are these the two ends of one connection? They may be in one namespace only. */
static inline bool o2gk_other_end(const struct sock *a, const struct sock *b)
{
	if (!net_eq(sock_net(a), sock_net(b)) ||
	    o2gk_is_v6(a) != o2gk_is_v6(b) || a->sk_num != ntohs(b->sk_dport) ||
	    b->sk_num != ntohs(a->sk_dport))
		return false;
#if IS_ENABLED(CONFIG_IPV6)
	if (o2gk_is_v6(a))
		return ipv6_addr_equal(&a->sk_v6_rcv_saddr, &b->sk_v6_daddr) &&
		       ipv6_addr_equal(&b->sk_v6_rcv_saddr, &a->sk_v6_daddr);
#endif
	return a->sk_rcv_saddr == b->sk_daddr && b->sk_rcv_saddr == a->sk_daddr;
}

/*
 * A page that is pinned to be read stays the process's when that writes to it. Before, it
 * may be one that others have as well, and the process gets a copy.
 */
#ifndef O2GK_READ_PINS_LAST /* tests have it both ways */
#define O2GK_READ_PINS_LAST (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0))
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void o2gk_vm_flags_set(struct vm_area_struct *vma,
				     unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void o2gk_vm_flags_clear(struct vm_area_struct *vma,
				       unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#else
#define o2gk_vm_flags_set vm_flags_set
#define o2gk_vm_flags_clear vm_flags_clear
#endif

static inline struct page *o2gk_nth_page(struct page *page, unsigned long n)
{
	return n ? pfn_to_page(page_to_pfn(page) + n) : page;
}

static inline const struct iovec *o2gk_iter_iov(const struct iov_iter *i)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	return i->iov;
#else
	return iter_iov(i);
#endif
}

/* With the lock of its mappings. */
static inline long o2gk_pin_remote(struct mm_struct *mm, unsigned long at,
				   unsigned long n, unsigned int flags,
				   struct page **pages)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	return pin_user_pages_remote(mm, at, n, flags, pages, NULL, NULL);
#else
	return pin_user_pages_remote(mm, at, n, flags, pages, NULL);
#endif
}

/*
 * Sending from softirq: no sleeping allocation, and not the page fragment of
 * the task that happens to run. Before 6.2 the second follows from the first.
 */
struct o2gk_atomic_send {
	gfp_t allocation;
	bool task_frag;
};

static inline struct o2gk_atomic_send o2gk_atomic_begin(struct sock *sk)
{
	struct o2gk_atomic_send s = { .allocation = sk->sk_allocation };

	sk->sk_allocation = GFP_ATOMIC;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	s.task_frag = sk->sk_use_task_frag;
	sk->sk_use_task_frag = false;
#endif
	return s;
}

/*
 * The same for as long as the socket is ours. A page fault may send, of a task that
 * is in the middle of copying to its own fragment for another socket. Of a 6.1 it
 * cannot be said whether it has the flag; a socket that must not enter a file system
 * for memory does not use the task's there either way.
 */
static inline struct o2gk_atomic_send o2gk_own_begin(struct sock *sk, gfp_t gfp)
{
	struct o2gk_atomic_send s = o2gk_atomic_begin(sk);

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	gfp &= ~__GFP_FS;
#endif
	sk->sk_allocation = gfp;
	return s;
}

static inline void o2gk_atomic_end(struct sock *sk, struct o2gk_atomic_send s)
{
	sk->sk_allocation = s.allocation;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	sk->sk_use_task_frag = s.task_frag;
#endif
}

/*
 * lock_sock(), unless somebody has it: true, and it is ours, until release_sock(). The
 * kernel has none that does not wait.
 */
#ifndef o2gk_trylock_sock
static inline bool o2gk_trylock_sock(struct sock *sk)
{
	bool got;

	spin_lock_bh(&sk->sk_lock.slock);
	got = !sock_owned_by_user_nocheck(sk);
	if (got)
		sk->sk_lock.owned = 1;
	spin_unlock_bh(&sk->sk_lock.slock);
	if (got)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return got;
}
#endif

#endif
