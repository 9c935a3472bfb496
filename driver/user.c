// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What the endpoints of one user take together. RLIMIT_MEMLOCK counts what a process
 * maps and pins, so that forking makes more of it; this counts by user.
 */
#include "o2gk.h"

#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

static uint user_endpoints = 1024;
module_param(user_endpoints, uint, 0644);
MODULE_PARM_DESC(user_endpoints, "endpoints that a user may have at a time");

static uint user_mib;
module_param(user_mib, uint, 0644);
MODULE_PARM_DESC(
	user_mib,
	"MiB of rings and dump areas that a user may have; 0: a quarter of the memory");

static uint user_workers = 1024;
module_param(user_workers, uint, 0644);
MODULE_PARM_DESC(
	user_workers,
	"workers that a user's endpoints have at a time; beyond that one each");

#define MAX_WORKERS 16 /* of an endpoint at a time */

struct o2gk_user {
	struct list_head link;
	kuid_t uid;
	u32 endpoints, workers;
	unsigned long pages;
};

static DEFINE_MUTEX(users_lock);
static LIST_HEAD(users);

static unsigned long most_pages(void)
{
	unsigned long mib = READ_ONCE(user_mib);

	return mib ? mib << (20 - PAGE_SHIFT) : totalram_pages() / 4;
}

/* The caller's entry, made if there is none; under users_lock. */
static struct o2gk_user *find(kuid_t uid)
{
	struct o2gk_user *u;

	list_for_each_entry(u, &users, link)
		if (uid_eq(u->uid, uid))
			return u;
	u = kzalloc(sizeof(*u), GFP_KERNEL_ACCOUNT);
	if (!u)
		return NULL;
	u->uid = uid;
	list_add(&u->link, &users);
	return u;
}

static void put(struct o2gk_user *u)
{
	if (u->endpoints)
		return;
	list_del(&u->link);
	kfree(u);
}

/* A worker that waits for a page is a thread: the more there are, the fewer it gets. */
static u32 share_of_workers(const struct o2gk_user *u)
{
	u32 most = READ_ONCE(user_workers);
	u32 left = most > u->workers ? most - u->workers : 0;

	return clamp_t(u32, left / (2 * MAX_WORKERS), 1, MAX_WORKERS);
}

/* Another endpoint of the caller's, that maps so much: 0, or why not. */
int o2gk_user_charge(struct o2gk_charge *c, unsigned long pages)
{
	unsigned long most = most_pages();
	struct o2gk_user *u;
	int err = -ENOMEM;

	mutex_lock(&users_lock);
	u = find(current_uid());
	if (!u)
		goto out;
	err = -EUSERS;
	if (u->endpoints < READ_ONCE(user_endpoints))
		err = pages > most || u->pages > most - pages ? -EDQUOT : 0;
	if (!err) {
		u->endpoints++;
		u->pages += pages;
		c->user = u;
		c->pages = pages;
		c->workers = share_of_workers(u);
		u->workers += c->workers;
	}
	put(u);
out:
	mutex_unlock(&users_lock);
	return err;
}

void o2gk_user_uncharge(struct o2gk_charge *c)
{
	if (!c->user)
		return;
	mutex_lock(&users_lock);
	c->user->endpoints--;
	c->user->pages -= c->pages;
	c->user->workers -= c->workers;
	put(c->user);
	mutex_unlock(&users_lock);
	c->user = NULL;
}

/*
 * Copies are long: let the scheduler choose the processor. A few at a time are
 * enough for one process.
 */
struct workqueue_struct *o2gk_wq_alloc(const struct o2gk_charge *c)
{
	return alloc_workqueue("o2g", WQ_UNBOUND, c->workers);
}

/* --- memory that is mapped --- */

void *o2gk_area_alloc(unsigned long size)
{
	return __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
}

/* As remap_vmalloc_range() does it for memory that is not charged. */
int o2gk_area_map(struct vm_area_struct *vma, void *area)
{
	unsigned long off, size = vma->vm_end - vma->vm_start;
	int err = 0;

	for (off = 0; off < size && !err; off += PAGE_SIZE)
		err = vm_insert_page(vma, vma->vm_start + off,
				     vmalloc_to_page(area + off));
	return err;
}
