/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * capture INTERFACE WORDS: everything that TCP carries over the interface until
 * SIGTERM, and then what was seen:
 *
 *	streams N, records N, sealed BYTES, plain N, lost N
 *
 * A stream is one direction of a connection. "records" is how many TLS records the
 * streams consist of, after the hello of O2G, and "sealed" the bytes in those with
 * data. Bytes that are part of neither a hello nor a record, and places where WORDS
 * stand in clear, are counted as plain. "lost" is what the kernel could not show us,
 * and what is missing between two segments.
 */
#define _GNU_SOURCE /* memmem */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STREAMS 256
#define BYTES \
	(64u << 20) /* of a stream, at most; memory is taken as it is used */
#define HELLO_CALLED (24 + 40) /* challenge and verdict */
#define HELLO_CALLER 96	       /* the answer */

struct stream {
	uint8_t ends[36]; /* addresses and ports */
	uint32_t first;	  /* sequence number of its first byte */
	uint32_t len;	  /* to the last byte seen */
	uint8_t *data, *seen;
};

static struct stream streams[STREAMS];
static int nstreams;
static volatile sig_atomic_t ends;

static void on_signal(int sig)
{
	ends = 1;
}

static struct stream *find(const uint8_t id[36])
{
	for (int i = 0; i < nstreams; i++)
		if (!memcmp(streams[i].ends, id, 36))
			return &streams[i];
	return NULL;
}

/* A connection begins, so we have seen all of it. */
static void begin(const uint8_t id[36], uint32_t seq)
{
	struct stream *s = &streams[nstreams];

	if (nstreams == STREAMS || find(id))
		return;
	memcpy(s->ends, id, 36);
	s->first = seq + 1;
	s->data = calloc(1, BYTES);
	s->seen = calloc(1, BYTES);
	if (!s->data || !s->seen)
		exit(2);
	nstreams++;
}

static void segment(const uint8_t id[36], const struct tcphdr *t,
		    const uint8_t *data, size_t n)
{
	struct stream *s = find(id);
	uint32_t at;

	if (t->syn) {
		begin(id, ntohl(t->seq));
		return;
	}
	if (!s || !n)
		return;
	at = ntohl(t->seq) - s->first;
	if (at >= BYTES || n > BYTES - at)
		return; /* a probe before the first byte, or too much */
	memcpy(s->data + at, data, n);
	memset(s->seen + at, 1, n);
	if (at + n > s->len)
		s->len = at + (uint32_t)n;
}

/* Where TCP begins, or NULL; *left is what is there of it. */
static const uint8_t *network(const uint8_t *p, size_t *left, uint8_t id[36])
{
	const struct iphdr *v4 = (const void *)p;
	const struct ip6_hdr *v6 = (const void *)p;
	size_t head, all;

	memset(id, 0, 36);
	if (*left >= sizeof(*v4) && v4->version == 4 &&
	    v4->protocol == IPPROTO_TCP) {
		head = v4->ihl * 4u;
		all = ntohs(v4->tot_len);
		memcpy(id, &v4->saddr, 8);
	} else if (*left >= sizeof(*v6) && v4->version == 6 &&
		   v6->ip6_nxt == IPPROTO_TCP) {
		head = sizeof(*v6);
		all = head + ntohs(v6->ip6_plen);
		memcpy(id, &v6->ip6_src, 32);
	} else {
		return NULL;
	}
	/* Offloaded segments may be too long for the field. */
	if (all > head && all < *left)
		*left = all;
	if (*left < head + sizeof(struct tcphdr))
		return NULL;
	*left -= head;
	return p + head;
}

static void packet(const uint8_t *p, size_t n)
{
	const struct tcphdr *t;
	uint8_t id[36];

	p = network(p, &n, id);
	t = (const void *)p;
	if (!p || t->doff * 4u > n)
		return;
	memcpy(id + 32, p, 4);
	segment(id, t, p + t->doff * 4u, n - t->doff * 4u);
}

/* --- what it was --- */

static unsigned long records, sealed, plain, lost;

static uint32_t hello_length(const struct stream *s)
{
	if (s->len >= 4 && !memcmp(s->data, "O2Gc", 4))
		return HELLO_CALLED;
	return s->len >= 3 && !memcmp(s->data, "O2G", 3) ? HELLO_CALLER : 0;
}

static bool is_record(const uint8_t *p, uint32_t len)
{
	return (p[0] == 20 || p[0] == 21 || p[0] == 22 || p[0] == 23) &&
	       p[1] == 3 && p[2] <= 3 && len <= 16384 + 256;
}

static void look(const struct stream *s, const char *words)
{
	uint32_t at = hello_length(s), len;
	const uint8_t *p = s->data, *end = s->data + s->len;

	for (uint32_t i = 0; i < s->len; i++)
		lost += !s->seen[i];
	while ((p = memmem(p, (size_t)(end - p), words, strlen(words)))) {
		plain++;
		p++;
	}
	for (; at + 5 <= s->len; at += 5 + len) {
		p = s->data + at;
		len = (uint32_t)p[3] << 8 | p[4];
		if (!is_record(p, len)) {
			plain += s->len - at;
			return;
		}
		records++;
		sealed += p[0] == 23 ? len : 0;
	}
}

static int listen_to(const char *interface)
{
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex =
					  (int)if_nametoindex(interface) };
	int room = 256 << 20;

	if (fd < 0 || !at.sll_ifindex ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	return fd;
}

int main(int argc, char **argv)
{
	static uint8_t buf[1 << 17];
	struct sigaction a = { .sa_handler = on_signal };
	struct tpacket_stats dropped = { 0 };
	socklen_t len = sizeof(dropped);
	int fd = argc == 3 ? listen_to(argv[1]) : -1;

	if (fd < 0) {
		fprintf(stderr, "capture INTERFACE WORDS: %s\n",
			strerror(errno));
		return 2;
	}
	sigaction(SIGTERM, &a, NULL);
	puts("ready");
	fflush(stdout);
	for (;;) {
		ssize_t n = recv(fd, buf, sizeof(buf), ends ? MSG_DONTWAIT : 0);

		if (n < 0 && ends)
			break;
		if (n > 0)
			packet(buf, (size_t)n);
	}
	getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &dropped, &len);
	lost = dropped.tp_drops;
	for (int i = 0; i < nstreams; i++)
		look(&streams[i], argv[2]);
	printf("streams %d, records %lu, sealed %lu, plain %lu, lost %lu\n",
	       nstreams, records, sealed, plain, lost);
	return 0;
}
