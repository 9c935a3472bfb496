// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Parsing and matching in the BPF program, or in the process? Sends small
 * messages over loopback, one at a time and 64 in a burst, through the channel's
 * program and through that of match.bpf.c, by turns. For each: the time the
 * program takes (the kernel counts it), and what the process does with the
 * message then: parse, match and copy, or take what is matched and copy.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bpf/name.h"
#include "bpf/seat.h"
#include "bpf_match.h"
#include "match.h"
#include "stream.h"
#include "wire.h"

#include "bench_match.skel.h"
#include "o2g_bpf.skel.h"

enum { ROUNDS = 4000, BODY = 8, RECEIVES = 64, TURNS = 9 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "bpf_match: %s failed\n", what);
	exit(1);
}

/* --- a connection --- */

static void connect_pair(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&a, &len) ||
	    connect(fd[0], (struct sockaddr *)&a, len))
		fail("a connection");
	fd[1] = accept(listener, NULL, NULL);
	setsockopt(fd[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(listener);
}

static void join(int fd, int socks)
{
	__u64 value = (__u64)fd;
	__u32 zero = 0;

	if (bpf_map_update_elem(socks, &zero, &value, BPF_ANY))
		fail("joining");
}

static double program_ns(int prog)
{
	struct bpf_prog_info info;
	__u32 len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (bpf_obj_get_info_by_fd(prog, &info, &len))
		fail("asking for the program's time");
	return (double)info.run_time_ns;
}

/* --- the two ways --- */

struct way {
	const char *name;
	int prog, fd[2];
	/* Takes what has arrived; how many messages. */
	int (*take)(struct way *w);
	double ns; /* spent in take(), when there was something */
};

static struct o2g_bpf *plain;
static struct bench_match *matching;
static u64 plain_head;
static struct o2g_stream stream;
static struct o2g_match match;
static struct o2g_match_bin bins[256];
static struct o2g_match_entry receives[RECEIVES], *current;
static u8 user[MATCH_BINS][BODY];
static int messages;

static int on_header(void *ctx, const struct o2g_hdr *h)
{
	current = o2g_match_arrive(&match, h->src, h->tag);
	if (!current)
		fail("matching in the process");
	return 0;
}

static void on_body(void *ctx, const void *data, size_t n)
{
	memcpy(user[current - receives], data, n);
}

static int on_end(void *ctx)
{
	o2g_match_post(&match, current); /* the program asks again */
	messages++;
	return 0;
}

static const struct o2g_stream_ops stream_ops = { on_header, on_body, on_end };

static int take_plain(struct way *w)
{
	struct bpf_seat *s = &plain->bss->seat;
	struct bpf_desc *d = &s->descs[(plain_head >> 32) % BPF_DESCS];

	messages = 0;
	while (__atomic_load_n(&d->seq, __ATOMIC_ACQUIRE) ==
	       (u32)(plain_head >> 32) + 1) {
		u32 len = bpf_desc_len(d);

		if (!len || o2g_stream_feed(&stream, bpf_desc_bytes(s, d), len,
					    &stream_ops, NULL) < 0)
			fail("the channel's program");
		plain_head = ((plain_head >> 32) + 1) << 32 |
			     (u32)((u32)plain_head + bpf_desc_units(d));
		__atomic_store_n(&s->head, plain_head, __ATOMIC_RELEASE);
		d = &s->descs[(plain_head >> 32) % BPF_DESCS];
	}
	return messages;
}

static u32 done_head;

static int take_matched(struct way *w)
{
	struct match_area *a = &matching->bss->area;
	struct match_done *d = &a->done[done_head % MATCH_DONE];

	messages = 0;
	while (__atomic_load_n(&d->seq, __ATOMIC_ACQUIRE) == done_head + 1) {
		if (d->bin == ~0u)
			fail("matching in the program");
		memcpy(user[d->bin], a->ring + d->at, d->length);
		__atomic_store_n(&a->posted[d->bin].state, 1, __ATOMIC_RELEASE);
		messages++;
		d = &a->done[++done_head % MATCH_DONE];
	}
	return messages;
}

/* --- measuring --- */

static u32 make_burst(u8 *buf, u32 count, u32 first)
{
	u32 n = 0;

	for (u32 i = 0; i < count; i++) {
		struct o2g_hdr h = { .type = O2G_PKT_EAGER,
				     .src = 1,
				     .dst = 0,
				     .tag = (first + i) % RECEIVES,
				     .length = BODY };

		o2g_wire_encode(&h, buf + n);
		memset(buf + n + O2G_HDR_SIZE, (int)i, BODY);
		n += O2G_HDR_SIZE + BODY;
	}
	return n;
}

static void run(struct way *w, u32 burst, double *program, double *process)
{
	u8 buf[64 * (O2G_HDR_SIZE + BODY)];
	double before = program_ns(w->prog), spent = 0;
	u32 rounds = ROUNDS / burst + 500;

	for (u32 r = 0; r < rounds; r++) {
		u32 n = make_burst(buf, burst, r), got = 0;

		if (send(w->fd[1], buf, n, 0) != (ssize_t)n)
			fail("sending");
		while (got < burst) {
			double start = now_ns();
			int m = w->take(w);

			if (m)
				spent += now_ns() - start;
			got += (u32)m;
		}
	}
	*program = (program_ns(w->prog) - before) / rounds / burst;
	*process = spent / rounds / burst;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void compare(struct way *ways, u32 burst)
{
	double program[2][TURNS], process[2][TURNS];

	for (int t = 0; t < TURNS; t++)
		for (int i = 0; i < 2; i++)
			run(&ways[i], burst, &program[i][t], &process[i][t]);
	for (int i = 0; i < 2; i++) {
		qsort(program[i], TURNS, sizeof(double), by_value);
		qsort(process[i], TURNS, sizeof(double), by_value);
		printf("%2u at a time, parsed and matched in the %-8s program %6.0f ns, process %6.0f ns a message\n",
		       burst, ways[i].name, program[i][TURNS / 4],
		       process[i][TURNS / 4]);
	}
}

static void open_plain(struct way *w)
{
	plain = o2g_bpf__open_and_load();
	if (!plain)
		fail("loading the channel's program");
	w->prog = bpf_program__fd(plain->progs.o2g_verdict);
	if (bpf_prog_attach(w->prog, bpf_map__fd(plain->maps.socks),
			    BPF_SK_SKB_STREAM_VERDICT, 0))
		fail("attaching");
	connect_pair(w->fd);
	if (bpf_name_set(&plain->bss->seat, 0, w->fd[0]))
		fail("joining");
	join(w->fd[0], bpf_map__fd(plain->maps.socks));
	o2g_stream_init(&stream);
	o2g_match_init(&match, bins, 256, 1);
	for (u32 i = 0; i < RECEIVES; i++) {
		receives[i].src = 1;
		receives[i].tag = i;
		o2g_match_post(&match, &receives[i]);
	}
}

static void open_matching(struct way *w)
{
	matching = bench_match__open_and_load();
	if (!matching)
		fail("loading the matching program");
	w->prog = bpf_program__fd(matching->progs.match_verdict);
	if (bpf_prog_attach(w->prog, bpf_map__fd(matching->maps.socks),
			    BPF_SK_SKB_STREAM_VERDICT, 0))
		fail("attaching");
	connect_pair(w->fd);
	join(w->fd[0], bpf_map__fd(matching->maps.socks));
	for (u64 i = 0; i < RECEIVES; i++)
		matching->bss->area.posted[MATCH_BIN(1, i)] =
			(struct match_posted){ i, 1, 1 };
}

int main(void)
{
	struct way ways[2] = { { .name = "process", .take = take_plain },
			       { .name = "program", .take = take_matched } };

	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		fail("asking the kernel to count (are you root?)");
	open_plain(&ways[0]);
	open_matching(&ways[1]);
	compare(ways, 1);
	compare(ways, 64);
	return 0;
}
