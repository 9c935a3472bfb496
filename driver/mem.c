// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * User memory: pinned for receives that a softirq is to fill, described by
 * address where pinning is refused or not worth it (then a worker, or the
 * process itself in a system call, copies), and registered for put and get.
 *
 * Pinned pages count against the user's RLIMIT_MEMLOCK. A pin that is over is
 * only put aside by those who may not sleep.
 */
#include "kfront.h"
#include "o2gk.h"

#include <linux/bvec.h>
#include <linux/compat.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#ifdef CONFIG_COMPAT
/* Pieces of a 32-bit caller, half as long: to the end, and from there in place. */
static bool copy_compat(struct iovec *iov, u64 addr, u32 n)
{
	struct compat_iovec *half = (struct compat_iovec *)iov + n;
	u32 i;

	if (copy_from_user(half, u64_to_user_ptr(addr), n * sizeof(*half)))
		return false;
	for (i = 0; i < n; i++) {
		struct compat_iovec one = half[i];

		iov[i].iov_base = compat_ptr(one.iov_base);
		iov[i].iov_len = one.iov_len;
	}
	return true;
}
#else
static bool copy_compat(struct iovec *iov, u64 addr, u32 n)
{
	return false;
}
#endif

static bool copy_iov(struct iovec *iov, u64 addr, u32 n)
{
	if (in_compat_syscall())
		return copy_compat(iov, addr, n);
	return !copy_from_user(iov, u64_to_user_ptr(addr), n * sizeof(*iov));
}

int o2gk_iov_import(u64 addr, u32 nsegs, u64 len, struct iovec *one,
		    struct iovec **iov, u32 *n)
{
	u64 total = 0;
	u32 i;

	*iov = one;
	*n = 1;
	if (!nsegs) {
		one->iov_base = u64_to_user_ptr(addr);
		one->iov_len = len;
	} else {
		if (nsegs > O2GD_MAX_SEGS)
			return -EINVAL;
		*iov = kvmalloc_array(nsegs, sizeof(**iov), GFP_KERNEL_ACCOUNT);
		if (!*iov)
			return -ENOMEM;
		*n = nsegs;
		if (!copy_iov(*iov, addr, nsegs))
			goto err_fault;
	}
	for (i = 0; i < *n; i++) {
		if (!access_ok((*iov)[i].iov_base, (*iov)[i].iov_len) ||
		    check_add_overflow(total, (u64)(*iov)[i].iov_len, &total))
			goto err_fault;
	}
	if (total == len)
		return 0;
err_fault:
	if (*iov != one)
		kvfree(*iov);
	*iov = NULL;
	return -EFAULT;
}

/* --- pinning --- */

static unsigned long iov_pages(const struct iovec *iov)
{
	unsigned long start = (unsigned long)iov->iov_base;

	if (!iov->iov_len)
		return 0;
	return ((start + iov->iov_len - 1) >> PAGE_SHIFT) -
	       (start >> PAGE_SHIFT) + 1;
}

/* Pin one piece and describe it; false: not all of it could be pinned. */
static bool pin_piece(struct o2gk_pin *pin, const struct iovec *iov, bool write)
{
	unsigned long start = (unsigned long)iov->iov_base;
	unsigned long want = iov_pages(iov), left = iov->iov_len, i;
	unsigned int off = offset_in_page(start);

	for (i = 0; i < want;) {
		int got = pin_user_pages_fast(
			(start & PAGE_MASK) + (i << PAGE_SHIFT), want - i,
			FOLL_LONGTERM | (write ? FOLL_WRITE : 0),
			pin->pages + pin->n);

		if (got <= 0)
			return false;
		for (; got; got--, i++) {
			struct bio_vec *bv = &pin->bvec[pin->n];

			bv->bv_page = pin->pages[pin->n++];
			pin->npinned++;
			bv->bv_offset = off;
			bv->bv_len =
				min_t(unsigned long, PAGE_SIZE - off, left);
			left -= bv->bv_len;
			off = 0;
		}
	}
	return true;
}

/* The limit is looked at before anything is allocated that grows with the size. */
static struct o2gk_pin *pin_alloc(unsigned long npages)
{
	struct o2gk_pin *pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);

	if (!pin)
		return NULL;
	refcount_set(&pin->refs, 1);
	if (mm_account_pinned_pages(&pin->account, npages << PAGE_SHIFT)) {
		kfree(pin);
		return NULL;
	}
	pin->pages =
		kvmalloc_array(npages, sizeof(*pin->pages), GFP_KERNEL_ACCOUNT);
	pin->bvec =
		kvmalloc_array(npages, sizeof(*pin->bvec), GFP_KERNEL_ACCOUNT);
	if (!pin->pages || !pin->bvec) {
		o2gk_pin_free(pin);
		return NULL;
	}
	return pin;
}

