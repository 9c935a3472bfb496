// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What the program sees: the fields of its entries and the list of messages in
 * its dump area. The order of the writes is what it relies on: an entry is whole
 * before it is linked, and done comes last.
 *
 * Memory that is not pinned can only be written to from the program's own
 * threads, and not under a spinlock. So what is to be said waits in late_recvs
 * and late_msgs, in its order, and news is told after it was written. late_mutex
 * makes one writer of them; also o2gk_paper_msg_remove, which changes links.
 */
#include "paper.h"

#include <linux/highmem.h>
#include <linux/uaccess.h>

#define FIELD(f) offsetof(struct o2gd_paper_entry, f)

static_assert(sizeof(struct o2gd_paper_entry) == O2GD_PAPER_ALIGN);
static_assert(FIELD(next) == 48 && FIELD(done) == 44 && FIELD(buf) == 16);

/* --- receives --- */

/* An entry may lie across two pages, a field does not: both are aligned. */
static void *map_field(const struct o2gk_pin *pin, u32 field)
{
	const struct bio_vec *bv = pin->bvec;

	if (field >= bv->bv_len) {
		field -= bv->bv_len;
		bv++;
	}
	return kmap_local_page(bv->bv_page) + bv->bv_offset + field;
}

static void write_s32(const struct o2gk_pin *pin, u32 field, s32 value)
{
	s32 *p = map_field(pin, field);

	smp_store_release(p, value); /* for done; the others do not mind */
	kunmap_local(p);
}

static void write_u64(const struct o2gk_pin *pin, u32 field, u64 value)
{
	u64 *p = map_field(pin, field);

	WRITE_ONCE(*p, value);
	kunmap_local(p);
}

void o2gk_paper_recv_begun(struct o2gk_paper *paper, struct o2gk_paper_recv *r)
{
	if (!r->pin)
		return;
	write_s32(r->pin, FIELD(rank), r->rank);
	write_s32(r->pin, FIELD(tag), r->tag);
}

static void recv_be_late(struct o2gk_paper *paper, struct o2gk_paper_recv *r)
{
	if (list_empty(&r->link))
		list_add_tail(&r->link, &paper->late_recvs);
	paper->wake_dumper = true;
}

void o2gk_paper_recv_grown(struct o2gk_paper *paper, struct o2gk_paper_recv *r)
{
	lockdep_assert_held(&paper->lock);
	if (r->pin)
		write_u64(r->pin, FIELD(received), r->received);
	else
		recv_be_late(paper, r);
}

void o2gk_paper_recv_done(struct o2gk_paper *paper, struct o2gk_paper_recv *r)
{
	lockdep_assert_held(&paper->lock);
	r->done = true;
	if (!r->pin) {
		recv_be_late(paper, r);
		return;
	}
	write_u64(r->pin, FIELD(received), r->received);
	write_s32(r->pin, FIELD(error), r->error);
	write_s32(r->pin, FIELD(done), 1);
	o2gk_paper_recv_drop(paper, r);
	o2gk_paper_news(paper);
}

/* A late receive, as it was when the lock was held. */
struct late_recv {
	struct o2gk_paper_recv *r; /* NULL: there is none */
	u64 entry, received;
	s32 rank, tag, error;
	bool done;
};

static void take_late_recv(struct o2gk_paper *paper, struct late_recv *l)
{
	struct o2gk_paper_recv *r;

	r = list_first_entry_or_null(&paper->late_recvs, struct o2gk_paper_recv,
				     link);
	l->r = r;
	if (!r)
		return;
	list_del_init(&r->link);
	*l = (struct late_recv){ .r = r,
				 .entry = r->entry,
				 .rank = r->rank,
				 .received = r->received,
				 .tag = r->tag,
				 .error = r->error,
				 .done = r->done };
}

static void write_late_recv(const struct late_recv *r)
{
	struct o2gd_paper_entry __user *e = u64_to_user_ptr(r->entry);

	/* A program that took its entry away has nothing to be told. */
	if (put_user(r->rank, &e->rank) || put_user(r->tag, &e->tag) ||
	    put_user(r->received, &e->received) ||
	    put_user(r->error, &e->error))
		return;
	smp_wmb(); /* done comes last */
	if (r->done)
		put_user(1, &e->done);
}

/* --- messages in the dump area --- */

static u64 addr_of(const struct o2gk_paper_area *a,
		   const struct o2gk_paper_msg *m)
{
	return a->addr + m->off;
}

static void fill_entry(const struct o2gk_paper_area *a,
		       const struct o2gk_paper_msg *m,
		       struct o2gd_paper_entry *e)
{
	*e = (struct o2gd_paper_entry){
		.rank = m->match.src,
		.context = m->match.tag >> 32,
		.tag = (s32)m->match.tag,
		.buf = addr_of(a, m) + sizeof(*e),
		.size = m->len,
	};
}

/* Where the link to @m is: in the message before it, or in the head. */
static u64 link_off(const struct o2gk_paper_area *a,
		    const struct o2gk_paper_msg *m)
{
	if (list_is_first(&m->order, &a->order))
		return offsetof(struct o2gd_paper_dump, first);
	return list_prev_entry(m, order)->off + FIELD(next);
}

/* What the link to a message is to say when that one goes. */
static u64 next_addr(const struct o2gk_paper_area *a,
		     const struct o2gk_paper_msg *m)
{
	const struct o2gk_paper_msg *next = list_next_entry(m, order);

	if (list_is_last(&m->order, &a->order) || !next->shown)
		return 0;
	return addr_of(a, next);
}

