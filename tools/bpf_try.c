/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A trial before anybody relies on it: a connection over loopback joins the seat
 * with a byte already in its socket; a small piece must come through the ring, a
 * large one through the socket, and the end must be seen. The program must find
 * TCP's sequence numbers where it looks for them.
 */
#define _GNU_SOURCE /* POLLRDHUP */
#include "bpf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bpf/name.h"
#include "bpf/seat.h"
#include "bpf/sys.h"

#define TRIAL_MS 2000

struct trial {
	int socks; /* the map */
	struct bpf_seat *seat;
	int here, there; /* joined, and its peer */
	__u32 seen;	 /* descriptors */
};

/* Two ends of a connection. */
static int connect_pair(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), err = 0;

	fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fd[1] = -1;
	if (bind(listener, (struct sockaddr *)&a, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&a, &len) ||
	    connect(fd[0], (struct sockaddr *)&a, len) ||
	    (fd[1] = accept(listener, NULL, NULL)) < 0)
		err = -errno;
	close(listener);
	return err;
}

static int join(struct trial *t)
{
	__u32 index = 0;
	__u64 value = (__u64)t->here;
	char byte;
	int err = bpf_name_set(t->seat, index, t->here);

	if (!err)
		err = bpf_sys_update(t->socks, &index, &value, BPF_NOEXIST);
	recv(t->here, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return err;
}

static void nap(void)
{
	struct timespec ms = { 0, 1000000 };

	nanosleep(&ms, NULL);
}

/* The next piece in the ring begins with @first. */
static bool in_ring(struct trial *t, char first)
{
	struct bpf_desc *d = &t->seat->descs[t->seen % BPF_DESCS];

	for (int i = 0; i < TRIAL_MS; i++, nap()) {
		if (__atomic_load_n(&d->seq, __ATOMIC_ACQUIRE) != t->seen + 1)
			continue;
		t->seen++;
		return bpf_desc_len(d) &&
		       *(const char *)bpf_desc_bytes(t->seat, d) == first;
	}
	return false;
}

static bool through_socket(struct trial *t)
{
	static char much[3 * BPF_PIECE];
	struct pollfd p = { .fd = t->here, .events = POLLIN };
	size_t got = 0;

	if (send(t->there, much, sizeof(much), 0) != sizeof(much))
		return false;
	while (got < sizeof(much)) {
		ssize_t n;

		if (poll(&p, 1, TRIAL_MS) != 1)
			return false;
		n = recv(t->here, much, sizeof(much), MSG_DONTWAIT);
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	t->seat->conns[0].taken += got;
	return t->seat->conns[0].passed == got;
}

static bool sees_end(struct trial *t)
{
	struct pollfd p = { .fd = t->here, .events = POLLRDHUP };
	char byte;

	shutdown(t->there, SHUT_WR);
	return poll(&p, 1, TRIAL_MS) == 1 &&
	       recv(t->here, &byte, 1, MSG_DONTWAIT) == 0;
}

static const char *run(struct trial *t)
{
	int err;

	if (send(t->there, "a", 1, 0) != 1)
		return "sending";
	nap();
	t->seat->conns[0].pass = 0;
	err = join(t);
	if (err)
		return "joining";
	if (!in_ring(t, 'a'))
		return "data that was there before";
	if (send(t->there, "b", 1, 0) != 1 || !in_ring(t, 'b'))
		return "a small piece";
	if (!t->seat->conns[0].known)
		return "TCP's sequence numbers";
	t->seat->conns[0].pass = 1;
	if (!through_socket(t))
		return "a large piece";
	t->seat->conns[0].pass = 0;
	t->seen++; /* it was told of */
	if (send(t->there, "c", 1, 0) != 1 || !in_ring(t, 'c'))
		return "a small piece after it";
	return sees_end(t) ? NULL : "the end of the connection";
}

int bpf_try(int socks, struct bpf_seat *seat, char *why, size_t why_size)
{
	struct trial t = { .socks = socks, .seat = seat };
	const char *failed;
	int fd[2], err = connect_pair(fd);

	if (err) {
		snprintf(why, why_size,
			 "cannot connect over loopback to try it: %s",
			 strerror(-err));
		return err;
	}
	t.here = fd[0];
	t.there = fd[1];
	failed = run(&t);
	close(fd[0]);
	close(fd[1]);
	bpf_name_clear(seat, 0);
	seat->head = seat->tail;
	memset(&seat->conns[0], 0, sizeof(seat->conns[0]));
	if (!failed)
		return 0;
	snprintf(
		why, why_size,
		"this kernel fails the trial (%s): its sockmaps do not work as they should",
		failed);
	return -EPROTO;
}
