// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What the nodes of one user take together. Pages of regions are never swapped, so all
 * that a region can hold is counted when it is made: then nothing fails later.
 */
#include "dsmk.h"

#include <linux/cred.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

static uint user_nodes = 1024;
module_param(user_nodes, uint, 0644);
MODULE_PARM_DESC(user_nodes, "nodes that a user may have at a time");

static uint user_mib;
module_param(user_mib, uint, 0644);
MODULE_PARM_DESC(user_mib,
		 "MiB that a user's regions may take; 0: half of the memory");

struct dsmk_user {
	struct list_head link;
	kuid_t uid;
	u32 nodes, charges;
	unsigned long pages;
};

static DEFINE_MUTEX(users_lock);
static LIST_HEAD(users);

static unsigned long most_pages(void)
{
	unsigned long mib = READ_ONCE(user_mib);

	return mib ? mib << (20 - PAGE_SHIFT) : totalram_pages() / 2;
}

/* The caller's entry, made if there is none; under users_lock. */
static struct dsmk_user *find(kuid_t uid)
{
	struct dsmk_user *u;

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

static void put(struct dsmk_user *u)
{
	if (u->charges)
		return;
	list_del(&u->link);
	kfree(u);
}

static int check(const struct dsmk_user *u, unsigned long pages)
{
	unsigned long most = most_pages();

	if (!pages)
		return u->nodes < READ_ONCE(user_nodes) ? 0 : -EUSERS;
	return pages > most || u->pages > most - pages ? -EDQUOT : 0;
}

/* A node, if @pages is 0, or a region of the caller's: 0, or why not. */
int dsmk_user_charge(struct dsmk_charge *c, unsigned long pages)
{
	struct dsmk_user *u;
	int err = -ENOMEM;

	mutex_lock(&users_lock);
	u = find(current_uid());
	if (!u)
		goto out;
	err = check(u, pages);
	if (!err) {
		u->charges++;
		u->nodes += !pages;
		u->pages += pages;
		c->user = u;
		c->pages = pages;
	}
	put(u);
out:
	mutex_unlock(&users_lock);
	return err;
}

void dsmk_user_uncharge(struct dsmk_charge *c)
{
	if (!c->user)
		return;
	mutex_lock(&users_lock);
	c->user->charges--;
	c->user->nodes -= !c->pages;
	c->user->pages -= c->pages;
	put(c->user);
	mutex_unlock(&users_lock);
	c->user = NULL;
}
