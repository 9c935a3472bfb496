// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The ranks' stdin, stdout and stderr. What mpiexec has not yet written is
 * bounded: beyond that the ranks' pipes are left to fill up, so that a job that
 * prints into a slow terminal waits for it, while PMI and exits still pass.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "proxy.h"
#include "util.h"

#define UNWRITTEN_MAX (1u << 20)
#define CHUNK 65536

static void close_watch(struct watch *w)
{
	watch_del(w);
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

/* One read's worth, passed on. False: nothing more now, or ever. */
static bool pass_on(struct rank *r, struct watch *w)
{
	static char data[CHUNK];
	ssize_t n = read(w->fd, data, sizeof(data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close_watch(w);
		return false;
	}
	chan_send(&proxy.up, w == &r->out ? FRAME_STDOUT : FRAME_STDERR,
		  r->spec->rank, data, n);
	proxy.unwritten += n;
	return true;
}

static void set_reading(bool on)
{
	for (int i = 0; i < proxy.nranks; i++)
		proxy.ranks[i].out.events = proxy.ranks[i].err.events =
			on ? POLLIN : 0;
}

static void on_output(struct watch *w, short revents)
{
	pass_on(w->arg, w);
	if (proxy.unwritten > UNWRITTEN_MAX)
		set_reading(false);
}

void proxy_io_taken(uint32_t n)
{
	proxy.unwritten -= n < proxy.unwritten ? n : proxy.unwritten;
	if (proxy.unwritten <= UNWRITTEN_MAX)
		set_reading(true);
}

static void input_taken(struct rank *r)
{
	r->in.events = 0;
	if (--proxy.stdin_busy == 0)
		chan_send(&proxy.up, FRAME_STDIN_TAKEN, -1, NULL, 0);
}

static void on_input(struct watch *w, short revents)
{
	struct rank *r = w->arg;
	ssize_t n = write(w->fd, buf_head(&r->in_data), buf_len(&r->in_data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) { /* it does not read any more */
		buf_consume(&r->in_data, buf_len(&r->in_data));
		close_watch(w);
		input_taken(r);
		return;
	}
	buf_consume(&r->in_data, n);
	if (!buf_len(&r->in_data))
		input_taken(r);
}

static void feed(struct rank *r, const char *data, size_t n)
{
	if (r->in.fd < 0)
		return;
	if (!n) {
		close_watch(&r->in);
		return;
	}
	buf_append(&r->in_data, data, n);
	r->in.events = POLLOUT;
	proxy.stdin_busy++;
}

/* The next comes only after this one is taken, so nothing is buffered but
 * this. */
void proxy_io_stdin(int rank, struct reader *data)
{
	size_t n = data->end - data->at;

	for (int i = 0; i < proxy.nranks; i++)
		if (rank < 0 || proxy.ranks[i].spec->rank == rank)
			feed(&proxy.ranks[i], data->at, n);
	if (!proxy.stdin_busy)
		chan_send(&proxy.up, FRAME_STDIN_TAKEN, -1, NULL, 0);
}

static void open_watch(struct watch *w, int fd, struct rank *r, short events,
		       void (*fn)(struct watch *, short))
{
	*w = (struct watch){ .fd = fd, .events = events, .fn = fn, .arg = r };
	if (fd < 0)
		return;
	set_nonblock(fd);
	watch_add(w);
}

void proxy_io_start(struct rank *r, int in, int out, int err)
{
	open_watch(&r->in, in, r, 0, on_input);
	open_watch(&r->out, out, r, POLLIN, on_output);
	open_watch(&r->err, err, r, POLLIN, on_output);
}

void proxy_io_flush(struct rank *r)
{
	while (r->out.fd >= 0 && pass_on(r, &r->out))
		;
	while (r->err.fd >= 0 && pass_on(r, &r->err))
		;
}

void proxy_io_drain(struct rank *r)
{
	proxy_io_flush(r);
	close_watch(&r->out);
	close_watch(&r->err);
	close_watch(&r->in);
	if (buf_len(&r->in_data)) {
		buf_consume(&r->in_data, buf_len(&r->in_data));
		input_taken(r);
	}
}
