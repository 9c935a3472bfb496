/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the protocol asks of its engine, done with userfaultfd: pages that are not here
 * are missing, and those that may only be read are write-protected, so that threads that
 * need more sleep in the kernel and fault.c hears of it.
 *
 * A page that goes is write-protected first, then copied, then dropped: what a thread of
 * ours has written until then is in the copy, and later ones sleep. A page that died
 * with another node is replaced by a piece of an empty file: whoever touches that gets
 * a SIGBUS, on all kernels.
 */
#define _GNU_SOURCE
#include "dsm.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "lazy.h"
#include "log.h"
#include "settings.h"

static const _Alignas(64) char zeros[DSM_PAGE_SIZE];

static char *address(const struct o2g_dsm *r, u32 page)
{
	return r->base + (size_t)page * DSM_PAGE_SIZE;
}

static void add(u64 *count, u64 n)
{
	__atomic_store_n(count, *count + n, __ATOMIC_RELAXED);
}

/* There is no way on: memory would not be what it should. */
static void cannot(const struct o2g_dsm *r, const char *what, u32 page)
{
	o2g_error("dsm: cannot %s page %u of region %s: %s", what, page,
		  r->name, strerror(errno));
	_exit(1);
}

/* Kernels say EAGAIN while the address space changes. */
static void control(struct o2g_dsm *r, unsigned long request, void *arg,
		    const char *what, u32 page)
{
	while (ioctl(r->uffd, request, arg))
		if (errno != EAGAIN)
			cannot(r, what, page);
}

static void protection(struct o2g_dsm *r, u32 page, bool read_only)
{
	struct uffdio_writeprotect wp = {
		.range = { (u64)(uintptr_t)address(r, page), DSM_PAGE_SIZE },
		.mode = read_only ? UFFDIO_WRITEPROTECT_MODE_WP : 0
	};

	control(r, UFFDIO_WRITEPROTECT, &wp, "protect", page);
}

static void fill(struct o2g_dsm *r, u32 page, const void *data, bool read_only)
{
	struct uffdio_copy c = { .dst = (u64)(uintptr_t)address(r, page),
				 .src = (u64)(uintptr_t)data,
				 .len = DSM_PAGE_SIZE,
				 .mode = read_only ? UFFDIO_COPY_MODE_WP : 0 };

	while (ioctl(r->uffd, UFFDIO_COPY, &c)) {
		if (errno != EAGAIN)
			cannot(r, "fill", page);
		c.copy = 0;
	}
}

void dsm_pages_wake(struct o2g_dsm *r, u32 page)
{
	struct uffdio_range range = { (u64)(uintptr_t)address(r, page),
				      DSM_PAGE_SIZE };

	control(r, UFFDIO_WAKE, &range, "wake", page);
}

/* --- the functions of struct dsm_ops --- */

static void count_writer(struct o2g_dsm *r, u32 page, unsigned node)
{
	struct dsm_page_counts *c = &r->counts->page[page];

	if (r->proto.pages[page].writer != node + 1 || !c->writers)
		c->handovers++;
	c->writers |= dsm_only(node);
}

static void op_send(void *ctx, unsigned to, const struct dsm_msg *msg,
		    const void *data)
{
	struct o2g_dsm *r = ctx;
	struct o2g_seg segs[2] = { { (void *)msg, sizeof(*msg) },
				   { (void *)data, DSM_PAGE_SIZE } };

	add(&r->counts->messages, 1);
	add(&r->counts->bytes, sizeof(*msg) + (data ? DSM_PAGE_SIZE : 0));
	if (msg->type == DSM_GRANT && msg->access == DSM_WRITE)
		count_writer(r, msg->page, to);
	/* That it is lost we hear in another way. */
	o2g_call(dsm.ep, (int)to, DSM_TAG_PAGE | r->id, segs, data ? 2 : 1);
}

static void op_install(void *ctx, u32 page, enum dsm_access access,
		       unsigned flags, const void *data)
{
	struct o2g_dsm *r = ctx;

	r->counts->page[page].came = (u32)(o2g_now_ns() / 1000);
	if (r->proto.pages[page].home == r->proto.self + 1 &&
	    access == DSM_WRITE)
		count_writer(r, page, r->proto.self);
	if (flags & (DSM_DATA | DSM_ZERO))
		fill(r, page, flags & DSM_DATA ? data : zeros,
		     access == DSM_READ);
	else if (access == DSM_WRITE)
		protection(r, page, false);
	else
		dsm_pages_wake(r, page);
}

