// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A region is a file with an inode of its own, so that one page can be unmapped wherever
 * it is mapped. Its pages are the module's: they are on no list of the kernel's, so they
 * are never swapped.
 */
#include "dsmk.h"

#include <linux/file.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "uapi/o2g_dsm.h"

#define FS_MAGIC 0x6f326773
#define MOST_PAGES (1u << 26) /* 256 GiB */
#define MOST_HOLD_US 100000

static struct vfsmount *mount;

/* --- memory --- */

static unsigned long counts_bytes(u32 npages)
{
	return sizeof(struct dsm_counts) +
	       (unsigned long)npages * sizeof(struct dsm_page_counts);
}

/* All that it can come to hold. */
static unsigned long all_pages(u32 npages)
{
	unsigned long table =
		(unsigned long)npages *
		(sizeof(struct dsm_page) + sizeof(struct dsmk_slot));

	return npages + DIV_ROUND_UP(table, PAGE_SIZE) +
	       DIV_ROUND_UP(counts_bytes(npages), PAGE_SIZE) + 1;
}

static void free_counts(struct dsmk_region *r)
{
	if (r->counts)
		vunmap(r->counts);
	if (r->ncounts)
		unpin_user_pages_dirty_lock(r->counts_pages, r->ncounts, true);
	kvfree(r->counts_pages);
}

/* The program's memory, so that whoever looks at it can, as if the program counted. */
static int map_counts(struct dsmk_region *r, u64 at)
{
	unsigned long n =
		DIV_ROUND_UP(counts_bytes(r->proto.npages), PAGE_SIZE);
	long got;

	if (at & ~PAGE_MASK || at != (unsigned long)at)
		return -EINVAL;
	r->counts_pages =
		kvmalloc_array(n, sizeof(*r->counts_pages), GFP_KERNEL_ACCOUNT);
	if (!r->counts_pages)
		return -ENOMEM;
	while (r->ncounts < n) {
		int most = min_t(unsigned long, n - r->ncounts, 1 << 16);

		got = pin_user_pages_fast(at + r->ncounts * PAGE_SIZE, most,
					  FOLL_WRITE | FOLL_LONGTERM,
					  r->counts_pages + r->ncounts);
		if (got <= 0)
			return got ? got : -EFAULT;
		r->ncounts += got;
	}
	r->counts = vmap(r->counts_pages, n, VM_MAP, PAGE_KERNEL);
	return r->counts ? 0 : -ENOMEM;
}

static int make_table(struct dsmk_region *r)
{
	u32 i, n = r->proto.npages;

	r->proto.pages = __vmalloc(array_size(n, sizeof(*r->proto.pages)),
				   GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	r->slots = __vmalloc(array_size(n, sizeof(*r->slots)),
			     GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	r->buffer = (void *)__get_free_page(GFP_KERNEL_ACCOUNT);
	if (!r->proto.pages || !r->slots || !r->buffer)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		INIT_LIST_HEAD(&r->slots[i].taken);
		if (i % 1024 == 1023)
			cond_resched();
	}
	return 0;
}

static void free_pages_of(struct dsmk_region *r)
{
	u32 i;

	for (i = 0; r->slots && i < r->proto.npages; i++) {
		if (r->slots[i].page)
			put_page(r->slots[i].page);
		if (i % 1024 == 1023)
			cond_resched();
	}
	if (r->lifted)
		put_page(r->lifted);
}

/* Nobody knows it, or ever did. */
static void free_region(struct dsmk_region *r)
{
	free_pages_of(r);
	dsmk_stock_return(r);
	free_counts(r);
	vfree(r->proto.pages);
	vfree(r->slots);
	free_page((unsigned long)r->buffer);
	dsmk_user_uncharge(&r->charge);
	dsmk_node_put(r->node);
	kfree(r);
}

/* --- beginning and end --- */

static int check(const struct dsmk_node *n, const struct o2gs_region *a)
{
	dsm_set all = n->size == DSM_NODES ? ~0ull : dsm_only(n->size) - 1;

	if (!a->bytes || a->bytes % PAGE_SIZE || !a->founders ||
	    a->founders & ~all || a->id > 0xffff || a->move_after > U8_MAX ||
	    a->hold_us > MOST_HOLD_US || a->pad)
		return -EINVAL;
	return a->bytes / PAGE_SIZE > MOST_PAGES ? -E2BIG : 0;
}

static struct dsmk_region *new_region(struct dsmk_node *n,
				      const struct o2gs_region *a)
{
	struct dsmk_region *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!r)
		return NULL;
	refcount_set(&r->refs, 1);
	init_completion(&r->unused);
	dsmk_node_get(n);
	r->node = n;
	r->id = a->id;
	r->hold_us = a->hold_us;
	spin_lock_init(&r->lock);
	INIT_LIST_HEAD(&r->records);
	INIT_LIST_HEAD(&r->takes);
	for (i = 0; i < DSMK_WAITS; i++)
		init_waitqueue_head(&r->waits[i]);
	init_waitqueue_head(&r->take_wait);
	INIT_DELAYED_WORK(&r->take_work, dsmk_take_work);
	INIT_WORK(&r->late_work, dsmk_late_work);
	r->proto = (struct dsm_proto){ .ops = &dsmk_ops,
				       .ctx = r,
				       .npages = a->bytes / PAGE_SIZE,
				       .founders = a->founders,
				       .self = n->rank,
				       .move_after = a->move_after };
	return r;
}

