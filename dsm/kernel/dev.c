// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* System calls in: arguments are copied once, then checked. */
#include "dsmk.h"

#include <linux/file.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "uapi/o2g_dsm.h"

#define MOST_MS 60000

/* Every argument begins with its size. */
static int get_arg(void *to, size_t size, void __user *arg)
{
	u32 given;

	if (get_user(given, (u32 __user *)arg))
		return -EFAULT;
	if (given < size || given > PAGE_SIZE)
		return -EINVAL;
	return copy_struct_from_user(to, size, arg, given);
}

/* --- nodes --- */

static int device_open(struct inode *inode, struct file *file)
{
	file->private_data = dsmk_node_new();
	return file->private_data ? 0 : -ENOMEM;
}

static int device_release(struct inode *inode, struct file *file)
{
	dsmk_node_put(file->private_data);
	return 0;
}

static bool is_ready(const struct dsmk_node *n)
{
	/* If it is, what set-up has made can also be seen. */
	return smp_load_acquire(&n->ready);
}

static int check_setup(const struct o2gs_setup *s)
{
	if (s->version != O2GS_VERSION)
		return -EPROTO;
	if (!s->nodes || s->nodes > DSM_NODES || s->rank >= s->nodes ||
	    s->pad || !memchr(s->job, 0, sizeof(s->job)))
		return -EINVAL;
	return 0;
}

/* Once: what has failed half-way is not tried again. */
static int set_up(struct dsmk_node *n, struct o2gs_setup *s)
{
	int err;

	if (n->size)
		return -EALREADY;
	n->rank = s->rank;
	n->size = s->nodes;
	err = dsmk_node_open(n, s->secret, s->job, &s->port);
	if (!err)
		smp_store_release(&n->ready, true);
	return err;
}

static int do_setup(struct dsmk_node *n, void __user *arg)
{
	struct o2gs_setup s;
	int err = get_arg(&s, sizeof(s), arg);

	if (!err)
		err = check_setup(&s);
	if (err)
		return err;
	mutex_lock(&n->mutex);
	err = set_up(n, &s);
	mutex_unlock(&n->mutex);
	memzero_explicit(s.secret, sizeof(s.secret));
	if (err)
		return err;
	return put_user(s.port, &((struct o2gs_setup __user *)arg)->port);
}

static int check_address(const struct sockaddr_storage *to, u32 len)
{
	if (!len)
		return 0;
	if (len >= sizeof(struct sockaddr_in6) && to->ss_family == AF_INET6)
		return 0;
	if (len >= sizeof(struct sockaddr_in) && to->ss_family == AF_INET)
		return 0;
	return -EINVAL;
}

static int do_connect(struct dsmk_node *n, void __user *arg)
{
	struct sockaddr_storage to;
	struct o2gs_connect c;
	int err = get_arg(&c, sizeof(c), arg);

	BUILD_BUG_ON(sizeof(to) != sizeof(c.addr));
	if (err)
		return err;
	if (c.peer >= n->size || c.peer == n->rank || !c.timeout_ms ||
	    c.timeout_ms > MOST_MS || c.addr_len > sizeof(c.addr))
		return -EINVAL;
	memcpy(&to, c.addr, sizeof(to));
	err = check_address(&to, c.addr_len);
	if (err)
		return err;
	return dsmk_node_connect(n, c.peer, &to, c.addr_len, c.timeout_ms);
}

static int do_region(struct dsmk_node *n, void __user *arg)
{
	struct o2gs_region a;
	struct file *file;
	int fd, err = get_arg(&a, sizeof(a), arg);

	if (err)
		return err;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = dsmk_region_file(n, &a);
	err = PTR_ERR_OR_ZERO(file);
	if (!err && put_user(fd, &((struct o2gs_region __user *)arg)->fd)) {
		err = -EFAULT;
		fput(file);
	}
	if (err)
		put_unused_fd(fd);
	else
		fd_install(fd, file);
	return err;
}

static int do_dead(struct dsmk_node *n, void __user *arg)
{
	struct o2gs_dead d;
	int err = get_arg(&d, sizeof(d), arg);
	u32 i;

	if (err)
		return err;
	for (i = 0; i < n->size; i++)
		if (i != n->rank && dsm_has(d.dead, i))
			dsmk_node_lost(n, i);
	return put_user(READ_ONCE(n->dead),
			&((struct o2gs_dead __user *)arg)->dead);
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct dsmk_node *n = file->private_data;
	void __user *at = (void __user *)arg;

	if (cmd == O2GS_SETUP)
		return do_setup(n, at);
	if (!is_ready(n))
		return -EBADFD;
	switch (cmd) {
	case O2GS_CONNECT:
		return do_connect(n, at);
	case O2GS_REGION:
		return do_region(n, at);
	case O2GS_DEAD:
		return do_dead(n, at);
	default:
		return -ENOTTY;
	}
}

const struct file_operations dsmk_device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

/* --- regions --- */

static int do_want(struct dsmk_region *r, void __user *arg)
{
	struct o2gs_want w;
	int err = get_arg(&w, sizeof(w), arg);

	if (err)
		return err;
	if ((w.access != DSM_READ && w.access != DSM_WRITE) || w.home > 1 ||
	    (w.home && w.access != DSM_WRITE) || w.pad ||
	    w.first > r->proto.npages || w.pages > r->proto.npages - w.first)
		return -EINVAL;
	return dsmk_want(r, w.first, w.pages, w.access, w.home);
}

static int do_page(struct dsmk_region *r, void __user *arg)
{
	struct o2gs_page p;
	int err = get_arg(&p, sizeof(p), arg);

	if (err)
		return err;
	if (p.page >= r->proto.npages)
		return -EINVAL;
	spin_lock_bh(&r->lock);
	p.home = dsm_home(&r->proto, p.page);
	p.access = r->proto.pages[p.page].access;
	spin_unlock_bh(&r->lock);
	p.size = sizeof(p);
	return copy_to_user(arg, &p, sizeof(p)) ? -EFAULT : 0;
}

long dsmk_region_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct dsmk_region *r = file->private_data;

	switch (cmd) {
	case O2GS_WANT:
		return do_want(r, (void __user *)arg);
	case O2GS_PAGE:
		return do_page(r, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}
