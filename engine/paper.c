/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The eight calls in user space. */
#include "paper.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_BINS 256

struct paper paper = { .lock = PTHREAD_MUTEX_INITIALIZER,
		       .changed = PTHREAD_COND_INITIALIZER,
		       .epoll = -1,
		       .wake = -1 };

/* --- o2g_init --- */

static u32 power_of_two(u32 n)
{
	u32 p = 2;

	while (p < n)
		p *= 2;
	return p;
}

static int init_tables(int n_socks)
{
	struct o2g_match_bin *bins = calloc(FIRST_BINS, sizeof(*bins));
	u32 slots = power_of_two(2 * (u32)n_socks);
	u64 seed;

	paper.socks = calloc(n_socks, sizeof(*paper.socks));
	paper.by_rank = calloc(slots, sizeof(*paper.by_rank));
	if (!bins || !paper.socks || !paper.by_rank ||
	    getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
		free(bins);
		free(paper.socks);
		free(paper.by_rank);
		return ENOMEM;
	}
	paper.max_socks = n_socks;
	paper.rank_mask = slots - 1;
	o2g_match_init(&paper.match, bins, FIRST_BINS, seed);
	o2g_list_init(&paper.held);
	return 0;
}

static int init_locked(int n_socks)
{
	int rc;

	paper.epoll = epoll_create1(EPOLL_CLOEXEC);
	paper.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = paper.epoll < 0 || paper.wake < 0 ? errno : init_tables(n_socks);
	if (rc) {
		close(paper.epoll);
		close(paper.wake);
		return rc;
	}
	return 0;
}

static int init(int n_socks)
{
	int rc;

	pthread_mutex_lock(&paper.lock);
	rc = init_locked(n_socks);
	pthread_mutex_unlock(&paper.lock);
	return rc;
}

/* --- sockets --- */

/* The slot of a rank, or the empty one where it would go. */
static struct paper_sock **slot_of(u32 rank)
{
	u32 i = rank * 0x9e3779b1u & paper.rank_mask;

	while (paper.by_rank[i] && paper.by_rank[i]->rank != rank)
		i = (i + 1) & paper.rank_mask;
	return &paper.by_rank[i];
}

static int add_socket(int fd, u32 rank)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT };
	struct paper_sock *s, **slot;

	slot = slot_of(rank);
	if (*slot)
		return EEXIST;
	if (paper.nsocks == paper.max_socks)
		return ENOSPC;
	s = &paper.socks[paper.nsocks];
	ev.data.ptr = s;
	*s = (struct paper_sock){ .fd = fd,
				  .rank = rank,
				  .open = true,
				  .ahead = malloc(PAPER_READ_AHEAD) };
	if (!s->ahead)
		return ENOMEM;
	o2g_stream_init(&s->stream);
	o2g_list_init(&s->held);
	/* From here on another thread may own it. */
	if (epoll_ctl(paper.epoll, EPOLL_CTL_ADD, fd, &ev)) {
		free(s->ahead);
		return errno;
	}
	*slot = s;
	paper.nsocks++;
	paper.nopen++;
	return 0;
}

static int register_socket(int sock, int rank)
{
	int rc;

	pthread_mutex_lock(&paper.lock);
	rc = add_socket(sock, rank);
	pthread_mutex_unlock(&paper.lock);
	return rc;
}

/* --- the dump area --- */

static int set_dump_area(void *area, size_t size)
{
	struct o2g_list runnable;
	int rc;

	o2g_list_init(&runnable);
	pthread_mutex_lock(&paper.lock);
	if (paper.dump)
		rc = EBUSY;
	else
		rc = -eng_dump_init(area, size, &paper.dump);
	if (!rc)
		paper_resume(&runnable);
	pthread_mutex_unlock(&paper.lock);
	paper_run_all(&runnable);
	return rc;
}

static int free_locked(struct queue_entry *e)
{
	struct eng_dump_msg *m;

	if (!paper.dump)
		return EINVAL;
	m = eng_dump_find(paper.dump, e);
	if (!m)
		return EINVAL;
	if (!e->done)
		return EBUSY;
	o2g_match_remove(&paper.match, &m->match);
	eng_dump_free(paper.dump, m);
	return 0;
}

static int free_entry(struct queue_entry *e)
{
	struct o2g_list runnable;
	int rc;

	o2g_list_init(&runnable);
	pthread_mutex_lock(&paper.lock);
	rc = free_locked(e);
	if (!rc)
		paper_resume(&runnable);
	pthread_mutex_unlock(&paper.lock);
	paper_run_all(&runnable);
	return rc;
}

