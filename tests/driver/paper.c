/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The eight calls of 2004 as the driver has them, without the library:
 * paper [case]. Runs where /dev/o2g is.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dev.h"
#include "wire.h"

#define AREA (256 << 10)
#define BIG (3 << 20)

static struct dev d; /* only its fd is used */
static const struct o2gd_paper_shared *shared;
static char *area;
static unsigned char data[BIG], buf[BIG];

static int call(unsigned long request, void *arg)
{
	return dev_call(&d, request, arg);
}

static void open_device(uint32_t nsocks)
{
	struct o2gd_paper_init i = { .version = O2GD_VERSION,
				     .nsocks = nsocks };

	for (size_t n = 0; n < sizeof(data); n++)
		data[n] = (unsigned char)(n * 7 + n / 253);
	d.fd = open(O2GD_DEVICE, O_RDWR | O_CLOEXEC);
	CHECK(d.fd >= 0);
	CHECK(call(O2GD_PAPER_INIT, &i) == 0);
	shared = mmap(NULL, i.map_size, PROT_READ, MAP_SHARED, d.fd, 0);
	CHECK(shared != MAP_FAILED);
}

static void set_area(void)
{
	struct o2gd_paper_area a = { .len = AREA };

	area = aligned_alloc(4096, AREA);
	a.addr = (uintptr_t)area;
	CHECK(call(O2GD_PAPER_AREA, &a) == 0);
}

static int add_socket(uint32_t rank, int fd)
{
	struct o2gd_socket s = { .peer = rank, .fd = fd };

	return call(O2GD_PAPER_SOCKET, &s);
}

/* Rank @rank joins; what is returned is its end. */
static int peer(uint32_t rank)
{
	int fd[2];

	dev_tcp_pair(fd);
	CHECK(add_socket(rank, fd[0]) == 0);
	return fd[1];
}

static int begin(void)
{
	open_device(4);
	set_area();
	return peer(0);
}

static void put_all(int fd, const void *from, size_t n)
{
	while (n) {
		ssize_t did = send(fd, from, n, MSG_NOSIGNAL);

		CHECK(did > 0);
		from = (const char *)from + did;
		n -= did;
	}
}

static void put_header(int fd, uint8_t type, int tag, uint64_t len)
{
	struct o2g_hdr h = { .type = type,
			     .tag = (uint32_t)tag,
			     .length = len };
	uint8_t raw[O2G_HDR_SIZE];

	o2g_wire_encode(&h, raw);
	put_all(fd, raw, sizeof(raw));
}

static void put_message(int fd, int tag, uint64_t len)
{
	put_header(fd, O2G_PKT_EAGER, tag, len);
	put_all(fd, data, len);
}

static struct o2gd_paper_entry entry(int tag, uint64_t size)
{
	return (struct o2gd_paper_entry){ .tag = tag,
					  .size = size,
					  .buf = (uintptr_t)buf };
}

static bool is_done(const struct o2gd_paper_entry *e)
{
	return __atomic_load_n(&e->done, __ATOMIC_ACQUIRE);
}

/* Without a system call that the driver could use. */
static void spin_done(const struct o2gd_paper_entry *e)
{
	time_t end = time(NULL) + 20;

	while (!is_done(e))
		CHECK(time(NULL) < end);
}

static void wait_done(const struct o2gd_paper_entry *e)
{
	for (;;) {
		uint32_t seen =
			__atomic_load_n(&shared->news, __ATOMIC_ACQUIRE);

		if (is_done(e))
			return;
		CHECK(call(O2GD_PAPER_WAIT, &seen) == 0);
	}
}

static struct o2gd_paper_entry *first(void)
{
	const struct o2gd_paper_dump *h = (const void *)area;

	CHECK(h->magic == O2GD_PAPER_MAGIC);
	return (void *)(uintptr_t)__atomic_load_n(&h->first, __ATOMIC_ACQUIRE);
}

static struct o2gd_paper_entry *next(const struct o2gd_paper_entry *e)
{
	return (void *)(uintptr_t)__atomic_load_n(&e->next, __ATOMIC_ACQUIRE);
}

static struct o2gd_paper_entry *wait_first(void)
{
	for (;;) {
		uint32_t seen =
			__atomic_load_n(&shared->news, __ATOMIC_ACQUIRE);
		struct o2gd_paper_entry *e = first();

		if (e)
			return e;
		CHECK(call(O2GD_PAPER_WAIT, &seen) == 0);
	}
}

