/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/channels_fixture.c */
/* Every channel: bytes of all sizes and shapes, in their order. */
#include "channels_fixture.h"

#include <stdlib.h>
#include <string.h>

/* --- sizes --- */

static void sizes__around_every_limit(void)
{
	static const u32 near[] = { 0,	  8,	16,   40,    48,    64,	  192,
				    1024, 4096, 8192, 16384, 32768, 65536 };

	exchange(a, b, 1);
	for (u32 i = 0; i < sizeof(near) / sizeof(near[0]); i++)
		for (int d = -1; d <= 1; d++) {
			u32 len = near[i] + (near[i] || d > 0 ? d : 0);

			exchange(a, b, len);
			exchange(b, a, len);
		}
	assert_int_equal(a->peers[1].lost + b->peers[0].lost, 0);
}

static void sizes__large(void)
{
	exchange(a, b, 9 << 20);
	exchange(b, a, (3 << 20) + 1);
	/* by packets where memory could be read */
	a->no_expose = b->no_expose = true;
	exchange(a, b, (5 << 20) + 3);
	exchange(b, a, 1 << 20);
}

static void sizes__too_long_for_the_buffer(void)
{
	static u8 out[50000], in[1001];
	static const u32 lens[] = { 1001, 5000, sizeof(out) };

	exchange(a, b, 1);
	for (u32 i = 0; i < 3; i++) {
		struct host_req *r, *s;

		memset(in, 0, sizeof(in));
		fill(out, sizeof(out), i);
		r = host_recv_buf(b, 0, 1, in, 1000);
		s = host_send_buf(a, 1, 1, out, lens[i]);
		assert_true(both_run(&r->done));
		finish(s);
		assert_int_equal(r->r.status, -O2G_ERR_TRUNCATED);
		assert_int_equal(r->r.msg_len, lens[i]);
		assert_memory_equal(in, out, 1000);
		assert_int_equal(in[1000], 0);
		exchange(a, b, 77); /* both are still in step */
	}
}

/* --- order --- */

/* One tag for all: a packet that overtakes is found out. */
static void order__small_and_large_in_a_row(void)
{
	static const u32 len[] = { 1, 8, 40000, 9, 0, 200000, 1, 8000, 3 };
	enum { N = sizeof(len) / sizeof(len[0]) };
	struct host_req *r[N], *s[N];
	u8 *out[N], *in[N];

	exchange(a, b, 4);
	for (u32 round = 0; round < 4; round++) {
		for (u32 i = 0; i < N; i++) {
			out[i] = malloc(len[i] + 1);
			in[i] = calloc(1, len[i] + 1);
			fill(out[i], len[i], i);
			if (round & 1)
				r[i] = host_recv_buf(b, 0, 1, in[i], len[i]);
			s[i] = host_send_buf(a, 1, 1, out[i], len[i]);
		}
		if (round == 2)
			both_idle(5); /* all of them unexpected */
		for (u32 i = 0; i < N && !(round & 1); i++)
			r[i] = host_recv_buf(b, 0, 1, in[i], len[i]);
		for (u32 i = 0; i < N; i++) {
			finish(r[i]);
			finish(s[i]);
			assert_int_equal(r[i]->r.msg_len, len[i]);
			assert_memory_equal(in[i], out[i], len[i]);
			host_req_free(r[i]);
			host_req_free(s[i]);
			free(in[i]);
			free(out[i]);
		}
	}
}

#define BURST 300

/* The receiver does nothing while the sender fills all there is. */
static void order__queued_sends(void)
{
	static u8 out[BURST][600], in[BURST][600];
	struct host_req *s[BURST], *r[BURST];

	exchange(a, b, 4);
	exchange(b, a, 4);
	for (u32 i = 0; i < BURST; i++) {
		fill(out[i], 600, i);
		s[i] = host_send_buf(a, 1, 1, out[i], i % 2 ? 600 : 20);
	}
	assert_false(s[BURST - 1]->done); /* no more than was granted */
	for (u32 i = 0; i < BURST; i++) {
		r[i] = host_recv_buf(b, 0, 1, in[i], 600);
		finish(r[i]);
		finish(s[i]);
		assert_int_equal(r[i]->r.msg_len, i % 2 ? 600 : 20);
		assert_memory_equal(in[i], out[i], r[i]->r.msg_len);
	}
	assert_int_equal(a->peers[1].lost + b->peers[0].lost, 0);
}

