/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/engine_fixture.c */
/* Messages, put and get of libo2g. */
#include "engine_fixture.h"

#include <stdlib.h>

static void pingpong(void)
{
	static const size_t sizes[] = { 0,     1,     8,      9,
					100,   4096,  8192,   8193,
					65536, 65537, 300000, 5 << 20 };
	unsigned char *b = malloc(5 << 20);
	struct o2g_status s;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t n = sizes[i];

		if (me == 0) {
			fill(b, n, 3);
			CHECK(o2g_send(ep, 1, i, b, n, 0) == 0);
			memset(b, 0, n);
		}
		CHECK(o2g_recv(ep, 1 - me, i, 0, b, 5 << 20, &s) == 0);
		CHECK(s.length == n && s.source == 1 - me && s.tag == i);
		check_bytes(b, n, 3);
		if (me == 1)
			CHECK(o2g_send(ep, 0, i, b, n, 0) == 0);
	}
	free(b);
}

/* Many sends of random sizes to random ranks, all received and checked. */
static void storm(void)
{
	enum { N = 300, MAX = 100000 };
	static struct o2g_req *reqs[MAX_RANKS * N * 2];
	static unsigned char *bufs[MAX_RANKS * N * 2];
	unsigned n = 0, nrecv;

	for (int from = 0; from < nranks; from++) {
		for (unsigned i = 0; i < N; i++, n++) {
			struct o2g_seg s = { malloc(MAX), MAX };

			bufs[n] = s.base;
			CHECK(o2g_irecv(ep, from, i, 0, &s, 1, &reqs[n]) == 0);
		}
	}
	nrecv = n;
	for (unsigned i = 0; i < N; i++) {
		for (int to = 0; to < nranks; to++, n++) {
			size_t len =
				(i * 7919u + me * 31u) % (i % 9 ? 600 : MAX);
			struct o2g_seg s[2] = { { malloc(len + 1), len / 3 },
						{ 0, 0 } };

			bufs[n] = s[0].base;
			fill(bufs[n], len, me + i);
			s[1].base = bufs[n] + len / 3;
			s[1].len = len - len / 3;
			CHECK(o2g_isend(ep, to, i, s, 2, i % 5 ? 0 : O2G_SYNC,
					&reqs[n]) == 0);
		}
	}
	for (unsigned i = 0; i < n; i++) {
		struct o2g_status s;

		CHECK(o2g_wait(reqs[i], &s) == 0);
		if (i < nrecv)
			check_bytes(bufs[i], s.length, s.source + s.tag);
		free(bufs[i]);
	}
}

static void wildcards(void)
{
	struct o2g_status s;
	char b[16];

	if (me != 0) {
		CHECK(o2g_send(ep, 0, 0x100 + me, "xxxx", me, 0) == 0);
		CHECK(o2g_send(ep, 0, 0x200, "done", 4, 0) == 0);
		return;
	}
	for (int i = 1; i < nranks; i++) {
		CHECK(o2g_recv(ep, O2G_ANY_SOURCE, 0x100, 0xff, b, 16, &s) ==
		      0);
		CHECK(s.tag == 0x100u + s.source &&
		      s.length == (size_t)s.source);
	}
	for (int i = 1; i < nranks; i++)
		CHECK(o2g_recv(ep, O2G_ANY_SOURCE, 0x200, 0, b, 16, &s) == 0 &&
		      s.length == 4);
}

