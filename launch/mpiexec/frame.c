// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "frame.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "util.h"

#define HEADER 12

static void end(struct chan *c)
{
	if (!c->in.active)
		return;
	chan_close(c);
	c->on_end(c);
}

static void write_out(struct chan *c)
{
	while (buf_len(&c->outbuf)) {
		ssize_t n = write(c->out.fd, buf_head(&c->outbuf),
				  buf_len(&c->outbuf));

		if (n < 0 && errno == EINTR)
			continue;
		/* A broken stream is noticed, and said, where it is read. */
		if (n < 0 && errno != EAGAIN)
			buf_consume(&c->outbuf, buf_len(&c->outbuf));
		if (n < 0)
			break;
		buf_consume(&c->outbuf, n);
	}
	c->out.events = buf_len(&c->outbuf) ? POLLOUT : 0;
}

static void on_writable(struct watch *w, short revents)
{
	write_out(w->arg);
}

/* Lines before the greeting. False: more bytes are needed. */
static bool take_greeting(struct chan *c)
{
	size_t len = strlen(FRAME_GREETING);
	char *nl, *line = buf_head(&c->inbuf);

	nl = buf_len(&c->inbuf) ? memchr(line, '\n', buf_len(&c->inbuf)) : NULL;
	if (!nl)
		return false;
	/* A script that printed without a newline may stand before it. */
	if (nl + 1 - line >= (long)len &&
	    !memcmp(nl + 1 - len, FRAME_GREETING, len)) {
		c->greeted = true;
	} else {
		*nl = '\0';
		if (c->on_text)
			c->on_text(c, line);
	}
	buf_consume(&c->inbuf, nl + 1 - line);
	return true;
}

/* 1 a frame was handled, 0 more bytes are needed, -1 nonsense. */
static int take_frame(struct chan *c)
{
	struct reader r = { buf_head(&c->inbuf),
			    buf_head(&c->inbuf) + buf_len(&c->inbuf), 0 };
	uint32_t type, rank, len;

	if (buf_len(&c->inbuf) < HEADER)
		return 0;
	type = read_u32(&r);
	rank = read_u32(&r);
	len = read_u32(&r);
	if (len > FRAME_MAX)
		return -1;
	if (r.end - r.at < (long)len)
		return 0;
	r.end = r.at + len;
	c->on_frame(c, type, (int)rank, &r);
	if (r.bad)
		return -1;
	buf_consume(&c->inbuf, HEADER + len);
	return 1;
}

/* Its start is kept, on one line and without what could upset a terminal. */
static void count_preface(struct chan *c, const char *data, size_t n)
{
	size_t at = strlen(c->said);

	c->preface += n;
	for (size_t i = 0; i < n && at < sizeof(c->said) - 1; i++)
		c->said[at++] = data[i] >= ' ' && data[i] < 127 ? data[i] : ' ';
}

static void on_readable(struct watch *w, short revents)
{
	struct chan *c = w->arg;
	char *to = buf_tail(&c->inbuf, 65536);
	ssize_t n = read(w->fd, to, 65536);
	int r = 1;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		buf_added(&c->inbuf, n);
	if (n > 0 && !c->greeted)
		count_preface(c, to, n);
	while (c->in.active && !c->greeted && take_greeting(c))
		;
	while (c->in.active && c->greeted && (r = take_frame(c)) > 0)
		;
	if (n <= 0 || r < 0 || chan_babbles(c))
		end(c);
}

void chan_open(struct chan *c, int in, int out)
{
	set_cloexec(in);
	set_cloexec(out);
	set_nonblock(in);
	set_nonblock(out);
	c->in = (struct watch){ .fd = in,
				.events = POLLIN,
				.fn = on_readable,
				.arg = c };
	c->out = (struct watch){ .fd = out, .fn = on_writable, .arg = c };
	watch_add(&c->in);
	watch_add(&c->out);
}

/* The buffers stay until the next open: a caller up the stack may be in the
 * middle of a frame. */
void chan_close(struct chan *c)
{
	if (!c->in.active)
		return;
	watch_del(&c->in);
	watch_del(&c->out);
	close(c->in.fd);
	if (c->out.fd != c->in.fd)
		close(c->out.fd);
}

void chan_send_raw(struct chan *c, const void *data, size_t len)
{
	if (!c->in.active)
		return;
	buf_append(&c->outbuf, data, len);
	c->out.events = POLLOUT;
}

void chan_send(struct chan *c, enum frame_type type, int rank, const void *data,
	       size_t len)
{
	uint32_t header[3] = { htole32(type), htole32(rank), htole32(len) };

	chan_send_raw(c, header, sizeof(header));
	chan_send_raw(c, data, len);
}

void chan_send_u32(struct chan *c, enum frame_type type, int rank, uint32_t v)
{
	v = htole32(v);
	chan_send(c, type, rank, &v, sizeof(v));
}

void chan_drain(struct chan *c, int ms)
{
	uint64_t until = o2g_now_ns() + ms * 1000000ull;

	while (c->in.active && buf_len(&c->outbuf) && o2g_now_ns() < until) {
		struct pollfd p = { .fd = c->out.fd, .events = POLLOUT };

		if (poll(&p, 1, 10) > 0)
			write_out(c);
	}
}