/* --- without a request --- */

static void inject__in_order_with_sends(void)
{
	u32 in[32], out;
	struct host_req *r[32];

	if (encrypts())
		return;
	exchange(a, b, 4);
	exchange(b, a, 4);
	for (u32 i = 0; i < 32; i++)
		r[i] = host_recv_buf(b, 0, 1, &in[i], 4);
	for (u32 i = 0; i < 32; i++) {
		out = i;
		if (i % 4 == 3)
			finish(host_send_buf(a, 1, 1, &out, 4));
		else
			assert_int_equal(host_inject(a, 1, 1, &out, 4), 0);
		out = ~0u; /* it is ours again */
	}
	for (u32 i = 0; i < 32; i++) {
		finish(r[i]);
		assert_int_equal(in[i], i);
	}
}

static void inject__every_size(void)
{
	static u8 out[8192], in[8192];
	u64 max = 0;

	if (encrypts())
		return;
	exchange(a, b, 4);
	exchange(b, a, 4);
	max = peer_of(a, b)->core.inject_max - 1;
	for (u64 len = 0; len <= max && len <= 4000; len += len / 8 + 1) {
		struct host_req *r = host_recv_buf(b, 0, 1, in, sizeof(in));

		fill(out, len, len);
		assert_int_equal(host_inject(a, 1, 1, out, len), 0);
		finish(r);
		assert_int_equal(r->r.msg_len, len);
		assert_memory_equal(in, out, len);
		host_req_free(r);
		both_idle(0);
		exchange(b, a, 4); /* credit is given back with it */
	}
}

/* Behind packets that wait for room it is refused, and nothing is done. */
static void inject__refused_behind_a_queue(void)
{
	static u8 out[48 << 20], in[48 << 20];
	struct host_req *s, *r, *last;
	u8 x = 0;
	int err = 0;

	if (encrypts())
		return;
	exchange(a, b, 4);
	a->no_expose = true;
	r = host_recv_buf(b, 0, 1, in, sizeof(in));
	s = host_send_buf(a, 1, 1, out, sizeof(out));
	for (int i = 0; i < 5; i++) { /* until it is asked for */
		host_pump(a);
		host_pump(b);
	}
	last = host_recv_buf(b, 0, 2, &x, 1);
	for (int i = 0; i < 200; i++)
		host_pump(a); /* until there is no room for more of it */
	err = host_inject(a, 1, 2, "x", 1);
	assert_int_equal(err, -EAGAIN);
	assert_false(s->done);
	finish(s);
	finish(r);
	both_idle(5);
	assert_false(last->done);
	assert_int_equal(host_inject(a, 1, 2, "y", 1), 0);
	finish(last);
	assert_int_equal(x, 'y');
}

/* --- segments and views --- */

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

#define CUTS 80

/* One message, cut differently at both ends; expected or not. */
static void one_cut(struct host *x, struct host *y, u32 len, u32 *seed)
{
	u8 *out = malloc(len + 1), *in = calloc(1, len + 1);
	struct o2g_seg so[CUTS], si[CUTS];
	u32 no = cut(out, len, so, CUTS, seed),
	    ni = cut(in, len, si, CUTS, seed);
	struct host_req *r = NULL, *s;

	fill(out, len, *seed);
	if (*seed & 1)
		r = host_recv(y, x->rank, 1, si, ni);
	s = host_send(x, y->rank, 1, so, no);
	if (*seed & 2)
		both_idle(0);
	if (!r)
		r = host_recv(y, x->rank, 1, si, ni);
	finish(r);
	finish(s);
	assert_int_equal(r->r.msg_len, len);
	assert_memory_equal(in, out, len);
	host_req_free(r);
	host_req_free(s);
	free(in);
	free(out);
}