static void *dumper(void *arg)
{
	for (;;)
		call(O2GD_PAPER_DUMP, NULL);
	return arg;
}

static void start_dumper(void)
{
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, dumper, NULL));
}

/* --- set-up --- */

static void init__refuses(void)
{
	struct o2gd_paper_init good = { .version = O2GD_VERSION, .nsocks = 4 },
			       i;
	struct o2gd_setup s = { .version = O2GD_VERSION,
				.size = 2,
				.sq_entries = 64,
				.cq_entries = 64,
				.dump_size = 1 << 20,
				.data_chunk = 1 };
	struct o2gd_paper_entry e = entry(1, 0);

	d.fd = open(O2GD_DEVICE, O_RDWR);
	CHECK(call(O2GD_PAPER_PUT, &e) == -EBADFD);
	i = good, i.version = 99;
	CHECK(call(O2GD_PAPER_INIT, &i) == -EPROTO);
	i = good, i.nsocks = 0;
	CHECK(call(O2GD_PAPER_INIT, &i) == -EINVAL);
	i = good, i.nsocks = 1u << 31;
	CHECK(call(O2GD_PAPER_INIT, &i) == -EINVAL);
	CHECK(call(O2GD_PAPER_INIT, (void *)8) == -EFAULT);
	i = good;
	CHECK(call(O2GD_PAPER_INIT, &i) == 0);
	CHECK(call(O2GD_PAPER_INIT, &i) == -EBUSY);
	CHECK(call(O2GD_SETUP, &s) == -EBUSY);
	CHECK(call(O2GD_KICK, NULL) == -ENOTTY);
	CHECK(mmap(NULL, i.map_size, PROT_READ | PROT_WRITE, MAP_SHARED, d.fd,
		   0) == MAP_FAILED);
	CHECK(mmap(NULL, i.map_size + 4096, PROT_READ, MAP_SHARED, d.fd, 0) ==
	      MAP_FAILED);
	close(d.fd);
	/* and the other way round */
	d.fd = open(O2GD_DEVICE, O_RDWR);
	CHECK(call(O2GD_SETUP, &s) == 0);
	i = good;
	CHECK(call(O2GD_PAPER_INIT, &i) == -EBUSY);
	CHECK(call(O2GD_PAPER_PUT, &e) == -ENOTTY);
}

static void socket__refuses(void)
{
	int fd[2], udp = socket(AF_INET, SOCK_DGRAM, 0), fresh;

	open_device(2);
	dev_tcp_pair(fd);
	CHECK(add_socket(1, -1) == -EBADF);
	CHECK(add_socket(1, d.fd) == -ENOTSOCK);
	CHECK(add_socket(1, udp) == -EPROTOTYPE);
	fresh = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(add_socket(1, fresh) == -ENOTCONN);
	CHECK(add_socket(1u << 31, fd[0]) == -EINVAL);
	CHECK(shared->open == 0);
	CHECK(add_socket(1, fd[0]) == 0);
	CHECK(add_socket(1, fd[1]) == -EEXIST);
	CHECK(add_socket(2, fd[0]) == -EBUSY);
	CHECK(add_socket(2, fd[1]) == 0);
	CHECK(add_socket(3, fd[1]) == -ENOSPC);
	CHECK(shared->open == 2);
}

static void area__refuses(void)
{
	struct o2gd_paper_area a = { .addr = (uintptr_t)data, .len = 100 };

	open_device(1);
	CHECK(call(O2GD_PAPER_AREA, &a) == -EINVAL);
	a.len = ~0ull;
	CHECK(call(O2GD_PAPER_AREA, &a) == -EINVAL);
	a = (struct o2gd_paper_area){ .addr = 64, .len = 4096 };
	CHECK(call(O2GD_PAPER_AREA, &a) == -EFAULT);
	a.addr = ~0ull - 4096;
	CHECK(call(O2GD_PAPER_AREA, &a) < 0);
	set_area();
	a.addr = (uintptr_t)data;
	CHECK(call(O2GD_PAPER_AREA, &a) == -EBUSY);
}

/* --- receives --- */

