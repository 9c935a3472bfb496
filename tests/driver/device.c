/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Endpoints and sockets of the driver, by hand: device [case]. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

/* --- set-up --- */

static void setup__refuses(void)
{
	struct o2gd_setup good = { .version = O2GD_VERSION,
				   .size = 2,
				   .sq_entries = 64,
				   .cq_entries = 64,
				   .dump_size = 1 << 20,
				   .eager_max = 1,
				   .data_chunk = 1 },
			  s;
	struct dev d = { .fd = open(O2GD_DEVICE, O_RDWR) };
	uint32_t n = 16;

	CHECK(dev_call(&d, O2GD_KICK, NULL) == -EBADFD);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, d.fd, 0) == MAP_FAILED);
	s = good, s.version = 99;
	CHECK(dev_call(&d, O2GD_SETUP, &s) == -EPROTO);
	s = good, s.rank = 2;
	CHECK(dev_call(&d, O2GD_SETUP, &s) == -EINVAL);
	s = good, s.size = 0;
	CHECK(dev_call(&d, O2GD_SETUP, &s) == -EINVAL);
	CHECK(dev_call(&d, O2GD_SETUP, (void *)8) == -EFAULT);
	s = good;
	CHECK(dev_call(&d, O2GD_SETUP, &s) == 0);
	CHECK(dev_call(&d, O2GD_SETUP, &s) == -EBUSY);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, d.fd, 0) == MAP_FAILED);
	CHECK(mmap(NULL, s.map_size, PROT_READ | PROT_EXEC, MAP_SHARED, d.fd,
		   0) == MAP_FAILED);
	CHECK(dev_call(&d, O2GD_GROW, &n) == 0);
	n = 1u << 30;
	CHECK(dev_call(&d, O2GD_GROW, &n) == -E2BIG);
	CHECK(dev_call(&d, 0xF2FF, NULL) == -ENOTTY);
	close(d.fd);
}

static void setup__bad_sizes(void)
{
	static const uint32_t sizes[][3] = { { 0, 64, 1 << 20 },
					     { 63, 64, 1 << 20 },
					     { 64, 1 << 30, 1 << 20 },
					     { 64, 64, 100 },
					     { 64, 64, 0 } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct o2gd_setup s = { .version = O2GD_VERSION,
					.size = 2,
					.sq_entries = sizes[i][0],
					.cq_entries = sizes[i][1],
					.dump_size = sizes[i][2],
					.data_chunk = 1 };
		struct dev d = { .fd = open(O2GD_DEVICE, O_RDWR) };

		CHECK(dev_call(&d, O2GD_SETUP, &s) == -EINVAL);
		CHECK(dev_call(&d, O2GD_KICK, NULL) == -EBADFD);
		close(d.fd);
	}
}

/* Another process has the descriptor, but not the memory. */
static void setup__not_for_children(void)
{
	int status;

	dev_open(&a, 0, 2, 16);
	if (fork() == 0)
		_exit(dev_call(&a, O2GD_KICK, NULL) == -EBADFD ? 0 : 1);
	CHECK(wait(&status) > 0 && status == 0);
	CHECK(dev_call(&a, O2GD_KICK, NULL) == 0);
	dev_close(&a);
}

/* --- sockets --- */

static void socket__refuses(void)
{
	int udp = socket(AF_INET, SOCK_DGRAM, 0);
	int fresh = socket(AF_INET, SOCK_STREAM, 0);
	int local[2], tcp[2];

	dev_open(&a, 0, 3, 16);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, local));
	dev_tcp_pair(tcp);
	CHECK(dev_register(&a, 1, 9999) == -EBADF);
	CHECK(dev_register(&a, 1, a.fd) == -ENOTSOCK);
	CHECK(dev_register(&a, 1, udp) == -EPROTOTYPE);
	CHECK(dev_register(&a, 1, local[0]) == -EPROTOTYPE);
	CHECK(dev_register(&a, 1, fresh) == -ENOTCONN);
	CHECK(dev_register(&a, 3, tcp[0]) == -EINVAL);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	CHECK(dev_register(&a, 2, tcp[0]) == -EBUSY);
	CHECK(dev_register(&a, 1, tcp[1]) == -EISCONN);
	dev_close(&a);
	close(udp), close(fresh), close(local[0]), close(local[1]);
	close(tcp[0]), close(tcp[1]);
}

/* What the driver has not read is there for read(2) afterwards. */
static void socket__given_back(void)
{
	char text[16];
	int tcp[2];

	for (int i = 0; i < 3; i++) {
		dev_tcp_pair(tcp);
		dev_open(&a, 0, 2, 16);
		CHECK(dev_register(&a, 1, tcp[0]) == 0);
		dev_close(&a);
		CHECK(write(tcp[1], "hello", 5) == 5);
		CHECK(read(tcp[0], text, 16) == 5 && !memcmp(text, "hello", 5));
		CHECK(write(tcp[0], "again", 5) == 5);
		CHECK(read(tcp[1], text, 16) == 5 && !memcmp(text, "again", 5));
		close(tcp[0]), close(tcp[1]);
	}
}

/* What came before registration is seen; the descriptor may be closed. */
static void socket__takes_what_is_there(void)
{
	int tcp[2];

	dev_tcp_pair(tcp);
	dev_open(&a, 0, 2, 16);
	dev_open(&b, 1, 2, 16);
	dev_recv(&b, 3, 0, 7, NULL, 100);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	CHECK(dev_inject(&a, 1, 7, data, 100) == 0);
	CHECK(dev_register(&b, 0, tcp[1]) == 0);
	close(tcp[0]), close(tcp[1]);
	got(&b, 3, 7, 100);
	close_pair();
}

