// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Two processes, each in a namespace of its own, and a connection. */
#define _GNU_SOURCE
#include "plain.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void enter(const char *namespace)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", namespace);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	plain_check(fd >= 0 && !setns(fd, CLONE_NEWNET), path);
	close(fd);
}

static void pin(int core)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(core, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* The first address of this namespace; without one, loopback. */
static struct in_addr own_address(int in_namespace)
{
	struct in_addr a = { htonl(INADDR_LOOPBACK) };
	struct ifaddrs *all, *i;

	if (!in_namespace || getifaddrs(&all))
		return a;
	for (i = all; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
		    !(i->ifa_flags & IFF_LOOPBACK))
			a = ((struct sockaddr_in *)i->ifa_addr)->sin_addr;
	freeifaddrs(all);
	return a;
}

static int accept_one(int in_namespace, int tell)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr = own_address(in_namespace) };
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd;

	plain_check(!bind(listener, (struct sockaddr *)&a, len) &&
			    !listen(listener, 1) &&
			    !getsockname(listener, (struct sockaddr *)&a,
					 &len) &&
			    write(tell, &a, sizeof(a)) == sizeof(a),
		    "listening");
	fd = accept(listener, NULL, NULL);
	close(listener);
	return fd;
}

static int connect_one(int told)
{
	struct sockaddr_in a;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	plain_check(read(told, &a, sizeof(a)) == sizeof(a) &&
			    !connect(fd, (struct sockaddr *)&a, sizeof(a)),
		    "connecting");
	return fd;
}

static int one_more(const struct plain_pair *p, int in_namespace)
{
	int fd = p->side ? accept_one(in_namespace, p->meet) :
			   connect_one(p->meet);
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

struct plain_pair plain_pair(char *const *namespaces)
{
	struct plain_pair p;
	int ends[2];

	plain_check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	p.side = fork() ? 0 : 1;
	p.meet = ends[p.side];
	close(ends[!p.side]);
	if (p.side)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(p.side);
	if (namespaces)
		enter(namespaces[p.side]);
	p.fd = p.out = one_more(&p, namespaces != NULL);
	return p;
}

struct plain_pair plain_two_ways(char *const *namespaces)
{
	struct plain_pair p = plain_pair(namespaces);
	int second = one_more(&p, namespaces != NULL), no = 0;

	*(p.side ? &p.fd : &p.out) = second;
	setsockopt(p.fd, IPPROTO_TCP, TCP_QUICKACK, &no, sizeof(no));
	return p;
}

void plain_send(int fd, const void *data, size_t len)
{
	const char *at = data;
	ssize_t n;

	for (; len; at += n, len -= (size_t)n) {
		n = send(fd, at, len, MSG_NOSIGNAL);
		plain_check(n > 0, "sending");
	}
}

void plain_recv(int fd, void *data, size_t len)
{
	char *at = data;
	ssize_t n;

	for (; len; at += n, len -= (size_t)n) {
		n = recv(fd, at, len, 0);
		plain_check(n > 0, "receiving");
	}
}

double plain_meet(const struct plain_pair *p, double value)
{
	double other;

	plain_send(p->meet, &value, sizeof(value));
	plain_recv(p->meet, &other, sizeof(other));
	return other > value ? other : value;
}
