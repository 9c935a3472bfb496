// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The bytes of the eight calls: parsed, and copied to where paper_msg.c wants
 * them, with the socket's lock. See rx.c for the rules; these are simpler,
 * because nothing is ever sent.
 */
#include "paper.h"

#include <linux/net.h>
#include <net/tcp.h>

#include "trace.h"

struct turn {
	struct o2gk_paper_sock *s;
	enum o2gk_context context;
	size_t budget, copied;
	bool stopped; /* not all that is there was taken */
	bool more;    /* ... because a worker should go on */
	bool job;     /* ... because a thread of the program has to */
	enum o2gd_lost lost;
	u64 detail;
};

static int refuse(struct turn *t, enum o2gd_lost why, u64 detail)
{
	t->lost = why;
	t->detail = detail;
	return -EBADMSG;
}

/* Is it the program's own thread, in a system call? */
static bool may_fault(const struct turn *t)
{
	return t->context == O2GK_CALLER && current->mm == t->s->paper->mm;
}

/* Must the program's own thread copy this body? */
static bool to_user(const struct o2gk_paper_sock *s)
{
	if (!s->room)
		return false;
	return s->recv ? !s->recv->pin : !s->paper->area.map;
}

static void set_iter(struct o2gk_paper_sock *s)
{
	u64 place = s->paper->area.addr + sizeof(struct o2gd_paper_entry);
	const struct o2gk_paper_recv *r = s->recv;

	s->iter_set = true;
	if (r && r->pin) {
		iov_iter_bvec(&s->iter, ITER_DEST, r->pin->bvec + r->nentry,
			      r->pin->n - r->nentry, s->room);
		return;
	}
	if (r)
		s->iov = r->buffer;
	else
		s->iov.iov_base = u64_to_user_ptr(place + s->msg->off);
	s->iov.iov_len = s->room;
	iov_iter_init(&s->iter, ITER_DEST, &s->iov, 1, s->room);
}

static void *area_place(const struct o2gk_paper_sock *s)
{
	return s->paper->area.map + s->msg->off +
	       sizeof(struct o2gd_paper_entry) + s->msg->received;
}

/* Copy @n bytes; what does not fit, or cannot be written to, is dropped. */
static void copy_body(struct o2gk_paper_sock *s, struct sk_buff *skb, int off,
		      int n)
{
	int fits = min_t(u64, n, s->room);
	int err;

	if (!fits)
		return;
	if (s->msg && s->paper->area.map) {
		err = skb_copy_bits(skb, off, area_place(s), fits);
	} else {
		if (!s->iter_set)
			set_iter(s);
		err = skb_copy_datagram_iter(skb, off, &s->iter, fits);
	}
	if (err) {
		s->error = EFAULT;
		s->room = 0;
		return;
	}
	s->room -= fits;
	if (s->recv)
		s->recv->received += fits;
	else
		s->msg->received += fits;
}

static int take_body(struct turn *t, struct sk_buff *skb, int off, size_t len)
{
	struct o2gk_paper_sock *s = t->s;
	size_t n = min_t(u64, len, s->stream.body_left);

	if (to_user(s) && !may_fault(t)) {
		t->job = true;
		return 0;
	}
	n = min(n, t->budget - t->copied);
	if (!n) {
		t->more = true;
		return 0;
	}
	copy_body(s, skb, off, n);
	t->copied += n;
	o2gk_paper_lock(s->paper);
	if (o2g_stream_body_done(&s->stream, n))
		o2gk_paper_finish(s);
	else if (s->recv)
		o2gk_paper_recv_grown(s->paper, s->recv);
	else
		o2gk_paper_msg_grown(s->paper, s->msg);
	o2gk_paper_unlock(s->paper);
	return n;
}

static int header_complete(struct turn *t)
{
	struct o2gk_paper_sock *s = t->s;
	const struct o2g_hdr *h = &s->stream.hdr;

	trace_o2g_receive(O2GK_PAPER_NO_RANK, s->rank, h);
	if (h->type != O2G_PKT_EAGER || h->flags || (u32)h->tag > INT_MAX)
		return refuse(t, O2GD_LOST_PACKET, h->type);
	o2gk_paper_lock(s->paper);
	o2gk_paper_arrive(s);
	o2gk_paper_unlock(s->paper);
	return 0;
}