bool o2gk_pin_index(struct o2gk_pin *pin, gfp_t gfp)
{
	u64 off = 0;
	u32 i;

	if (pin->even || pin->n <= O2GK_MARK)
		return true;
	pin->marks = kvmalloc_array(DIV_ROUND_UP(pin->n, O2GK_MARK),
				    sizeof(*pin->marks), gfp);
	if (!pin->marks)
		return false;
	for (i = 0; i < pin->n; i++) {
		if (i % O2GK_MARK == 0)
			pin->marks[i / O2GK_MARK] = off;
		off += pin->bvec[i].bv_len;
	}
	return true;
}

/* NULL when it is refused: the caller goes on without. */
struct o2gk_pin *o2gk_pin_user(struct o2gk_ep *ep, const struct iovec *iov,
			       u32 n, bool write)
{
	unsigned long npages = 0;
	struct o2gk_pin *pin;
	u32 i;

	for (i = 0; i < n; i++)
		npages += iov_pages(&iov[i]);
	if (!npages || npages > INT_MAX / sizeof(struct bio_vec))
		return NULL;
	pin = pin_alloc(npages);
	if (!pin)
		return NULL;
	pin->even = n == 1;
	pin->write = write; /* pages that were only read stay clean */
	for (i = 0; i < n; i++)
		if (iov[i].iov_len && !pin_piece(pin, &iov[i], write))
			goto refused;
	if (o2gk_pin_index(pin, GFP_KERNEL_ACCOUNT))
		return pin;

refused:
	o2gk_pin_free(pin);
	return NULL;
}

void o2gk_pin_free(struct o2gk_pin *pin)
{
	if (!pin || !refcount_dec_and_test(&pin->refs))
		return;
	if (pin->npinned)
		unpin_user_pages_dirty_lock(pin->pages, pin->npinned,
					    pin->write);
	mm_unaccount_pinned_pages(&pin->account);
	kvfree(pin->pages);
	kvfree(pin->bvec);
	kvfree(pin->marks);
	kfree(pin);
}

void o2gk_pin_later(struct o2gk_ep *ep, struct o2gk_pin *pin)
{
	if (!pin)
		return;
	ep->stats.pinned_pages -= pin->n;
	list_add(&pin->link, &ep->unpin);
	if (++ep->nunpin >= O2GK_UNPIN_BATCH && !ep->closing)
		queue_work(ep->wq, &ep->work);
}

void o2gk_pin_put(struct o2gk_ep *ep, struct o2gk_pin *pin)
{
	if (!pin || !refcount_dec_and_test(&pin->refs))
		return;
	if (pin->owner) {
		o2gk_kernel_released(pin);
		return;
	}
	/* Its owner is done with it, and with its place in a list. */
	refcount_set(&pin->refs, 1);
	ep->stats.pinned_pages += pin->n; /* taken off again: */
	o2gk_pin_later(ep, pin);
}

/* --- segments --- */

/* The last mark that is not behind @off: there is one at 0. */
static u32 mark_at(const struct o2gk_pin *pin, u64 off)
{
	u32 low = 0, high = DIV_ROUND_UP(pin->n, O2GK_MARK);

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (pin->marks[middle] <= off)
			low = middle;
		else
			high = middle;
	}
	return low;
}

const struct bio_vec *o2gk_bvec_at(const struct o2gk_pin *pin, u64 *off)
{
	const struct bio_vec *bv = pin->bvec;
	u64 i;

	if (pin->marks) {
		i = mark_at(pin, *off);
		*off -= pin->marks[i];
		return bv + i * O2GK_MARK;
	}
	if (!pin->even || *off < bv->bv_len)
		return bv;
	*off -= bv->bv_len;
	i = 1 + (*off >> PAGE_SHIFT);
	*off &= ~PAGE_MASK;
	return bv + i;
}

void o2gk_seg_iter(const struct o2g_seg *seg, unsigned int direction, u64 off,
		   u64 len, struct iov_iter *iter)
{
	off += seg->off;
	if (seg->type == O2GK_SEG_PAGES) {
		const struct o2gk_pin *pin = seg->pin;
		const struct bio_vec *bv = o2gk_bvec_at(pin, &off);

		iov_iter_bvec(iter, direction, bv, pin->n - (bv - pin->bvec),
			      off + len);
	} else {
		iov_iter_init(iter, direction, seg->iov, seg->n, off + len);
	}
	iov_iter_advance(iter, off);
}