/* Sends wait for a socket. */
static void socket__late(void)
{
	dev_open(&a, 0, 2, 16);
	dev_open(&b, 1, 2, 16);
	CHECK(dev_inject(&a, 1, 1, data, 10) == 0);
	CHECK(dev_submit(&a, O2GD_OP_SEND, 4, 1, 2, data, 200000) == 0);
	dev_recv(&b, 1, 0, 1, NULL, 10);
	dev_recv(&b, 2, 0, 2, buf, 200000);
	dev_join(&a, &b);
	got(&b, 1, 1, 10);
	got(&b, 2, 2, 200000);
	CHECK(dev_next(&a, NULL, 0).slot == 4);
	close_pair();
}

/* --- limits --- */

/* No pinned memory for an ordinary user: everything works, by workers. */
static void limits__memlock(void)
{
	struct rlimit none = { 3 << 20, 3 << 20 };
	struct o2gd_info i;
	int status;

	if (fork() == 0) {
		CHECK(!setrlimit(RLIMIT_MEMLOCK, &none));
		CHECK(!setgid(65534) && !setuid(65534));
		open_pair();
		dev_recv(&b, 1, 0, 1, buf, 6 * MIB);
		send_all(&a, 1, 1, 1, 6 * MIB);
		got(&b, 1, 1, 6 * MIB);
		dev_info(&b, &i);
		CHECK(i.pin_refused == 1 && i.rx_bytes_worker > 0);
		a.fd = open(O2GD_DEVICE, O_RDWR);
		a.s.dump_size = 64 << 20;
		CHECK(dev_call(&a, O2GD_SETUP, &a.s) == -ENOMEM);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
}

static void wait__poll(void)
{
	struct pollfd p = { .events = POLLIN };

	open_pair();
	p.fd = b.fd;
	CHECK(poll(&p, 1, 0) == 0);
	dev_recv(&b, 1, 0, 1, NULL, 8);
	CHECK(dev_inject(&a, 1, 1, data, 8) == 0);
	CHECK(poll(&p, 1, 10000) == 1 && p.revents & POLLIN);
	got(&b, 1, 1, 8);
	CHECK(poll(&p, 1, 0) == 0);
	close_pair();
}

/* Endpoints and their queues, seen by their owner and by nobody else. */
static void look__owner_only(void)
{
	struct o2gd_list_entry e[8];
	struct o2gd_queue_entry q[8];
	struct o2gd_list l = { .max = 8,
			       .addr = (uintptr_t)e,
			       .entry = sizeof(e[0]) };
	struct o2gd_look w = { .max = 8,
			       .addr = (uintptr_t)q,
			       .entry = sizeof(q[0]) };
	struct o2gd_info i;
	struct o2gd_probe p = { .source = O2GD_ANY, .ignore = ~0ull };
	int status;

	open_pair();
	dev_recv(&b, 1, O2GD_ANY, 5, NULL, 100);
	send_all(&a, 1, 1, 6, 300);
	while (dev_call(&b, O2GD_PROBE, &p) == -EAGAIN)
		;
	CHECK(dev_call(&a, O2GD_LIST, &l) == 0 && l.count == 2);
	CHECK(e[1].pid == (uint32_t)getpid() && e[1].rank == 1);
	CHECK(driver_info(a.fd, e[1].id, O2GD_ANY, &i) == 0);
	CHECK(i.posted == 1 && i.unexpected == 1);
	CHECK(driver_info(a.fd, e[0].id, O2GD_ANY, &i) == 0);
	CHECK(i.messages_sent == 1 && i.bytes_sent == 300);
	CHECK(e[1].kind == O2GD_KIND_RANK && e[0].id != e[1].id);
	w.id = e[1].id;
	CHECK(dev_call(&a, O2GD_QUEUES, &w) == 0 && w.count == 2);
	CHECK(q[0].queue == O2GD_QUEUE_POSTED && q[0].source == O2GD_ANY);
	CHECK(q[0].tag == 5 && q[0].length == 100);
	CHECK(q[1].queue == O2GD_QUEUE_UNEXPECTED && q[1].source == 0);
	CHECK(q[1].tag == 6 && q[1].length == 300);
	w.max = 1;
	CHECK(dev_call(&a, O2GD_QUEUES, &w) == 0 && w.count == 2);
	w.id = 0;
	CHECK(dev_call(&a, O2GD_QUEUES, &w) == -ESRCH);
	w.max = O2GD_MAX_LOOK + 1;
	CHECK(dev_call(&a, O2GD_QUEUES, &w) == -EINVAL);
	w.max = 8, w.id = e[1].id;
	if (fork() == 0) {
		struct dev other = { .fd = open(O2GD_DEVICE, O_RDWR) };

		CHECK(!setgid(65534) && !setuid(65534));
		CHECK(dev_call(&other, O2GD_LIST, &l) == 0 && l.count == 0);
		CHECK(dev_call(&other, O2GD_QUEUES, &w) == -ESRCH);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
	close_pair();
}

static const struct dev_case cases[] = {
	DEV_CASE(setup__refuses),
	DEV_CASE(setup__bad_sizes),
	DEV_CASE(setup__not_for_children),
	DEV_CASE(socket__refuses),
	DEV_CASE(socket__given_back),
	DEV_CASE(socket__takes_what_is_there),
	DEV_CASE(socket__late),
	DEV_CASE(limits__memlock),
	DEV_CASE(wait__poll),
	DEV_CASE(look__owner_only),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
