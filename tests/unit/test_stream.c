/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/stream.c core/wire.c */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "stream.h"

/* What the callbacks saw, as text: "B<type>" body bytes "E". */
struct seen {
	char text[512];
	size_t n;
	unsigned calls; /* of body */
	int begin_rc, end_rc;
};

static int on_begin(void *ctx, const struct o2g_hdr *h)
{
	struct seen *s = ctx;

	if (s->begin_rc)
		return s->begin_rc;
	s->n += snprintf(s->text + s->n, sizeof(s->text) - s->n, "[%s ",
			 o2g_wire_pkt_name(h->type));
	return 0;
}

static void on_body(void *ctx, const void *data, size_t n)
{
	struct seen *s = ctx;

	assert_true(n > 0);
	assert_true(s->n + n < sizeof(s->text));
	memcpy(s->text + s->n, data, n);
	s->n += n;
	s->text[s->n] = '\0';
	s->calls++;
}

static int on_end(void *ctx)
{
	struct seen *s = ctx;

	if (s->end_rc)
		return s->end_rc;
	s->text[s->n++] = ']';
	s->text[s->n] = '\0';
	return 0;
}

static const struct o2g_stream_ops ops = { on_begin, on_body, on_end };

static size_t add(u8 *buf, size_t at, u8 type, const char *body)
{
	struct o2g_hdr h = { .type = type, .length = strlen(body) };

	o2g_wire_encode(&h, buf + at);
	memcpy(buf + at + O2G_HDR_SIZE, body, strlen(body));
	return at + O2G_HDR_SIZE + strlen(body);
}

/* FIN, EAGER "hello", EAGER "", DATA "abc", BYE. */
static size_t sample(u8 *buf)
{
	size_t n = 0;

	n = add(buf, n, O2G_PKT_FIN, "");
	n = add(buf, n, O2G_PKT_EAGER, "hello");
	n = add(buf, n, O2G_PKT_EAGER, "");
	n = add(buf, n, O2G_PKT_DATA, "abc");
	return add(buf, n, O2G_PKT_BYE, "");
}

#define SAMPLE_TEXT "[FIN ][EAGER hello][EAGER ][DATA abc][BYE ]"

/* --- o2g_stream_init --- */

static void o2g_stream_init__clears(void **state)
{
	struct o2g_stream s;
	void *where;

	memset(&s, 0xff, sizeof(s));
	o2g_stream_init(&s);
	assert_int_equal(o2g_stream_want_header(&s, &where), O2G_HDR_SIZE);
	assert_ptr_equal(where, s.raw);
	assert_false(s.in_body);
	assert_int_equal(s.failed, 0);
}

/* --- o2g_stream_want_header --- */

static void o2g_stream_want_header__moves_on(void **state)
{
	struct o2g_stream s;
	void *where;

	o2g_stream_init(&s);
	assert_int_equal(o2g_stream_header_done(&s, 10), 0);
	assert_int_equal(o2g_stream_want_header(&s, &where), O2G_HDR_SIZE - 10);
	assert_ptr_equal(where, s.raw + 10);
}

static void o2g_stream_want_header__none_in_body(void **state)
{
	struct o2g_stream s;
	void *where;
	u8 buf[64];

	o2g_stream_init(&s);
	add(buf, 0, O2G_PKT_EAGER, "x");
	o2g_stream_want_header(&s, &where);
	memcpy(where, buf, O2G_HDR_SIZE);
	assert_int_equal(o2g_stream_header_done(&s, O2G_HDR_SIZE), 1);
	assert_int_equal(o2g_stream_want_header(&s, &where), 0);
	assert_int_equal(o2g_stream_body_done(&s, 1), 1);
	assert_int_equal(o2g_stream_want_header(&s, &where), O2G_HDR_SIZE);
}

/* --- o2g_stream_header_done --- */

static void o2g_stream_header_done__decodes(void **state)
{
	struct o2g_stream s;
	void *where;
	u8 buf[64];

	o2g_stream_init(&s);
	add(buf, 0, O2G_PKT_PUT, "xyz");
	for (int i = 0; i < O2G_HDR_SIZE; i++) {
		assert_int_equal(o2g_stream_want_header(&s, &where),
				 O2G_HDR_SIZE - i);
		memcpy(where, buf + i, 1);
		assert_int_equal(o2g_stream_header_done(&s, 1),
				 i == O2G_HDR_SIZE - 1);
	}
	assert_int_equal(s.hdr.type, O2G_PKT_PUT);
	assert_int_equal(s.body_left, 3);
}