/* --- registered memory --- */

/* A peer asks for keys as often as it likes, and the program may have many. */
static struct o2gk_mem *mem_by_key(struct o2gk_ep *ep, u64 key)
{
	struct o2g_cookie *k = o2g_cookies_find(ep->mems, key);

	return k ? container_of(k, struct o2gk_mem, key) : NULL;
}

int o2gk_mem_link(struct o2gk_ep *ep, struct o2gk_mem *m)
{
	lockdep_assert_held(&ep->lock);
	if (mem_by_key(ep, m->key.value))
		return -EEXIST;
	o2g_cookies_add(&ep->mems, &m->key);
	if (m->pin)
		ep->stats.pinned_pages += m->pin->n;
	else
		ep->stats.pin_refused++;
	return 0;
}

/*
 * What is only read is pinned as if it were written where that is what it takes to see
 * what the process writes there later. Memory that nobody may write to is not pinned then.
 */
static struct o2gk_pin *pin_registered(struct o2gk_ep *ep,
				       const struct iovec *iov, bool write)
{
	struct o2gk_pin *pin =
		o2gk_pin_user(ep, iov, 1, write || !O2GK_READ_PINS_LAST);

	if (pin)
		pin->write = write;
	return pin;
}

int o2gk_mem_add(struct o2gk_ep *ep, const struct o2gd_mem *a)
{
	struct o2gk_mem *m;
	struct iovec *iov;
	u32 n;
	int err;

	if (!a->access || a->access & ~(O2GD_READ | O2GD_WRITE) || a->pad ||
	    !a->key)
		return -EINVAL;
	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return -ENOMEM;
	err = o2gk_iov_import(a->addr, 0, a->len, &m->iov, &iov, &n);
	if (err) {
		kfree(m);
		return err;
	}
	m->len = a->len;
	m->access = a->access;
	m->refs = 1;
	m->pin = pin_registered(ep, &m->iov, a->access & O2GD_WRITE);
	m->key.value = a->key;
	m->key.weight = get_random_u64();
	o2gk_ep_lock(ep);
	err = o2gk_mem_link(ep, m);
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	if (err) {
		o2gk_pin_free(m->pin);
		kfree(m);
	}
	return err;
}

/* Under ep->lock. */
void o2gk_mem_put(struct o2gk_ep *ep, struct o2gk_mem *m)
{
	if (!m || --m->refs)
		return;
	if (ep->kernel)
		o2gk_kernel_mem_end(ep, m);
	else
		o2gk_pin_later(ep, m->pin);
	kfree(m);
}

int o2gk_mem_drop(struct o2gk_ep *ep, u64 key, struct completion *gone)
{
	struct o2gk_mem *m;

	o2gk_ep_lock(ep);
	m = mem_by_key(ep, key);
	if (m) {
		m->gone = gone;
		o2g_cookies_del(&ep->mems, &m->key);
		o2gk_mem_put(ep, m);
	}
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	return m ? 0 : -ENOENT;
}

void o2gk_mem_done(struct o2gk_ep *ep)
{
	o2gk_mem_put(ep, ep->used_mem);
	ep->used_mem = NULL;
}

/*
 * From the core, for a key that came from the network. The reference is handed
 * over in ep->used_mem to whoever asked the core: the receive path for a put,
 * the request that answers a get.
 */
int o2gk_mem_find(struct o2g_core *c, struct o2g_peer *p, u64 key, u64 offset,
		  u64 len, bool write, struct o2g_seg *seg)
{
	struct o2gk_ep *ep = o2gk_of_core(c);
	struct o2gk_mem *m = mem_by_key(ep, key);

	if (!m) {
		o2gk_drop(o2gk_peer_of(p), O2GD_DROP_BAD_KEY, 1);
		return -ENOENT;
	}
	if (!(m->access & (write ? O2GD_WRITE : O2GD_READ))) {
		o2gk_drop(o2gk_peer_of(p), O2GD_DROP_BAD_ACCESS, 1);
		return -EACCES;
	}
	if (offset > m->len || len > m->len - offset) {
		o2gk_drop(o2gk_peer_of(p), O2GD_DROP_BAD_OFFSET, 1);
		return -ERANGE;
	}
	seg->len = len;
	seg->off = offset;
	if (m->pin) {
		seg->type = O2GK_SEG_PAGES;
		seg->pin = m->pin;
	} else {
		seg->type = O2GK_SEG_USER;
		seg->iov = &m->iov;
		seg->n = 1;
	}
	m->refs++;
	o2gk_mem_done(ep); /* an atomic asks twice */
	ep->used_mem = m;
	return 0;
}
