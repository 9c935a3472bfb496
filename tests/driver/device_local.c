/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Endpoints of one host: device_local [case]. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

/* What has gone over the connection itself. */
static uint64_t tcp_sent(int fd)
{
	struct tcp_info i;
	socklen_t len = sizeof(i);

	CHECK(!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len));
	return i.tcpi_bytes_sent;
}

static void local__copied_once(void)
{
	static unsigned char mem[4 * MIB];
	struct o2gd_mem m = { .addr = (uintptr_t)mem,
			      .len = sizeof(mem),
			      .access = O2GD_READ,
			      .key = 5 };
	struct o2gd_sqe e = { .op = O2GD_OP_GET,
			      .slot = 9,
			      .peer = 1,
			      .key = 5,
			      .addr = (uintptr_t)buf,
			      .len = sizeof(mem) };
	int tcp[2];

	dev_open(&a, 0, 2, 512);
	dev_open(&b, 1, 2, 512);
	dev_tcp_pair(tcp);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	CHECK(dev_register(&b, 0, tcp[1]) == 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 253);
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t len = 100001 << i;

		dev_recv(&b, 1, 0, i, buf, len);
		send_all(&a, 1, 1, i, len);
		got(&b, 1, i, len);
		dev_recv(&a, 1, 1, i, buf, len);
		send_all(&b, 1, 0, i, len);
		got(&a, 1, i, len);
	}
	memcpy(mem, data, sizeof(mem));
	CHECK(dev_call(&b, O2GD_MEM_ADD, &m) == 0);
	CHECK(dev_call(&a, O2GD_SUBMIT, &e) == 0);
	CHECK(dev_next(&a, NULL, 0).status == 0);
	CHECK(!memcmp(buf, data, sizeof(mem)));
	CHECK(tcp_sent(tcp[0]) < 5000 && tcp_sent(tcp[1]) < 5000);
	close(tcp[0]), close(tcp[1]);
	close_pair();
}

/* Nothing at all goes over a connection that has both ends here. */
static void local__no_tcp(void)
{
	static unsigned char mem[20000];
	struct o2gd_mem m = { .addr = (uintptr_t)mem,
			      .len = sizeof(mem),
			      .access = O2GD_WRITE,
			      .key = 5 };
	struct o2gd_sqe e = { .op = O2GD_OP_PUT,
			      .slot = 9,
			      .peer = 1,
			      .key = 5,
			      .addr = (uintptr_t)data,
			      .len = sizeof(mem) };
	int tcp[2], ret;

	dev_open(&a, 0, 2, 512);
	dev_open(&b, 1, 2, 512);
	dev_mapped_pair(tcp);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	CHECK(dev_register(&b, 0, tcp[1]) == 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 253);
	for (uint32_t i = 0; i < 15; i++) { /* longer ones wait for a receive */
		send_all(&a, 1, 1, i, 1 << i);
		dev_recv(&b, 1, 0, i, buf, 1 << i);
		got(&b, 1, i, 1 << i);
		dev_recv(&a, 1, 1, i, buf, 1 << i);
		send_all(&b, 1, 0, i, 1 << i);
		got(&a, 1, i, 1 << i);
	}
	CHECK(dev_call(&b, O2GD_MEM_ADD, &m) == 0);
	ret = dev_call(&a, O2GD_SUBMIT, &e);
	CHECK(ret >= 0);
	if (!ret)
		CHECK(dev_next(&a, NULL, 0).status == 0);
	CHECK(!memcmp(mem, data, sizeof(mem)));
	CHECK(tcp_sent(tcp[0]) == 0 && tcp_sent(tcp[1]) == 0);
	close(tcp[0]), close(tcp[1]);
	close_pair();
}

/* Several at once, of both kinds, both ways. */
static void local__many(void)
{
	enum { N = 24, LEN = 200000 };

	open_pair();
	for (uint32_t i = 0; i < N; i++) {
		dev_recv(&a, i, 1, i, buf, LEN);
		dev_recv(&b, i, 0, i, buf + MIB, LEN);
	}
	for (uint32_t i = 0; i < N; i++) {
		CHECK(dev_submit(&a, O2GD_OP_SEND, 100 + i, 1, i, data,
				 i % 3 ? LEN : 8) >= 0);
		CHECK(dev_submit(&b, O2GD_OP_SEND, 100 + i, 0, i, data,
				 i % 2 ? LEN : 12000) >= 0);
	}
	for (int ends = 0; ends < 2; ends++) {
		struct dev *d = ends ? &b : &a;

		for (int left = N; left;) {
			struct o2gd_cqe c = dev_next(d, data + 4 * MIB, MIB);

			CHECK(c.status == 0);
			left -= c.slot < N;
		}
	}
	CHECK(!memcmp(buf, data, LEN) && !memcmp(buf + MIB, data, LEN));
	close_pair();
}

/* The other process dies in the middle: an error, not a wait forever. */
static void local__killed(void)
{
	for (int i = 0; i < 16; i++) {
		struct o2gd_cqe c = { 0 };
		bool sends = i % 2;
		int tcp[2];
		pid_t pid;

		dev_tcp_pair(tcp);
		pid = fork();
		dev_open(&a, pid == 0, 2, 512);
		CHECK(dev_register(&a, pid != 0, tcp[pid == 0]) == 0);
		close(tcp[0]), close(tcp[1]);
		for (uint32_t n = 0; pid || n < 1000000; n = (n + 1) % 400) {
			if ((pid != 0) == sends)
				dev_submit(&a, O2GD_OP_SEND, n, pid != 0, 1,
					   data, 3 * MIB);
			else
				dev_submit(&a, O2GD_OP_RECV, n, pid != 0, 1,
					   buf, 3 * MIB);
			if (n < 4)
				continue;
			c = dev_next(&a, NULL, 0);
			if (pid && n == 5 + (uint32_t)i / 4) {
				usleep(700 * (unsigned)i);
				kill(pid, SIGKILL);
			}
			if (c.slot == O2GD_SLOT_PEER)
				break;
		}
		CHECK(c.status == -O2G_ERR_PEER);
		CHECK(waitpid(pid, NULL, 0) == pid);
		dev_close(&a);
	}
}

static const struct dev_case cases[] = {
	DEV_CASE(local__copied_once),
	DEV_CASE(local__no_tcp),
	DEV_CASE(local__many),
	DEV_CASE(local__killed),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
