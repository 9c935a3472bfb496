// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Buffers of other modules: a list of segments of any kinds becomes a list of pages,
 * which is what the rest of the driver copies from and to. Pages of the kernel's own
 * memory are not counted: the caller keeps them until its request is over.
 */
#include "kfront.h"

#include <linux/bvec.h>
#include <linux/err.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

typedef int (*piece_fn)(void *arg, const struct o2gk_seg *piece);

/* --- iterators --- */

/* Its n-th element; false: it has none, or is of a kind that is not known here. */
static bool element(const struct iov_iter *i, unsigned int n,
		    struct o2gk_seg *one)
{
	*one = (struct o2gk_seg){ .mm = current->mm };
	if (iter_is_ubuf(i)) {
		one->kind = O2GK_USER;
		one->user = i->ubuf;
		one->length = i->iov_offset + iov_iter_count(i);
		return n == 0;
	}
	if (n >= i->nr_segs)
		return false;
	if (iter_is_iovec(i)) {
		one->kind = O2GK_USER;
		one->user = o2gk_iter_iov(i)[n].iov_base;
		one->length = o2gk_iter_iov(i)[n].iov_len;
	} else if (iov_iter_is_kvec(i)) {
		one->kind = O2GK_KERNEL;
		one->addr = i->kvec[n].iov_base;
		one->length = i->kvec[n].iov_len;
	} else if (iov_iter_is_bvec(i)) {
		one->kind = O2GK_PAGE;
		one->page = i->bvec[n].bv_page;
		one->offset = i->bvec[n].bv_offset;
		one->length = i->bvec[n].bv_len;
	} else {
		return false;
	}
	return true;
}

static void skip_bytes(struct o2gk_seg *s, size_t n)
{
	s->length -= n;
	if (s->kind == O2GK_PAGE)
		s->offset += n;
	else
		s->addr += n;
}

static int each_of_iter(const struct o2gk_seg *s, piece_fn fn, void *arg)
{
	size_t skip = s->iter->iov_offset, left = s->length;
	struct o2gk_seg one;
	unsigned int n;
	int err = 0;

	for (n = 0; left && !err; n++) {
		if (!element(s->iter, n, &one))
			return -EINVAL;
		if (skip >= one.length) {
			skip -= one.length;
			continue;
		}
		skip_bytes(&one, skip);
		skip = 0;
		one.length = min(one.length, left);
		left -= one.length;
		err = fn(arg, &one);
	}
	return err;
}

/* Every piece that is not empty, and none of them an iterator. */
static int each(const struct o2gk_seg *segs, unsigned int n, piece_fn fn,
		void *arg)
{
	int err = 0;

	for (; n && !err; n--, segs++) {
		if (segs->kind == O2GK_ITER)
			err = each_of_iter(segs, fn, arg);
		else if (segs->length)
			err = fn(arg, segs);
	}
	return err;
}

/* --- looking --- */

struct measure {
	u64 length, pages;
	u32 pieces;
	bool user;
};

static unsigned long first_byte(const struct o2gk_seg *s)
{
	return s->kind == O2GK_PAGE ? s->offset : (unsigned long)s->addr;
}

static int measure_piece(void *arg, const struct o2gk_seg *s)
{
	unsigned long at = first_byte(s);
	struct measure *m = arg;

	if (s->kind > O2GK_USER || s->length > O2G_BODY_MAX - m->length ||
	    at + s->length < at || (s->kind == O2GK_USER && !s->mm))
		return -EINVAL;
	m->length += s->length;
	m->pages +=
		((at + s->length - 1) >> PAGE_SHIFT) - (at >> PAGE_SHIFT) + 1;
	m->pieces++;
	m->user |= s->kind == O2GK_USER;
	return 0;
}

static int measure(const struct o2gk_seg *segs, unsigned int n,
		   struct measure *m)
{
	unsigned int i;

	*m = (struct measure){};
	for (i = 0; i < n; i++)
		if (segs[i].kind == O2GK_ITER &&
		    segs[i].length > iov_iter_count(segs[i].iter))
			return -EINVAL;
	return each(segs, n, measure_piece, m);
}

int o2gk_segs_check(const struct o2gk_seg *segs, unsigned int n, u64 *length,
		    bool *user)
{
	struct measure m;
	int err = measure(segs, n, &m);

	*length = m.length;
	*user = m.user;
	return err;
}

/* --- copying --- */

static int copy_piece(void *arg, const struct o2gk_seg *s)
{
	unsigned long at = s->offset, end = at + s->length;
	u8 **to = arg;

	if (s->kind == O2GK_KERNEL) {
		memcpy(*to, s->addr, s->length);
		*to += s->length;
		return 0;
	}
	while (at < end) {
		u32 n = min(PAGE_SIZE - offset_in_page(at), end - at);
		char *page = kmap_local_page(
			o2gk_nth_page(s->page, at >> PAGE_SHIFT));

		memcpy(*to, page + offset_in_page(at), n);
		kunmap_local(page);
		*to += n;
		at += n;
	}
	return 0;
}

