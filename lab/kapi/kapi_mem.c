// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Memory of every kind that a buffer may be of, made of parts. */
#include "kapi.h"

#include <linux/bvec.h>
#include <linux/err.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#define PARTS 5
#define PIECE 1009 /* of KAPI_VECTOR */
#define AT 100	   /* where in its first page memory of pages begins */

struct part {
	enum kapi_kind kind;
	size_t len;
	char *addr;	    /* of the kernel */
	unsigned long user; /* of the process */
	struct page **pages;
	unsigned int npages;
	struct bio_vec *bvec;
	struct kvec kvec[2];
	struct iov_iter iter;
};

struct kapi_mem {
	struct part part[PARTS];
	unsigned int nparts;
	struct o2gk_seg *segs;
	unsigned int nsegs;
	char bounce[PAGE_SIZE];
};

static struct {
	struct mm_struct *mm;
	unsigned long addr;
	size_t len;
} process;

const char *kapi_kind_name(enum kapi_kind kind)
{
	static const char *const names[KAPI_KINDS] = { "kmalloc", "vmalloc",
						       "pages",	  "user",
						       "kvec",	  "bvec",
						       "vector",  "mixed" };

	return names[kind];
}

/* --- the process --- */

int kapi_user_open(int pid, unsigned long addr, size_t len)
{
	struct pid *p = find_get_pid(pid);
	struct task_struct *task = p ? get_pid_task(p, PIDTYPE_PID) : NULL;

	put_pid(p);
	if (!task)
		return -ESRCH;
	process.mm = get_task_mm(task);
	put_task_struct(task);
	process.addr = addr;
	process.len = len;
	return process.mm ? 0 : -ESRCH;
}

void kapi_user_close(void)
{
	if (process.mm)
		mmput(process.mm);
}

/* Its pages are pinned here as well, one by one. */
static int user_copy(unsigned long at, void *buf, size_t n, bool write)
{
	struct page *page;
	char *p;
	int err;

	mmap_read_lock(process.mm);
	err = pin_user_pages_remote(process.mm, at & PAGE_MASK, 1,
				    write ? FOLL_WRITE : 0, &page,
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
				    NULL,
#endif
				    NULL);
	mmap_read_unlock(process.mm);
	if (err != 1)
		return -EFAULT;
	p = kmap_local_page(page) + offset_in_page(at);
	memcpy(write ? p : buf, write ? buf : p, n);
	kunmap_local(p);
	unpin_user_pages_dirty_lock(&page, 1, write);
	return 0;
}

/* --- a part --- */

/* Up to the end of a page: @n is at most what is left there. */
static int part_copy(struct part *p, size_t off, void *buf, size_t n,
		     bool write)
{
	char *at;

	if (p->kind == KAPI_USER)
		return user_copy(p->user + off, buf, n, write);
	at = p->pages ? page_address(p->pages[(AT + off) / PAGE_SIZE]) +
				(AT + off) % PAGE_SIZE :
			p->addr + off;
	memcpy(write ? at : buf, write ? buf : at, n);
	return 0;
}

static size_t part_room(const struct part *p, size_t off)
{
	size_t at = p->kind == KAPI_USER ? offset_in_page(p->user + off) :
		    p->pages		 ? (AT + off) % PAGE_SIZE :
					   0;

	return min_t(size_t, PAGE_SIZE - at, p->len - off);
}

static int make_pages(struct part *p)
{
	unsigned int i;

	p->npages = DIV_ROUND_UP(AT + p->len, PAGE_SIZE);
	p->pages = kvcalloc(p->npages, sizeof(*p->pages), GFP_KERNEL);
	p->bvec = kvcalloc(p->npages, sizeof(*p->bvec), GFP_KERNEL);
	if (!p->pages || !p->bvec)
		return -ENOMEM;
	for (i = 0; i < p->npages; i++) {
		size_t from = i ? 0 : AT;

		p->pages[i] = alloc_page(GFP_KERNEL);
		if (!p->pages[i])
			return -ENOMEM;
		p->bvec[i].bv_page = p->pages[i];
		p->bvec[i].bv_offset = from;
		p->bvec[i].bv_len = min(PAGE_SIZE - from,
					AT + p->len - i * PAGE_SIZE - from);
	}
	return 0;
}

static int make_part(struct part *p, enum kapi_kind kind, size_t len,
		     enum kapi_place place)
{
	p->kind = kind;
	p->len = len;
	switch (kind) {
	case KAPI_USER:
		if (!process.mm)
			return -ENODEV;
		p->user =
			process.addr + place * (process.len / KAPI_PLACES) + 5;
		return len + 5 > process.len / KAPI_PLACES ? -E2BIG : 0;
	case KAPI_PAGES:
	case KAPI_BVEC:
		return make_pages(p);
	case KAPI_KMALLOC:
		if (len > 1 << 20)
			return -E2BIG;
		p->addr = kmalloc(len ? len : 1, GFP_KERNEL);
		return p->addr ? 0 : -ENOMEM;
	default:
		p->addr = vmalloc(len ? len : 1);
		return p->addr ? 0 : -ENOMEM;
	}
}

static void free_part(struct part *p)
{
	unsigned int i;

	for (i = 0; p->pages && i < p->npages; i++)
		if (p->pages[i])
			__free_page(p->pages[i]);
	kvfree(p->pages);
	kvfree(p->bvec);
	kvfree(p->addr);
}

/* --- as segments --- */

static struct o2gk_seg *next_seg(struct kapi_mem *m, u32 kind, size_t len)
{
	struct o2gk_seg *s = &m->segs[m->nsegs++];

	s->kind = kind;
	s->length = len;
	return s;
}