static void put__refuses(void)
{
	struct o2gd_paper_entry e = entry(1, 100);
	int fd = begin();

	e.rank = -2;
	CHECK(call(O2GD_PAPER_PUT, &e) == -EINVAL);
	e = entry(-2, 100);
	CHECK(call(O2GD_PAPER_PUT, &e) == -EINVAL);
	e = entry(1, 100);
	e.buf = 0;
	CHECK(call(O2GD_PAPER_PUT, &e) == -EINVAL);
	e.buf = 1ull << 63;
	CHECK(call(O2GD_PAPER_PUT, &e) == -EFAULT);
	e = entry(1, 100);
	e.rank = 1;
	CHECK(call(O2GD_PAPER_PUT, &e) == -ENOTCONN);
	CHECK(call(O2GD_PAPER_PUT, (void *)64) == -EFAULT);
	CHECK(call(O2GD_PAPER_PUT, (char *)&e + 4) == -EINVAL);
	/* read-only: its number cannot be written */
	CHECK(call(O2GD_PAPER_PUT, (void *)(uintptr_t)shared) == -EFAULT);
	close(fd);
}

/* Matched, copied and done while the process makes no call at all. */
static void put__done_by_itself(void)
{
	static const uint64_t lengths[] = { 0, 1, 100, 4096, 70000, BIG };
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = begin();

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		/* in each place of a page's end, so in two pages */
		struct o2gd_paper_entry *e = (void *)(pages + 4096 - 8 * i);

		*e = entry(-1, BIG);
		e->rank = -1;
		memset(buf, 0, BIG);
		CHECK(call(O2GD_PAPER_PUT, e) == 0);
		if (fork() == 0) {
			put_message(fd, 7, lengths[i]);
			_exit(0);
		}
		spin_done(e);
		CHECK(e->rank == 0 && e->tag == 7 && !e->error);
		CHECK(e->received == lengths[i]);
		CHECK(!memcmp(buf, data, lengths[i]));
		wait(NULL);
	}
}

static void put__bad_buffer(void)
{
	struct o2gd_paper_entry bad = entry(1, 4096), good = entry(2, 100);
	int fd = begin();

	start_dumper();
	bad.buf = (uintptr_t)shared; /* read-only */
	CHECK(call(O2GD_PAPER_PUT, &bad) == 0);
	CHECK(call(O2GD_PAPER_PUT, &good) == 0);
	put_message(fd, 1, 3000);
	put_message(fd, 2, 100);
	wait_done(&bad);
	CHECK(bad.error == EFAULT && bad.received == 0);
	wait_done(&good);
	CHECK(!good.error && !memcmp(buf, data, 100));
}

static void cancel__only_what_is_posted(void)
{
	struct o2gd_paper_entry e = entry(1, 10), other = entry(1, 10);
	int fd = begin();

	CHECK(call(O2GD_PAPER_CANCEL, &e) == -EAGAIN);
	e.reserved = ~0ull;
	CHECK(call(O2GD_PAPER_CANCEL, &e) == -EAGAIN);
	CHECK(call(O2GD_PAPER_PUT, &e) == 0);
	other.reserved = e.reserved; /* the number alone is not enough */
	CHECK(call(O2GD_PAPER_CANCEL, &other) == -EAGAIN);
	CHECK(call(O2GD_PAPER_CANCEL, &e) == 0);
	CHECK(call(O2GD_PAPER_CANCEL, &e) == -EAGAIN);
	CHECK(call(O2GD_PAPER_PUT, &e) == 0);
	put_message(fd, 1, 10);
	wait_done(&e);
	CHECK(call(O2GD_PAPER_CANCEL, &e) == -EAGAIN);
}

/* --- the dump area --- */

static void area__list(void)
{
	struct o2gd_paper_entry *e, posted = entry(2, 10);
	int fd = begin();

	for (int tag = 1; tag <= 3; tag++)
		put_message(fd, tag, 1000 * tag);
	e = wait_first();
	for (int tag = 1; tag <= 3; tag++) {
		wait_done(e);
		CHECK(e->tag == tag && e->size == 1000u * tag);
		CHECK(e->received == e->size && !e->error);
		CHECK(!memcmp((void *)(uintptr_t)e->buf, data, e->size));
		if (tag < 3)
			e = next(e);
	}
	CHECK(next(e) == NULL);
	CHECK(call(O2GD_PAPER_PUT, &posted) == -EAGAIN);
	e = next(first()); /* the middle one */
	CHECK(call(O2GD_PAPER_FREE, e) == 0);
	CHECK(call(O2GD_PAPER_FREE, e) == -EINVAL);
	CHECK(first()->tag == 1 && next(first())->tag == 3);
	CHECK(call(O2GD_PAPER_PUT, &posted) == 0);
	CHECK(call(O2GD_PAPER_FREE, next(first())) == 0);
	CHECK(call(O2GD_PAPER_FREE, first()) == 0);
	CHECK(first() == NULL);
}

