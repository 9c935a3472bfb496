/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "paper_dev.h"

struct dev d;
const struct o2gd_paper_shared *shared;
char *area;
unsigned char data[BIG], buf[BIG];

int call(unsigned long request, void *arg)
{
	return dev_call(&d, request, arg);
}

void open_device(uint32_t nsocks)
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

void set_area(void)
{
	struct o2gd_paper_area a = { .len = AREA };

	area = aligned_alloc(4096, AREA);
	a.addr = (uintptr_t)area;
	CHECK(call(O2GD_PAPER_AREA, &a) == 0);
}

int add_socket(uint32_t rank, int fd)
{
	struct o2gd_socket s = { .peer = rank, .fd = fd };

	return call(O2GD_PAPER_SOCKET, &s);
}

int peer(uint32_t rank)
{
	int fd[2];

	dev_tcp_pair(fd);
	CHECK(add_socket(rank, fd[0]) == 0);
	return fd[1];
}

int begin(void)
{
	open_device(4);
	set_area();
	return peer(0);
}

void put_all(int fd, const void *from, size_t n)
{
	while (n) {
		ssize_t did = send(fd, from, n, MSG_NOSIGNAL);

		CHECK(did > 0);
		from = (const char *)from + did;
		n -= did;
	}
}

void put_header(int fd, uint8_t type, int tag, uint64_t len)
{
	struct o2g_hdr h = { .type = type,
			     .tag = (uint32_t)tag,
			     .length = len };
	uint8_t raw[O2G_HDR_SIZE];

	o2g_wire_encode(&h, raw);
	put_all(fd, raw, sizeof(raw));
}

void put_message(int fd, int tag, uint64_t len)
{
	put_header(fd, O2G_PKT_EAGER, tag, len);
	put_all(fd, data, len);
}

struct o2gd_paper_entry entry(int tag, uint64_t size)
{
	return (struct o2gd_paper_entry){ .tag = tag,
					  .size = size,
					  .buf = (uintptr_t)buf };
}

bool is_done(const struct o2gd_paper_entry *e)
{
	return __atomic_load_n(&e->done, __ATOMIC_ACQUIRE);
}

void spin_done(const struct o2gd_paper_entry *e)
{
	time_t end = time(NULL) + 20;

	while (!is_done(e))
		CHECK(time(NULL) < end);
}

void wait_done(const struct o2gd_paper_entry *e)
{
	for (;;) {
		uint32_t seen =
			__atomic_load_n(&shared->news, __ATOMIC_ACQUIRE);

		if (is_done(e))
			return;
		CHECK(call(O2GD_PAPER_WAIT, &seen) == 0);
	}
}

struct o2gd_paper_entry *first(void)
{
	const struct o2gd_paper_dump *h = (const void *)area;

	CHECK(h->magic == O2GD_PAPER_MAGIC);
	return (void *)(uintptr_t)__atomic_load_n(&h->first, __ATOMIC_ACQUIRE);
}

struct o2gd_paper_entry *next(const struct o2gd_paper_entry *e)
{
	return (void *)(uintptr_t)__atomic_load_n(&e->next, __ATOMIC_ACQUIRE);
}

struct o2gd_paper_entry *wait_first(void)
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

void start_dumper(void)
{
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, dumper, NULL));
}
