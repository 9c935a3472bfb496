/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "paper.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "log.h"

/* A socket that never runs dry gives way to others after so many bytes. */
#define QUOTA (1u << 20)

/* What a step of the owner comes to; below 0: an errno, the socket is lost. */
enum { GO_ON, HELD = 1 };

/* Lock held: something o2g_poll waits for. */
static void news(void)
{
	paper.news++;
	pthread_cond_broadcast(&paper.changed);
	if (paper.driving)
		eventfd_write(paper.wake, 1);
}

/* Lock held: the entry is the program's again. */
static void done(struct queue_entry *e, int error)
{
	e->error = error;
	__atomic_store_n(&e->done, 1, __ATOMIC_RELEASE);
	news();
}

/* --- matching; lock held --- */

static int check_header(const struct paper_sock *s, const struct o2g_hdr *h)
{
	if (h->type == O2G_PKT_EAGER && !h->flags && (u32)h->tag <= INT_MAX)
		return 0;
	o2g_error(
		"rank %u's socket: a %s packet (flags %u, tag %#llx) cannot come over a registered socket; connection dropped",
		s->rank, o2g_wire_pkt_name(h->type), h->flags,
		(unsigned long long)h->tag);
	return -EBADMSG;
}

static void into_receive(struct paper_sock *s, struct o2g_match_entry *m)
{
	struct paper_recv *r = container_of(m, struct paper_recv, match);
	struct queue_entry *e = r->entry;

	e->rank = s->rank;
	e->tag = (int)s->stream.hdr.tag;
	e->reserved = NULL; /* o2g_cancel_entry: too late */
	free(r);
	s->entry = e;
	s->room = e->size < s->stream.hdr.length ? e->size :
						   s->stream.hdr.length;
}

static bool into_dump(struct paper_sock *s)
{
	const struct o2g_hdr *h = &s->stream.hdr;
	struct eng_dump_msg *m = NULL;

	if (paper.dump)
		m = eng_dump_alloc(paper.dump, h->length);
	if (!m)
		return false;
	m->entry.rank = s->rank;
	m->entry.context = h->tag >> 32;
	m->entry.tag = (int)h->tag;
	m->match.src = s->rank;
	m->match.tag = h->tag;
	o2g_match_add_unexpected(&paper.match, &m->match);
	eng_dump_append(paper.dump, m);
	s->entry = &m->entry;
	s->room = h->length;
	news();
	return true;
}

static bool begin(struct paper_sock *s)
{
	struct o2g_match_entry *m;

	m = o2g_match_arrive(&paper.match, s->rank, s->stream.hdr.tag);
	if (m)
		into_receive(s, m);
	return m || into_dump(s);
}

static void hold(struct paper_sock *s)
{
	u64 len = s->stream.hdr.length;

	o2g_list_add_tail(&s->held, &paper.held);
	if (paper.dump && len > eng_dump_longest(paper.dump))
		o2g_warn(
			"a message of %llu bytes from rank %u is larger than the dump area allows (%llu); it waits for its receive",
			(unsigned long long)len, s->rank,
			(unsigned long long)eng_dump_longest(paper.dump));
}

void paper_resume(struct o2g_list *runnable)
{
	struct o2g_list *i, *tmp;

	o2g_list_for_each_safe(i, tmp, &paper.held) {
		struct paper_sock *s = container_of(i, struct paper_sock, held);

		if (!begin(s))
			continue;
		o2g_list_del(i);
		o2g_list_add_tail(i, runnable);
	}
}

/* --- a lost connection --- */

struct lost {
	struct paper_sock *sock;
	bool any; /* receives from any source end too */
};

static void fail_recv(struct o2g_match_entry *m, void *arg)
{
	struct paper_recv *r = container_of(m, struct paper_recv, match);
	struct queue_entry *e = r->entry;
	struct lost *l = arg;

	if (m->src != l->sock->rank && !(m->src == O2G_MATCH_ANY && l->any))
		return;
	o2g_match_remove(&paper.match, m);
	free(r);
	e->reserved = NULL;
	e->received = 0;
	done(e, O2G_ERR_PEER);
}

/*
 * Nothing more can come from here. An end between two messages is an orderly
 * one: receives from any source wait on for the others, as long as there are.
 */
static void lose(struct paper_sock *s, int err)
{
	struct lost l = { .sock = s };
	bool inside = s->stream.have || s->stream.in_body;

	/* A bad message was reported by whoever found it bad. */
	if ((err || inside) && err != EBADMSG)
		o2g_warn("rank %u's socket: connection lost%s: %s", s->rank,
			 inside ? " inside a message" : "",
			 err ? strerror(err) : "closed by the peer");
	pthread_mutex_lock(&paper.lock);
	s->open = false;
	paper.nopen--;
	epoll_ctl(paper.epoll, EPOLL_CTL_DEL, s->fd, NULL);
	if (s->entry)
		done(s->entry, O2G_ERR_PEER);
	s->entry = NULL;
	l.any = err || inside || !paper.nopen;
	o2g_match_each_posted(&paper.match, fail_recv, &l);
	news();
	pthread_mutex_unlock(&paper.lock);
	if (err == EBADMSG) /* a peer that sends that is told so */
		shutdown(s->fd, SHUT_RDWR);
}

