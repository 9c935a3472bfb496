/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/tcp_fixture.c */
/* Packets of every size, whole and in pieces. */
#include "tcp_fixture.h"

#include <stdlib.h>

static u32 cut(u8 *buf, size_t len, struct o2g_seg *segs, u32 max, u32 *seed)
{
	u32 n = 0;

	while (len && n < max - 1) {
		size_t piece = rand_r(seed) % (len / 3 + 3);

		if (piece > len)
			piece = len;
		segs[n].base = buf;
		segs[n++].len = piece;
		buf += piece;
		len -= piece;
	}
	segs[n].base = buf;
	segs[n++].len = len;
	return n;
}

#define MANY 64

static void many(int rounds, u32 biggest)
{
	static u8 *out[MANY], *in[MANY];
	static struct o2g_seg so[MANY][80], si[MANY][80];
	struct host_req *s[MANY], *r[MANY];
	u32 seed = 1;

	assert_int_equal(host_connect(a, b), 0);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < MANY; i++) {
			struct host *from = i & 1 ? a : b, *to = i & 1 ? b : a;
			u32 len = rand_r(&seed) %
				  (rand_r(&seed) & 3 ? 300 : biggest);
			u32 n;

			if (!from->peers[to->rank].cp.chan) /* b: not known */
				host_connect(from, to);
			out[i] = malloc(len + 1);
			in[i] = calloc(1, len + 1);
			fill(out[i], len, round * MANY + i);
			n = cut(in[i], len, si[i], 80, &seed);
			if (i % 3)
				r[i] = host_recv(to, from->rank, i, si[i], n);
			s[i] = host_send(from, to->rank, i, so[i],
					 cut(out[i], len, so[i], 80, &seed));
			if (i % 3 == 0) /* unexpected, sometimes */
				r[i] = host_recv(to, from->rank, i, si[i], n);
			if (rand_r(&seed) % 8 == 0)
				host_pump(a);
			if (rand_r(&seed) % 8 == 0)
				host_pump(b);
		}
		for (int i = 0; i < MANY; i++) {
			assert_true(both_run(&r[i]->done, 5000));
			assert_true(both_run(&s[i]->done, 5000));
			assert_int_equal(r[i]->r.status, 0);
			assert_int_equal(r[i]->r.msg_len, s[i]->r.len);
			assert_memory_equal(in[i], out[i], s[i]->r.len);
			host_req_free(r[i]);
			host_req_free(s[i]);
			free(in[i]);
			free(out[i]);
		}
	}
	assert_true(none_lost(a) && none_lost(b));
}

static void packets__many_sizes_and_pieces(void **state)
{
	many(60, 300000);
}

static void packets__tiny_buffers(void **state)
{
	teardown(NULL);
	settings->tcp_sndbuf = settings->tcp_rcvbuf = 2048;
	both[0] = a = open_host(0);
	both[1] = b = open_host(1);
	many(6, 60000);
}

static void packets__large(void **state)
{
	exchange(a, b, 9 << 20);
	exchange(b, a, (3 << 20) + 1);
}

static void packets__truncated(void **state)
{
	static u8 out[50000], in[1001];
	struct o2g_seg so = { out, sizeof(out) }, si = { in, 1000 };
	struct host_req *r, *s;

	exchange(a, b, 1);
	fill(out, sizeof(out), 3);
	r = host_recv(b, 0, 1, &si, 1);
	s = host_send(a, 1, 1, &so, 1);
	assert_true(both_run(&r->done, 3000));
	assert_true(both_run(&s->done, 3000));
	assert_int_equal(r->r.status, -O2G_ERR_TRUNCATED);
	assert_memory_equal(in, out, 1000);
	assert_int_equal(in[1000], 0);
	exchange(a, b, 77); /* the stream is still in step */
}

static void recv__two_talk_fairly(void **state)
{
	struct host *c = open_host(2), *three[3] = { a, b, c };
	static u8 big[6 << 20], in[6 << 20];
	struct o2g_seg sb = { big, sizeof(big) }, si = { in, sizeof(in) };
	u8 x = 1, y = 0;
	struct o2g_seg sx = { &x, 1 }, sy = { &y, 1 };
	struct host_req *r1, *r2;

	exchange(b, a, 1);
	exchange(c, a, 1);
	r1 = host_recv(a, 1, 1, &si, 1);
	r2 = host_recv(a, 2, 1, &sy, 1);
	host_send(b, 0, 1, &sb, 1);
	host_idle(three, 2, 1);
	host_send(c, 0, 1, &sx, 1);
	assert_true(host_run(three, 3, &r2->done, 2000));
	assert_true(host_run(three, 3, &r1->done, 2000));
	assert_true(none_lost(a));
	host_destroy(c, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(packets__many_sizes_and_pieces),
		S(packets__tiny_buffers),
		S(packets__large),
		S(packets__truncated),
		S(recv__two_talk_fairly),
	};

	return cmocka_run_group_tests(tests, loopback_only, NULL);
}