static void o2g_stream_header_done__no_body(void **state)
{
	struct o2g_stream s;
	void *where;
	u8 buf[64];

	o2g_stream_init(&s);
	add(buf, 0, O2G_PKT_FIN, "");
	o2g_stream_want_header(&s, &where);
	memcpy(where, buf, O2G_HDR_SIZE);
	assert_int_equal(o2g_stream_header_done(&s, O2G_HDR_SIZE), 1);
	assert_int_equal(s.body_left, 0);
	assert_int_equal(o2g_stream_body_done(&s, 0), 1);
}

static void o2g_stream_header_done__malformed_is_final(void **state)
{
	struct o2g_stream s;
	void *where;

	o2g_stream_init(&s);
	assert_int_equal(o2g_stream_header_done(&s, O2G_HDR_SIZE), -EBADMSG);
	assert_int_equal(s.error, O2G_WIRE_BAD_VERSION);
	assert_int_equal(o2g_stream_want_header(&s, &where), 0);
	assert_int_equal(o2g_stream_header_done(&s, 0), -EBADMSG);
}

/* --- o2g_stream_body_done --- */

static void o2g_stream_body_done__pieces(void **state)
{
	struct o2g_stream s;
	void *where;
	u8 buf[64];

	o2g_stream_init(&s);
	add(buf, 0, O2G_PKT_DATA, "123456");
	o2g_stream_want_header(&s, &where);
	memcpy(where, buf, O2G_HDR_SIZE);
	o2g_stream_header_done(&s, O2G_HDR_SIZE);
	assert_int_equal(o2g_stream_body_done(&s, 0), 0);
	assert_int_equal(o2g_stream_body_done(&s, 2), 0);
	assert_int_equal(s.body_left, 4);
	assert_int_equal(o2g_stream_body_done(&s, 4), 1);
	assert_false(s.in_body);
}

/* --- o2g_stream_feed --- */

static void o2g_stream_feed__whole(void **state)
{
	struct seen seen = { 0 };
	struct o2g_stream s;
	u8 buf[512];
	size_t n = sample(buf);

	o2g_stream_init(&s);
	assert_int_equal(o2g_stream_feed(&s, buf, n, &ops, &seen), n);
	assert_string_equal(seen.text, SAMPLE_TEXT);
	assert_int_equal(seen.calls, 2);
}

/* Every cut into two pieces, each in memory of its exact size for ASan. */
static void o2g_stream_feed__every_cut(void **state)
{
	u8 buf[512];
	size_t n = sample(buf);

	for (size_t cut = 0; cut <= n; cut++) {
		struct seen seen = { 0 };
		struct o2g_stream s;
		u8 *a = malloc(cut ? cut : 1), *b = malloc(n - cut + 1);

		memcpy(a, buf, cut);
		memcpy(b, buf + cut, n - cut);
		o2g_stream_init(&s);
		assert_int_equal(o2g_stream_feed(&s, a, cut, &ops, &seen), cut);
		assert_int_equal(o2g_stream_feed(&s, b, n - cut, &ops, &seen),
				 n - cut);
		assert_string_equal(seen.text, SAMPLE_TEXT);
		free(a);
		free(b);
	}
}

static void o2g_stream_feed__every_stride(void **state)
{
	u8 buf[512];
	size_t n = sample(buf);

	for (size_t step = 1; step <= n; step++) {
		struct seen seen = { 0 };
		struct o2g_stream s;

		o2g_stream_init(&s);
		for (size_t at = 0; at < n; at += step) {
			size_t m = n - at < step ? n - at : step;

			assert_int_equal(o2g_stream_feed(&s, buf + at, m, &ops,
							 &seen),
					 m);
		}
		assert_string_equal(seen.text, SAMPLE_TEXT);
	}
}

