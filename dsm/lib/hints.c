/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Pages that will be needed, and what has been counted of them. */
#define _GNU_SOURCE
#include "dsm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The pages of a range of memory: [*first, *last). */
static int pages_of(const struct o2g_dsm *r, const void *start, size_t len,
		    u32 *first, u32 *last)
{
	size_t at = (size_t)((const char *)start - r->base);
	int err = dsm_region_check(r);

	if (err)
		return err;
	if ((const char *)start < r->base || at > r->bytes ||
	    len > r->bytes - at)
		return -EINVAL;
	*first = (u32)(at / DSM_PAGE_SIZE);
	*last = (u32)((at + len + DSM_PAGE_SIZE - 1) / DSM_PAGE_SIZE);
	return 0;
}

static int want(struct o2g_dsm *r, const void *start, size_t len,
		enum dsm_access access, bool home)
{
	u32 page, last;
	int err = pages_of(r, start, len, &page, &last);

	return err ? err : dsm.engine->want(r, page, last, access, home);
}

int o2g_dsm_prefetch(struct o2g_dsm *r, const void *start, size_t len)
{
	return want(r, start, len, DSM_READ, false);
}

int o2g_dsm_will_write(struct o2g_dsm *r, void *start, size_t len)
{
	return want(r, start, len, DSM_WRITE, false);
}

int o2g_dsm_home_here(struct o2g_dsm *r, void *start, size_t len)
{
	return want(r, start, len, DSM_WRITE, true);
}

/* Asked for all at once; then each is waited for by touching it. A write must leave
 * what is there, also when others write it. */
int o2g_dsm_touch(struct o2g_dsm *r, void *start, size_t len, int write)
{
	u32 page, last;
	int err = want(r, start, len, write ? DSM_WRITE : DSM_READ, false);

	if (!err)
		err = pages_of(r, start, len, &page, &last);
	for (; !err && page < last; page++) {
		char *at = r->base + (size_t)page * DSM_PAGE_SIZE;

		if (write)
			__atomic_fetch_or(at, 0, __ATOMIC_RELAXED);
		else
			__atomic_load_n(at, __ATOMIC_RELAXED);
	}
	return err ? err : dsm_region_check(r);
}

/* It stays open: that is how `o2g dsm` finds it. */
int dsm_counts_map(struct o2g_dsm *r)
{
	struct dsm_counts *c;
	int fd = memfd_create(DSM_COUNTS_FILE, 0);

	r->counts_bytes = sizeof(*c) + r->proto.npages * sizeof(c->page[0]);
	if (fd < 0 || ftruncate(fd, (off_t)r->counts_bytes))
		return -errno;
	c = mmap(NULL, r->counts_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 0);
	if (c == MAP_FAILED)
		return -errno;
	c->base = (u64)(uintptr_t)r->base;
	c->pages = r->proto.npages;
	c->rank = (u32)dsm.rank;
	c->size = (u32)dsm.size;
	c->fd = fd;
	strcpy(c->name, r->name);
	__atomic_store_n(&c->magic, DSM_COUNTS_MAGIC, __ATOMIC_RELEASE);
	r->counts = c;
	return 0;
}

void dsm_counts_unmap(struct o2g_dsm *r)
{
	if (!r->counts)
		return;
	close(r->counts->fd);
	munmap(r->counts, r->counts_bytes);
}

int o2g_dsm_stats(struct o2g_dsm *r, struct o2g_dsm_stats *s)
{
	const struct dsm_counts *c = r->counts;

	*s = (struct o2g_dsm_stats){ .read_faults = c->read_faults,
				     .write_faults = c->write_faults,
				     .taken = c->taken,
				     .messages = c->messages,
				     .bytes = c->bytes,
				     .moved = c->moved };
	return 0;
}

static u64 heat(const struct dsm_page_counts *c)
{
	return (u64)c->taken + c->handovers;
}

static void describe(struct o2g_dsm *r, u32 page, struct o2g_dsm_page *p)
{
	const struct dsm_page_counts *c = &r->counts->page[page];

	p->home = dsm.engine->home(r, page);
	p->address = r->base + (size_t)page * DSM_PAGE_SIZE;
	p->faults = c->faults;
	p->taken = c->taken;
	p->writers = c->writers;
	p->handovers = c->handovers;
}

/* The n worst so far are kept in order; few pages get that far. */
int o2g_dsm_hottest(struct o2g_dsm *r, struct o2g_dsm_page *pages, size_t n)
{
	size_t found = 0;

	for (u32 page = 0; page < r->proto.npages; page++) {
		u64 mine = heat(&r->counts->page[page]);
		size_t at = found;

		if (!mine)
			continue;
		while (at &&
		       (u64)pages[at - 1].taken + pages[at - 1].handovers <
			       mine)
			at--;
		if (at == n)
			continue;
		found += found < n;
		memmove(&pages[at + 1], &pages[at],
			(found - 1 - at) * sizeof(*pages));
		describe(r, page, &pages[at]);
	}
	return (int)found;
}
