/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * For tests of the BPF program by itself: a connection over loopback, one end of
 * which joins a seat that nobody else uses.
 */
#ifndef BPF_PAIR_H
#define BPF_PAIR_H

#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/name.h"
#include "bpf/seat.h"
#include "bpf/sys.h"

static inline void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s (%s)\n", program_invocation_short_name, what,
		strerror(errno));
	exit(1);
}

/* @there connects to @here; the address it connects to. */
static inline struct sockaddr_in connect_pair(int *here, int *there)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	*there = socket(AF_INET, SOCK_STREAM, 0);
	check(!bind(listener, (struct sockaddr *)&a, len) &&
		      !listen(listener, 1) &&
		      !getsockname(listener, (struct sockaddr *)&a, &len) &&
		      !connect(*there, (struct sockaddr *)&a, len),
	      "connecting");
	*here = accept(listener, NULL, NULL);
	check(*here >= 0, "accepting");
	close(listener);
	return a;
}

static inline struct bpf_seat *open_seat(const char *dir)
{
	char path[512];
	void *p;
	int fd;

	snprintf(path, sizeof(path), "%s/seat", dir);
	fd = bpf_sys_get(path);
	check(fd >= 0, path);
	p = mmap(NULL, sizeof(struct bpf_seat), PROT_READ | PROT_WRITE,
		 MAP_SHARED, fd, 0);
	check(p != MAP_FAILED, "mapping the seat");
	close(fd);
	return p;
}

static inline int open_map(const char *dir, const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = bpf_sys_get(path);
	check(fd >= 0, path);
	return fd;
}

/* As connection 0. */
static inline void join(struct bpf_seat *seat, const char *dir, int here)
{
	__u32 index = 0;
	__u64 value = (__u64)here;

	check(!bpf_name_set(seat, 0, here) &&
		      !bpf_sys_update(open_map(dir, "socks"), &index, &value,
				      BPF_NOEXIST),
	      "joining");
}

#endif
