// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "buf.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

char *buf_tail(struct buf *b, size_t n)
{
	size_t len = buf_len(b);

	if (b->end + n <= b->room)
		return b->data + b->end;
	if (b->start) {
		memmove(b->data, buf_head(b), len);
		b->start = 0;
		b->end = len;
	}
	if (len + n > b->room) {
		b->room = (len + n) * 2;
		b->data = xrealloc(b->data, b->room);
	}
	return b->data + b->end;
}

void buf_added(struct buf *b, size_t n)
{
	b->end += n;
}

void buf_append(struct buf *b, const void *data, size_t n)
{
	if (!n)
		return;
	memcpy(buf_tail(b, n), data, n);
	buf_added(b, n);
}

void buf_consume(struct buf *b, size_t n)
{
	b->start += n;
	if (b->start == b->end)
		b->start = b->end = 0;
}

void buf_cleanup(struct buf *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void buf_put_u32(struct buf *b, uint32_t v)
{
	v = htole32(v);
	buf_append(b, &v, sizeof(v));
}

void buf_put_str(struct buf *b, const char *s)
{
	buf_append(b, s, strlen(s) + 1);
}

uint32_t read_u32(struct reader *r)
{
	uint32_t v;

	if (r->end - r->at < (long)sizeof(v)) {
		r->bad = 1;
		r->at = r->end;
		return 0;
	}
	memcpy(&v, r->at, sizeof(v));
	r->at += sizeof(v);
	return le32toh(v);
}

const char *read_str(struct reader *r)
{
	const char *s = r->at;
	const char *nul = memchr(s, '\0', r->end - s);

	if (!nul) {
		r->bad = 1;
		r->at = r->end;
		return "";
	}
	r->at = nul + 1;
	return s;
}