/* --- bytes; owner only, no lock --- */

static int end_message(struct paper_sock *s)
{
	int err = s->stream.hdr.length > s->entry->received ?
			  O2G_ERR_TRUNCATED :
			  0;

	pthread_mutex_lock(&paper.lock);
	done(s->entry, err);
	pthread_mutex_unlock(&paper.lock);
	s->entry = NULL;
	return GO_ON;
}

/* @n bytes of the body are consumed, @kept of them are in the buffer. */
static int took_body(struct paper_sock *s, u64 n, u64 kept)
{
	__atomic_store_n(&s->entry->received, s->entry->received + kept,
			 __ATOMIC_RELAXED);
	s->room -= kept;
	return o2g_stream_body_done(&s->stream, n) ? end_message(s) : GO_ON;
}

static char *body_place(const struct paper_sock *s)
{
	return (char *)s->entry->buf + s->entry->received;
}

static int take_body(struct paper_sock *s)
{
	u64 n = s->to - s->from, kept;

	if (n > s->stream.body_left)
		n = s->stream.body_left;
	kept = n < s->room ? n : s->room;
	if (kept)
		memcpy(body_place(s), s->ahead + s->from, kept);
	s->from += n;
	return took_body(s, n, kept);
}

static int begin_or_hold(struct paper_sock *s)
{
	int rc = check_header(s, &s->stream.hdr);

	if (rc)
		return rc;
	pthread_mutex_lock(&paper.lock);
	if (!begin(s)) {
		hold(s);
		rc = HELD;
	}
	pthread_mutex_unlock(&paper.lock);
	if (rc == GO_ON && !s->stream.body_left)
		return took_body(s, 0, 0);
	return rc;
}

static int take_header(struct paper_sock *s)
{
	void *where;
	u32 n = o2g_stream_want_header(&s->stream, &where);
	int rc;

	if (n > s->to - s->from)
		n = s->to - s->from;
	memcpy(where, s->ahead + s->from, n);
	s->from += n;
	rc = o2g_stream_header_done(&s->stream, n);
	if (rc < 0)
		o2g_error(
			"rank %u's socket: malformed header: %s; connection dropped",
			s->rank, o2g_wire_reason_name(s->stream.error));
	return rc == 1 ? begin_or_hold(s) : rc;
}

/* Long bodies go straight to their place, all else through `ahead`. */
static int fill(struct paper_sock *s)
{
	bool straight = s->entry && s->room >= PAPER_READ_AHEAD;
	ssize_t n;

	if (straight)
		n = recv(s->fd, body_place(s), s->room, MSG_DONTWAIT);
	else
		n = recv(s->fd, s->ahead, PAPER_READ_AHEAD, MSG_DONTWAIT);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ENODATA;
	if (straight) {
		took_body(s, n, n);
	} else {
		s->from = 0;
		s->to = n;
	}
	return n;
}

static void rearm(struct paper_sock *s)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT,
				  .data.ptr = s };

	__atomic_add_fetch(&s->turns, 1, __ATOMIC_RELEASE);
	if (epoll_ctl(paper.epoll, EPOLL_CTL_MOD, s->fd, &ev))
		lose(s, errno);
}

/* Owner: take all that is there, then give the socket back to the epoll. */
static void sock_run(struct paper_sock *s)
{
	unsigned long taken = 0;
	int rc = GO_ON;

	/* A message that was held and is empty has no bytes to wait for. */
	if (s->entry && !s->stream.body_left)
		rc = took_body(s, 0, 0);
	while (rc == GO_ON) {
		if (s->from < s->to) {
			rc = s->entry ? take_body(s) : take_header(s);
			continue;
		}
		if (taken >= QUOTA) {
			rc = -EAGAIN;
			break;
		}
		rc = fill(s);
		if (rc < 0)
			break;
		taken += rc;
		rc = GO_ON;
	}
	if (rc == -EAGAIN)
		rearm(s);
	else if (rc < 0)
		lose(s, rc == -ENODATA ? 0 : -rc);
}

/* Only its owner touches a runnable list, which is on its stack. */
void paper_run_all(struct o2g_list *runnable)
{
	while (!o2g_list_empty(runnable)) {
		struct paper_sock *s =
			o2g_list_first(runnable, struct paper_sock, held);

		o2g_list_del(&s->held);
		sock_run(s);
	}
}

void paper_receive(int timeout)
{
	struct epoll_event ev;

	struct paper_sock *s;

	if (epoll_wait(paper.epoll, &ev, 1, timeout) != 1)
		return;
	s = ev.data.ptr;
	__atomic_load_n(&s->turns, __ATOMIC_ACQUIRE);
	sock_run(s);
}
