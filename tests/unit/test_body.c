/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: channel/body.c */
#include "channel.h"

#include <stdio.h>

#include "unit.h"

static char mem[64];

/* "abc", "", "defgh", "ij" with gaps between. */
static struct o2g_seg segs[4];

static int set_up(void **arg)
{
	memset(mem, '.', sizeof(mem));
	memcpy(mem, "abc", 3);
	memcpy(mem + 10, "defgh", 5);
	memcpy(mem + 20, "ij", 2);
	segs[0] = (struct o2g_seg){ mem, 3 };
	segs[1] = (struct o2g_seg){ NULL, 0 };
	segs[2] = (struct o2g_seg){ mem + 10, 5 };
	segs[3] = (struct o2g_seg){ mem + 20, 2 };
	return 0;
}

static struct o2g_sink sink(u64 off, u64 room)
{
	return (struct o2g_sink){ segs, 4, off, room, NULL };
}

/* What the list holds now. */
static const char *all(void)
{
	static char buf[11];

	snprintf(buf, sizeof(buf), "%.3s%.5s%.2s", mem, mem + 10, mem + 20);
	return buf;
}

static void chan_sink_write__one_segment(void **arg)
{
	struct o2g_sink s = sink(1, 2);

	chan_sink_write(&s, "XY", 2);
	assert_string_equal(all(), "aXYdefghij");
	assert_int_equal(s.room, 0);
	chan_sink_write(&s, "Z", 1);
	assert_string_equal(all(), "aXYdefghij");
}

/* A view over the same bytes as the list. */
static void view_write(const struct o2g_view *v, u64 off, const void *from,
		       size_t n)
{
	struct o2g_sink s = sink(off, 10 - off);

	chan_sink_write(&s, from, n);
}

static void view_read(const struct o2g_view *v, u64 off, void *to, size_t n)
{
	chan_gather(to, segs, 4, off, n);
}

static const struct o2g_view view = { view_read, view_write };

static void chan_sink_write__view(void **arg)
{
	struct o2g_seg none = { NULL, 0 };

	for (u32 piece = 1; piece <= 10; piece++) {
		struct o2g_sink s = { &none, 0, 0, 9, &view };

		set_up(NULL);
		for (u32 at = 0; at < 10; at += piece)
			chan_sink_write(&s, &"0123456789"[at],
					piece < 10 - at ? piece : 10 - at);
		assert_string_equal(all(), "012345678j");
		assert_int_equal(s.off, 9);
		assert_int_equal(s.room, 0);
	}
}

static void chan_req_read__both(void **arg)
{
	struct o2g_req plain = { .segs = segs, .nsegs = 4 };
	struct o2g_req viewed = { .view = &view };
	char a[10], b[10];

	for (u32 off = 0; off < 10; off++) {
		chan_req_read(&plain, off, a, 10 - off);
		chan_req_read(&viewed, off, b, 10 - off);
		assert_memory_equal(a, &"abcdefghij"[off], 10 - off);
		assert_memory_equal(b, a, 10 - off);
	}
}

/* In pieces of every size, across segments and the empty one. */
static void chan_sink_write__in_pieces(void **arg)
{
	for (u32 piece = 1; piece <= 10; piece++) {
		struct o2g_sink s = sink(0, 10);

		set_up(NULL);
		for (u32 at = 0; at < 10; at += piece)
			chan_sink_write(&s, &"0123456789"[at],
					piece < 10 - at ? piece : 10 - at);
		assert_string_equal(all(), "0123456789");
		assert_int_equal(s.room, 0);
		assert_int_equal(mem[3], '.');
		assert_int_equal(mem[9], '.');
		assert_int_equal(mem[15], '.');
		assert_int_equal(mem[22], '.');
	}
}

/* A message longer than the buffer: the rest is dropped. */
static void chan_sink_write__truncates(void **arg)
{
	struct o2g_sink s = sink(2, 3);

	chan_sink_write(&s, "0123456789", 10);
	assert_string_equal(all(), "ab012fghij");
	assert_int_equal(s.room, 0);
}

static void chan_sink_write__nothing(void **arg)
{
	struct o2g_sink s = { 0 };

	chan_sink_write(&s, "abc", 3);
	chan_sink_write(&s, NULL, 0);
	assert_int_equal(s.room, 0);
}

static void chan_sink_write__room_beyond_the_list(void **arg)
{
	struct o2g_sink s = sink(8, 100);

	chan_sink_write(&s, "0123456789", 10);
	assert_string_equal(all(), "abcdefgh01");
	assert_int_equal(mem[22], '.');
}

static void chan_gather__every_range(void **arg)
{
	for (u32 off = 0; off <= 10; off++) {
		for (u32 n = 0; n <= 10 - off; n++) {
			char out[12] = "............";

			out[11] = '\0';
			chan_gather(out, segs, 4, off, n);
			assert_memory_equal(out, &"abcdefghij"[off], n);
			assert_int_equal(out[n], n < 11 ? '.' : 0);
		}
	}
}

static void chan_slice__every_range(void **arg)
{
	for (u32 off = 0; off <= 10; off++) {
		for (u32 n = 0; n <= 10 - off; n++) {
			struct o2g_seg out[4];
			char bytes[12] = "";
			u64 covered;
			u32 count =
				chan_slice(segs, 4, off, n, out, 4, &covered);

			assert_int_equal(covered, n);
			assert_true(count <= 3);
			for (u32 i = 0; i < count; i++)
				assert_true(out[i].len > 0);
			chan_gather(bytes, out, count, 0, covered);
			assert_memory_equal(bytes, &"abcdefghij"[off], n);
		}
	}
}

static void chan_slice__few_iovecs(void **arg)
{
	struct o2g_seg out[2];
	u64 covered;

	assert_int_equal(chan_slice(segs, 4, 1, 9, out, 2, &covered), 2);
	assert_int_equal(covered, 7);
	assert_ptr_equal(out[0].base, mem + 1);
	assert_int_equal(out[0].len, 2);
	assert_ptr_equal(out[1].base, mem + 10);
	assert_int_equal(out[1].len, 5);
	assert_int_equal(chan_slice(segs, 4, 1, 9, out, 0, &covered), 0);
	assert_int_equal(covered, 0);
}

/* More asked for than there is. */
static void chan_slice__past_the_end(void **arg)
{
	struct o2g_seg out[4];
	u64 covered;

	assert_int_equal(chan_slice(segs, 4, 8, 50, out, 4, &covered), 1);
	assert_int_equal(covered, 2);
	assert_int_equal(chan_slice(segs, 4, 10, 50, out, 4, &covered), 0);
	assert_int_equal(covered, 0);
}

#define TS(f) cmocka_unit_test_setup(f, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TS(chan_sink_write__one_segment),
		TS(chan_sink_write__in_pieces),
		TS(chan_sink_write__truncates),
		TS(chan_sink_write__nothing),
		TS(chan_sink_write__room_beyond_the_list),
		TS(chan_sink_write__view),
		TS(chan_req_read__both),
		TS(chan_gather__every_range),
		TS(chan_slice__every_range),
		TS(chan_slice__few_iovecs),
		TS(chan_slice__past_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
