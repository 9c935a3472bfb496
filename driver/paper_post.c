// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The eight calls of 2004: receives, from o2g_put_entry until they are freed. */
#include "paper.h"

#include <linux/slab.h>
#include <linux/uaccess.h>

#define TRASH_BATCH 16

/* --- the end of a receive --- */

/*
 * Unpinning sleeps, so softirq only puts it aside. What was still to be written to
 * its entry is not: it may be among late_recvs.
 */
void o2gk_paper_recv_drop(struct o2gk_paper *paper, struct o2gk_paper_recv *r)
{
	list_move_tail(&r->link, &paper->trash);
	if (++paper->ntrash >= TRASH_BATCH && !paper->closing)
		queue_work(paper->wq, &paper->work);
}

static void recv_free(struct o2gk_paper *paper, struct o2gk_paper_recv *r)
{
	if (r->pin)
		atomic_long_sub(r->pin->n, &paper->pinned);
	o2gk_pin_free(r->pin);
	kfree(r);
}

void o2gk_paper_empty_trash(struct o2gk_paper *paper)
{
	struct o2gk_paper_recv *r, *next;
	LIST_HEAD(list);

	if (!READ_ONCE(paper->ntrash))
		return;
	o2gk_paper_lock(paper);
	list_splice_init(&paper->trash, &list);
	paper->ntrash = 0;
	o2gk_paper_unlock(paper);
	list_for_each_entry_safe(r, next, &list, link)
		recv_free(paper, r);
}

/* --- o2g_put_entry --- */

/* Refused: dumper threads do the writing. */
struct o2gk_pin *o2gk_paper_pin(struct o2gk_paper *paper,
				const struct iovec *iov, u32 n)
{
	struct o2gk_pin *pin = o2gk_pin_user(NULL, iov, n, true);

	if (pin)
		atomic_long_add(pin->n, &paper->pinned);
	else
		atomic_long_inc(&paper->pin_refused);
	return pin;
}

static int check_entry(const struct o2gd_paper_entry *e, u64 addr)
{
	if (e->rank < -1 || e->tag < -1 || (e->size && !e->buf) ||
	    addr % sizeof(u64))
		return -EINVAL;
	return access_ok(u64_to_user_ptr(e->buf), e->size) ? 0 : -EFAULT;
}

/* Under paper->lock: may it be posted? */
static int may_post(struct o2gk_paper *paper, const struct o2gk_paper_recv *r)
{
	const struct o2g_match_entry *m = &r->match;

	if (o2g_match_peek(&paper->match, m->src, m->tag, m->ignore))
		return -EAGAIN;
	return o2gk_paper_can_arrive(paper, r->rank) ? 0 : -ENOTCONN;
}

static int try_post(struct o2gk_paper *paper, struct o2gk_paper_recv *r,
		    bool for_real)
{
	struct o2g_match *m = &paper->match;
	struct o2gk_seek seek;
	int err;

	o2gk_paper_lock(paper);
	o2gk_seek_all(m, &paper->lock, &seek, &r->match);
	err = may_post(paper, r);
	if (!err && for_real)
		o2g_match_post(m, &r->match);
	o2gk_seek_end(m, &seek);
	if (err && for_real)
		xa_erase_bh(&paper->posted, r->number);
	o2gk_paper_unlock(paper);
	if (!err && for_real)
		o2gk_paper_resume(paper);
	return err;
}

/* The entry and the buffer in one. */
static void pin(struct o2gk_paper *paper, struct o2gk_paper_recv *r)
{
	struct iovec iov[2] = {
		{ .iov_base = u64_to_user_ptr(r->entry),
		  .iov_len = sizeof(struct o2gd_paper_entry) },
		r->buffer,
	};

	r->pin = o2gk_paper_pin(paper, iov, 2);
	r->nentry =
		offset_in_page(r->entry) >
				PAGE_SIZE - sizeof(struct o2gd_paper_entry) ?
			2 :
			1;
}

static struct o2gk_paper_recv *recv_alloc(u64 addr,
					  const struct o2gd_paper_entry *e)
{
	struct o2gk_paper_recv *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return NULL;
	INIT_LIST_HEAD(&r->link);
	r->entry = addr;
	r->buffer.iov_base = u64_to_user_ptr(e->buf);
	r->buffer.iov_len = e->size;
	r->rank = e->rank;
	r->tag = e->tag;
	r->match.src = e->rank == -1 ? O2G_MATCH_ANY : (u32)e->rank;
	r->match.tag = (u64)e->context << 32;
	if (e->tag < 0)
		r->match.ignore = U32_MAX;
	else
		r->match.tag |= (u32)e->tag;
	return r;
}

/* Its number is in the entry before anybody can find it. */
static int number(struct o2gk_paper *paper, struct o2gk_paper_recv *r,
		  struct o2gd_paper_entry *e)
{
	size_t from = offsetof(struct o2gd_paper_entry, received);
	int err = xa_alloc_cyclic_bh(&paper->posted, &r->number, r,
				     xa_limit_31b, &paper->next_number,
				     GFP_KERNEL_ACCOUNT);

	if (err < 0)
		return err;
	e->received = 0;
	e->error = 0;
	e->done = 0;
	e->next = 0;
	e->reserved = r->number;
	if (!copy_to_user(u64_to_user_ptr(r->entry + from), (char *)e + from,
			  sizeof(*e) - from))
		return 0;
	o2gk_paper_lock(paper);
	xa_erase_bh(&paper->posted, r->number);
	o2gk_paper_unlock(paper);
	return -EFAULT;
}

int o2gk_paper_put(struct o2gk_paper *paper, u64 addr)
{
	struct o2gd_paper_entry e;
	struct o2gk_paper_recv *r;
	int err;

	if (copy_from_user(&e, u64_to_user_ptr(addr), sizeof(e)))
		return -EFAULT;
	err = check_entry(&e, addr);
	if (err)
		return err;
	o2gk_paper_empty_trash(paper);
	r = recv_alloc(addr, &e);
	if (!r)
		return -ENOMEM;
	err = try_post(paper, r, false); /* before it costs anything */
	if (!err)
		err = number(paper, r, &e);
	if (!err) {
		pin(paper, r);
		err = try_post(paper, r, true);
	}
	if (!err)
		return 0;
	recv_free(paper, r);
	if (err == -EAGAIN)
		o2gk_paper_flush(paper); /* so that it is found */
	return err;
}

/* --- o2g_cancel_entry --- */

int o2gk_paper_cancel(struct o2gk_paper *paper, u64 addr)
{
	struct o2gd_paper_entry __user *e = u64_to_user_ptr(addr);
	struct o2gk_paper_recv *r;
	u64 n;

	if (get_user(n, &e->reserved))
		return -EFAULT;
	o2gk_paper_lock(paper);
	r = n <= INT_MAX ? xa_load(&paper->posted, n) : NULL;
	if (r &&
	    (r->entry != addr || !o2g_match_remove(&paper->match, &r->match)))
		r = NULL;
	if (r)
		xa_erase_bh(&paper->posted, n);
	o2gk_paper_unlock(paper);
	if (!r)
		return -EAGAIN;
	recv_free(paper, r);
	return 0;
}
