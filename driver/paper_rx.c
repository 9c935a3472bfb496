// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The sockets of the eight calls: taken over, read and given back. See sock.c
 * and rx.c for the rules; these are simpler, because nothing is ever sent.
 *
 * A message with neither a receive nor room in the dump area is held: its header
 * is taken, its body stays in the socket, and TCP makes the sender wait. Who
 * posts the receive or makes room has a worker go on.
 */
#include "paper.h"

#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "trace.h"

#define NO_RANK U32_MAX /* these endpoints have none */

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

/* --- telling; under paper->lock --- */

static void tell(struct o2gk_paper_sock *s)
{
	*s->told = s->info;
}

static void event(struct o2gk_paper_sock *s)
{
	struct o2gd_paper_shared *shared = s->paper->shared;

	tell(s);
	/* told before it is announced */
	smp_store_release(&shared->events, shared->events + 1);
	o2gk_paper_news(s->paper);
}

static void drop(struct o2gk_paper_sock *s, enum o2gd_drop why, u64 n)
{
	s->drops[why] += n;
	trace_o2g_refuse(NO_RANK, s->rank, why, n);
}

/* --- messages; under paper->lock --- */

/* Who sees it has the rest of the receive state, too. */
static void set_phase(struct o2gk_paper_sock *s, enum o2gk_paper_phase phase)
{
	smp_store_release(&s->phase, phase); /* pairs with phase_of */
}

static enum o2gk_paper_phase phase_of(const struct o2gk_paper_sock *s)
{
	return smp_load_acquire(&s->phase); /* pairs with set_phase */
}

static void end_message(struct o2gk_paper_sock *s, s32 error)
{
	struct o2gk_paper *paper = s->paper;

	if (s->recv) {
		s->recv->error = error;
		o2gk_paper_recv_done(paper, s->recv);
	} else if (s->msg) {
		s->msg->error = error;
		s->msg->done = true;
		o2gk_paper_msg_grown(paper, s->msg);
	}
	s->recv = NULL;
	s->msg = NULL;
}

static void finish(struct o2gk_paper_sock *s)
{
	u64 len = s->stream.hdr.length;
	u64 got = s->recv ? s->recv->received : s->msg->received;
	s32 error = s->error;

	if (error) {
		drop(s, O2GD_DROP_FAULT, 1);
	} else if (got < len) {
		error = O2G_ERR_TRUNCATED;
		drop(s, O2GD_DROP_EXCESS, len - got);
	}
	trace_o2g_complete(NO_RANK, U32_MAX, -error, s->rank, s->stream.hdr.tag,
			   got);
	s->info.messages++;
	s->info.bytes += len;
	tell(s);
	end_message(s, error);
	set_phase(s, O2GK_PAPER_HEADER);
}

static void into_recv(struct o2gk_paper_sock *s, struct o2g_match_entry *m)
{
	struct o2gk_paper_recv *r =
		container_of(m, struct o2gk_paper_recv, match);

	trace_o2g_match(NO_RANK, s->rank, &s->stream.hdr);
	r->rank = s->rank;
	r->tag = (s32)s->stream.hdr.tag;
	xa_erase_bh(&s->paper->posted, r->number); /* too late to cancel */
	o2gk_paper_recv_begun(s->paper, r);
	s->recv = r;
	s->room = min_t(u64, r->buffer.iov_len, s->stream.hdr.length);
}

static bool into_area(struct o2gk_paper_sock *s)
{
	const struct o2g_hdr *h = &s->stream.hdr;
	struct o2gk_paper_msg *m;

	m = o2gk_paper_msg_alloc(&s->paper->area, h->length);
	if (!m)
		return false;
	trace_o2g_unexpected(NO_RANK, s->rank, h);
	m->match.src = s->rank;
	m->match.tag = h->tag;
	o2g_match_add_unexpected(&s->paper->match, &m->match);
	o2gk_paper_msg_show(s->paper, m);
	s->msg = m;
	s->room = h->length;
	s->info.unexpected++;
	return true;
}