static void op_protect(void *ctx, u32 page)
{
	protection(ctx, page, true);
}

static const void *op_take(void *ctx, u32 page, bool wanted)
{
	struct o2g_dsm *r = ctx;

	add(&r->counts->taken, 1);
	r->counts->page[page].taken++;
	if (wanted) {
		protection(r, page, true);
		memcpy(r->copy, address(r, page), DSM_PAGE_SIZE);
	}
	if (madvise(address(r, page), DSM_PAGE_SIZE, MADV_DONTNEED))
		cannot(r, "drop", page);
	return wanted ? r->copy : NULL;
}

static const void *op_data(void *ctx, u32 page)
{
	return address(ctx, page);
}

/*
 * Whether those who waited have used a page cannot be seen here, so they get a moment.
 * That is shorter than a timer, so it is waited for here and now, and the processor is
 * offered to them.
 */
static bool op_held(void *ctx, u32 page)
{
	struct o2g_dsm *r = ctx;
	u32 hold = (u32)o2g_settings()->dsm_hold;
	u32 came = r->counts->page[page].came;

	while ((u32)(o2g_now_ns() / 1000) - came < hold)
		sched_yield();
	return false;
}

static void op_fail(void *ctx, u32 page)
{
	struct o2g_dsm *r = ctx;
	void *lost = mmap(address(r, page), DSM_PAGE_SIZE,
			  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			  r->gone_fd, (off_t)page * DSM_PAGE_SIZE);

	if (lost == MAP_FAILED)
		cannot(r, "give up", page);
	dsm_pages_wake(r, page);
}

const struct dsm_ops dsm_user_ops = { op_send, op_install, op_protect, op_take,
				      op_data, op_held,	   op_fail };

/* --- a region's memory --- */

/* With privileges the kernel waits for pages also inside system calls; else they are
 * lazy. */
static int open_uffd(bool *lazy)
{
	struct uffdio_api api = { .api = UFFD_API,
				  .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	*lazy = fd < 0;
	if (fd < 0)
		fd = (int)syscall(SYS_userfaultfd,
				  O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (fd < 0) {
		o2g_error("dsm: this kernel gives us no userfaultfd: %s",
			  strerror(errno));
		return -ENOTSUP;
	}
	if (ioctl(fd, UFFDIO_API, &api)) {
		o2g_error("dsm: userfaultfd cannot write-protect here: %s",
			  strerror(errno));
		close(fd);
		return -ENOTSUP;
	}
	return fd;
}

static int watch(struct o2g_dsm *r)
{
	struct uffdio_register reg = {
		.range = { (u64)(uintptr_t)r->base, r->bytes },
		.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP
	};

	return ioctl(r->uffd, UFFDIO_REGISTER, &reg) ? -errno : 0;
}

static int map_table(struct o2g_dsm *r)
{
	r->proto.pages = mmap(NULL, r->proto.npages * sizeof(struct dsm_page),
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
	if (r->proto.pages != MAP_FAILED)
		return 0;
	r->proto.pages = NULL;
	return -errno;
}

int dsm_pages_start(struct o2g_dsm *r)
{
	int err = map_table(r);
	bool lazy;

	if (!err)
		err = dsm_counts_map(r);
	if (!err)
		err = dsm_region_map(r, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (err)
		return err;
	/* A child has no thread that would serve its faults. */
	madvise(r->base, r->bytes, MADV_DONTFORK);
	madvise(r->base, r->bytes, MADV_NOHUGEPAGE);
	r->gone_fd = memfd_create("o2g-dsm-gone", MFD_CLOEXEC);
	r->uffd = open_uffd(&lazy);
	err = r->uffd < 0 ? r->uffd : watch(r);
	return err || !lazy ? err : o2g_lazy_add(r->base, r->bytes);
}

void dsm_pages_stop(struct o2g_dsm *r)
{
	o2g_lazy_remove(r->base);
	if (r->mapped)
		munmap(r->base, r->bytes);
	if (r->uffd >= 0)
		close(r->uffd);
	if (r->gone_fd >= 0)
		close(r->gone_fd);
	if (r->proto.pages)
		munmap(r->proto.pages,
		       r->proto.npages * sizeof(struct dsm_page));
	dsm_counts_unmap(r);
}