static int take_header(struct turn *t, struct sk_buff *skb, int off, size_t len)
{
	struct o2g_stream *st = &t->s->stream;
	void *where;
	u32 n = min_t(size_t, len, o2g_stream_want_header(st, &where));
	int ret;

	if (skb_copy_bits(skb, off, where, n))
		return refuse(t, O2GD_LOST_ERROR, EFAULT);
	ret = o2g_stream_header_done(st, n);
	if (ret < 0)
		return refuse(t, O2GD_LOST_HEADER, st->error);
	if (ret == 1)
		ret = header_complete(t);
	return ret < 0 ? ret : (int)n;
}

static int take(struct turn *t, struct sk_buff *skb, int off, size_t len)
{
	switch (o2gk_paper_phase(t->s)) {
	case O2GK_PAPER_HEADER:
		return take_header(t, skb, off, len);
	case O2GK_PAPER_BODY:
		return take_body(t, skb, off, len);
	default:
		return 0;
	}
}

static int actor(read_descriptor_t *desc, struct sk_buff *skb,
		 unsigned int offset, size_t len)
{
	struct turn *t = desc->arg.data;
	size_t used = 0;

	while (used < len && !t->lost) {
		int n = take(t, skb, offset + used, len - used);

		if (n <= 0)
			break;
		used += n;
	}
	t->stopped = used < len;
	return used;
}

static void wait_for_dumper(struct o2gk_paper_sock *s)
{
	struct o2gk_paper *paper = s->paper;

	o2gk_paper_lock(paper);
	if (list_empty(&s->job))
		list_add_tail(&s->job, &paper->jobs);
	paper->wake_dumper = true;
	o2gk_paper_unlock(paper);
}

bool o2gk_paper_rx_run(struct o2gk_paper_sock *s, enum o2gk_context context)
{
	struct turn t = { .s = s,
			  .context = context,
			  .budget = O2GK_RX_WORKER };
	read_descriptor_t desc = { .arg.data = &t, .count = 1 };

	if (!s->open || !s->taken_over)
		return true;
	if (context == O2GK_SOFTIRQ)
		t.budget = o2gk_rx_softirq_budget(&s->rx_tick, &s->rx_copied);
	tcp_read_sock(s->sk, &desc, actor);
	if (context == O2GK_SOFTIRQ)
		s->rx_copied += t.copied;
	if (t.lost) {
		o2gk_paper_lock(s->paper);
		o2gk_paper_lose(s, t.lost, t.detail);
		o2gk_paper_unlock(s->paper);
		queue_work(s->paper->wq, &s->work);
	} else if (t.job) {
		wait_for_dumper(s);
	} else if (t.more) {
		queue_work(s->paper->wq, &s->work);
	}
	return !t.stopped;
}

/* Everything that came is read: is this the end? */
static bool at_end(const struct o2gk_paper_sock *s, enum o2gd_lost *why,
		   u64 *detail)
{
	const struct sock *sk = s->sk;

	*why = sk->sk_err ? O2GD_LOST_ERROR : O2GD_LOST_CLOSED;
	*detail = sk->sk_err;
	return !s->taken_over || sk->sk_err || sk->sk_shutdown & RCV_SHUTDOWN ||
	       sk->sk_state != TCP_ESTABLISHED;
}

/* Will more be read? What is held and complete waits for its place only. */
static bool may_end(const struct o2gk_paper_sock *s)
{
	return s->open &&
	       (o2gk_paper_phase(s) != O2GK_PAPER_HELD || s->stream.body_left);
}

void o2gk_paper_rx_turn(struct o2gk_paper_sock *s, enum o2gk_context context)
{
	enum o2gd_lost why;
	bool shut;
	u64 detail;

	lock_sock(s->sk);
	if (o2gk_paper_rx_run(s, context) && may_end(s) &&
	    at_end(s, &why, &detail)) {
		o2gk_paper_lock(s->paper);
		o2gk_paper_lose(s, why, detail);
		o2gk_paper_unlock(s->paper);
	}
	shut = s->refused && s->taken_over;
	if (!s->open)
		o2gk_paper_sock_restore(s);
	release_sock(s->sk);
	o2gk_paper_lose_rest(s);
	/* A peer that sends what cannot be understood is told so. */
	if (shut)
		kernel_sock_shutdown(s->sock, SHUT_RDWR);
}

void o2gk_paper_run_jobs(struct o2gk_paper *paper)
{
	struct o2gk_paper_sock *s;

	for (;;) {
		o2gk_paper_lock(paper);
		s = list_first_entry_or_null(&paper->jobs,
					     struct o2gk_paper_sock, job);
		if (s)
			list_del_init(&s->job);
		o2gk_paper_unlock(paper);
		if (!s)
			return;
		o2gk_paper_rx_turn(s, O2GK_CALLER);
		o2gk_paper_flush(paper);
		cond_resched();
	}
}