/* A header is there: find a place for the body. */
static bool begin(struct o2gk_paper_sock *s)
{
	struct o2g_match_entry *m;

	m = o2g_match_arrive(&s->paper->match, s->rank, s->stream.hdr.tag);
	if (m)
		into_recv(s, m);
	else if (!into_area(s))
		return false;
	s->error = 0;
	s->iter_set = false;
	set_phase(s, O2GK_PAPER_BODY);
	if (!s->stream.body_left) {
		o2g_stream_body_done(&s->stream, 0);
		finish(s);
	}
	return true;
}

static void hold(struct o2gk_paper_sock *s)
{
	const struct o2gk_paper_area *a = &s->paper->area;

	list_add_tail(&s->held, &s->paper->held);
	set_phase(s, O2GK_PAPER_HELD);
	s->info.held++;
	s->info.length = s->stream.hdr.length;
	if (a->len && s->info.length > o2gk_paper_longest(a)) {
		s->info.state = O2GD_PAPER_TOO_LONG;
		event(s);
		s->info.state = O2GD_PAPER_OPEN;
	}
}

void o2gk_paper_resume(struct o2gk_paper *paper)
{
	struct o2gk_paper_sock *s, *next;

	lockdep_assert_held(&paper->lock);
	list_for_each_entry_safe(s, next, &paper->held, held) {
		if (!begin(s))
			continue;
		list_del_init(&s->held);
		queue_work(o2gk_wq, &s->work);
	}
}

bool o2gk_paper_can_arrive(struct o2gk_paper *paper, s32 rank)
{
	struct o2gk_paper_sock *s;

	if (rank == -1)
		return paper->nopen > 0;
	s = xa_load(&paper->by_rank, rank);
	return s && s->open;
}

/* --- the end of a connection; under paper->lock --- */

struct loss {
	struct o2gk_paper_sock *s;
	bool any; /* receives from any source end too */
};

static void fail_recv(struct o2g_match_entry *m, void *arg)
{
	struct o2gk_paper_recv *r =
		container_of(m, struct o2gk_paper_recv, match);
	struct loss *l = arg;
	struct o2gk_paper *paper = l->s->paper;

	if (m->src != l->s->rank && !(m->src == O2G_MATCH_ANY && l->any))
		return;
	o2g_match_remove(&paper->match, m);
	xa_erase_bh(&paper->posted, r->number);
	r->error = O2G_ERR_PEER;
	o2gk_paper_recv_done(paper, r);
}

/* Beside why and detail, which the mapping tells: the counter of that name. */
static void count_loss(struct o2gk_paper_sock *s, enum o2gd_lost why,
		       u64 detail, bool inside)
{
	if (why == O2GD_LOST_HEADER)
		drop(s, O2GD_DROP_BAD_VERSION + detail - 1, 1);
	else if (why == O2GD_LOST_PACKET)
		drop(s, O2GD_DROP_BAD_STATE, 1);
	else if (inside)
		drop(s, O2GD_DROP_CUT, 1);
}

/*
 * An end between two messages is an orderly one: receives from any source wait
 * on for the others, as long as there are.
 */
static void lose(struct o2gk_paper_sock *s, enum o2gd_lost why, u64 detail)
{
	struct o2gk_paper *paper = s->paper;
	struct loss l = { .s = s };
	bool inside = s->stream.have || s->stream.in_body;

	if (!s->open)
		return;
	trace_o2g_lose(NO_RANK, s->rank, why, detail);
	count_loss(s, why, detail, inside);
	s->open = false;
	list_del_init(&s->held);
	s->refused = why == O2GD_LOST_HEADER || why == O2GD_LOST_PACKET;
	WRITE_ONCE(paper->shared->open, --paper->nopen);
	s->info.state = O2GD_PAPER_LOST;
	s->info.why = why;
	s->info.detail = detail;
	s->info.inside = inside;
	end_message(s, O2G_ERR_PEER);
	l.any = why != O2GD_LOST_CLOSED || inside || !paper->nopen;
	o2g_match_each_posted(&paper->match, fail_recv, &l);
	event(s);
}