int o2gk_segs_copy(const struct o2gk_seg *segs, unsigned int n, void *to)
{
	return each(segs, n, copy_piece, &to);
}

/* --- pages --- */

struct pinning {
	struct o2gk_pin *pin;
	unsigned int foll;
};

static void add_page(struct o2gk_pin *pin, struct page *page, unsigned int off,
		     unsigned int len)
{
	struct bio_vec *bv = &pin->bvec[pin->n++];

	bv->bv_page = page;
	bv->bv_offset = off;
	bv->bv_len = len;
}

static struct page *page_of(const struct o2gk_seg *s, unsigned long at)
{
	if (s->kind == O2GK_PAGE)
		return o2gk_nth_page(s->page, at >> PAGE_SHIFT);
	if (virt_addr_valid((void *)at))
		return virt_to_page((void *)at);
	return vmalloc_to_page((void *)at);
}

static int add_kernel(struct o2gk_pin *pin, const struct o2gk_seg *s)
{
	unsigned long at = first_byte(s), end = at + s->length;

	while (at < end) {
		u32 n = min(PAGE_SIZE - offset_in_page(at), end - at);
		struct page *page = page_of(s, at);

		if (!page)
			return -EFAULT;
		add_page(pin, page, offset_in_page(at), n);
		at += n;
	}
	return 0;
}

static long pin_some(const struct o2gk_seg *s, unsigned long at,
		     unsigned long n, unsigned int foll, struct page **pages)
{
	long got;

	if (s->mm == current->mm)
		return pin_user_pages_fast(at, min_t(unsigned long, n, INT_MAX),
					   foll, pages);
	mmap_read_lock(s->mm);
	got = o2gk_pin_remote(s->mm, at, n, foll, pages);
	mmap_read_unlock(s->mm);
	return got;
}

static int add_user(struct o2gk_pin *pin, const struct o2gk_seg *s,
		    unsigned int foll)
{
	unsigned long at = first_byte(s), end = at + s->length;

	while (at < end) {
		struct page **pages = pin->pages + pin->npinned;
		unsigned long want = (PAGE_ALIGN(end) - (at & PAGE_MASK)) >>
				     PAGE_SHIFT;
		long i, got = pin_some(s, at & PAGE_MASK, want, foll, pages);

		if (got <= 0)
			return got == -ENOMEM ? -ENOMEM : -EFAULT;
		pin->npinned += got;
		for (i = 0; i < got; i++) {
			u32 n = min(PAGE_SIZE - offset_in_page(at), end - at);

			add_page(pin, pages[i], offset_in_page(at), n);
			at += n;
		}
	}
	return 0;
}

static int add_piece(void *arg, const struct o2gk_seg *s)
{
	struct pinning *p = arg;

	return s->kind == O2GK_USER ? add_user(p->pin, s, p->foll) :
				      add_kernel(p->pin, s);
}

static struct o2gk_pin *new_pin(struct o2gk_ep *ep, const struct measure *m,
				gfp_t gfp)
{
	struct mem_cgroup *before = set_active_memcg(ep->memcg);
	struct o2gk_pin *pin = kzalloc(sizeof(*pin), gfp);

	if (pin) {
		pin->bvec = kvmalloc_array(m->pages, sizeof(*pin->bvec), gfp);
		if (m->user)
			pin->pages = kvmalloc_array(m->pages,
						    sizeof(*pin->pages), gfp);
		refcount_set(&pin->refs, 1);
		pin->owner = ep;
		pin->even = m->pieces == 1;
	}
	set_active_memcg(before);
	if (pin && pin->bvec && (pin->pages || !m->user))
		return pin;
	o2gk_pin_free(pin);
	return NULL;
}

static int make_index(struct o2gk_ep *ep, struct o2gk_pin *pin, gfp_t gfp)
{
	struct mem_cgroup *before = set_active_memcg(ep->memcg);
	bool made = o2gk_pin_index(pin, gfp);

	set_active_memcg(before);
	return made ? 0 : -ENOMEM;
}

struct o2gk_pin *o2gk_segs_pin(struct o2gk_ep *ep, const struct o2gk_seg *segs,
			       unsigned int n, unsigned int foll, gfp_t gfp)
{
	struct pinning p = { .foll = foll };
	struct measure m;
	int err = measure(segs, n, &m);

	if (err || !m.length)
		return ERR_PTR(-EINVAL);
	if (m.pages > INT_MAX / sizeof(struct bio_vec))
		return ERR_PTR(-ENOMEM);
	gfp |= __GFP_ACCOUNT | __GFP_NOWARN;
	p.pin = new_pin(ep, &m, gfp);
	if (!p.pin)
		return ERR_PTR(-ENOMEM);
	p.pin->write = foll & FOLL_WRITE;
	err = each(segs, n, add_piece, &p);
	if (!err)
		err = make_index(ep, p.pin, gfp);
	if (!err)
		return p.pin;
	o2gk_pin_free(p.pin);
	return ERR_PTR(err);
}
