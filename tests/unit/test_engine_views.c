/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/engine_fixture.c */
/* Buffers that are views. */
#include "engine_fixture.h"

#include <stdlib.h>

/* --- views: every byte has its place at the far end, backwards --- */

struct backwards {
	struct o2g_view view;
	unsigned char *end;
	size_t moved;
};

static void read_backwards(const struct o2g_view *v, uint64_t off, void *to,
			   size_t n)
{
	struct backwards *b = (struct backwards *)v;

	for (size_t i = 0; i < n; i++)
		((unsigned char *)to)[i] = b->end[-1 - (long)(off + i)];
	b->moved += n;
}

static void write_backwards(const struct o2g_view *v, uint64_t off,
			    const void *from, size_t n)
{
	struct backwards *b = (struct backwards *)v;

	for (size_t i = 0; i < n; i++)
		b->end[-1 - (long)(off + i)] = ((unsigned char *)from)[i];
	b->moved += n;
}

/* Send @n of @out, receive up to @room into @in, each as a view or plain. */
static void exchange(int to, unsigned char *out, bool out_view, size_t n,
		     unsigned char *in, bool in_view, size_t room)
{
	struct backwards o = { { read_backwards, NULL }, out + n, 0 };
	struct backwards i = { { NULL, write_backwards }, in + room, 0 };
	struct o2g_seg so = { out_view ? (void *)&o : out, n };
	struct o2g_seg si = { in_view ? (void *)&i : in, room };
	size_t got = n < room ? n : room;
	struct o2g_req *s, *r;
	struct o2g_status st;

	memset(in, 0, room);
	CHECK(o2g_irecv(ep, to, 5, 0, &si, in_view ? O2G_VIEW : 1, &r) == 0);
	CHECK(o2g_isend(ep, to, 5, &so, out_view ? O2G_VIEW : 1, 0, &s) == 0);
	CHECK(o2g_wait(s, NULL) == 0);
	CHECK(o2g_wait(r, &st) == (n > room ? -O2G_ERR_TRUNCATED : 0));
	CHECK(st.length == got && st.message_length == n);
	CHECK(!in_view || i.moved == got);
	CHECK(!out_view || o.moved >= got);
	for (size_t k = 0; k < got; k++)
		CHECK(out[out_view ? n - 1 - k : k] ==
		      in[in_view ? room - 1 - k : k]);
}

static void views(void)
{
	static const size_t sizes[] = { 0,     1,      8,      40,
					1000,  8192,   9000,   65536,
					70000, 700001, 3 << 20 };
	unsigned char *out = malloc(3 << 20), *in = malloc(3 << 20);

	fill(out, 3 << 20, 9); /* the same in both ranks */
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (int to = 0; to < 2; to++) {
			exchange(to, out, true, sizes[i], in, true, sizes[i]);
			exchange(to, out, true, sizes[i], in, false, sizes[i]);
			exchange(to, out, false, sizes[i], in, true, sizes[i]);
			exchange(to, out, true, sizes[i], in, true,
				 sizes[i] / 2);
			exchange(to, out, true, sizes[i], in, true,
				 sizes[i] ? 3 << 20 : 0);
		}
	}
	free(out);
	free(in);
}

/* A view whose message came before it was asked for, or never does. */
static void views_late(void)
{
	static unsigned char mem[100000];
	struct backwards v = { { read_backwards, write_backwards },
			       mem + sizeof(mem),
			       0 };
	struct o2g_seg seg = { &v, sizeof(mem) };
	struct o2g_req *r;
	struct o2g_msg *m;

	if (me == 0) {
		fill(mem, sizeof(mem), 1);
		seg.len = 5000;
		CHECK(o2g_isend(ep, 1, 1, &seg, O2G_VIEW, 0, &r) == 0);
		CHECK(o2g_wait(r, NULL) == 0);
		seg.len = sizeof(mem);
		CHECK(o2g_isend(ep, 1, 2, &seg, O2G_VIEW, 0, &r) == 0);
		CHECK(o2g_wait(r, NULL) == 0);
		return;
	}
	CHECK(o2g_irecv(ep, 0, 3, 0, &seg, O2G_VIEW, &r) == 0);
	CHECK(o2g_cancel(r) == 0 && o2g_wait(r, NULL) == -O2G_ERR_CANCELLED);
	CHECK(o2g_probe(ep, 0, 1, 0, NULL) == 0);
	CHECK(o2g_irecv(ep, 0, 1, 0, &seg, O2G_VIEW, &r) == 0);
	CHECK(o2g_wait(r, NULL) == 0 && v.moved == 5000);
	for (size_t i = sizeof(mem) - 5000; i < sizeof(mem); i++)
		CHECK(mem[i] == (unsigned char)(1 + i * 7 + (i >> 8)));
	CHECK(o2g_mprobe(ep, 0, 2, 0, &m, NULL) == 0);
	CHECK(o2g_imrecv(m, &seg, O2G_VIEW, &r) == 0);
	CHECK(o2g_wait(r, NULL) == 0 && v.moved == 5000 + sizeof(mem));
	check_bytes(mem, sizeof(mem), 1);
}

OVER(views, 2, views, -1)
OVER(views_late, 2, views_late, -1)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		BOTH(views),
		BOTH(views_late),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