/* --- receives --- */

static void grow_bins(void)
{
	u32 want = o2g_match_wants(&paper.match);
	struct o2g_match_bin *bins;

	if (!want)
		return;
	bins = calloc(want, sizeof(*bins));
	if (bins) /* without them matching is only slower */
		free(o2g_match_rehash(&paper.match, bins, want));
}

static bool can_arrive(int rank)
{
	struct paper_sock *s;

	if (rank == O2G_ANY_SOURCE)
		return paper.nopen > 0;
	s = *slot_of(rank);
	return s && s->open;
}

static int post(struct queue_entry *e, struct paper_recv *r)
{
	e->reserved = NULL; /* until it is posted, there is nothing to cancel */
	r->match.src = e->rank == O2G_ANY_SOURCE ? O2G_MATCH_ANY : (u32)e->rank;
	r->match.tag = (u64)e->context << 32;
	if (e->tag < 0)
		r->match.ignore = 0xffffffff;
	else
		r->match.tag |= (u32)e->tag;
	if (o2g_match_peek(&paper.match, r->match.src, r->match.tag,
			   r->match.ignore))
		return EAGAIN;
	if (!can_arrive(e->rank))
		return ENOTCONN;
	e->received = 0;
	e->error = 0;
	e->done = 0;
	e->next = NULL;
	e->reserved = r;
	o2g_match_post(&paper.match, &r->match);
	grow_bins();
	return 0;
}

static int put_entry(struct queue_entry *e)
{
	struct paper_recv *r = calloc(1, sizeof(*r));
	struct o2g_list runnable;
	int rc;

	if (!r)
		return ENOMEM;
	r->entry = e;
	o2g_list_init(&runnable);
	pthread_mutex_lock(&paper.lock);
	rc = post(e, r);
	if (!rc)
		paper_resume(&runnable);
	pthread_mutex_unlock(&paper.lock);
	if (rc)
		free(r);
	else
		paper_run_all(&runnable);
	return rc;
}

static int cancel_entry(struct queue_entry *e)
{
	struct paper_recv *r;

	pthread_mutex_lock(&paper.lock);
	r = e->reserved;
	if (r) {
		o2g_match_remove(&paper.match, &r->match);
		e->reserved = NULL;
	}
	pthread_mutex_unlock(&paper.lock);
	free(r);
	return r ? 0 : EAGAIN;
}

/* --- waiting --- */

/* Nobody else receives: the caller does, until the thread count or news
 * changes (then wake is readable) or a socket was served. */
static void drive(void)
{
	struct pollfd fds[2] = { { .fd = paper.epoll, .events = POLLIN },
				 { .fd = paper.wake, .events = POLLIN } };
	eventfd_t count;

	paper.driving = true;
	pthread_mutex_unlock(&paper.lock);
	if (poll(fds, 2, -1) > 0) {
		if (fds[1].revents)
			eventfd_read(paper.wake, &count);
		if (fds[0].revents)
			paper_receive(0);
	}
	pthread_mutex_lock(&paper.lock);
	paper.driving = false;
	pthread_cond_broadcast(&paper.changed);
}

static int wait_for_news(void)
{
	u64 start = paper.news;

	while (paper.news == start) {
		if (!paper.nopen)
			return ENOTCONN;
		if (paper.nthreads || paper.driving)
			pthread_cond_wait(&paper.changed, &paper.lock);
		else
			drive();
	}
	return 0;
}

static int poll_news(void)
{
	int rc = 0;

	pthread_mutex_lock(&paper.lock);
	if (paper.news == paper.seen)
		rc = wait_for_news();
	paper.seen = paper.news;
	pthread_mutex_unlock(&paper.lock);
	return rc;
}

static void dump(void)
{
	paper_receive(-1);
}

static void dumper_started(void)
{
	pthread_mutex_lock(&paper.lock);
	paper.nthreads++;
	if (paper.driving)
		eventfd_write(paper.wake, 1);
	pthread_mutex_unlock(&paper.lock);
}

const struct paper_form paper_user = {
	.init = init,
	.register_socket = register_socket,
	.set_dump_area = set_dump_area,
	.dump = dump,
	.dumper_started = dumper_started,
	.put_entry = put_entry,
	.cancel_entry = cancel_entry,
	.free_entry = free_entry,
	.poll = poll_news,
};
