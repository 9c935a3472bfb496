/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reading and writing the fields of a message. A reader that comes to the end reads
 * zeros and is bad from then on, so that whoever parses looks once, at the end. A
 * writer that is full is likewise.
 */
#ifndef FSD_BYTES_H
#define FSD_BYTES_H

#include "p9.h"

struct p9_in {
	const u8 *at, *end;
	bool bad;
};

/* Not ended by a zero, and may contain any. */
struct p9_str {
	const char *text;
	u16 len;
};

struct p9_out {
	u8 *buf;
	size_t len, room;
	bool bad;
};

static inline const u8 *p9_take(struct p9_in *in, size_t n)
{
	const u8 *at = in->at;

	if (in->bad || (size_t)(in->end - at) < n) {
		in->bad = true;
		return NULL;
	}
	in->at = at + n;
	return at;
}

static inline u64 p9_get(struct p9_in *in, unsigned n)
{
	const u8 *at = p9_take(in, n);
	u64 v = 0;

	while (at && n--)
		v = v << 8 | at[n];
	return v;
}

static inline u8 p9_get8(struct p9_in *in)
{
	return (u8)p9_get(in, 1);
}
static inline u16 p9_get16(struct p9_in *in)
{
	return (u16)p9_get(in, 2);
}
static inline u32 p9_get32(struct p9_in *in)
{
	return (u32)p9_get(in, 4);
}
static inline u64 p9_get64(struct p9_in *in)
{
	return p9_get(in, 8);
}

static inline struct p9_str p9_get_str(struct p9_in *in)
{
	struct p9_str s = { NULL, p9_get16(in) };

	s.text = (const char *)p9_take(in, s.len);
	if (!s.text)
		s.len = 0;
	return s;
}

/* All read, and nothing left? */
static inline bool p9_in_ended(const struct p9_in *in)
{
	return !in->bad && in->at == in->end;
}

static inline u8 *p9_add(struct p9_out *out, size_t n)
{
	u8 *at = out->buf + out->len;

	if (out->bad || out->room - out->len < n) {
		out->bad = true;
		return NULL;
	}
	out->len += n;
	return at;
}

static inline void p9_put(struct p9_out *out, u64 v, unsigned n)
{
	u8 *at = p9_add(out, n);

	for (unsigned i = 0; at && i < n; i++, v >>= 8)
		at[i] = (u8)v;
}

static inline void p9_put_str(struct p9_out *out, const char *text, size_t len)
{
	u8 *at;

	p9_put(out, len, 2);
	at = p9_add(out, len);
	if (at)
		memcpy(at, text, len);
}

static inline void p9_put_qid(struct p9_out *out, const struct p9_qid *q)
{
	p9_put(out, q->type, 1);
	p9_put(out, q->version, 4);
	p9_put(out, q->path, 8);
}

#endif
