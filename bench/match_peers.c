// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What a match costs when receives for many peers are posted: the matching of
 * core/ by itself, since no machine has a thousand ranks to spare. Each peer
 * has one receive posted; messages arrive from the peers in no order, and the
 * receive that a message takes is posted again. One JSON row for each number.
 */
#include "match.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MESSAGES = 200000, REPEAT = 5 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "match_peers: out of memory\n");
		exit(1);
	}
	return p;
}

static void grow(struct o2g_match *m)
{
	u32 bins = o2g_match_wants(m);

	if (bins)
		free(o2g_match_rehash(
			m, must(calloc(bins, sizeof(struct o2g_match_bin))),
			bins));
}

/* Seconds per message. */
static double match_all(struct o2g_match *m, u32 peers)
{
	u64 x = 88172645463325252ull;
	double start = now();

	for (int i = 0; i < MESSAGES; i++) {
		struct o2g_match_entry *e;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		e = o2g_match_arrive(m, x % peers, 1);
		if (!e || o2g_match_post(m, e)) {
			fprintf(stderr, "match_peers: no receive matches\n");
			exit(1);
		}
	}
	return (now() - start) / MESSAGES;
}

static double measure(u32 peers)
{
	struct o2g_match_entry *entries = must(calloc(peers, sizeof(*entries)));
	struct o2g_match m;
	double best = 1e9;

	o2g_match_init(
		&m,
		must(calloc(O2G_MATCH_MIN_BINS, sizeof(struct o2g_match_bin))),
		O2G_MATCH_MIN_BINS, 4711);
	for (u32 i = 0; i < peers; i++) {
		entries[i].src = i;
		entries[i].tag = 1;
		o2g_match_post(&m, &entries[i]);
		grow(&m);
	}
	for (int i = 0; i < REPEAT; i++) {
		double t = match_all(&m, peers);

		best = t < best ? t : best;
	}
	free(m.bins);
	free(entries);
	return best;
}

int main(void)
{
	static const u32 peers[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000 };

	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
		printf("{\"bench\":\"match_peers\",\"size\":%u,\"ns\":%.3f}\n",
		       peers[i], measure(peers[i]) * 1e9);
	return 0;
}