static void probing(void)
{
	unsigned char *b = malloc(200000);
	struct o2g_seg seg = { b, 200000 };
	struct o2g_status s;
	struct o2g_msg *msg;
	struct o2g_req *r;

	if (me == 1) {
		fill(b, 200000, 1);
		CHECK(o2g_send(ep, 0, 7, b, 10, 0) == 0);
		CHECK(o2g_send(ep, 0, 8, b, 200000, 0) == 0);
	} else {
		CHECK(o2g_probe(ep, O2G_ANY_SOURCE, 8, 0, &s) == 0);
		CHECK(s.length == 200000 && s.source == 1);
		CHECK(o2g_iprobe(ep, 1, 9, 0, &s) == -EAGAIN);
		CHECK(o2g_mprobe(ep, 1, 0, ~0ull, &msg, &s) == 0);
		CHECK(s.tag == 7 && s.length == 10);
		CHECK(o2g_improbe(ep, 1, 7, 0, NULL, &s) == -EAGAIN);
		CHECK(o2g_imrecv(msg, &seg, 1, &r) == 0);
		CHECK(o2g_wait(r, &s) == 0 && s.length == 10);
		CHECK(o2g_mprobe(ep, 1, 8, 0, &msg, NULL) == 0);
		CHECK(o2g_imrecv(msg, &seg, 1, &r) == 0);
		CHECK(o2g_wait(r, &s) == 0);
		check_bytes(b, 200000, 1);
	}
	free(b);
}

static void cancelling(void)
{
	static char big[1 << 20];
	struct o2g_seg seg = { big, sizeof(big) };
	struct o2g_req *r;
	struct o2g_status s;

	if (me == 0) {
		CHECK(o2g_irecv(ep, 1, 1, 0, &seg, 1, &r) == 0);
		CHECK(o2g_cancel(r) == 0);
		CHECK(o2g_wait(r, &s) == -O2G_ERR_CANCELLED);
		/* a rendezvous send nobody has asked for */
		CHECK(o2g_isend(ep, 1, 2, &seg, 1, 0, &r) == 0);
		CHECK(o2g_cancel(r) == 0);
		CHECK(o2g_wait(r, &s) == -O2G_ERR_CANCELLED);
		CHECK(o2g_send(ep, 1, 3, "go", 2, 0) == 0);
	} else {
		CHECK(o2g_recv(ep, 0, 3, 0, big, 2, &s) == 0);
		CHECK(o2g_iprobe(ep, 0, 2, 0, &s) == -EAGAIN);
	}
}

static void truncating(void)
{
	static char b[300000];
	struct o2g_status s;

	if (me == 1) {
		CHECK(o2g_send(ep, 0, 1, b, 100, 0) == 0);
		CHECK(o2g_send(ep, 0, 2, b, 300000, 0) == 0);
		CHECK(o2g_send(ep, 0, 3, b, 300000, 0) == 0);
		return;
	}
	CHECK(o2g_recv(ep, 1, 1, 0, b, 10, &s) == -O2G_ERR_TRUNCATED);
	CHECK(s.length == 10 && s.message_length == 100);
	CHECK(o2g_recv(ep, 1, 2, 0, b, 1000, &s) == -O2G_ERR_TRUNCATED);
	CHECK(s.length == 1000 && s.message_length == 300000);
	CHECK(o2g_recv(ep, 1, 3, 0, b, 0, &s) == -O2G_ERR_TRUNCATED);
}

static void putget(void)
{
	enum { N = 3 << 20 };
	unsigned char *mine = malloc(N), *b = malloc(N);
	struct o2g_key key, bad;
	struct o2g_mem *mem;
	struct o2g_seg seg = { b, N - 100 };
	struct o2g_req *r;
	struct o2g_status s;

	memset(mine, 0, N);
	CHECK(o2g_mem_register(ep, mine, N, O2G_READ | O2G_WRITE, &mem, &key) ==
	      0);
	if (me == 1) {
		CHECK(o2g_send(ep, 0, 1, &key, sizeof(key), 0) == 0);
		CHECK(o2g_recv(ep, 0, 2, 0, b, 0, &s) == 0);
		check_bytes(mine + 100, N - 100, 5);
	} else {
		CHECK(o2g_recv(ep, 1, 1, 0, &key, sizeof(key), &s) == 0);
		fill(b, N - 100, 5);
		CHECK(o2g_put(ep, 1, &seg, 1, &key, 100, &r) == 0);
		CHECK(o2g_wait(r, NULL) == 0);
		memset(b, 0, N);
		CHECK(o2g_get(ep, 1, &seg, 1, &key, 100, &r) == 0);
		CHECK(o2g_wait(r, NULL) == 0);
		check_bytes(b, N - 100, 5);
		CHECK(o2g_get(ep, 1, &seg, 1, &key, 101, &r) == -ERANGE);
		bad = key;
		bad.key ^= 1ull << 40;
		bad.base = 8; /* an address nobody has */
		CHECK(o2g_put(ep, 1, &seg, 1, &bad, 0, &r) == 0);
		CHECK(o2g_wait(r, NULL) != 0);
		CHECK(o2g_send(ep, 1, 2, b, 0, 0) == 0);
	}
	o2g_mem_deregister(mem);
	free(mine);
	free(b);
}

