/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Moving bodies: between flat memory and segment lists. Nearly every body is
 * one segment, so that case comes first everywhere.
 */
#include "channel.h"

#include <sys/uio.h>

_Static_assert(sizeof(struct o2g_seg) == sizeof(struct iovec) &&
		       offsetof(struct o2g_seg, base) ==
			       offsetof(struct iovec, iov_base) &&
		       offsetof(struct o2g_seg, len) ==
			       offsetof(struct iovec, iov_len),
	       "struct o2g_seg is handed to the kernel as a struct iovec");

/*
 * Segments that the cursor has passed are dropped from the sink, so that a
 * body of many segments that comes in many pieces is walked once.
 */
static void sink_write_list(struct o2g_sink *s, const char *from, size_t n)
{
	while (n && s->nsegs) {
		size_t piece;

		if (s->off >= s->segs->len) {
			s->off -= s->segs->len;
			s->segs++;
			s->nsegs--;
			continue;
		}
		piece = s->segs->len - s->off;
		if (piece > n)
			piece = n;
		memcpy((char *)s->segs->base + s->off, from, piece);
		s->off += piece;
		from += piece;
		n -= piece;
	}
}

void chan_sink_write(struct o2g_sink *s, const void *data, size_t n)
{
	if (n > s->room)
		n = s->room;
	if (!n)
		return;
	s->room -= n;
	if (likely(s->nsegs && s->off < s->segs->len &&
		   n <= s->segs->len - s->off)) {
		memcpy((char *)s->segs->base + s->off, data, n);
		s->off += n;
		return;
	}
	if (s->view) {
		s->view->write(s->view, s->off, data, n);
		s->off += n;
	} else {
		sink_write_list(s, data, n);
	}
}

void chan_rx_deny(struct o2g_rx *rx, const void *base, size_t len)
{
	uintptr_t at = (uintptr_t)rx->put_seg.base - (uintptr_t)base;

	if (rx->hdr.type != O2G_PKT_PUT || !rx->sink.room || at >= len)
		return;
	rx->sink.room = 0;
	rx->nak = -ENOENT;
}

void chan_req_read(const struct o2g_req *req, u64 off, void *to, size_t n)
{
	if (unlikely(req->view))
		req->view->read(req->view, off, to, n);
	else
		chan_gather(to, req->segs, req->nsegs, off, n);
}

void chan_gather(void *to, const struct o2g_seg *segs, u32 nsegs, u64 off,
		 size_t n)
{
	char *at = to;

	if (!n)
		return;
	for (; n && nsegs; segs++, nsegs--) {
		size_t piece;

		if (off >= segs->len) {
			off -= segs->len;
			continue;
		}
		piece = segs->len - off;
		if (piece > n)
			piece = n;
		memcpy(at, (const char *)segs->base + off, piece);
		at += piece;
		n -= piece;
		off = 0;
	}
	env_assert(!n); /* the caller knows how long its list is */
}

u32 chan_slice(const struct o2g_seg *segs, u32 nsegs, u64 off, u64 len,
	       struct o2g_seg *out, u32 max, u64 *covered)
{
	u32 count = 0;

	*covered = 0;
	for (; len && nsegs && count < max; segs++, nsegs--) {
		size_t piece;

		if (off >= segs->len) {
			off -= segs->len;
			continue;
		}
		piece = segs->len - off;
		if (piece > len)
			piece = len;
		out[count].base = (char *)segs->base + off;
		out[count].len = piece;
		count++;
		*covered += piece;
		len -= piece;
		off = 0;
	}
	return count;
}