static void segments__cut_differently(void)
{
	u32 seed = 1;

	exchange(a, b, 1);
	exchange(b, a, 1);
	for (int i = 0; i < 300; i++) {
		u32 most = rand_r(&seed) & 3 ? 300 : 200000;
		u32 len = rand_r(&seed) % most;

		if (i & 1)
			one_cut(a, b, len, &seed);
		else
			one_cut(b, a, len, &seed);
	}
}

#define PIECES 50000

static void segments__very_many(void)
{
	static struct o2g_seg segs[PIECES];
	static u64 out[PIECES * 2], in[PIECES];
	struct host_req *s, *r;

	exchange(a, b, 1);
	for (u32 i = 0; i < PIECES; i++) {
		out[2 * i] = i;
		segs[i].base = &out[2 * i];
		segs[i].len = 8;
	}
	r = host_recv_buf(b, 0, 1, in, sizeof(in));
	s = host_send(a, 1, 1, segs, PIECES);
	finish(r);
	finish(s);
	for (u32 i = 0; i < PIECES; i++)
		assert_int_equal(in[i], i);
}

/* Three bytes of data, one that is not. */
struct comb {
	struct o2g_view view; /* first */
	u8 *mem;
};

static u8 *tooth(const struct o2g_view *v, u64 i)
{
	return &((const struct comb *)v)->mem[i / 3 * 4 + i % 3];
}

static void comb_read(const struct o2g_view *v, u64 off, void *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((u8 *)to)[i] = *tooth(v, off + i);
}

static void comb_write(const struct o2g_view *v, u64 off, const void *from,
		       size_t n)
{
	for (size_t i = 0; i < n; i++)
		*tooth(v, off + i) = ((const u8 *)from)[i];
}

static struct comb comb_new(u32 len)
{
	struct comb c = { { comb_read, comb_write }, malloc(len / 3 * 4 + 4) };

	memset(c.mem, '.', len / 3 * 4 + 4);
	return c;
}

static void check_comb(const struct comb *c, const u8 *want, u32 len)
{
	for (u32 i = 0; i < len; i++)
		assert_int_equal(*tooth(&c->view, i), want[i]);
	for (u32 i = 3; i < len / 3 * 4; i += 4)
		assert_int_equal(c->mem[i], '.');
}

/* View to buffer, buffer to view, view to view. */
static void views_of(u32 len)
{
	struct comb out = comb_new(len), in = comb_new(len);
	u8 *flat = malloc(len + 1), *got = calloc(1, len + 1);
	struct host_req *r, *s;

	fill(flat, len, len);
	comb_write(&out.view, 0, flat, len);
	r = host_recv_buf(b, 0, 1, got, len);
	s = host_send_view(a, 1, 1, &out.view, len);
	finish(r);
	finish(s);
	assert_memory_equal(got, flat, len);
	r = host_recv_view(b, 0, 1, &in.view, len);
	s = host_send_buf(a, 1, 1, flat, len);
	finish(r);
	finish(s);
	check_comb(&in, flat, len);
	memset(in.mem, '.', len / 3 * 4 + 4);
	s = host_send_view(a, 1, 1, &out.view, len);
	both_idle(0);
	r = host_recv_view(b, 0, 1, &in.view, len);
	finish(r);
	finish(s);
	check_comb(&in, flat, len);
	free(flat);
	free(got);
	free(out.mem);
	free(in.mem);
}

static void views__of_every_size(void)
{
	static const u32 len[] = { 1,	 8,    9,     16,    40,    41,
				   1000, 8000, 20000, 70000, 500000 };

	exchange(a, b, 1);
	for (u32 i = 0; i < sizeof(len) / sizeof(len[0]); i++)
		views_of(len[i]);
	assert_int_equal(a->peers[1].lost + b->peers[0].lost, 0);
}

/* --- memory of the peer --- */