/* What a put (or get) of 8 bytes ends with. */
static int rma_error(int peer, int put, const struct o2g_key *key,
		     uint64_t offset)
{
	static char b[8];
	struct o2g_seg seg = { b, sizeof(b) };
	struct o2g_status s;
	struct o2g_req *r;
	int err = (put ? o2g_put : o2g_get)(ep, peer, &seg, 1, key, offset, &r);

	if (!err) {
		err = o2g_wait(r, &s);
		CHECK(s.error == err);
	}
	return err;
}

/* Keys that are wrong, allow something else or are no more; memory stays as it
 * is. @first is how many are registered before. */
static void refuse(int peer, int first)
{
	static char mine[3][64];
	struct o2g_mem *mem[3], *more[first + 1];
	struct o2g_key key[3], bad;

	for (int i = 0; i < first; i++)
		CHECK(!o2g_mem_register(ep, mine, 8, O2G_READ, &more[i], key));
	for (int i = 0; i < 3; i++)
		CHECK(!o2g_mem_register(ep, mine[i], 64, (unsigned)i + 1,
					&mem[i], &key[i]));
	CHECK(!o2g_send(ep, peer, 1, key, sizeof(key), 0));
	CHECK(!o2g_recv(ep, peer, 1, 0, key, sizeof(key), NULL));
	CHECK(rma_error(peer, 0, &key[0], 0) == 0);
	CHECK(rma_error(peer, 1, &key[0], 0) == -EACCES);
	CHECK(rma_error(peer, 0, &key[1], 0) == -EACCES);
	CHECK(rma_error(peer, 1, &key[1], 56) == 0);
	CHECK(rma_error(peer, 1, &key[2], 57) == -ERANGE);
	bad = key[2];
	bad.len = 1 << 20;
	CHECK(rma_error(peer, 1, &bad, 57) == -ERANGE);
	bad.key ^= 1ull << 40;
	CHECK(rma_error(peer, 0, &bad, 0) == -ENOENT);
	bad.key = 0;
	CHECK(rma_error(peer, 1, &bad, 0) == -ENOENT);
	CHECK(!o2g_send(ep, peer, 2, mine, 0, 0));
	CHECK(!o2g_recv(ep, peer, 2, 0, mine, 0, NULL));
	o2g_mem_deregister(mem[2]);
	CHECK(!o2g_send(ep, peer, 3, mine, 0, 0));
	CHECK(!o2g_recv(ep, peer, 3, 0, mine, 0, NULL));
	CHECK(rma_error(peer, 1, &key[2], 0) == -ENOENT);
	CHECK(rma_error(peer, 0, &key[2], 0) == -ENOENT);
	CHECK(!o2g_send(ep, peer, 4, mine, 0, 0));
	CHECK(!o2g_recv(ep, peer, 4, 0, mine, 0, NULL));
	o2g_mem_deregister(mem[0]);
	o2g_mem_deregister(mem[1]);
	for (int i = 0; i < first; i++)
		o2g_mem_deregister(more[i]);
}

static void refused(void)
{
	refuse(!me, 0);
	refuse(!me, 255);
	refuse(me, 0);
}

