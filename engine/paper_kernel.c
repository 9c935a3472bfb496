/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The eight calls on the driver. Everything happens there; entries and the dump
 * area are written to by the kernel. Here o2g_poll looks at a number in mapped
 * memory, and only sleeping is a system call.
 */
#include "paper.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "settings.h"
#include "uapi/o2g.h"

#define SPIN_US 20 /* about what a sleep costs */

#define SAME(a, b)                                                   \
	_Static_assert(offsetof(struct queue_entry, a) ==            \
			       offsetof(struct o2gd_paper_entry, b), \
		       "an entry is the same for the program and the driver")
#ifdef __LP64__
SAME(rank, rank);
SAME(context, context);
SAME(tag, tag);
SAME(buf, buf);
SAME(size, size);
SAME(received, received);
SAME(error, error);
SAME(done, done);
SAME(next, next);
SAME(reserved, reserved);
_Static_assert(sizeof(struct queue_entry) == sizeof(struct o2gd_paper_entry),
	       "an entry is the same for the program and the driver");
#endif

static struct {
	int fd;
	const struct o2gd_paper_shared *shared;
	const struct o2gd_paper_sock *socks; /* as many as there are */
	u32 seen;			     /* news as of the last o2g_poll */
	unsigned spin_us;
	/* what was reported */
	pthread_mutex_t lock;
	u32 events;
	u8 *reported; /* by socket: its state */
} k = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* 0 or a positive errno. */
static int call(unsigned long request, void *arg)
{
	int rc;

	do
		rc = ioctl(k.fd, request, arg);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? errno : 0;
}

/* --- opening --- */

static unsigned spin_us(void)
{
	int64_t asked = o2g_settings()->spin_us;

	if (asked >= 0)
		return (unsigned)asked;
	return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? SPIN_US : 0;
}

static int open_device(int n_socks)
{
	struct o2gd_paper_init i = { .version = O2GD_VERSION,
				     .nsocks = (u32)n_socks };
	void *map;
	int rc;

	k.fd = open(O2GD_DEVICE, O_RDWR | O_CLOEXEC);
	if (k.fd < 0)
		return errno;
	rc = call(O2GD_PAPER_INIT, &i);
	if (rc)
		return rc;
	map = mmap(NULL, i.map_size, PROT_READ, MAP_SHARED, k.fd, 0);
	if (map == MAP_FAILED)
		return errno;
	k.shared = map;
	k.socks = (const struct o2gd_paper_sock *)(k.shared + 1);
	return 0;
}

static int init(int n_socks)
{
	int rc;

	k.spin_us = spin_us();
	k.reported = calloc(n_socks, 1);
	rc = k.reported ? open_device(n_socks) : ENOMEM;
	if (rc) {
		free(k.reported);
		if (k.fd >= 0)
			close(k.fd);
		k.fd = -1;
	}
	return rc;
}

static int register_socket(int sock, int rank)
{
	struct o2gd_socket s = { .peer = (u32)rank, .fd = sock };
	int rc = call(O2GD_PAPER_SOCKET, &s);

	if (rc == EPROTOTYPE)
		o2g_error(
			"rank %d's socket is not a TCP socket, which is all that the driver receives from; use O2G_ENGINE=user",
			rank);
	return rc;
}

static int set_dump_area(void *area, size_t size)
{
	struct o2gd_paper_area a = { .addr = (uintptr_t)area, .len = size };

	return call(O2GD_PAPER_AREA, &a);
}

static int put_entry(struct queue_entry *e)
{
	return call(O2GD_PAPER_PUT, e);
}

static int cancel_entry(struct queue_entry *e)
{
	return call(O2GD_PAPER_CANCEL, e);
}

static int free_entry(struct queue_entry *e)
{
	return call(O2GD_PAPER_FREE, e);
}

static void dump(void)
{
	if (ioctl(k.fd, O2GD_PAPER_DUMP) && errno != EINTR)
		pause(); /* it is of no use to come again */
}

/* --- what the driver has to say about sockets --- */

static void report_loss(const struct o2gd_paper_sock *s)
{
	const char *where = s->inside ? " inside a message" : "";

	switch (s->why) {
	case O2GD_LOST_HEADER:
		o2g_error(
			"rank %u's socket: malformed header: %s; connection dropped",
			s->rank, o2g_wire_reason_name((int)s->detail));
		break;
	case O2GD_LOST_PACKET:
		o2g_error(
			"rank %u's socket: this %s packet cannot come over a registered socket; connection dropped",
			s->rank, o2g_wire_pkt_name((u8)s->detail));
		break;
	case O2GD_LOST_ERROR:
		o2g_warn("rank %u's socket: connection lost%s: %s", s->rank,
			 where, strerror((int)s->detail));
		break;
	default:
		if (s->inside)
			o2g_warn(
				"rank %u's socket: connection lost%s: closed by the peer",
				s->rank, where);
	}
}

static void report(const struct o2gd_paper_sock *s)
{
	if (s->state == O2GD_PAPER_LOST)
		report_loss(s);
	if (s->state == O2GD_PAPER_TOO_LONG)
		o2g_warn(
			"a message of %llu bytes from rank %u is larger than the dump area allows; it waits for its receive",
			(unsigned long long)s->length, s->rank);
}

static void report_all(void)
{
	u32 n = __atomic_load_n(&k.shared->nsocks, __ATOMIC_ACQUIRE);

	for (u32 i = 0; i < n; i++) {
		if (k.reported[i] == k.socks[i].state)
			continue;
		k.reported[i] = (u8)k.socks[i].state;
		report(&k.socks[i]);
	}
}

static void look_at_events(void)
{
	u32 events = __atomic_load_n(&k.shared->events, __ATOMIC_ACQUIRE);

	if (events == __atomic_load_n(&k.events, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&k.lock);
	__atomic_store_n(&k.events, events, __ATOMIC_RELAXED);
	report_all();
	pthread_mutex_unlock(&k.lock);
}

/* --- o2g_poll --- */

static u32 news(void)
{
	return __atomic_load_n(&k.shared->news, __ATOMIC_ACQUIRE);
}

static bool spin(u32 seen)
{
	u64 end = 0;

	while (news() == seen) {
		u64 now = o2g_now_ns();

		if (!end)
			end = now + k.spin_us * 1000ull;
		if (now >= end)
			return false;
		o2g_cpu_relax();
	}
	return true;
}

static int poll_news(void)
{
	u32 seen = __atomic_load_n(&k.seen, __ATOMIC_RELAXED);
	int rc = 0;

	if (!spin(seen))
		rc = call(O2GD_PAPER_WAIT, &seen);
	__atomic_store_n(&k.seen, news(), __ATOMIC_RELAXED);
	look_at_events();
	return rc;
}

const struct paper_form paper_kernel = {
	.init = init,
	.register_socket = register_socket,
	.set_dump_area = set_dump_area,
	.dump = dump,
	.put_entry = put_entry,
	.cancel_entry = cancel_entry,
	.free_entry = free_entry,
	.poll = poll_news,
};