/* What the program writes to its area means nothing to the driver. */
static void area__lies(void)
{
	int fd = begin();

	put_message(fd, 1, 1000);
	put_message(fd, 2, 1000);
	wait_done(next(wait_first()));
	memset(area, 0xff, AREA);
	for (uint64_t off = 0; off < 8192; off += 8)
		call(O2GD_PAPER_FREE, area + off);
	CHECK(call(O2GD_PAPER_FREE, (void *)~63ul) == -EINVAL);
	CHECK(call(O2GD_PAPER_FREE, NULL) == -EINVAL);
	((struct o2gd_paper_dump *)area)->magic = O2GD_PAPER_MAGIC;
	for (int i = 0; i < 1000; i++) {
		put_message(fd, i, 2000);
		while (!first())
			;
		wait_done(first());
		CHECK(first()->tag == i);
		CHECK(call(O2GD_PAPER_FREE, first()) == 0);
	}
}

/* A message that is arriving is known, and not to be freed. */
static void area__arriving(void)
{
	struct o2gd_paper_entry *e, posted = entry(1, 10);
	int fd = begin();

	put_header(fd, O2G_PKT_EAGER, 1, 8);
	put_all(fd, data, 3);
	e = wait_first();
	CHECK(e->size == 8 && !e->done);
	CHECK(call(O2GD_PAPER_PUT, &posted) == -EAGAIN);
	CHECK(call(O2GD_PAPER_FREE, e) == -EBUSY);
	put_all(fd, data + 3, 5);
	wait_done(e);
	CHECK(e->received == 8 && !memcmp((void *)(uintptr_t)e->buf, data, 8));
	CHECK(call(O2GD_PAPER_FREE, e) == 0);
}

/* The sender waits when nobody makes room, and goes on when somebody does. */
static void area__full(void)
{
	int fd = begin(), n = 0;
	pid_t child = fork();

	if (child == 0) {
		for (int i = 0; i < 100; i++)
			put_message(fd, i, 30000);
		_exit(0);
	}
	while (n < 100) {
		struct o2gd_paper_entry *e = wait_first();

		wait_done(e);
		CHECK(e->tag == n++);
		CHECK(!memcmp((void *)(uintptr_t)e->buf, data, e->size));
		CHECK(call(O2GD_PAPER_FREE, e) == 0);
	}
	CHECK(first() == NULL);
}

/* --- the ends of things --- */

static void lost__garbage(void)
{
	const struct o2gd_paper_sock *s;
	struct o2gd_paper_entry e = entry(1, 10);
	uint32_t events;
	char c;
	int fd = begin();

	s = (const void *)(shared + 1);
	events = shared->events;
	CHECK(call(O2GD_PAPER_PUT, &e) == 0);
	put_header(fd, O2G_PKT_CTS, 1, 0);
	wait_done(&e);
	CHECK(e.error == O2G_ERR_PEER && shared->events != events);
	CHECK(s->state == O2GD_PAPER_LOST && s->rank == 0);
	CHECK(s->why == O2GD_LOST_PACKET || s->why == O2GD_LOST_HEADER);
	CHECK(recv(fd, &c, 1, 0) == 0); /* it is told */
	CHECK(shared->open == 0);
	CHECK(call(O2GD_PAPER_WAIT, &(uint32_t){ shared->news }) == -ENOTCONN);
}

static void lost__reset(void)
{
	struct o2gd_paper_entry any = entry(1, 10), exact = entry(2, 10);
	struct linger hard = { .l_onoff = 1 };
	int fd = begin(), other = peer(1);

	any.rank = -1;
	CHECK(call(O2GD_PAPER_PUT, &any) == 0);
	CHECK(call(O2GD_PAPER_PUT, &exact) == 0);
	put_header(fd, O2G_PKT_EAGER, 2, 10);
	put_all(fd, data, 4);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(fd);
	wait_done(&exact);
	CHECK(exact.error == O2G_ERR_PEER);
	wait_done(&any);
	CHECK(any.error == O2G_ERR_PEER);
	CHECK(shared->open == 1);
	close(other);
}