static void flood(void)
{
	enum { N = 20000, LEN = 4096 };
	struct o2g_req **reqs = calloc(N, sizeof(*reqs));
	static unsigned char b[LEN];
	struct o2g_seg seg = { b, LEN };
	struct o2g_ep_info info;

	if (me == 1) {
		for (unsigned i = 0; i < N; i++)
			CHECK(o2g_isend(ep, 0, i, &seg, 1, 0, &reqs[i]) == 0);
		atomic_store(&shared->word[0], 1);
		for (unsigned i = 0; i < N; i++)
			CHECK(o2g_wait(reqs[i], NULL) == 0);
	} else {
		while (!atomic_load(&shared->word[0]))
			usleep(1000);
		/* the last first */
		CHECK(o2g_recv(ep, 1, N - 1, 0, b, LEN, NULL) == 0);
		for (unsigned i = 0; i < N - 1; i++)
			CHECK(o2g_recv(ep, 1, i, 0, b, LEN, NULL) == 0);
		CHECK(o2g_ep_info(ep, &info) == 0);
		/* payload within O2G_UNEXPECTED, envelopes beside it */
		CHECK(info.unexpected_peak < (1 << 20) + N * 320);
		CHECK(info.unexpected == 0);
	}
	free(reqs);
}

static void to_self(void)
{
	static char out[200000], in[200000];
	struct o2g_seg so = { out, sizeof(out) }, si = { in, sizeof(in) };
	struct o2g_req *s, *r;
	int other = 1 - me;

	memset(out, 'a' + me, sizeof(out));
	CHECK(o2g_send(ep, me, 1, out, 100, 0) == 0);
	CHECK(o2g_isend(ep, me, 2, &so, 1, O2G_SYNC, &s) == 0);
	CHECK(o2g_recv(ep, me, 1, 0, in, 100, NULL) == 0);
	CHECK(o2g_irecv(ep, O2G_ANY_SOURCE, 2, 0, &si, 1, &r) == 0);
	CHECK(o2g_wait(r, NULL) == 0 && o2g_wait(s, NULL) == 0);
	CHECK(!memcmp(in, out, sizeof(in)));
	CHECK(o2g_send(ep, other, 3, out, 1, 0) == 0);
	CHECK(o2g_recv(ep, other, 3, 0, in, 1, NULL) == 0);
	CHECK(in[0] == 'a' + other);
}

OVER(pingpong, 2, pingpong, -1)
OVER(storm, 3, storm, -1)
OVER(wildcards, 4, wildcards, -1)
OVER(probing, 2, probing, -1)
OVER(cancelling, 2, cancelling, -1)
OVER(truncating, 2, truncating, -1)
OVER(putget, 2, putget, -1)
OVER(refused, 2, refused, -1)
OVER(to_self, 2, to_self, -1)

static void flood_limited(const char *channels)
{
	setenv("O2G_UNEXPECTED", "1M", 1);
	job(channels, 2, flood, -1);
	unsetenv("O2G_UNEXPECTED");
}
static void flood__shm(void **state)
{
	flood_limited("shm");
}
static void flood__tcp(void **state)
{
	flood_limited("tcp");
}

static void two_copies__shm(void **state)
{
	setenv("O2G_SHM_GET", "0", 1);
	job("shm", 2, pingpong, -1);
	job("shm", 3, storm, -1);
	job("shm", 2, putget, -1);
	job("shm", 2, refused, -1);
	unsetenv("O2G_SHM_GET");
}

/* Nobody can say where the peer is: an error, at once. */
static void unresolved(void **state)
{
	struct o2g_attr attr = { .rank = 0, .size = 2 };
	struct o2g_seg seg = { "x", 1 };
	struct o2g_req *req;
	struct o2g_ep *alone;

	assert_int_equal(o2g_open(&attr, &alone), 0);
	assert_int_equal(o2g_isend(alone, 1, 1, &seg, 1, 0, &req),
			 -EDESTADDRREQ);
	/* Flags of a version to come are not ignored. */
	assert_int_equal(o2g_isend(alone, 0, 1, &seg, 1, 4, &req), -EINVAL);
	assert_int_equal(o2g_send(alone, 0, 1, "x", 1, 3), -EINVAL);
	o2g_close(alone);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		BOTH(pingpong), BOTH(storm),	    BOTH(wildcards),
		BOTH(probing),	BOTH(cancelling),   BOTH(truncating),
		BOTH(putget),	BOTH(refused),	    BOTH(to_self),
		BOTH(flood),	T(two_copies__shm), T(unresolved),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