static void get__segments(void)
{
	static u8 mem[5000];
	const struct chan_ops *ops = kind->ops;
	u8 head[10], rest[5000];
	struct o2g_seg segs[3] = { { head, sizeof(head) },
				   { head, 0 },
				   { rest, sizeof(rest) } };
	struct chan_peer *p;

	exchange(a, b, 1);
	p = peer_of(a, b);
	if (!p->core.can_get) {
		assert_true(!ops->get || ops->get(a->chan, p, (uintptr_t)mem,
						  segs, 1, 1) == -EOPNOTSUPP);
		assert_true(!ops->put || ops->put(a->chan, p, (uintptr_t)mem,
						  segs, 1, 1) == -EOPNOTSUPP);
		return;
	}
	fill(mem, sizeof(mem), 9);
	assert_int_equal(ops->get(a->chan, p, (uintptr_t)mem, segs, 3, 5000),
			 0);
	assert_memory_equal(head, mem, 10);
	assert_memory_equal(rest, mem + 10, 4990);
	assert_int_equal(ops->put(a->chan, p, (uintptr_t)mem, segs + 2, 1, 7),
			 0);
	assert_memory_equal(mem, rest, 7);
	assert_int_equal(ops->get(a->chan, p, 16, segs, 3, 100), -EFAULT);
	assert_int_equal(ops->put(a->chan, p, 16, segs, 1, 1), -EFAULT);
}

static void get__large_messages_are_read(void)
{
	exchange(a, b, 1);
	exchange(a, b, 1 << 20);
	exchange(b, a, 1 << 20);
	if (peer_of(a, b)->core.can_get)
		assert_true(a->core.stats.gets && !a->core.stats.data_recv);
	else
		assert_true(!a->core.stats.gets && a->core.stats.data_recv);
}

static int find(u64 key, u64 offset, u64 len, bool write, u64 *addr)
{
	return kind->ops->find_key(a->chan, peer_of(a, b), key, offset, len,
				   write, addr);
}

static void keys__found_while_they_are_there(void)
{
	static u8 mem[100];
	struct o2g_key key = { 77ull << 32 | 4, (uintptr_t)mem, sizeof(mem) };
	struct o2g_key none = { 0 };
	u64 addr = 0;

	exchange(a, b, 1);
	if (!kind->ops->set_key) {
		assert_null(kind->ops->find_key);
		return;
	}
	assert_int_equal(find(key.key, 0, 1, false, &addr), -EAGAIN);
	kind->ops->set_key(b->chan, 3, &key, O2G_READ);
	assert_int_equal(find(key.key, 10, 90, false, &addr), 0);
	assert_int_equal(addr, (uintptr_t)mem + 10);
	assert_int_equal(find(key.key, 10, 91, false, &addr), -EAGAIN);
	assert_int_equal(find(key.key, 101, 0, false, &addr), -EAGAIN);
	assert_int_equal(find(key.key, 0, 1, true, &addr), -EAGAIN);
	assert_int_equal(find(key.key + 1, 0, 1, false, &addr), -EAGAIN);
	assert_int_equal(find(78ull << 32 | 4, 0, 1, false, &addr), -EAGAIN);
	assert_int_equal(find(0, 0, 1, false, &addr), -EAGAIN);
	kind->ops->set_key(b->chan, 3, &key, O2G_READ | O2G_WRITE);
	assert_int_equal(find(key.key, 0, 100, true, &addr), 0);
	kind->ops->set_key(b->chan, 3, &none, 0);
	assert_int_equal(find(key.key, 0, 1, false, &addr), -EAGAIN);
	kind->ops->set_key(b->chan, 1u << 20, &key, O2G_READ); /* too many */
	assert_int_equal(find(key.key, 0, 1, false, &addr), -EAGAIN);
}

int main(int argc, char **argv)
{
	static const struct chan_case cases[] = {
		CASE(sizes__around_every_limit),
		CASE(sizes__large),
		CASE(sizes__too_long_for_the_buffer),
		CASE(order__small_and_large_in_a_row),
		CASE(order__queued_sends),
		CASE(inject__in_order_with_sends),
		CASE(inject__every_size),
		CASE(inject__refused_behind_a_queue),
		CASE(segments__cut_differently),
		CASE(segments__very_many),
		CASE(views__of_every_size),
		CASE(get__segments),
		CASE(get__large_messages_are_read),
		CASE(keys__found_while_they_are_there),
	};

	return run_cases(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