static int prepare(struct dsmk_region *r, u64 counts)
{
	int err = dsmk_user_charge(&r->charge, all_pages(r->proto.npages));

	if (!err)
		err = make_table(r);
	if (!err)
		err = map_counts(r, counts);
	return err;
}

/* From now on messages find it. */
static int make_known(struct dsmk_region *r)
{
	struct dsmk_node *n = r->node;
	struct dsmk_region *other;
	int err = 0;

	spin_lock_bh(&n->lock);
	list_for_each_entry(other, &n->regions, link)
		if (other->id == r->id)
			err = -EEXIST;
	if (!err) {
		r->proto.dead = n->dead;
		r->counts->lost = !!n->dead;
		list_add(&r->link, &n->regions);
	}
	spin_unlock_bh(&n->lock);
	return err;
}

void dsmk_region_put(struct dsmk_region *r)
{
	if (refcount_dec_and_test(&r->refs))
		complete(&r->unused);
}

static void forget(struct dsmk_region *r)
{
	struct dsmk_node *n = r->node;
	u32 fetching;

	spin_lock_bh(&n->lock);
	list_del(&r->link);
	spin_unlock_bh(&n->lock);
	WRITE_ONCE(r->closing, true);
	dsmk_region_put(r);
	wait_for_completion(&r->unused);
	smp_mb(); /* as in arrive.c: one of us sees what the other has written */
	fetching = READ_ONCE(r->fetching);
	if (fetching) { /* it is slow, or does not want to: no reason to wait */
		o2gk_disconnect(n->ep, fetching - 1);
		dsmk_node_lost(n, fetching - 1);
	}
	cancel_work_sync(&r->late_work);
	cancel_delayed_work_sync(&r->take_work);
}

static int release(struct inode *inode, struct file *file)
{
	struct dsmk_region *r = file->private_data;

	forget(r);
	free_region(r);
	return 0;
}

/* --- the file --- */

static int map(struct file *file, struct vm_area_struct *vma)
{
	struct dsmk_region *r = file->private_data;
	unsigned long n = vma_pages(vma);

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	if (vma->vm_pgoff > r->proto.npages ||
	    n > r->proto.npages - vma->vm_pgoff)
		return -EINVAL;
	vma->vm_private_data = r;
	vma->vm_ops = &dsmk_vm_ops;
	/* A child of fork() is no node, so it does not have this. */
	dsmk_vm_flags(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
		      VM_MAYEXEC);
	return 0;
}

static const struct file_operations region_fops = {
	.owner = THIS_MODULE,
	.release = release,
	.unlocked_ioctl = dsmk_region_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = map,
	.llseek = noop_llseek,
};

static struct file *open_file(struct dsmk_region *r)
{
	struct inode *inode = alloc_anon_inode(mount->mnt_sb);
	struct file *file;

	if (IS_ERR(inode))
		return ERR_CAST(inode);
	i_size_write(inode, (loff_t)r->proto.npages << PAGE_SHIFT);
	r->inode = inode;
	file = alloc_file_pseudo(inode, mount, "region", O_RDWR, &region_fops);
	if (IS_ERR(file))
		iput(inode);
	else
		__module_get(THIS_MODULE); /* which the file gives back */
	return file;
}

struct file *dsmk_region_file(struct dsmk_node *n, const struct o2gs_region *a)
{
	struct dsmk_region *r;
	struct file *file;
	int err = check(n, a);

	if (err)
		return ERR_PTR(err);
	r = new_region(n, a);
	if (!r)
		return ERR_PTR(-ENOMEM);
	err = prepare(r, a->counts);
	if (!err)
		err = make_known(r);
	if (err) {
		free_region(r);
		return ERR_PTR(err);
	}
	file = open_file(r);
	if (IS_ERR(file)) {
		forget(r);
		free_region(r);
		return file;
	}
	file->private_data = r;
	return file;
}

/* --- where the inodes are of --- */

static int init_fs(struct fs_context *fc)
{
	return init_pseudo(fc, FS_MAGIC) ? 0 : -ENOMEM;
}

/* Without an owner: it is mounted as long as the module is loaded. */
static struct file_system_type fs_type = {
	.name = "o2g_dsm",
	.init_fs_context = init_fs,
	.kill_sb = kill_anon_super,
};

int dsmk_regions_init(void)
{
	mount = kern_mount(&fs_type);
	return PTR_ERR_OR_ZERO(mount);
}

void dsmk_regions_exit(void)
{
	kern_unmount(mount);
}
