// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * bpf_overlap SEAT: a segment that repeats bytes which have come before, as a
 * sender makes them when it joins what it has to send again. The bytes must come
 * once, through the ring and through the socket. SEAT is the folder of a seat that
 * nobody uses; the segments are written by hand, so it needs root.
 */
#define _GNU_SOURCE
#include "bpf_pair.h"

#include <netinet/tcp.h>
#include <time.h>

#define LARGE (20 << 10) /* more than can be taken off in one call */

static struct bpf_seat *seat;
static int here, there;		    /* joined, and its peer */
static struct sockaddr_in to, from; /* addresses of the two */
static __u32 next_seq, ack;	    /* of the peer */
static __u32 seen;		    /* descriptors */

/* --- the connection --- */

/* The number of the next byte that the socket sends. */
static __u32 sequence_of(int fd)
{
	int on = 1, queue = TCP_SEND_QUEUE, off = -1;
	__u32 seq = 0;
	socklen_t len = sizeof(seq);

	check(!setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) &&
		      !setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue,
				  sizeof(queue)) &&
		      !getsockopt(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &seq, &len) &&
		      !setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &off,
				  sizeof(off)),
	      "asking for sequence numbers");
	return seq;
}

/* --- segments by hand --- */

static __u32 add_up(__u32 sum, const void *data, size_t n)
{
	const __u8 *p = data;

	for (size_t i = 0; i < n; i++)
		sum += i % 2 ? p[i] : p[i] << 8;
	return sum;
}

static __be16 checksum(const struct tcphdr *h, size_t n)
{
	__u32 sum = add_up(0, h, n);

	sum = add_up(sum, &from.sin_addr, 4);
	sum = add_up(sum, &to.sin_addr, 4);
	sum += IPPROTO_TCP + (__u32)n;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((__u16)~sum);
}

/* @old bytes once more and @fresh new ones; byte number i of all is i % 251. */
static void inject(__u32 first, __u32 old, __u32 fresh)
{
	static __u8 packet[sizeof(struct tcphdr) + LARGE + 4096];
	struct tcphdr *h = (struct tcphdr *)packet;
	size_t n = sizeof(*h) + old + fresh;
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);

	memset(h, 0, sizeof(*h));
	h->source = from.sin_port;
	h->dest = to.sin_port;
	h->seq = htonl(next_seq - old);
	h->ack_seq = htonl(ack);
	h->doff = sizeof(*h) / 4;
	h->ack = h->psh = 1;
	h->window = htons(1000);
	for (__u32 i = 0; i < old + fresh; i++)
		packet[sizeof(*h) + i] = (__u8)((first - old + i) % 251);
	h->check = checksum(h, n);
	check(sendto(fd, packet, n, 0, (struct sockaddr *)&to, sizeof(to)) ==
		      (ssize_t)n,
	      "sending a segment");
	close(fd);
	next_seq += fresh;
}

/* --- what comes --- */

static bool counts_on(const __u8 *p, __u32 n, __u32 first)
{
	for (__u32 i = 0; i < n; i++)
		if (p[i] != (__u8)((first + i) % 251))
			return false;
	return true;
}

static struct bpf_desc *next_desc(void)
{
	struct bpf_desc *d = &seat->descs[seen % BPF_DESCS];
	struct timespec ms = { 0, 1000000 };

	for (int i = 0; i < 2000; i++) {
		if (__atomic_load_n(&d->seq, __ATOMIC_ACQUIRE) == seen + 1) {
			seen++;
			return d;
		}
		nanosleep(&ms, NULL);
	}
	check(false, "nothing came");
	return NULL;
}

static void expect_ring(__u32 first, __u32 n)
{
	const struct bpf_desc *d = next_desc();

	if (bpf_desc_len(d) != n)
		fprintf(stderr, "%u bytes instead of %u\n", bpf_desc_len(d), n);
	check(bpf_desc_len(d) == n &&
		      counts_on(bpf_desc_bytes(seat, d), n, first),
	      "the ring has other bytes");
}

static void expect_socket(__u32 first, __u32 n)
{
	static __u8 buf[2 * LARGE];
	ssize_t got;

	check(bpf_desc_len(next_desc()) == 0, "it was not passed");
	got = recv(here, buf, sizeof(buf), MSG_DONTWAIT);
	if (got != (ssize_t)n)
		fprintf(stderr, "%zd bytes instead of %u\n", got, n);
	check(got == (ssize_t)n && counts_on(buf, n, first),
	      "the socket has other bytes");
	seat->conns[0].taken += (__u64)got;
	seat->conns[0].told = 0;
	check(seat->conns[0].passed == seat->conns[0].taken,
	      "it was counted wrongly");
}

int main(int argc, char **argv)
{
	__u32 first = 0;

	check(argc == 2, "the folder of a seat is needed");
	seat = open_seat(argv[1]);
	seen = seat->tail >> 32; /* from the trial when it was loaded */
	seat->head = seat->tail;
	memset(&seat->conns[0], 0, sizeof(seat->conns[0]));
	to = connect_pair(&here, &there);
	check(!getsockname(there, (struct sockaddr *)&from,
			   &(socklen_t){ sizeof(from) }),
	      "its address");
	ack = sequence_of(here);
	next_seq = sequence_of(there);
	/* Read before it joins, and sent again with what is new. */
	inject(first, 0, 100);
	first += 100;
	check(recv(here, (char[200]){ 0 }, 200, 0) == 100, "the first bytes");
	join(seat, argv[1], here);
	inject(first, 30, 50);
	expect_ring(first, 50);
	first += 50;
	inject(first, 0, LARGE);
	expect_ring(first, LARGE);
	first += LARGE;
	inject(first, LARGE, 1000);
	expect_ring(first, 1000);
	first += 1000;
	seat->conns[0].pass = 1;
	inject(first, 0, 10);
	expect_socket(first, 10);
	first += 10;
	inject(first, 9000, 2000);
	expect_socket(first, 2000);
	first += 2000;
	seat->conns[0].pass = 0;
	inject(first, 3000, 1);
	expect_ring(first, 1);
	return 0;
}
