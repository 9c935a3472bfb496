// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Data as segments. O2G knows iterators of user memory, of the kernel's own and of
 * lists of pages; of all others (the page cache, pipes) we collect the pages.
 *
 * A list of segments needs memory. Without it the request becomes as short as what
 * the rpc has room for: 9p asks again for the rest.
 */
#include "o2gfs.h"

#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uio.h>

static bool o2g_knows(const struct iov_iter *i)
{
	return user_backed_iter(i) || iov_iter_is_kvec(i) ||
	       iov_iter_is_bvec(i);
}

/* Room for the header, and @pages of data; how many pages then fit. */
static unsigned int make_room(struct o2gfs_rpc *rpc, unsigned int pages)
{
	struct o2gk_seg *segs;

	if (pages <= O2GFS_PAGES)
		return pages;
	segs = kvmalloc_array(pages + 1, sizeof(*segs), GFP_NOFS);
	if (!segs)
		return O2GFS_PAGES;
	segs[0] = rpc->segs[0];
	rpc->segs = segs;
	return pages;
}

static void add_some(struct o2gfs_rpc *rpc, struct page **pages, size_t off,
		     size_t bytes)
{
	while (bytes) {
		size_t n = min(bytes, PAGE_SIZE - off);

		rpc->segs[rpc->n++] = (struct o2gk_seg){ .kind = O2GK_PAGE,
							 .page = *pages++,
							 .offset = off,
							 .length = n };
		bytes -= n;
		off = 0;
	}
}

static int collect(struct o2gfs_rpc *rpc, struct iov_iter *iter, int want)
{
	unsigned int room = make_room(rpc, want / PAGE_SIZE + 2);
	struct page *pages[O2GFS_PAGES];
	ssize_t n;
	size_t off;
	int got = 0;

	while (got < want && rpc->n <= room) {
		n = iov_iter_get_pages2(iter, pages, want - got,
					min_t(unsigned int, room + 1 - rpc->n,
					      O2GFS_PAGES),
					&off);
		if (n <= 0)
			return got ?: n ?: -EFAULT;
		add_some(rpc, pages, off, n);
		got += n;
	}
	return got;
}

int o2gfs_pages_get(struct o2gfs_rpc *rpc, struct iov_iter *iter, int want)
{
	unsigned int flags;
	int got;

	want = min_t(size_t, want, iov_iter_count(iter));
	if (want <= 0)
		return -EINVAL;
	if (o2g_knows(iter)) {
		rpc->segs[rpc->n++] = (struct o2gk_seg){ .kind = O2GK_ITER,
							 .iter = iter,
							 .length = want };
		return want;
	}
	flags = memalloc_nofs_save();
	got = collect(rpc, iter, want);
	memalloc_nofs_restore(flags);
	return got;
}

void o2gfs_pages_put(struct o2gfs_rpc *rpc)
{
	unsigned int i;

	for (i = 1; i < rpc->n; i++)
		if (rpc->segs[i].kind == O2GK_PAGE)
			put_page(rpc->segs[i].page);
	if (rpc->segs != rpc->own)
		kvfree(rpc->segs);
}
