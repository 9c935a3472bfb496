/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Bytes that grow at the end and are taken from the front. */
#ifndef EXEC_BUF_H
#define EXEC_BUF_H

#include <stdint.h>
#include <stddef.h>

struct buf {
	char *data;
	size_t start, end, room;
};

static inline size_t buf_len(const struct buf *b)
{
	return b->end - b->start;
}

static inline char *buf_head(const struct buf *b)
{
	return b->data + b->start;
}

/* Room for @n more bytes; the caller writes there and calls buf_added. Never
 * fails: a launcher without memory ends. */
char *buf_tail(struct buf *b, size_t n);
void buf_added(struct buf *b, size_t n);
void buf_append(struct buf *b, const void *data, size_t n);
void buf_consume(struct buf *b, size_t n);
void buf_cleanup(struct buf *b);

/* Numbers and strings, as both ends of a control stream write them. */
void buf_put_u32(struct buf *b, uint32_t v);
void buf_put_str(struct buf *b, const char *s);

/* Reads them back; after the end every answer is 0 or "" and bad is set. */
struct reader {
	const char *at, *end;
	int bad;
};
uint32_t read_u32(struct reader *r);
const char *read_str(struct reader *r); /* points into the data */

#endif
