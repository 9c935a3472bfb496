// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The dump area: the program's memory, where messages wait that nobody has asked
 * for. What the driver knows about them is in its own memory, made beforehand so
 * that none is needed in softirq: a descriptor for every MSG_SHARE bytes, within
 * reason.
 *
 * Messages are kept by place; what lies between two of them is free. The search
 * for room goes on where the last one ended, which makes a ring of it when they
 * leave in about the order they came.
 */
#include "paper.h"

#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define MSG_SHARE 256
#define MAX_MSGS BIT(20)
#define HEAD O2GD_PAPER_ALIGN /* what the first message must leave free */
#define MAX_AREA BIT_ULL(40)

static u64 extent_of(u64 len)
{
	return ALIGN(sizeof(struct o2gd_paper_entry) + len, O2GD_PAPER_ALIGN);
}

u64 o2gk_paper_longest(const struct o2gk_paper_area *a)
{
	return a->len ? a->len - HEAD - sizeof(struct o2gd_paper_entry) : 0;
}

u64 o2gk_paper_used(const struct o2gk_paper_area *a)
{
	return a->len ? a->len - HEAD - a->room : 0;
}

/* --- making it --- */

/* Without this the area is written to by the program's own threads. */
static void pin(struct o2gk_paper *paper, struct o2gk_paper_area *a)
{
	struct iovec iov = { .iov_base = u64_to_user_ptr(a->addr),
			     .iov_len = a->len };

	a->pin = o2gk_paper_pin(paper, &iov, 1);
	if (!a->pin)
		return;
	a->mapped = vmap(a->pin->pages, a->pin->n, VM_MAP, PAGE_KERNEL);
	if (a->mapped) {
		a->map = a->mapped + offset_in_page(a->addr);
		return;
	}
	atomic_long_sub(a->pin->n, &paper->pinned);
	o2gk_pin_free(a->pin);
	a->pin = NULL;
}

static int describe(struct o2gk_paper_area *a)
{
	u64 n = clamp_t(u64, a->len / MSG_SHARE, 4, MAX_MSGS), i;

	INIT_LIST_HEAD(&a->unused);
	INIT_LIST_HEAD(&a->order);
	a->places = RB_ROOT;
	a->rover = NULL;
	a->msgs = kvcalloc(n, sizeof(*a->msgs), GFP_KERNEL_ACCOUNT);
	if (!a->msgs)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		INIT_LIST_HEAD(&a->msgs[i].late);
		list_add_tail(&a->msgs[i].order, &a->unused);
	}
	a->room = a->len - HEAD;
	return 0;
}

static int write_head(const struct o2gk_paper_area *a)
{
	struct o2gd_paper_dump head = { .magic = O2GD_PAPER_MAGIC };

	return copy_to_user(u64_to_user_ptr(a->addr), &head, sizeof(head)) ?
		       -EFAULT :
		       0;
}

/* Under paper->mutex, in the program's own thread. */
int o2gk_paper_area_create(struct o2gk_paper *paper, u64 addr, u64 len)
{
	struct o2gk_paper_area a = { .addr = ALIGN(addr, O2GD_PAPER_ALIGN) };
	int err;

	if (len > MAX_AREA || a.addr < addr ||
	    len < a.addr - addr + HEAD + O2GD_PAPER_ALIGN)
		return -EINVAL;
	a.len = ALIGN_DOWN(len - (a.addr - addr), O2GD_PAPER_ALIGN);
	if (!access_ok(u64_to_user_ptr(a.addr), a.len))
		return -EFAULT;
	err = write_head(&a);
	if (!err)
		err = describe(&a);
	if (err)
		return err;
	pin(paper, &a);
	o2gk_paper_lock(paper);
	paper->area = a;
	/* The heads of lists are where they are now. */
	list_replace(&a.unused, &paper->area.unused);
	INIT_LIST_HEAD(&paper->area.order);
	o2gk_paper_unlock(paper);
	o2gk_paper_resume(paper);
	return 0;
}

void o2gk_paper_area_destroy(struct o2gk_paper_area *a)
{
	vunmap(a->mapped);
	o2gk_pin_free(a->pin);
	kvfree(a->msgs);
}

/* --- room --- */

static struct o2gk_paper_msg *msg_at(struct rb_node *n)
{
	return rb_entry_safe(n, struct o2gk_paper_msg, place);
}

/* What is free behind @m, or before the first message: from where, how much. */
static u64 gap_behind(const struct o2gk_paper_area *a,
		      const struct o2gk_paper_msg *m, u64 *from)
{
	const struct o2gk_paper_msg *next =
		msg_at(m ? rb_next(&m->place) : rb_first(&a->places));

	*from = m ? m->off + m->extent : HEAD;
	return (next ? next->off : a->len) - *from;
}

static bool find_room(const struct o2gk_paper_area *a, u64 extent, u64 *off)
{
	struct o2gk_paper_msg *m = a->rover;

	do {
		if (gap_behind(a, m, off) >= extent)
			return true;
		m = msg_at(m ? rb_next(&m->place) : rb_first(&a->places));
	} while (m != a->rover);
	return false;
}

static void insert(struct o2gk_paper_area *a, struct o2gk_paper_msg *m)
{
	struct rb_node **link = &a->places.rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = m->off < msg_at(parent)->off ? &parent->rb_left :
						      &parent->rb_right;
	}
	rb_link_node(&m->place, parent, link);
	rb_insert_color(&m->place, &a->places);
}

struct o2gk_paper_msg *o2gk_paper_msg_alloc(struct o2gk_paper_area *a, u64 len)
{
	struct o2gk_paper_msg *m;
	u64 off;

	if (!a->len || len > o2gk_paper_longest(a) ||
	    extent_of(len) > a->room || list_empty(&a->unused) ||
	    !find_room(a, extent_of(len), &off))
		return NULL;
	m = list_first_entry(&a->unused, struct o2gk_paper_msg, order);
	list_move_tail(&m->order, &a->order);
	m->off = off;
	m->extent = extent_of(len);
	m->len = len;
	m->received = 0;
	m->error = 0;
	m->done = false;
	m->shown = false;
	a->room -= m->extent;
	insert(a, m);
	a->rover = m;
	return m;
}

/* The search begins at the gap that this leaves: who waited for it finds it. */
void o2gk_paper_msg_free(struct o2gk_paper_area *a, struct o2gk_paper_msg *m)
{
	a->rover = msg_at(rb_prev(&m->place));
	rb_erase(&m->place, &a->places);
	a->room += m->extent;
	list_del_init(&m->late);
	list_move(&m->order, &a->unused);
}

struct o2gk_paper_msg *o2gk_paper_msg_find(struct o2gk_paper_area *a, u64 entry)
{
	struct rb_node *n = a->places.rb_node;
	u64 off = entry - a->addr;

	while (n) {
		struct o2gk_paper_msg *m = msg_at(n);

		if (m->off == off)
			return m;
		n = off < m->off ? n->rb_left : n->rb_right;
	}
	return NULL;
}
