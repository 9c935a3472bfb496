/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The eight calls of 2004 as the driver has them, without the library: setting up,
 * receives, the dump area. paper [case]; runs where /dev/o2g is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paper_dev.h"

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
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
