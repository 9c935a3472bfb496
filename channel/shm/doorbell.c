/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Sleeping and waking. An endpoint that goes to sleep says so in its segment
 * and looks at its rings once more; a sender looks there after publishing. For
 * that the store and the load may not pass each other, at both ends. A fence in
 * every send would wait for the message's line to arrive in the sender's cache,
 * so the one who goes to sleep pays for both: membarrier(2) makes the senders'
 * cores pass a fence. Where the kernel does not offer it the senders do fence.
 *
 * The bell is a datagram socket with an abstract name: nothing is left behind,
 * and no connection to it is needed. Everybody can see that name, so whoever rings
 * says a number from the segment's head, which only ranks of the job can read; the
 * kernel drops what does not, and we sleep on.
 */
#define _GNU_SOURCE
#include "shm.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int membarrier(int cmd)
{
	return syscall(SYS_membarrier, cmd, 0, 0);
}

bool shm_barrier_setup(void)
{
	return !membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

static socklen_t bell_name(struct sockaddr_un *a, u64 token)
{
	int n;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	n = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1,
		     "o2g-shm-%016llx", (unsigned long long)token);
	return offsetof(struct sockaddr_un, sun_path) + 1 + n;
}

static int bell_ready(struct chan_watch *w, u32 events)
{
	struct shm *s = container_of(w, struct shm, bell);
	char buf[8];

	while (recv(w->fd, buf, sizeof(buf), MSG_DONTWAIT) >= 0)
		;
	chan_nudged(s->chan.ep);
	return shm_poll(&s->chan);
}

/* Bytes as the filter sees them. */
static u32 word(u64 key, int nr)
{
	u32 half[2];

	memcpy(half, &key, sizeof(half));
	return ntohl(half[nr]);
}

/* Datagrams that begin with the key, and no others. */
static int only_those_who_know(int fd, u64 key)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word(key, 0), 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word(key, 1), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, sizeof(key)),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog,
			  sizeof(prog)) ?
		       -errno :
		       0;
}

int shm_bell_open(struct shm *s, char *why, size_t why_size)
{
	struct sockaddr_un a;
	socklen_t len = bell_name(&a, s->own.head->token);
	int fd, err;

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || only_those_who_know(fd, s->own.head->bell_key) ||
	    bind(fd, (struct sockaddr *)&a, len)) {
		err = -errno;
		snprintf(why, why_size, "cannot make a socket: %s",
			 strerror(errno));
		goto err_close;
	}
	s->bell.fd = fd;
	s->bell.ready = bell_ready;
	err = chan_watch_add(s->chan.ep, &s->bell, EPOLLIN);
	if (!err)
		return 0;
	snprintf(why, why_size, "cannot watch a socket: %s", strerror(-err));
err_close:
	if (fd >= 0)
		close(fd);
	return err;
}

void shm_bell_close(struct shm *s)
{
	chan_watch_del(s->chan.ep, &s->bell);
	close(s->bell.fd);
}

/* A full socket rings already, and one that is gone needs no waking. */
void shm_bell_ring(struct shm *s, const struct shm_head *whose)
{
	struct sockaddr_un a;
	socklen_t len = bell_name(&a, whose->token);

	sendto(s->bell.fd, &whose->bell_key, sizeof(whose->bell_key),
	       MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&a, len);
}

bool shm_arm(struct chan *c)
{
	struct shm *s = container_of(c, struct shm, chan);
	u32 *sleeping = &s->own.head->sleeping;

	__atomic_store_n(sleeping, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* A sender that has no ring here yet fences when it attaches. */
	if (s->can_barrier && s->nscan)
		membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
	return shm_work_waits(s);
}

void shm_disarm(struct chan *c)
{
	struct shm *s = container_of(c, struct shm, chan);
	u32 *sleeping = &s->own.head->sleeping;

	if (__atomic_load_n(sleeping, __ATOMIC_RELAXED))
		__atomic_store_n(sleeping, 0, __ATOMIC_RELAXED);
}

void shm_nudge(struct chan *c, struct chan_peer *p)
{
	struct shm_link *l = p->link;

	if (likely(l && l->theirs))
		shm_wake(l->shm, l->theirs);
}
