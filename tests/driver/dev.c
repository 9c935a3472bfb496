/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "abi.h"
#include "dev.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 20000
#define CASE_SECONDS 60

void dev_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s does not hold (errno: %s)\n", file, line,
		what, strerror(errno));
	_exit(1);
}

int dev_patience(void)
{
	return access("/sys/kernel/debug/kmemleak", F_OK) ? 1 : 4;
}

int dev_call(const struct dev *d, unsigned long request, void *arg)
{
	int ret = ioctl(d->fd, request, arg);

	return ret < 0 ? -errno : ret;
}

void dev_open_as(struct dev *d, uint32_t slots)
{
	d->fd = open(O2GD_DEVICE, O_RDWR | O_CLOEXEC);
	CHECK(d->fd >= 0);
	CHECK(dev_call(d, O2GD_SETUP, &d->s) == 0);
	d->map = mmap(NULL, d->s.map_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      d->fd, 0);
	CHECK(d->map != MAP_FAILED);
	d->shared = (struct o2gd_shared *)d->map;
	d->sq = (struct o2gd_sqe *)(d->map + d->s.sq_off);
	d->cq = (struct o2gd_cqe *)(d->map + d->s.cq_off);
	d->sq_tail = d->cq_head = 0;
	CHECK(dev_call(d, O2GD_GROW, &slots) == 0);
}

void dev_open(struct dev *d, uint32_t rank, uint32_t size, uint32_t slots)
{
	memset(d, 0, sizeof(*d));
	d->s = (struct o2gd_setup){ .version = O2GD_VERSION,
				    .rank = rank,
				    .size = size,
				    .sq_entries = 64,
				    .cq_entries = 256,
				    .dump_size = 1 << 20,
				    .eager_max = 64 << 10,
				    .data_chunk = 1 << 20,
				    .peer_budget = 1 << 20 };
	dev_open_as(d, slots);
}

void dev_close(struct dev *d)
{
	munmap(d->map, d->s.map_size);
	close(d->fd);
}

void dev_mapped_pair(int fd[2])
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(any);
	int l = socket(AF_INET6, SOCK_STREAM, 0);

	CHECK(!bind(l, (struct sockaddr *)&any, len) && !listen(l, 1));
	CHECK(!getsockname(l, (struct sockaddr *)&any, &len));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = any.sin6_port;
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!connect(fd[0], (struct sockaddr *)&a, sizeof(a)));
	fd[1] = accept(l, NULL, NULL);
	CHECK(fd[1] >= 0);
	close(l);
}

void dev_tcp_pair(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(!bind(l, (struct sockaddr *)&a, sizeof(a)) && !listen(l, 1));
	CHECK(!getsockname(l, (struct sockaddr *)&a, &len));
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!connect(fd[0], (struct sockaddr *)&a, sizeof(a)));
	fd[1] = accept(l, NULL, NULL);
	CHECK(fd[1] >= 0);
	close(l);
}

int dev_register(const struct dev *d, uint32_t peer, int fd)
{
	struct o2gd_socket s = { .peer = peer, .fd = fd };

	return dev_call(d, O2GD_SOCKET, &s);
}

void dev_join(const struct dev *a, const struct dev *b)
{
	int fd[2];

	dev_tcp_pair(fd);
	CHECK(dev_register(a, b->s.rank, fd[0]) == 0);
	CHECK(dev_register(b, a->s.rank, fd[1]) == 0);
	close(fd[0]);
	close(fd[1]);
}

int dev_submit(const struct dev *d, uint8_t op, uint32_t slot, uint32_t peer,
	       uint64_t tag, const void *buf, uint64_t len)
{
	struct o2gd_sqe e = { .op = op,
			      .slot = slot,
			      .peer = peer,
			      .tag = tag,
			      .addr = (uintptr_t)buf,
			      .len = len };

	return dev_call(d, O2GD_SUBMIT, &e);
}

void dev_recv(struct dev *d, uint32_t slot, uint32_t source, uint64_t tag,
	      void *buf, uint64_t len)
{
	if (len > O2GD_SMALL) {
		CHECK(dev_submit(d, O2GD_OP_RECV, slot, source, tag, buf,
				 len) == 0);
		return;
	}
	d->sq[d->sq_tail & (d->s.sq_entries - 1)] =
		(struct o2gd_sqe){ .op = O2GD_OP_RECV,
				   .slot = slot,
				   .peer = source,
				   .tag = tag,
				   .len = len };
	__atomic_store_n(&d->shared->sq_tail, ++d->sq_tail, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&d->shared->unexpected, __ATOMIC_ACQUIRE))
		CHECK(dev_call(d, O2GD_KICK, NULL) == 0);
}

int dev_inject(const struct dev *d, uint32_t peer, uint64_t tag,
	       const void *buf, uint32_t len)
{
	struct o2gd_inject i = { .peer = peer,
				 .len = len,
				 .tag = tag,
				 .addr = (uintptr_t)buf };

	return dev_call(d, O2GD_INJECT, &i);
}

bool dev_has(const struct dev *d)
{
	const struct o2gd_cqe *c = &d->cq[d->cq_head & (d->s.cq_entries - 1)];

	return __atomic_load_n(&c->seq, __ATOMIC_ACQUIRE) == d->cq_head + 1;
}

struct o2gd_cqe dev_next(struct dev *d, void *buf, uint64_t len)
{
	struct o2gd_wait w = { .seen = d->cq_head,
			       .timeout_ms = WAIT_MS * dev_patience() };
	struct o2gd_fetch f = { .addr = (uintptr_t)buf, .len = len };
	struct o2gd_cqe c;

	while (!dev_has(d))
		CHECK(dev_call(d, O2GD_WAIT, &w) == 0);
	c = d->cq[d->cq_head & (d->s.cq_entries - 1)];
	f.slot = c.slot;
	if (c.where)
		CHECK(c.length <= len);
	if (c.where == O2GD_AT_INLINE)
		memcpy(buf, c.data, c.length);
	else if (c.where == O2GD_AT_DUMP)
		memcpy(buf, d->map + d->s.dump_off + c.off, c.length);
	else if (c.where == O2GD_AT_DRIVER)
		CHECK(dev_call(d, O2GD_FETCH, &f) == 0);
	__atomic_store_n(&d->shared->cq_head, ++d->cq_head, __ATOMIC_RELEASE);
	return c;
}

void dev_info(const struct dev *d, struct o2gd_info *info)
{
	CHECK(driver_info(d->fd, 0, O2GD_ANY, info) == 0);
}

/* --- cases --- */

static bool run_case(const struct dev_case *c, size_t number)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(CASE_SECONDS * dev_patience());
		c->run();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	printf("%sok %zu %s\n", status ? "not " : "", number, c->name);
	return status == 0;
}

int dev_run_cases(int argc, char **argv, const struct dev_case *cases, size_t n)
{
	bool ok = true;

	printf("KTAP version 1\n1..%zu\n", n);
	for (size_t i = 0; i < n; i++)
		if (argc < 2 || strstr(cases[i].name, argv[1]))
			ok &= run_case(&cases[i], i + 1);
	return !ok;
}
