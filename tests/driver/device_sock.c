/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What else a program may do with a socket that the driver has: device_sock [case]. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pair.h"
#include "wire.h"

static int tcp[2];

static void open_with_sockets(void)
{
	dev_open(&a, 0, 2, 16);
	dev_open(&b, 1, 2, 16);
	dev_tcp_pair(tcp);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	CHECK(dev_register(&b, 0, tcp[1]) == 0);
}

static void disconnect(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	CHECK(connect(fd, &none, sizeof(none)) == 0);
}

/* Somebody connects to @fd, which listens. */
static void join(int fd, int *client, int *child)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);

	CHECK(getsockname(fd, (void *)&addr, &len) == 0);
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*client = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(connect(*client, (void *)&addr, sizeof(addr)) == 0);
	*child = accept(fd, NULL, NULL);
	CHECK(*child >= 0);
}

/* It is an ordinary connection. */
static void is_ordinary(int client, int child)
{
	char c = 0;

	CHECK(write(client, "x", 1) == 1);
	CHECK(read(child, &c, 1) == 1 && c == 'x');
	CHECK(write(child, "y", 1) == 1);
	CHECK(read(client, &c, 1) == 1 && c == 'y');
	close(client);
	CHECK(read(child, &c, 1) == 0);
	close(child);
}

static void socket__disconnects(void)
{
	open_with_sockets();
	disconnect(tcp[1]);
	lost(&b, 0, O2GD_LOST_ERROR);
	dev_next(&a, NULL, 0);
	close(tcp[0]), close(tcp[1]);
	close_pair();
}

static void socket__listens(void)
{
	int client, child;

	open_with_sockets();
	CHECK(listen(tcp[1], 5) == -1 && errno == EINVAL);
	disconnect(tcp[1]);
	CHECK(listen(tcp[1], 5) == 0);
	join(tcp[1], &client, &child);
	close_pair();
	is_ordinary(client, child);
	close(tcp[0]), close(tcp[1]);
}

/* Its children are there when the driver is not. */
static void socket__listens_unloaded(void)
{
	int client, child;

	open_with_sockets();
	disconnect(tcp[1]);
	CHECK(listen(tcp[1], 5) == 0);
	join(tcp[1], &client, &child);
	close_pair();
	CHECK(system("rmmod o2g") == 0);
	is_ordinary(client, child);
	join(tcp[1], &client, &child);
	is_ordinary(client, child);
	close(tcp[0]), close(tcp[1]);
}

/* kTLS stays away, and may come when the socket is given back. */
static void socket__protocol(void)
{
	open_with_sockets();
	CHECK(setsockopt(tcp[0], IPPROTO_TCP, TCP_ULP, "tls", 3) == -1);
	CHECK(errno == EEXIST || errno == ENOENT);
	CHECK(dev_inject(&a, 1, 7, data, 8) == 0);
	dev_recv(&b, 1, 0, 7, NULL, 8);
	got(&b, 1, 7, 8);
	close_pair();
	close(tcp[0]), close(tcp[1]);
}

/* --- others that want the socket --- */

static int sockmap(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_SOCKMAP;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static int map_takes(int map, int fd)
{
	union bpf_attr attr;
	uint32_t key = 0;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&fd;
	return (int)syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr));
}

/* A map stays away as well, and a socket of a map is not for the driver. */
static void socket__sockmap(void)
{
	int map = sockmap();

	CHECK(map >= 0);
	open_with_sockets();
	CHECK(map_takes(map, tcp[0]) == -1);
	CHECK(errno == EBUSY || errno == EINVAL);
	CHECK(dev_inject(&a, 1, 7, data, 8) == 0);
	dev_recv(&b, 1, 0, 7, NULL, 8);
	got(&b, 1, 7, 8);
	close_pair();
	CHECK(map_takes(map, tcp[0]) == 0);
	dev_open(&a, 0, 2, 16);
	CHECK(dev_register(&a, 1, tcp[0]) == -EBUSY);
	dev_close(&a);
	close(map), close(tcp[0]), close(tcp[1]);
}

static void socket__tls_first(void)
{
	dev_tcp_pair(tcp);
	if (setsockopt(tcp[0], IPPROTO_TCP, TCP_ULP, "tls", 3))
		return; /* this kernel has none */
	dev_open(&a, 0, 2, 16);
	CHECK(dev_register(&a, 1, tcp[0]) == -EBUSY);
	dev_close(&a);
	close(tcp[0]), close(tcp[1]);
}

/* It is registered with one endpoint at a time, of whatever kind. */
static void socket__registered_twice(void)
{
	struct o2gd_paper_init i = { .version = O2GD_VERSION, .nsocks = 2 };
	struct o2gd_socket s = { .peer = 1 };
	struct dev paper = { .fd = open(O2GD_DEVICE, O_RDWR) };
	struct dev third;

	open_with_sockets();
	s.fd = tcp[0];
	dev_open(&third, 0, 3, 16);
	CHECK(dev_register(&third, 1, tcp[0]) == -EBUSY);
	CHECK(dev_call(&paper, O2GD_PAPER_INIT, &i) == 0);
	CHECK(dev_call(&paper, O2GD_PAPER_SOCKET, &s) == -EBUSY);
	CHECK(dev_inject(&a, 1, 7, data, 8) == 0);
	dev_recv(&b, 1, 0, 7, NULL, 8);
	got(&b, 1, 7, 8);
	close_pair();
	CHECK(dev_call(&paper, O2GD_PAPER_SOCKET, &s) == 0);
	CHECK(dev_register(&third, 1, tcp[0]) == -EBUSY);
	close(paper.fd);
	CHECK(dev_register(&third, 1, tcp[0]) == 0);
	dev_close(&third);
	close(tcp[0]), close(tcp[1]);
}

/* Only what the driver has sent is received, once there is a link. */
static void socket__raw_beside_the_link(void)
{
	struct o2g_hdr h = { .type = O2G_PKT_DATA,
			     .dst = 1,
			     .cookie = 1ull << 32 | 2,
			     .length = 40000 };
	uint8_t raw[O2G_HDR_SIZE];
	struct o2gd_cqe c;

	open_with_sockets();
	dev_recv(&b, 1, 0, 1, buf, 40000);
	CHECK(dev_submit(&a, O2GD_OP_SEND, 1, 1, 1, data, 40000) == 0);
	o2g_wire_encode(&h, raw);
	CHECK(write(tcp[0], raw, sizeof(raw)) == sizeof(raw));
	do
		c = dev_next(&b, NULL, 0);
	while (c.slot != O2GD_SLOT_PEER);
	CHECK(c.tag == O2GD_LOST_PACKET);
	close(tcp[0]), close(tcp[1]);
	close_pair();
}

int main(int argc, char **argv)
{
	static const struct dev_case cases[] = {
		DEV_CASE(socket__disconnects),
		DEV_CASE(socket__listens),
		DEV_CASE(socket__protocol),
		DEV_CASE(socket__sockmap),
		DEV_CASE(socket__tls_first),
		DEV_CASE(socket__registered_twice),
		DEV_CASE(socket__raw_beside_the_link),
		DEV_CASE(socket__listens_unloaded),
	};

	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