/* --- bytes; with the socket's lock --- */

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
		finish(s);
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

	trace_o2g_receive(NO_RANK, s->rank, h);
	if (h->type != O2G_PKT_EAGER || h->flags || (u32)h->tag > INT_MAX)
		return refuse(t, O2GD_LOST_PACKET, h->type);
	o2gk_paper_lock(s->paper);
	if (!begin(s))
		hold(s);
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
	switch (phase_of(t->s)) {
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

/* Take all there is, or as much as one turn may. False: something is left. */
static bool run(struct o2gk_paper_sock *s, enum o2gk_context context)
{
	struct turn t = { .s = s, .context = context,
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
		lose(s, t.lost, t.detail);
		o2gk_paper_unlock(s->paper);
		queue_work(o2gk_wq, &s->work);
	} else if (t.job) {
		wait_for_dumper(s);
	} else if (t.more) {
		queue_work(o2gk_wq, &s->work);
	}
	return !t.stopped;
}

/* Everything that came is read: is this the end? */
static bool at_end(const struct sock *sk, enum o2gd_lost *why, u64 *detail)
{
	*why = sk->sk_err ? O2GD_LOST_ERROR : O2GD_LOST_CLOSED;
	*detail = sk->sk_err;
	return sk->sk_err || sk->sk_shutdown & RCV_SHUTDOWN ||
	       sk->sk_state != TCP_ESTABLISHED;
}

static void restore(struct o2gk_paper_sock *s)
{
	struct sock *sk = s->sk;

	if (!s->taken_over)
		return;
	s->taken_over = false;
	write_lock_bh(&sk->sk_callback_lock);
	WRITE_ONCE(sk->sk_data_ready, s->saved.data_ready);
	WRITE_ONCE(sk->sk_state_change, s->saved.state_change);
	WRITE_ONCE(sk->sk_error_report, s->saved.error_report);
	rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
}

/* Will more be read? What is held and complete waits for its place only. */
static bool may_end(const struct o2gk_paper_sock *s)
{
	return s->open &&
	       (phase_of(s) != O2GK_PAPER_HELD || s->stream.body_left);
}

/* In process context: read, and see whether that was all. */
static void turn(struct o2gk_paper_sock *s, enum o2gk_context context)
{
	enum o2gd_lost why;
	bool shut;
	u64 detail;

	lock_sock(s->sk);
	if (run(s, context) && may_end(s) && at_end(s->sk, &why, &detail)) {
		o2gk_paper_lock(s->paper);
		lose(s, why, detail);
		o2gk_paper_unlock(s->paper);
	}
	shut = s->refused && s->taken_over;
	if (!s->open)
		restore(s);
	release_sock(s->sk);
	/* Who sends what cannot be understood is told so. */
	if (shut)
		kernel_sock_shutdown(s->sock, SHUT_RDWR);
}

static void work(struct work_struct *w)
{
	turn(container_of(w, struct o2gk_paper_sock, work), O2GK_WORKER);
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
		turn(s, O2GK_CALLER);
		o2gk_paper_flush(paper);
		cond_resched();
	}
}

/* --- callbacks --- */

static void data_ready(struct sock *sk)
{
	struct o2gk_paper_sock *s;

	rcu_read_lock();
	s = rcu_dereference_sk_user_data(sk);
	if (s)
		run(s, O2GK_SOFTIRQ);
	rcu_read_unlock();
}

static void state_change(struct sock *sk)
{
	struct o2gk_paper_sock *s;

	rcu_read_lock();
	s = rcu_dereference_sk_user_data(sk);
	if (s) {
		s->saved.state_change(sk);
		if (!READ_ONCE(s->paper->closing))
			queue_work(o2gk_wq, &s->work);
	}
	rcu_read_unlock();
}

static void error_report(struct sock *sk)
{
	struct o2gk_paper_sock *s;

	rcu_read_lock();
	s = rcu_dereference_sk_user_data(sk);
	if (s) {
		s->saved.error_report(sk);
		if (!READ_ONCE(s->paper->closing))
			queue_work(o2gk_wq, &s->work);
	}
	rcu_read_unlock();
}

static int take_over(struct o2gk_paper_sock *s)
{
	struct sock *sk = s->sk;
	int err = 0;

	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_user_data || inet_csk(sk)->icsk_ulp_ops) {
		err = -EBUSY;
	} else {
		s->saved.data_ready = sk->sk_data_ready;
		s->saved.state_change = sk->sk_state_change;
		s->saved.error_report = sk->sk_error_report;
		rcu_assign_sk_user_data(sk, s);
		WRITE_ONCE(sk->sk_data_ready, data_ready);
		WRITE_ONCE(sk->sk_state_change, state_change);
		WRITE_ONCE(sk->sk_error_report, error_report);
		s->taken_over = true;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	return err;
}

