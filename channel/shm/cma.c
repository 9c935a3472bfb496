/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Reading and writing a peer's memory, with the kernel's help: one copy. */
#define _GNU_SOURCE
#include "shm.h"

#include <limits.h>
#include <sys/uio.h>

#include "lazy.h"

typedef ssize_t cma_fn(pid_t pid, const struct iovec *local,
		       unsigned long nlocal, const struct iovec *remote,
		       unsigned long nremote, unsigned long flags);

#define PIECES 256 /* in one system call */

/*
 * Pages that come when they are touched do not come for this call. Ours can be touched
 * first; for the peer's the message goes another way.
 */
static int cma_error(int err)
{
	switch (err) {
	case ESRCH:
		return -O2G_ERR_PEER;
	case ENOSYS:
		return -EOPNOTSUPP;
	case EFAULT:
		return o2g_lazy_any() ? -EAGAIN : -EFAULT;
	default:
		return -err;
	}
}

static bool touch_all(const struct o2g_seg *segs, u32 n, bool write)
{
	bool any = false;

	for (u32 i = 0; i < n; i++)
		any |= o2g_lazy_touch(segs[i].base, segs[i].len, write);
	return any;
}

/*
 * The kernel takes IOV_MAX pieces at a time and may stop earlier, at a page it
 * cannot reach, without saying why: only a call that moves nothing does.
 */
static int cma_copy(cma_fn *fn, u32 pid, u64 addr, const struct o2g_seg *segs,
		    u32 nsegs, u64 len)
{
	struct o2g_seg part[PIECES];
	u64 off = 0, covered;

	while (len) {
		struct iovec remote;
		u32 n;
		ssize_t done;

		/* Pass what was copied, so that slicing stays cheap. */
		while (nsegs && off >= segs->len) {
			off -= segs->len;
			segs++;
			nsegs--;
		}
		n = chan_slice(segs, nsegs, off, len, part, PIECES, &covered);
		if (!n)
			return -EFAULT;
		remote.iov_base = (void *)(uintptr_t)addr;
		remote.iov_len = covered;
		done = fn(pid, (struct iovec *)part, n, &remote, 1, 0);
		if (unlikely(done < 0 && errno == EFAULT) &&
		    touch_all(part, n, fn == process_vm_readv))
			done = fn(pid, (struct iovec *)part, n, &remote, 1, 0);
		if (done < 0)
			return cma_error(errno);
		if (!done)
			return -EFAULT;
		off += done;
		addr += done;
		len -= done;
	}
	return 0;
}

/* Does it work, and is that the process whose memory we mapped? */
bool shm_can_get(struct shm *s, const struct shm_link *l)
{
	struct shm_head copy;
	struct o2g_seg seg = { &copy, sizeof(copy) };

	copy.token = 0;
	return s->use_get &&
	       !cma_copy(process_vm_readv, l->pid, l->theirs->self, &seg, 1,
			 sizeof(copy)) &&
	       copy.token == l->theirs->token;
}

int shm_get(struct chan *c, struct chan_peer *p, u64 addr,
	    const struct o2g_seg *segs, u32 nsegs, u64 len)
{
	const struct shm_link *l = p->link;

	if (!l || !l->can_get)
		return -EOPNOTSUPP;
	return cma_copy(process_vm_readv, l->pid, addr, segs, nsegs, len);
}

int shm_put(struct chan *c, struct chan_peer *p, u64 addr,
	    const struct o2g_seg *segs, u32 nsegs, u64 len)
{
	const struct shm_link *l = p->link;

	if (!l || !l->can_get)
		return -EOPNOTSUPP;
	return cma_copy(process_vm_writev, l->pid, addr, segs, nsegs, len);
}