static void other_process__refused(void)
{
	struct o2gd_paper_entry e = entry(1, 10);
	int status;

	begin();
	if (fork() == 0) {
		CHECK(call(O2GD_PAPER_PUT, &e) == -EBADFD);
		CHECK(call(O2GD_PAPER_DUMP, NULL) == -EBADFD);
		_exit(0);
	}
	wait(&status);
	CHECK(!status);
}

/* --- seen from outside --- */

static void look(int fd, unsigned long request, uint64_t id, void *to,
		 uint32_t count)
{
	struct o2gd_look q = { .id = id, .max = 8, .addr = (uintptr_t)to };
	struct dev other = { .fd = fd };

	CHECK(dev_call(&other, request, &q) == 0);
	CHECK(q.count == count);
}

/* What the tools print of this process: the script compares. */
static void show_tools(void)
{
	char line[400];

	if (!getenv("O2G_PAPER_LOOK"))
		return;
	snprintf(line, sizeof(line), "%s %d", getenv("O2G_PAPER_LOOK"),
		 (int)getpid());
	CHECK(system(line) == 0);
}

/* A receive, a message that is there, one that arrives, one without room. */
static void look__everything(void)
{
	struct o2gd_paper_entry e = entry(-1, 500), few = entry(7, 3);
	struct o2gd_queue_entry q[8];
	struct o2gd_paper_sock s[8];
	struct o2gd_list_entry l[8];
	struct o2gd_list list = { .max = 8, .addr = (uintptr_t)l };
	int fd = begin(), other = peer(3), full = peer(4), status;
	int outside = open(O2GD_DEVICE, O_RDWR);

	e.context = 9;
	CHECK(call(O2GD_PAPER_PUT, &e) == 0);
	CHECK(call(O2GD_PAPER_PUT, &few) == 0);
	put_message(fd, 7, 10);
	wait_done(&few);
	CHECK(few.error == O2G_ERR_TRUNCATED);
	put_message(fd, 5, 1000);
	wait_done(wait_first());
	put_header(other, O2G_PKT_EAGER, 6, 2000);
	put_all(other, data, 100);
	put_header(full, O2G_PKT_EAGER, 8, AREA);
	while (!next(first()) || !shared->events)
		;

	CHECK(ioctl(outside, O2GD_LIST, &list) == 0 && list.count == 1);
	CHECK(l[0].pid == (uint32_t)getpid() && l[0].kind == O2GD_KIND_PAPER);
	CHECK(l[0].rank == O2GD_ANY && l[0].size == 3);
	CHECK(l[0].info.posted == 1 && l[0].info.unexpected == 2);
	CHECK(l[0].info.unexpected_total == 2 && l[0].info.dump_full == 1);
	CHECK(l[0].info.unexpected_bytes >= 3000);
	CHECK(l[0].info.messages_received == 2);
	CHECK(l[0].info.drops[O2GD_DROP_EXCESS] == 7);
	CHECK(l[0].info.pinned_pages >= AREA / 4096 + 2);

	look(outside, O2GD_QUEUES, l[0].id, q, 3);
	CHECK(q[0].queue == O2GD_QUEUE_POSTED && q[0].length == 500);
	CHECK(q[0].tag == 9ull << 32 && q[0].ignore == 0xffffffff);
	for (int i = 1; i < 3; i++) {
		bool here = q[i].source == 0;

		CHECK(q[i].queue == O2GD_QUEUE_UNEXPECTED);
		CHECK(q[i].tag == (here ? 5 : 6));
		CHECK(q[i].length == (here ? 1000 : 2000));
		CHECK(q[i].body ==
		      (here ? O2GD_BODY_HERE : O2GD_BODY_ARRIVING));
	}
	look(outside, O2GD_PAPER_SOCKS, l[0].id, s, 3);
	CHECK(s[0].messages == 2 && s[0].bytes == 1010 && s[0].unexpected == 1);
	CHECK(s[1].rank == 3 && s[1].state == O2GD_PAPER_OPEN);
	CHECK(s[2].state == O2GD_PAPER_HOLDS && s[2].length == AREA);
	show_tools();
	if (fork() == 0) {
		struct o2gd_look w = { .id = l[0].id };

		CHECK(!setgid(65534) && !setuid(65534));
		CHECK(ioctl(outside, O2GD_LIST, &list) == 0 && !list.count);
		CHECK(ioctl(outside, O2GD_QUEUES, &w) && errno == ESRCH);
		CHECK(ioctl(outside, O2GD_PAPER_SOCKS, &w) && errno == ESRCH);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
	close(d.fd);
	munmap((void *)(uintptr_t)shared, 4096);
	CHECK(ioctl(outside, O2GD_LIST, &list) == 0 && !list.count);
}

/* --- pinning is refused: the program's own threads copy --- */

static void little_memory(void)
{
	struct rlimit small = { .rlim_cur = 8192, .rlim_max = 8192 };

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &small));
	CHECK(!setgid(65534) && !setuid(65534));
}