/* A bodiless packet ends with its last header byte, not with the next one. */
static void o2g_stream_feed__ends_at_once(void **state)
{
	struct seen seen = { 0 };
	struct o2g_stream s;
	u8 buf[64];

	o2g_stream_init(&s);
	add(buf, 0, O2G_PKT_BYE, "");
	o2g_stream_feed(&s, buf, O2G_HDR_SIZE - 1, &ops, &seen);
	assert_string_equal(seen.text, "");
	o2g_stream_feed(&s, buf + O2G_HDR_SIZE - 1, 1, &ops, &seen);
	assert_string_equal(seen.text, "[BYE ]");
}

static void o2g_stream_feed__nothing(void **state)
{
	struct seen seen = { 0 };
	struct o2g_stream s;

	o2g_stream_init(&s);
	assert_int_equal(o2g_stream_feed(&s, "", 0, &ops, &seen), 0);
	assert_int_equal(seen.n, 0);
}

static void o2g_stream_feed__malformed(void **state)
{
	struct seen seen = { 0 };
	struct o2g_stream s;
	u8 buf[512];
	size_t n = add(buf, 0, O2G_PKT_EAGER, "ok");

	memset(buf + n, 0, 100);
	buf[n] = O2G_WIRE_VERSION;
	o2g_stream_init(&s);
	assert_int_equal(o2g_stream_feed(&s, buf, n + 100, &ops, &seen),
			 -EBADMSG);
	assert_int_equal(s.error, O2G_WIRE_BAD_SIZE);
	assert_string_equal(seen.text, "[EAGER ok]");
	n = sample(buf);
	assert_int_equal(o2g_stream_feed(&s, buf, n, &ops, &seen), -EBADMSG);
	assert_string_equal(seen.text, "[EAGER ok]");
}

static void o2g_stream_feed__begin_refuses(void **state)
{
	struct seen seen = { .begin_rc = -EPROTO };
	struct o2g_stream s;
	u8 buf[512];
	size_t n = sample(buf);

	o2g_stream_init(&s);
	assert_int_equal(o2g_stream_feed(&s, buf, n, &ops, &seen), -EPROTO);
	seen.begin_rc = 0;
	assert_int_equal(o2g_stream_feed(&s, buf, n, &ops, &seen), -EPROTO);
	assert_int_equal(s.error, O2G_WIRE_OK);
	assert_int_equal(seen.n, 0);
}

static void o2g_stream_feed__end_refuses(void **state)
{
	struct seen seen = { .end_rc = -ECONNRESET };
	struct o2g_stream s;
	u8 buf[512];
	size_t n = add(buf, 0, O2G_PKT_EAGER, "hello");

	o2g_stream_init(&s);
	assert_int_equal(o2g_stream_feed(&s, buf, n, &ops, &seen), -ECONNRESET);
	assert_string_equal(seen.text, "[EAGER hello");
	assert_int_equal(o2g_stream_feed(&s, buf, n, &ops, &seen), -ECONNRESET);
}

/* --- o2g_stream_end --- */

static void o2g_stream_end__nothing_follows(void **state)
{
	struct seen seen = { 0 };
	struct o2g_stream s;
	u8 buf[256];
	size_t n = add(buf, 0, O2G_PKT_EAGER, "hello");

	o2g_stream_init(&s);
	assert_int_equal(o2g_stream_feed(&s, buf, n, &ops, &seen), n);
	o2g_stream_end(&s);
	assert_false(o2g_stream_between(&s));
	assert_int_equal(o2g_stream_feed(&s, buf, 1, &ops, &seen), -EPROTO);
	o2g_stream_init(&s);
	assert_int_equal(o2g_stream_feed(&s, buf, n, &ops, &seen), n);
	assert_string_equal(seen.text, "[EAGER hello][EAGER hello]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(o2g_stream_init__clears),
		T(o2g_stream_want_header__moves_on),
		T(o2g_stream_want_header__none_in_body),
		T(o2g_stream_header_done__decodes),
		T(o2g_stream_header_done__no_body),
		T(o2g_stream_header_done__malformed_is_final),
		T(o2g_stream_body_done__pieces),
		T(o2g_stream_feed__whole),
		T(o2g_stream_feed__every_cut),
		T(o2g_stream_feed__every_stride),
		T(o2g_stream_feed__ends_at_once),
		T(o2g_stream_feed__nothing),
		T(o2g_stream_feed__malformed),
		T(o2g_stream_feed__begin_refuses),
		T(o2g_stream_feed__end_refuses),
		T(o2g_stream_end__nothing_follows),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
