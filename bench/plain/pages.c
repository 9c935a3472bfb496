// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * pages SIZES [NAMESPACE NAMESPACE]: what it gains to hand TCP the pages of a
 * message, by vmsplice() and splice(), instead of a copy of it, by send(). The
 * receiver answers once it has all of a message, since before that its pages must not
 * change, in both ways alike. A line for each way: MB/s, and the CPU time of the
 * sender and of the receiver for a message. All ways take turns.
 *
 *	pages --pipe 256k --at 16 --huge --window 16 1M,4M
 *
 * --at: where in its page a message begins; --huge: its memory is of huge pages;
 * --window: so many messages are sent before answers are waited for; --clamp: TCP's
 * window is no larger; --sleep: whoever has to wait sleeps, and does not try again and
 * again.
 */
#define _GNU_SOURCE
#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TURNS = 9, WAYS = 2 };
#define SECONDS 0.06 /* for each turn, about */

static const char *const way_names[WAYS] = { "send", "splice" };

struct pages {
	struct plain_pair pair;
	int pipe[2];
	size_t pipe_size, at;
	int huge, window, clamp, sleep;
	char *data;
	size_t size;
};

static double cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* What a call has moved; it may have found nothing to do. */
static size_t done(ssize_t n, const char *what)
{
	plain_check(n > 0 || (n < 0 && errno == EAGAIN), what);
	return n > 0 ? (size_t)n : 0;
}

static void by_send(const struct pages *p, const char *at, size_t len)
{
	size_t n;

	for (; len; at += n, len -= n)
		n = done(send(p->pair.fd, at, len, MSG_NOSIGNAL), "send");
}

/* A pipe is filled and emptied in turns; the socket sleeps where it must. */
static void by_splice(const struct pages *p, char *at, size_t len)
{
	struct iovec v = { at, len };
	size_t held = 0;
	ssize_t n;

	while (v.iov_len || held) {
		if (v.iov_len && !held) {
			n = vmsplice(p->pipe[1], &v, 1, SPLICE_F_NONBLOCK);
			plain_check(n > 0, "vmsplice");
			v.iov_base = (char *)v.iov_base + n;
			v.iov_len -= (size_t)n;
			held = (size_t)n;
		}
		n = splice(p->pipe[0], NULL, p->pair.fd, NULL, held,
			   v.iov_len ? SPLICE_F_MORE : 0);
		held -= done(n, "splice");
	}
}

static void receive(const struct pages *p)
{
	for (size_t have = 0; have < p->size;)
		have += done(recv(p->pair.fd, p->data + have, p->size - have,
				  p->sleep ? MSG_WAITALL : 0),
			     "recv");
}

/* @count messages, answers included. */
static void exchange(const struct pages *p, int way, int count)
{
	char answer = 1;

	for (int i = 0; i < count; i++) {
		if (p->pair.side)
			receive(p);
		else if (way)
			by_splice(p, p->data, p->size);
		else
			by_send(p, p->data, p->size);
		if ((i + 1) % p->window)
			continue;
		if (p->pair.side)
			by_send(p, &answer, 1);
		else
			while (!done(recv(p->pair.fd, &answer, 1, 0), "recv"))
				;
	}
}

enum { MBPS, SENDER_US, RECEIVER_US, COLUMNS };

struct result {
	double value[COLUMNS];
};

static struct result turn(const struct pages *p, int way, int count)
{
	double start, before, used[2];
	struct result r;

	plain_meet(&p->pair, 0);
	start = plain_now();
	before = cpu();
	exchange(p, way, count);
	used[p->pair.side] = cpu() - before;
	used[!p->pair.side] = 0;
	r.value[MBPS] = (double)p->size * count /
			plain_meet(&p->pair, plain_now() - start) * 1e-6;
	for (int i = 0; i < 2; i++)
		r.value[SENDER_US + i] =
			plain_meet(&p->pair, used[i]) / count * 1e6;
	return r;
}

/* How many messages fill a turn; both sides agree. */
static int calibrate(const struct pages *p)
{
	double start, t;

	exchange(p, 0, 2 * p->window);
	start = plain_now();
	exchange(p, 0, 2 * p->window);
	t = plain_meet(&p->pair, plain_now() - start) / (2 * p->window);
	return ((int)(SECONDS / t / p->window) + 1) * p->window;
}

static double column(const struct result *r, int which)
{
	double v[TURNS];

	for (int i = 0; i < TURNS; i++)
		v[i] = r[i].value[which];
	return plain_median(v, TURNS);
}

static void measure(struct pages *p)
{
	struct result r[WAYS][TURNS];
	int count = calibrate(p);

	for (int i = 0; i < TURNS; i++)
		for (int way = 0; way < WAYS; way++)
			r[way][i] = turn(p, way, count);
	for (int way = 0; way < WAYS && !p->pair.side; way++)
		printf("{\"size\": %zu, \"way\": \"%s\", \"MB/s\": %.0f, "
		       "\"sender us\": %.1f, \"receiver us\": %.1f}\n",
		       p->size, way_names[way], column(r[way], MBPS),
		       column(r[way], SENDER_US), column(r[way], RECEIVER_US));
	fflush(stdout);
}

static char *memory(size_t size, int huge)
{
	char *m = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	plain_check(m != MAP_FAILED, "memory");
	madvise(m, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(m, 1, size);
	return m;
}

static size_t bytes(const char *text)
{
	size_t n;

	plain_sizes(text, &n, 1);
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pipe", required_argument, NULL, 'p' },
		{ "at", required_argument, NULL, 'a' },
		{ "window", required_argument, NULL, 'w' },
		{ "clamp", required_argument, NULL, 'c' },
		{ "huge", no_argument, NULL, 'h' },
		{ "sleep", no_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 }
	};
	static struct pages p = { .pipe_size = 256 << 10, .window = 1 };
	size_t sizes[16];
	int n, o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		plain_check(o != '?', "see bench/plain/pages.c");
		if (o == 'p')
			p.pipe_size = bytes(optarg);
		else if (o == 'a')
			p.at = bytes(optarg);
		else if (o == 'w')
			p.window = atoi(optarg);
		else if (o == 'c')
			p.clamp = (int)bytes(optarg);
		else if (o == 's')
			p.sleep = 1;
		else
			p.huge = 1;
	}
	argc -= optind;
	argv += optind;
	plain_check((argc == 1 || argc == 3) && p.window > 0,
		    "usage: pages [OPTION]... SIZES [NAMESPACE NAMESPACE]");
	n = plain_sizes(argv[0], sizes, 16);
	p.pair = plain_pair(argc == 3 ? argv + 1 : NULL);
	plain_check(!pipe2(p.pipe, O_CLOEXEC) &&
			    fcntl(p.pipe[1], F_SETPIPE_SZ, p.pipe_size) > 0,
		    "a pipe");
	if (p.clamp)
		setsockopt(p.pair.fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &p.clamp,
			   sizeof(p.clamp));
	if (!p.sleep)
		fcntl(p.pair.fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < n; i++) {
		p.size = sizes[i];
		p.data = memory(p.size + p.at, p.huge) + p.at;
		measure(&p);
		munmap(p.data - p.at, p.size + p.at);
	}
	return 0;
}
