// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The messages of the eight calls: the receive or the place in the dump area that
 * takes one, and what becomes of them when their connection ends. All of it under
 * paper->lock.
 *
 * A message with neither a receive nor room in the dump area is held: its header
 * is taken, its body stays in the socket, and TCP makes the sender wait. Who
 * posts the receive or makes room has a worker go on.
 */
#include "paper.h"

#include "trace.h"

/* --- telling --- */

void o2gk_paper_tell(struct o2gk_paper_sock *s)
{
	*s->told = s->info;
}

static void event(struct o2gk_paper_sock *s)
{
	struct o2gd_paper_shared *shared = s->paper->shared;

	o2gk_paper_tell(s);
	/* told before it is announced */
	smp_store_release(&shared->events, shared->events + 1);
	o2gk_paper_news(s->paper);
}

static void drop(struct o2gk_paper_sock *s, enum o2gd_drop why, u64 n)
{
	s->drops[why] += n;
	trace_o2g_refuse(O2GK_PAPER_NO_RANK, s->rank, why, n);
}

/* --- messages --- */

static void set_phase(struct o2gk_paper_sock *s, enum o2gk_paper_phase phase)
{
	smp_store_release(&s->phase, phase); /* pairs with o2gk_paper_phase */
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

void o2gk_paper_finish(struct o2gk_paper_sock *s)
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
	trace_o2g_complete(O2GK_PAPER_NO_RANK, U32_MAX, -error, s->rank,
			   s->stream.hdr.tag, got);
	s->info.messages++;
	s->info.bytes += len;
	o2gk_paper_tell(s);
	end_message(s, error);
	set_phase(s, O2GK_PAPER_HEADER);
}

static void into_recv(struct o2gk_paper_sock *s, struct o2g_match_entry *m)
{
	struct o2gk_paper_recv *r =
		container_of(m, struct o2gk_paper_recv, match);

	trace_o2g_match(O2GK_PAPER_NO_RANK, s->rank, &s->stream.hdr);
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
	trace_o2g_unexpected(O2GK_PAPER_NO_RANK, s->rank, h);
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
		o2gk_paper_finish(s);
	}
	return true;
}

static void hold(struct o2gk_paper_sock *s)
{
	const struct o2gk_paper_area *a = &s->paper->area;

	list_add_tail(&s->held, &s->paper->held);
	WRITE_ONCE(s->paper->nheld, s->paper->nheld + 1);
	set_phase(s, O2GK_PAPER_HELD);
	s->info.held++;
	s->info.length = s->stream.hdr.length;
	if (a->len && s->info.length > o2gk_paper_longest(a)) {
		s->info.state = O2GD_PAPER_TOO_LONG;
		event(s);
		s->info.state = O2GD_PAPER_OPEN;
	}
}

void o2gk_paper_arrive(struct o2gk_paper_sock *s)
{
	if (!begin(s))
		hold(s);
}

static void unhold(struct o2gk_paper_sock *s)
{
	if (list_empty(&s->held))
		return;
	list_del_init(&s->held);
	WRITE_ONCE(s->paper->nheld, s->paper->nheld - 1);
}

/* The one that has waited longest; if it has to wait on, it is the last then. */
static void resume_first(struct o2gk_paper *paper)
{
	struct o2gk_paper_sock *s =
		list_first_entry(&paper->held, struct o2gk_paper_sock, held);

	if (!begin(s)) {
		list_move_tail(&s->held, &paper->held);
		return;
	}
	unhold(s);
	queue_work(paper->wq, &s->work);
}

/* Each once, in portions: so many steps are a whole turn, whoever else takes some. */
void o2gk_paper_resume(struct o2gk_paper *paper)
{
	u32 left;

	if (!READ_ONCE(paper->nheld))
		return; /* what comes now finds what there is */
	o2gk_paper_lock(paper);
	for (left = paper->nheld; left && paper->nheld; left--) {
		resume_first(paper);
		if (left % O2GK_STEP == 0)
			o2gk_paper_breathe(paper);
	}
	o2gk_paper_unlock(paper);
}

bool o2gk_paper_can_arrive(struct o2gk_paper *paper, s32 rank)
{
	struct o2gk_paper_sock *s;

	if (rank == -1)
		return paper->nopen > 0;
	s = xa_load(&paper->by_rank, rank);
	return s && s->open;
}

/* --- the end of a connection --- */

/* One that was posted before, from it or, as s->losing_any says, from any source. */
static void fail_recv(struct o2gk_paper_sock *s, struct o2gk_paper_recv *r)
{
	struct o2gk_paper *paper = s->paper;
	const struct o2g_match_entry *m = &r->match;

	if (!m->queued || m->seq >= s->losing_seq ||
	    (m->src != s->rank && !(m->src == O2G_MATCH_ANY && s->losing_any)))
		return;
	o2g_match_remove(&paper->match, &r->match);
	xa_erase_bh(&paper->posted, r->number);
	r->error = O2G_ERR_PEER;
	o2gk_paper_recv_done(paper, r);
}

/* Receives may be many: a portion of them. Its loss is told last. */
static void fail_some(struct o2gk_paper_sock *s)
{
	struct o2gk_paper *paper = s->paper;
	struct o2gk_paper_recv *r = NULL;
	u32 left;

	for (left = O2GK_STEP; left; left--, s->losing_at++) {
		r = xa_find(&paper->posted, &s->losing_at, ULONG_MAX,
			    XA_PRESENT);
		if (!r)
			break;
		fail_recv(s, r);
	}
	if (r)
		return;
	s->losing = false;
	WRITE_ONCE(paper->nlosing, paper->nlosing - 1);
	event(s);
}

void o2gk_paper_lose_rest(struct o2gk_paper_sock *s)
{
	o2gk_paper_lock(s->paper);
	while (s->losing) {
		fail_some(s);
		o2gk_paper_unlock(s->paper);
		cond_resched();
		o2gk_paper_lock(s->paper);
	}
	o2gk_paper_unlock(s->paper);
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
void o2gk_paper_lose(struct o2gk_paper_sock *s, enum o2gd_lost why, u64 detail)
{
	struct o2gk_paper *paper = s->paper;
	bool inside = s->stream.have || s->stream.in_body;

	if (!s->open)
		return;
	trace_o2g_lose(O2GK_PAPER_NO_RANK, s->rank, why, detail);
	count_loss(s, why, detail, inside);
	s->open = false;
	unhold(s);
	s->refused = why == O2GD_LOST_HEADER || why == O2GD_LOST_PACKET;
	WRITE_ONCE(paper->shared->open, --paper->nopen);
	s->info.state = O2GD_PAPER_LOST;
	s->info.why = why;
	s->info.detail = detail;
	s->info.inside = inside;
	end_message(s, O2G_ERR_PEER);
	s->losing = true;
	s->losing_any = why != O2GD_LOST_CLOSED || inside || !paper->nopen;
	s->losing_seq = paper->match.next_seq;
	WRITE_ONCE(paper->nlosing, paper->nlosing + 1);
	fail_some(s);
	if (s->losing && !paper->closing)
		queue_work(paper->wq, &s->work);
}
