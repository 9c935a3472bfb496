// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The eight calls of 2004, without sense. Entries and dump areas lie in shared
 * memory which all threads write to while the driver does, which is taken away
 * under it, and parts of which are handed in as the one and as the other.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NPAPERS 2
#define NPEERS 3
#define AREA (64 << 10)
#define ENTRIES (16 << 10) /* bytes of them */
#define BLOCK_MS 3	   /* how long a call may sleep, about */

/* Races on these are welcome. */
static struct paper {
	int fd;
	const struct o2gd_paper_shared *shared;
	size_t map_size;
	char *area;
	int raws[NPEERS]; /* ends that are ours */
} papers[NPAPERS];
static char *entries;

int paper_fd(void)
{
	return papers[below(NPAPERS)].fd;
}

/* --- making them --- */

static void add_socket(struct paper *p, uint32_t rank, int fd)
{
	struct o2gd_socket s = { .peer = rank, .fd = fd };

	ioctl(p->fd, O2GD_PAPER_SOCKET, &s);
}

static void new_raw(struct paper *p, uint32_t i)
{
	struct linger l = { .l_onoff = one_in(2), .l_linger = 0 };
	int pair[2], dead = p->raws[i];

	setsockopt(dead, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	if (!tcp_pair(pair)) {
		p->raws[i] = pair[0];
		/* some of it is there before it is registered */
		if (one_in(4))
			fuzz_send(pair[0], &(struct o2g_hdr){ .type = 1 });
		add_socket(p, one_in(4) ? number(100) : i, pair[1]);
		close(pair[1]);
	}
	if (dead >= 0)
		close(dead);
}

static void set_area(struct paper *p)
{
	struct o2gd_paper_area a = { .addr = (uintptr_t)p->area, .len = AREA };

	if (one_in(10))
		a.len = odd_number();
	if (one_in(10))
		a.addr = address(AREA);
	ioctl(p->fd, O2GD_PAPER_AREA, &a);
}

static void map(struct paper *p)
{
	void *m = mmap(NULL, p->map_size, PROT_READ, MAP_SHARED, p->fd, 0);

	p->shared = m == MAP_FAILED ? NULL : m;
	if (m != MAP_FAILED && !mprotect(m, p->map_size, PROT_WRITE))
		raise(SIGQUIT); /* that would be a hole */
}

static void open_paper(struct paper *p)
{
	struct o2gd_paper_init i = { .version = O2GD_VERSION, .nsocks = 40 };

	if (one_in(10))
		((uint32_t *)&i)[below(2)] = odd_number();
	p->fd = open(O2GD_DEVICE, O_RDWR | O_CLOEXEC);
	if (p->fd < 0 || ioctl(p->fd, O2GD_PAPER_INIT, &i))
		return;
	p->map_size = i.map_size;
	map(p);
	if (!one_in(8))
		set_area(p);
	for (uint32_t k = 0; k < NPEERS; k++)
		new_raw(p, k);
}

static void nothing(int sig)
{
}

void paper_begin(void)
{
	struct sigaction a = { .sa_handler = nothing }; /* calls return EINTR */

	sigaction(SIGUSR1, &a, NULL);
	entries = guarded(ENTRIES);
	memset(papers, -1, sizeof(papers));
	for (int i = 0; i < NPAPERS; i++) {
		papers[i].shared = NULL;
		papers[i].area = guarded(AREA);
		open_paper(&papers[i]);
	}
}

/* --- calls --- */

/* Mostly an entry, which may lie across two pages; or a part of the area. */
static struct o2gd_paper_entry *place(struct paper *p)
{
	size_t size = sizeof(struct o2gd_paper_entry);

	if (one_in(20))
		return (void *)(uintptr_t)address(size);
	if (one_in(20))
		return (void *)(p->area + (below(AREA - size) & ~7ull));
	return (void *)(entries + below(ENTRIES / size - 1) * size +
			8 * below(2));
}

static bool is_ours(const void *e)
{
	const char *c = e;

	return (c >= entries && c < entries + ENTRIES) ||
	       (c >= memory && c < memory + MEMORY - 4096);
}

static void put(struct paper *p)
{
	struct o2gd_paper_entry *e = place(p);

	if (is_ours(e)) {
		e->rank = number(NPEERS + 1) - 1;
		e->context = one_in(4) ? odd_number() : 0;
		e->tag = number(5) - 1;
		e->size = length();
		e->buf = one_in(8) ? (uintptr_t)p->area + below(AREA) :
				     address(e->size);
	}
	ioctl(p->fd, O2GD_PAPER_PUT, e);
}

static void cancel(struct paper *p)
{
	struct o2gd_paper_entry *e = place(p);

	if (is_ours(e) && one_in(8))
		e->reserved = number(64);
	ioctl(p->fd, O2GD_PAPER_CANCEL, e);
}

/* As a program would: the first of the list; or anything. */
static void give_back(struct paper *p)
{
	const struct o2gd_paper_dump *h = (const void *)p->area;
	uint64_t e = h->first;

	if (one_in(8))
		e = (uintptr_t)p->area + below(AREA);
	else if (one_in(20))
		e = odd_number();
	ioctl(p->fd, O2GD_PAPER_FREE, (void *)(uintptr_t)e);
}

/* A call that may sleep: a signal comes again and again until it is over. */
static void sleeping(int fd, unsigned long request, void *arg)
{
	static _Thread_local timer_t timer;
	static _Thread_local bool is_made;
	struct itimerspec t = { { 0, BLOCK_MS * 1000000 },
				{ 0, BLOCK_MS * 1000000 } };
	struct sigevent s = { .sigev_notify = SIGEV_THREAD_ID,
			      .sigev_signo = SIGUSR1,
			      ._sigev_un._tid = gettid() };

	if (!is_made && timer_create(CLOCK_MONOTONIC, &s, &timer))
		return;
	is_made = true;
	timer_settime(timer, 0, &t, NULL);
	ioctl(fd, request, arg);
	memset(&t, 0, sizeof(t));
	timer_settime(timer, 0, &t, NULL);
}

static void wait_or_dump(struct paper *p)
{
	const struct o2gd_paper_shared *sh = p->shared;
	uint32_t seen = sh && one_in(2) ? sh->news : odd_number();

	if (one_in(2))
		sleeping(p->fd, O2GD_PAPER_WAIT, &seen);
	else
		sleeping(p->fd, O2GD_PAPER_DUMP, NULL);
}

/* --- mishaps --- */

static void scribble(struct paper *p)
{
	switch (below(4)) {
	case 0:
		((volatile char *)p->area)[below(AREA)] = rnd();
		break;
	case 1:
		memset(p->area + below(AREA - 64), rnd(), 64);
		break;
	case 2:
		((volatile uint64_t *)p->area)[below(2)] = odd_number();
		break;
	default:
		((volatile uint64_t *)entries)[below(ENTRIES / 8)] =
			one_in(2) ? odd_number() : rnd();
	}
}

/* Memory goes away, or is other memory. */
static void remap(struct paper *p)
{
	char *page = one_in(2) ? p->area + (below(AREA) & ~4095ull) :
				 entries + (below(ENTRIES) & ~4095ull);

	if (one_in(2))
		madvise(page, 4096, MADV_DONTNEED);
	else
		mmap(page, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void wire(struct paper *p)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .tag = number(4),
			     .src = number(4),
			     .dst = number(4) };

	if (one_in(30))
		h.type = 1 + below(O2G_PKT_MAX - 1);
	if (one_in(50))
		h.tag = odd_number();
	fuzz_send(p->raws[below(NPEERS)], &h);
}

static void mishap(struct paper *p, int endpoint, int connection)
{
	struct o2gd_paper_init i = { .version = O2GD_VERSION, .nsocks = 4 };

	switch (below(7)) {
	case 0:
		new_raw(p, below(NPEERS));
		break;
	case 1:
		add_socket(p, number(100),
			   one_in(2) ? connection : (int)number(60));
		break;
	case 2:
		set_area(p);
		break;
	case 3:
		shutdown(p->raws[below(NPEERS)], below(3));
		break;
	case 4:
		ioctl(one_in(2) ? endpoint : p->fd, O2GD_PAPER_INIT, &i);
		break;
	case 5:
		if (p->shared) {
			munmap((void *)(uintptr_t)p->shared, p->map_size);
			map(p);
		}
		break;
	default:
		if (one_in(3)) {
			close(p->fd);
			open_paper(p);
		}
	}
}

void paper_thing(int endpoint, int connection)
{
	struct paper *p = &papers[below(NPAPERS)];

	switch (below(16)) {
	case 0 ... 3:
		put(p);
		break;
	case 4:
		cancel(p);
		break;
	case 5:
	case 6:
		give_back(p);
		break;
	case 7:
	case 8:
		scribble(p);
		break;
	case 9:
		if (one_in(4))
			wait_or_dump(p);
		break;
	case 10:
		if (one_in(8))
			remap(p);
		break;
	case 11:
		if (one_in(8))
			mishap(p, endpoint, connection);
		break;
	default:
		wire(p);
	}
}