static void be_late(struct o2gk_paper *paper, struct o2gk_paper_msg *m)
{
	if (list_empty(&m->late))
		list_add_tail(&m->late, &paper->late_msgs);
	paper->wake_dumper = true;
}

void o2gk_paper_msg_show(struct o2gk_paper *paper, struct o2gk_paper_msg *m)
{
	struct o2gk_paper_area *a = &paper->area;

	lockdep_assert_held(&paper->lock);
	if (!a->map) {
		be_late(paper, m);
		return;
	}
	fill_entry(a, m, a->map + m->off);
	/* whole before it is linked */
	smp_store_release((u64 *)(a->map + link_off(a, m)), addr_of(a, m));
	m->shown = true;
	o2gk_paper_news(paper);
}

void o2gk_paper_msg_grown(struct o2gk_paper *paper, struct o2gk_paper_msg *m)
{
	struct o2gk_paper_area *a = &paper->area;
	struct o2gd_paper_entry *e;

	lockdep_assert_held(&paper->lock);
	if (!a->map) {
		be_late(paper, m);
		return;
	}
	e = a->map + m->off;
	WRITE_ONCE(e->received, m->received);
	if (!m->done)
		return;
	WRITE_ONCE(e->error, m->error);
	smp_store_release(&e->done, 1); /* done comes last */
	o2gk_paper_news(paper);
}

/* A late message, as it was when the lock was held. */
struct late_msg {
	u64 addr, link;
	bool show, done;
	u64 received;
	s32 error;
	struct o2gd_paper_entry entry;
};

static void write_late_msg(const struct late_msg *l)
{
	struct o2gd_paper_entry __user *e = u64_to_user_ptr(l->addr);

	if (l->show && copy_to_user(e, &l->entry, sizeof(*e)))
		return;
	if (put_user(l->received, &e->received) ||
	    put_user(l->error, &e->error))
		return;
	smp_wmb(); /* whole before it is linked, and before it is done */
	if (l->show &&
	    put_user(l->addr, (u64 __user *)u64_to_user_ptr(l->link)))
		return;
	if (l->done)
		put_user(1, &e->done);
}

static bool take_late_msg(struct o2gk_paper *paper, struct late_msg *l)
{
	struct o2gk_paper_area *a = &paper->area;
	struct o2gk_paper_msg *m;

	m = list_first_entry_or_null(&paper->late_msgs, struct o2gk_paper_msg,
				     late);
	if (!m)
		return false;
	list_del_init(&m->late);
	*l = (struct late_msg){ .addr = addr_of(a, m),
				.show = !m->shown,
				.link = a->addr + link_off(a, m),
				.done = m->done,
				.received = m->received,
				.error = m->error };
	fill_entry(a, m, &l->entry);
	m->shown = true;
	return true;
}

bool o2gk_paper_is_late(const struct o2gk_paper *paper)
{
	return !list_empty_careful(&paper->late_recvs) ||
	       !list_empty_careful(&paper->late_msgs);
}

/* Under late_mutex. */
static void flush(struct o2gk_paper *paper)
{
	struct late_recv recv;
	struct late_msg msg;
	bool is_msg;

	for (;;) {
		o2gk_paper_lock(paper);
		take_late_recv(paper, &recv);
		is_msg = !recv.r && take_late_msg(paper, &msg);
		o2gk_paper_unlock(paper);
		if (recv.r)
			write_late_recv(&recv);
		else if (is_msg)
			write_late_msg(&msg);
		else
			return;
		o2gk_paper_lock(paper);
		if (recv.r && recv.done)
			o2gk_paper_recv_drop(paper, recv.r);
		o2gk_paper_news(paper);
		o2gk_paper_unlock(paper);
	}
}

void o2gk_paper_settle(struct o2gk_paper *paper)
{
	mutex_lock(&paper->late_mutex);
	flush(paper);
	mutex_unlock(&paper->late_mutex);
}

void o2gk_paper_flush(struct o2gk_paper *paper)
{
	if (o2gk_paper_is_late(paper))
		o2gk_paper_settle(paper);
}

/* Under both locks. */
static int take_out(struct o2gk_paper *paper, u64 entry, u64 *link, u64 *next)
{
	struct o2gk_paper_area *a = &paper->area;
	struct o2gk_paper_msg *m = o2gk_paper_msg_find(a, entry);

	if (!m || !m->shown)
		return -EINVAL;
	if (!m->done)
		return -EBUSY;
	*link = link_off(a, m);
	*next = next_addr(a, m);
	if (a->map) /* which is whole since it was shown */
		WRITE_ONCE(*(u64 *)(a->map + *link), *next);
	o2g_match_remove(&paper->match, &m->match);
	o2gk_paper_msg_free(a, m);
	return 0;
}

int o2gk_paper_msg_remove(struct o2gk_paper *paper, u64 entry)
{
	struct o2gk_paper_area *a = &paper->area;
	u64 link, next;
	int err;

	mutex_lock(&paper->late_mutex);
	flush(paper);
	o2gk_paper_lock(paper);
	err = take_out(paper, entry, &link, &next);
	o2gk_paper_unlock(paper);
	if (!err && !a->map)
		err = put_user(next,
			       (u64 __user *)u64_to_user_ptr(a->addr + link));
	mutex_unlock(&paper->late_mutex);
	o2gk_paper_resume(paper);
	return err;
}