static void receive_both_ways(bool thread)
{
	struct o2gd_paper_entry e = entry(1, BIG), *u;
	int fd = begin();

	if (thread)
		start_dumper();
	CHECK(call(O2GD_PAPER_PUT, &e) == 0);
	if (fork() == 0) {
		put_message(fd, 1, BIG);
		for (int i = 0; i < 50; i++)
			put_message(fd, 2, 20000);
		_exit(0);
	}
	wait_done(&e);
	CHECK(!e.error && e.received == BIG && !memcmp(buf, data, BIG));
	for (int i = 0; i < 50; i++) {
		u = wait_first();
		wait_done(u);
		CHECK(u->received == 20000 && u->tag == 2);
		CHECK(!memcmp((void *)(uintptr_t)u->buf, data, 20000));
		CHECK(call(O2GD_PAPER_FREE, u) == 0);
	}
	e = entry(3, 10);
	CHECK(call(O2GD_PAPER_PUT, &e) == 0);
	close(fd); /* the child's copy is closed by now */
	wait(NULL);
	wait_done(&e);
	CHECK(e.error == O2G_ERR_PEER);
}

static void limits__dumper_copies(void)
{
	little_memory();
	receive_both_ways(true);
}

static void limits__waiting_copies(void)
{
	little_memory();
	receive_both_ways(false);
}

/* --- killed at any moment --- */

static void victim(int n)
{
	struct o2gd_paper_entry e[16];
	int fd = begin();

	if (n % 2)
		start_dumper();
	if (fork() == 0) {
		for (int i = 0;; i++)
			put_message(fd, i % 20, 1 + i * 977 % 50000);
	}
	close(fd);
	for (unsigned i = 0;; i++) {
		e[i % 16] = entry(i % 20, 30000);
		if (call(O2GD_PAPER_PUT, &e[i % 16]) == -EAGAIN && first() &&
		    is_done(first()))
			call(O2GD_PAPER_FREE, first());
		if (i % 16 == 15)
			for (int k = 0; k < 16; k++)
				call(O2GD_PAPER_CANCEL, &e[k]);
	}
}

static void death__anywhere(void)
{
	struct timespec t = { .tv_nsec = 1 };

	for (int i = 0; i < 12; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			setpgid(0, 0);
			if (i % 3 == 2)
				little_memory();
			victim(i);
		}
		t.tv_nsec = 20000000 + i * 17000000;
		nanosleep(&t, NULL);
		kill(pid, SIGKILL);
		kill(-pid, SIGKILL);
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
}

static const struct dev_case cases[] = {
	DEV_CASE(init__refuses),
	DEV_CASE(socket__refuses),
	DEV_CASE(area__refuses),
	DEV_CASE(put__refuses),
	DEV_CASE(put__done_by_itself),
	DEV_CASE(put__bad_buffer),
	DEV_CASE(cancel__only_what_is_posted),
	DEV_CASE(area__list),
	DEV_CASE(area__lies),
	DEV_CASE(area__arriving),
	DEV_CASE(area__full),
	DEV_CASE(lost__garbage),
	DEV_CASE(lost__reset),
	DEV_CASE(other_process__refused),
	DEV_CASE(look__everything),
	DEV_CASE(limits__dumper_copies),
	DEV_CASE(limits__waiting_copies),
	DEV_CASE(death__anywhere),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