static void add_each_page(struct kapi_mem *m, struct part *p)
{
	unsigned int i;

	for (i = 0; p->len && i < p->npages; i++) {
		struct o2gk_seg *s = next_seg(m, O2GK_PAGE, p->bvec[i].bv_len);

		s->page = p->bvec[i].bv_page;
		s->offset = p->bvec[i].bv_offset;
	}
}

/* Every fifth is empty. */
static void add_pieces(struct kapi_mem *m, struct part *p)
{
	size_t off, n;

	for (off = 0; off < p->len; off += n) {
		n = m->nsegs % 5 == 4 ? 0 : min_t(size_t, PIECE, p->len - off);
		next_seg(m, O2GK_KERNEL, n)->addr = p->addr + off;
	}
}

static void add_iter(struct kapi_mem *m, struct part *p, enum kapi_place place)
{
	unsigned int dir = place == KAPI_FROM ? WRITE : READ;

	p->kvec[0] = (struct kvec){ p->addr, p->len / 3 };
	p->kvec[1] = (struct kvec){ p->addr + p->len / 3, p->len - p->len / 3 };
	if (p->kind == KAPI_KVEC)
		iov_iter_kvec(&p->iter, dir, p->kvec, 2, p->len);
	else
		iov_iter_bvec(&p->iter, dir, p->bvec, p->npages, p->len);
	next_seg(m, O2GK_ITER, p->len)->iter = &p->iter;
}

static void add_part(struct kapi_mem *m, struct part *p, enum kapi_place place)
{
	struct o2gk_seg *s;

	switch (p->kind) {
	case KAPI_PAGES:
		add_each_page(m, p);
		break;
	case KAPI_VECTOR:
		add_pieces(m, p);
		break;
	case KAPI_KVEC:
	case KAPI_BVEC:
		add_iter(m, p, place);
		break;
	case KAPI_USER:
		s = next_seg(m, O2GK_USER, p->len);
		s->user = (void __user *)p->user;
		s->mm = process.mm;
		break;
	default:
		next_seg(m, O2GK_KERNEL, p->len)->addr = p->addr;
	}
}

static int make_parts(struct kapi_mem *m, enum kapi_kind kind, size_t size,
		      enum kapi_place place)
{
	static const enum kapi_kind mix[PARTS] = { KAPI_VMALLOC, KAPI_USER,
						   KAPI_PAGES, KAPI_KVEC,
						   KAPI_BVEC };
	unsigned int i, n = kind == KAPI_MIXED ? PARTS : 1;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		enum kapi_kind k = n == 1 ? kind : mix[i];
		size_t len = i == n - 1 ? size - i * (size / n) : size / n;

		if (n > 1 && k == KAPI_USER && !process.mm)
			k = KAPI_VECTOR;
		m->nparts = i + 1;
		err = make_part(&m->part[i], k, len, place);
	}
	return err;
}

struct kapi_mem *kapi_mem_new(enum kapi_kind kind, size_t size,
			      enum kapi_place place)
{
	struct kapi_mem *m = kzalloc(sizeof(*m), GFP_KERNEL);
	unsigned int i;
	int err;

	if (!m)
		return ERR_PTR(-ENOMEM);
	m->segs = kvcalloc(size / 512 + 16, sizeof(*m->segs), GFP_KERNEL);
	err = m->segs ? make_parts(m, kind, size, place) : -ENOMEM;
	if (err) {
		kapi_mem_free(m);
		return ERR_PTR(err);
	}
	for (i = 0; i < m->nparts; i++)
		add_part(m, &m->part[i], place);
	return m;
}

void kapi_mem_free(struct kapi_mem *m)
{
	unsigned int i;

	if (IS_ERR_OR_NULL(m))
		return;
	for (i = 0; i < m->nparts; i++)
		free_part(&m->part[i]);
	kvfree(m->segs);
	kfree(m);
}

struct o2gk_seg *kapi_mem_segs(struct kapi_mem *m, unsigned int *n)
{
	*n = m->nsegs;
	return m->segs;
}

/* --- what is in it --- */

#define PERIOD 4093 /* so that no page is like another */

/* Random bytes, again and again; at most a page of them is asked for. */
static void pattern(char *to, u64 seed, size_t at, size_t n)
{
	static char bytes[PERIOD + PAGE_SIZE];
	static bool made;
	size_t i;

	for (i = 0; i < sizeof(bytes) && !READ_ONCE(made); i++)
		bytes[i] = (i % PERIOD + 1) * 0x9e3779b97f4a7c15ull >> 56;
	WRITE_ONCE(made, true);
	memcpy(to, bytes + (seed + at) % PERIOD, n);
}

/* Through the first @len bytes of all parts, a piece at a time. */
static int walk(struct kapi_mem *m, size_t len, u64 seed, bool write)
{
	char *want = kmalloc(PAGE_SIZE, GFP_KERNEL);
	size_t done = 0, off, n;
	unsigned int i;
	int err = want ? 0 : -ENOMEM;

	for (i = 0; i < m->nparts && !err; i++) {
		struct part *p = &m->part[i];

		for (off = 0; off < p->len && done < len && !err; off += n) {
			n = min(part_room(p, off), len - done);
			pattern(want, seed, done, n);
			if (write)
				memcpy(m->bounce, want, n);
			err = part_copy(p, off, m->bounce, n, write);
			if (!err && memcmp(m->bounce, want, n))
				err = -EILSEQ;
			done += n;
		}
		cond_resched();
	}
	kfree(want);
	return err;
}

int kapi_mem_fill(struct kapi_mem *m, u64 seed)
{
	return walk(m, SIZE_MAX, seed, true);
}

int kapi_mem_check(struct kapi_mem *m, u64 seed, size_t len)
{
	return walk(m, len, seed, false);
}
