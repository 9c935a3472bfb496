/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * send() and recv() that never wait, straight from the kernel. Those of the C
 * library are cancellation points: in a process with threads, as ours is, each
 * takes two locked instructions and some seventy others. Nobody cancels a thread
 * in here, which may hold the endpoint's lock.
 */
#ifndef TCP_CALL_H
#define TCP_CALL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lazy.h"

/* Arguments beyond these are 0. Negative errno where it fails. */
static inline long tcp_call(long nr, long a, long b, long c, long d)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	register long flags __asm__("r10") = d;
	register long addr __asm__("r8") = 0;
	register long addr_len __asm__("r9") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(flags),
			   "r"(addr), "r"(addr_len)
			 : "rcx", "r11", "memory");
	return ret;
#else
	long ret = syscall(nr, a, b, c, d, 0, 0);

	return ret < 0 ? -errno : ret;
#endif
}

/* After a call that failed: is it worth another try? */
static inline bool tcp_call_again(long n, const void *buf, size_t len,
				  bool write)
{
	return n == -EINTR || (n == -EFAULT && o2g_lazy_touch(buf, len, write));
}

static inline bool tcp_call_again_msg(long n, const struct msghdr *m,
				      bool write)
{
	bool again = n == -EINTR;

	if (n == -EFAULT)
		for (size_t i = 0; i < m->msg_iovlen; i++)
			again |= o2g_lazy_touch(m->msg_iov[i].iov_base,
						m->msg_iov[i].iov_len, write);
	return again;
}

static inline ssize_t tcp_call_recv(int fd, void *to, size_t len)
{
	long n;

	do
		n = tcp_call(SYS_recvfrom, fd, (long)to, (long)len,
			     MSG_DONTWAIT);
	while (__builtin_expect(n < 0, 0) && tcp_call_again(n, to, len, true));
	return n;
}

static inline ssize_t tcp_call_send(int fd, const void *from, size_t len)
{
	long n;

	do
		n = tcp_call(SYS_sendto, fd, (long)from, (long)len,
			     MSG_DONTWAIT | MSG_NOSIGNAL);
	while (__builtin_expect(n < 0, 0) &&
	       tcp_call_again(n, from, len, false));
	return n;
}

static inline ssize_t tcp_call_recvmsg(int fd, struct msghdr *m)
{
	long n;

	do
		n = tcp_call(SYS_recvmsg, fd, (long)m, MSG_DONTWAIT, 0);
	while (__builtin_expect(n < 0, 0) && tcp_call_again_msg(n, m, true));
	return n;
}

/* @flags: MSG_MORE, or 0. */
static inline ssize_t tcp_call_sendmsg(int fd, const struct msghdr *m,
				       int flags)
{
	long n;

	do
		n = tcp_call(SYS_sendmsg, fd, (long)m,
			     MSG_DONTWAIT | MSG_NOSIGNAL | flags, 0);
	while (__builtin_expect(n < 0, 0) && tcp_call_again_msg(n, m, false));
	return n;
}

#endif
