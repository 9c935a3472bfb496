// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * sockets COUNT [SOCKETS...]: how many instructions it takes to receive a message
 * of 8 bytes with so many sockets registered, sending it included. The sockets
 * take turns, and each has seen some messages before: a connection's first ones
 * cost TCP more.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dev.h"
#include "mark.h"
#include "wire.h"

#define WARM 24

struct packet {
	char header[O2G_HDR_SIZE];
	char body[8];
};

/* A peer is a plain socket: it writes packets, and drops the credit it gets. */
static void send_one(int fd, uint32_t from)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .src = from,
			     .tag = 7,
			     .length = sizeof(((struct packet *)0)->body) };
	struct packet p = { .body = "message" };

	o2g_wire_encode(&h, p.header);
	CHECK(write(fd, &p, sizeof(p)) == sizeof(p));
}

static void receive_one(struct dev *d, const int *fd, long n, long i)
{
	uint32_t peer = (uint32_t)(i % n);
	struct o2gd_cqe c;
	char body[8];

	dev_recv(d, 0, O2GD_ANY, 7, body, sizeof(body));
	send_one(fd[peer], peer + 1);
	c = dev_next(d, body, sizeof(body));
	CHECK(c.status == 0 && c.source == peer + 1 &&
	      !strcmp(body, "message"));
}

static void drain(const int *fd, long n)
{
	char buf[4096];

	for (long i = 0; i < n; i++)
		while (recv(fd[i], buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
}

static void measure(long n, long count)
{
	unsigned long long user, kernel;
	int *fd = calloc((size_t)n, sizeof(*fd)), pair[2];
	struct dev d = { .s = { .version = O2GD_VERSION,
				.size = (uint32_t)n + 1,
				.sq_entries = 64,
				.cq_entries = 256,
				.dump_size = 4 << 20,
				.eager_max = 64 << 10,
				.data_chunk = 1 << 20,
				.peer_budget = 4 << 20 } };

	CHECK(fd);
	dev_open_as(&d, 1);
	for (long i = 0; i < n; i++) {
		dev_tcp_pair(pair);
		fd[i] = pair[1];
		setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &(int){ 1 },
			   sizeof(int));
		CHECK(dev_register(&d, (uint32_t)i + 1, pair[0]) == 0);
		close(pair[0]); /* the driver has it */
	}
	for (long i = 0; i < n * WARM || i < count / 10; i++)
		receive_one(&d, fd, n, i);
	drain(fd, n);
	lab_count_begin();
	for (long i = 0; i < count; i++)
		receive_one(&d, fd, n, i);
	if (!lab_count_end(&user, &kernel)) {
		fprintf(stderr,
			"sockets: nobody counts here: lab/vm run --count\n");
		exit(77);
	}
	printf("{\"sockets\": %ld, \"messages\": %ld, \"programs\": %llu, "
	       "\"kernel\": %llu}\n",
	       n, count, user / (unsigned)count, kernel / (unsigned)count);
	fflush(stdout);
	dev_close(&d);
	for (long i = 0; i < n; i++)
		close(fd[i]);
	free(fd);
}

int main(int argc, char **argv)
{
	struct rlimit files = { 4096, 4096 };

	if (argc < 3) {
		fprintf(stderr, "usage: sockets COUNT SOCKETS...\n");
		return 2;
	}
	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 2; i < argc; i++)
		measure(strtol(argv[i], NULL, 10), strtol(argv[1], NULL, 10));
	return 0;
}
