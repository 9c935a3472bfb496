// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * bpf_floor [NAMESPACE NAMESPACE]: half a round trip of 56 bytes (a header and 8)
 * with nothing around it: send(), and either recv() until it comes, or looking at
 * the channel's ring. This is what no MPI over TCP can be faster than here. The
 * last line is the ring once more, with the socket in an epoll set as it is when a
 * rank may sleep. By turns, over loopback or between two network namespaces; one
 * process on each of the first two cores. Root.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/seat.h"
#include "clock.h"

#include "o2g_bpf.skel.h"

enum { SIZE = 56, TRIPS = 2000, TURNS = 31 };
enum way { BY_RECV, BY_RING, WATCHED, WAYS };

static const char *const names[WAYS] = { "recv()", "ring",
					 "ring, socket watched" };
static struct o2g_bpf *bpf;
static __u64 head;
static int conn[WAYS];

static void check(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

/* --- setting up --- */

static void settle(int side, const char *namespace)
{
	cpu_set_t cpus;
	char path[300];
	int fd;

	CPU_ZERO(&cpus);
	CPU_SET(side, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	if (!namespace)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", namespace);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	check(fd >= 0 && !setns(fd, CLONE_NEWNET), path);
	close(fd);
}

/* The first address of this namespace; without one, loopback. */
static struct in_addr own_address(const char *namespace)
{
	struct in_addr a = { htonl(INADDR_LOOPBACK) };
	struct ifaddrs *all, *i;

	if (!namespace || getifaddrs(&all))
		return a;
	for (i = all; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
		    !(i->ifa_flags & IFF_LOOPBACK))
			a = ((struct sockaddr_in *)i->ifa_addr)->sin_addr;
	freeifaddrs(all);
	return a;
}

static void listen_and_tell(const char *namespace, int pipe)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr = own_address(namespace) };
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	check(!bind(listener, (struct sockaddr *)&a, len) &&
		      !listen(listener, WAYS) &&
		      !getsockname(listener, (struct sockaddr *)&a, &len) &&
		      write(pipe, &a, sizeof(a)) == sizeof(a),
	      "listening");
	for (int i = 0; i < WAYS; i++)
		conn[i] = accept(listener, NULL, NULL);
}

static void connect_there(int pipe)
{
	struct sockaddr_in a;

	check(read(pipe, &a, sizeof(a)) == sizeof(a), "the other process");
	for (int i = 0; i < WAYS; i++) {
		conn[i] = socket(AF_INET, SOCK_STREAM, 0);
		check(!connect(conn[i], (struct sockaddr *)&a, sizeof(a)),
		      "connecting");
	}
}

static void join(__u32 i)
{
	__u64 cookie, value = (__u64)conn[i];
	socklen_t len = sizeof(cookie);

	getsockopt(conn[i], SOL_SOCKET, SO_COOKIE, &cookie, &len);
	check(!bpf_map_update_elem(bpf_map__fd(bpf->maps.conns), &cookie, &i,
				   BPF_ANY) &&
		      !bpf_map_update_elem(bpf_map__fd(bpf->maps.socks), &i,
					   &value, BPF_ANY),
	      "joining");
}

static void prepare(void)
{
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLRDHUP | EPOLLET };
	int one = 1, set = epoll_create1(0);

	bpf = o2g_bpf__open_and_load();
	check(bpf && !bpf_prog_attach(bpf_program__fd(bpf->progs.o2g_verdict),
				      bpf_map__fd(bpf->maps.socks),
				      BPF_SK_SKB_STREAM_VERDICT, 0),
	      "loading the program (are you root?)");
	for (int i = 0; i < WAYS; i++)
		setsockopt(conn[i], IPPROTO_TCP, TCP_NODELAY, &one,
			   sizeof(one));
	join(BY_RING);
	join(WATCHED);
	epoll_ctl(set, EPOLL_CTL_ADD, conn[WATCHED], &ev);
}

/* --- to and fro --- */

static void take_recv(int fd)
{
	char buf[SIZE];
	ssize_t n;

	do
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	while (n < 0);
	check(n == SIZE, "receiving");
}

static void take_ring(void)
{
	struct bpf_seat *s = &bpf->bss->seat;
	struct bpf_desc *d = &s->descs[(head >> 32) % BPF_DESCS];

	while (__atomic_load_n(&d->seq, __ATOMIC_ACQUIRE) !=
	       (__u32)(head >> 32) + 1)
		o2g_cpu_relax();
	head = ((head >> 32) + 1) << 32 | (__u32)((__u32)head + 1);
	__atomic_store_n(&s->head, head, __ATOMIC_RELEASE);
}

static void trips(enum way w, int side)
{
	char buf[SIZE] = { 0 };

	for (int i = 0; i < 2 * TRIPS; i++)
		if (i % 2 == side)
			check(send(conn[w], buf, SIZE, MSG_DONTWAIT) == SIZE,
			      "sending");
		else if (w == BY_RECV)
			take_recv(conn[w]);
		else
			take_ring();
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(int side)
{
	double us[WAYS][TURNS];

	for (int t = -1; t < TURNS; t++)
		for (int w = 0; w < WAYS; w++) {
			uint64_t start = o2g_now_ns();

			trips(w, side);
			if (t >= 0)
				us[w][t] = (double)(o2g_now_ns() - start) /
					   1e3 / TRIPS / 2;
		}
	for (int w = 0; w < WAYS && side == 0; w++) {
		qsort(us[w], TURNS, sizeof(double), by_value);
		printf("%-22s best %5.2f us, median %5.2f us\n", names[w],
		       us[w][0], us[w][TURNS / 2]);
	}
}

int main(int argc, char **argv)
{
	int side, pipes[2];

	check((argc == 1 || argc == 3) && !pipe(pipes),
	      "usage: bpf_floor [NAMESPACE NAMESPACE]");
	side = fork() ? 0 : 1;
	if (side)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	settle(side, argc == 3 ? argv[1 + side] : NULL);
	if (side)
		listen_and_tell(argc == 3 ? argv[2] : NULL, pipes[1]);
	else
		connect_there(pipes[0]);
	prepare();
	measure(side);
	return 0;
}