/* --- registration; under paper->mutex --- */

static struct o2gk_paper_sock *new_sock(struct o2gk_paper *paper, u32 rank,
					struct socket *sock)
{
	struct o2gd_paper_sock *told = (void *)(paper->shared + 1);
	struct o2gk_paper_sock *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	s->paper = paper;
	s->rank = rank;
	s->sock = sock;
	s->sk = sock->sk;
	s->told = &told[paper->nsocks];
	s->info.rank = rank;
	s->info.state = O2GD_PAPER_OPEN;
	o2g_stream_init(&s->stream);
	INIT_LIST_HEAD(&s->held);
	INIT_LIST_HEAD(&s->job);
	INIT_WORK(&s->work, work);
	return s;
}

static int check_socket(const struct o2gk_paper *paper, const struct sock *sk)
{
	if (!sk_is_tcp(sk) || sk->sk_protocol != IPPROTO_TCP)
		return -EPROTOTYPE;
	return net_eq(sock_net(sk), paper->net) ? 0 : -EXDEV;
}

/* From now on its messages arrive, the first ones right here. */
static int start(struct o2gk_paper_sock *s)
{
	struct o2gk_paper *paper = s->paper;
	int err = -ENOTCONN;

	lock_sock(s->sk);
	if (s->sk->sk_state == TCP_ESTABLISHED ||
	    s->sk->sk_state == TCP_CLOSE_WAIT)
		err = take_over(s);
	if (!err) {
		o2gk_paper_lock(paper);
		s->open = true;
		tell(s);
		WRITE_ONCE(paper->shared->open, ++paper->nopen);
		WRITE_ONCE(paper->shared->nsocks, paper->nsocks + 1);
		o2gk_paper_unlock(paper);
		trace_o2g_take(NO_RANK, s->rank);
	}
	release_sock(s->sk);
	return err;
}

static int add(struct o2gk_paper *paper, u32 rank, struct socket *sock)
{
	struct o2gk_paper_sock *s;
	int err = check_socket(paper, sock->sk);

	if (err)
		return err;
	s = new_sock(paper, rank, sock);
	if (!s)
		return -ENOMEM;
	err = xa_err(xa_store_bh(&paper->by_rank, rank, s, GFP_KERNEL_ACCOUNT));
	if (!err)
		err = start(s);
	if (err) {
		xa_erase_bh(&paper->by_rank, rank);
		/* o2gk_paper_can_arrive may just be looking at it */
		o2gk_paper_lock(paper);
		o2gk_paper_unlock(paper);
		kfree(s);
		return err;
	}
	paper->socks[paper->nsocks] = s;
	smp_store_release(&paper->nsocks, paper->nsocks + 1); /* whole by now */
	turn(s, O2GK_CALLER);
	return 0;
}

int o2gk_paper_sock_add(struct o2gk_paper *paper, u32 rank, int fd)
{
	struct socket *sock;
	int err;

	if (rank > INT_MAX)
		return -EINVAL;
	if (xa_load(&paper->by_rank, rank))
		return -EEXIST;
	if (paper->nsocks == paper->max_socks)
		return -ENOSPC;
	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return err;
	err = add(paper, rank, sock);
	if (err)
		sockfd_put(sock);
	return err;
}

/* The file is gone, so nobody else is here but the network and workers. */
void o2gk_paper_sock_release_all(struct o2gk_paper *paper)
{
	u32 i;

	for (i = 0; i < paper->nsocks; i++) {
		struct o2gk_paper_sock *s = paper->socks[i];

		lock_sock(s->sk);
		if (s->taken_over) {
			restore(s);
			s->sk->sk_data_ready(s->sk); /* the rest is theirs */
		}
		release_sock(s->sk);
	}
	synchronize_rcu(); /* error_report comes without the socket's lock */
	for (i = 0; i < paper->nsocks; i++) {
		struct o2gk_paper_sock *s = paper->socks[i];

		cancel_work_sync(&s->work); /* without our callbacks: final */
		if (s->recv)
			o2gk_paper_recv_drop(paper, s->recv);
		sockfd_put(s->sock);
		kfree(s);
	}
}
