// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The job's stdout, stderr and stdin. A line goes out whole; the start of one,
 * a prompt or a row of dots, after a moment without the rest. What we say ourselves
 * takes its turn behind what the ranks have written. We never block
 * in a write: the descriptors are shared with others and cannot be made
 * non-blocking, so only as much is written as poll promises to be taken.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "job.h"
#include "util.h"

#define PARTIAL_MS 100 /* the start of a line waits that long for the rest */
#define PARTIAL_MAX 65536
#define QUEUE_MAX (1u << 20)
#define STDIN_CHUNK 65536
#define LAST_WORDS_MS 500

/* Where output goes: our stdout or stderr. */
struct sink {
	struct watch watch;
	struct buf queue;
	size_t chunk; /* what a write may take without blocking */
	bool broken;
	struct part *open; /* whose line is out and not finished */
};

/* What a rank writes on one of them. */
struct part {
	struct buf data; /* the start of a line, */
	uint64_t since;	 /* which has waited from here on: reading_ns */
	bool in_line;	 /* some of that line is out already */
	int rank;
};

static struct sink sinks[2]; /* stdout, stderr */
static bool one_sink;	     /* both are the same, so all goes to stdout */
static struct part *parts;   /* 2 for each rank */
static struct timer partial_timer;

static uint64_t held_since; /* hosts may not send more since then, or 0 */
static uint64_t held_ns;    /* how long that was the case before */

static struct watch input;
static int input_pending; /* hosts that have not taken the last piece */
static bool input_ended;

static bool finishing; /* nothing more comes, */
static bool finished;  /* and all is out */

static struct sink *sink_of(int which)
{
	return &sinks[one_sink || job.opt->merge ? 0 : which];
}

static bool flushed(void)
{
	return !buf_len(&sinks[0].queue) && !buf_len(&sinks[1].queue);
}

static bool is_full(void)
{
	return buf_len(&sinks[0].queue) + buf_len(&sinks[1].queue) > QUEUE_MAX;
}

/* A clock that stands while hosts are held back: the rest of a line may be
 * in a pipe that nobody reads. */
static uint64_t reading_ns(void)
{
	return (held_since ? held_since : o2g_now_ns()) - held_ns;
}

static void set_held(bool held)
{
	if (held && !held_since)
		held_since = o2g_now_ns();
	if (held || !held_since)
		return;
	held_ns += o2g_now_ns() - held_since;
	held_since = 0;
}

/* Hosts whose output has gone on its way may send more. */
static void release(void)
{
	set_held(is_full());
	if (held_since)
		return;
	for (int i = 0; i < job.nnodes; i++) {
		struct node *n = &job.nodes[i];

		if (n->unwritten && !n->done)
			chan_send_u32(&n->chan, FRAME_TAKEN, -1, n->unwritten);
		n->unwritten = 0;
	}
}

static void sink_fail(struct sink *s, int err)
{
	s->broken = true;
	buf_consume(&s->queue, buf_len(&s->queue));
	s->watch.events = 0;
	finished = finishing && flushed();
	release();
	if (s != &sinks[0])
		return;
	/* As a shell would have it: nobody reads any more, so end. */
	verdict_fail(
		CAUSE_OTHER, -1, err == EPIPE ? 128 + 13 : EXIT_TROUBLE,
		err == EPIPE ?
			NULL :
			xprintf("cannot write to standard output: %s; the job is ended",
				strerror(err)));
}

static void on_writable(struct watch *w, short revents)
{
	struct sink *s = w->arg;
	size_t n = buf_len(&s->queue);
	ssize_t r;

	r = write(w->fd, buf_head(&s->queue), n < s->chunk ? n : s->chunk);
	if (r < 0 && errno != EAGAIN && errno != EINTR) {
		sink_fail(s, errno);
		return;
	}
	if (r > 0)
		buf_consume(&s->queue, r);
	if (!buf_len(&s->queue))
		w->events = 0;
	release();
	finished = finishing && flushed();
}

static void sink_add(struct sink *s, const char *data, size_t n)
{
	if (s->broken || !n)
		return;
	buf_append(&s->queue, data, n);
	s->watch.events = POLLOUT;
}

/* Ranks of a job that was spawned have its number in front: "[2/0] ". */
static void label(struct sink *s, struct part *p)
{
	int n, number = job.opt->number;
	char text[64];

	if (job.opt->tag)
		n = snprintf(text, sizeof(text), "[%d,%d]<%s>:", number + 1,
			     p->rank, (p - parts) % 2 ? "stderr" : "stdout");
	else if (number)
		n = snprintf(text, sizeof(text), "[%d/%d] ", number, p->rank);
	else
		n = snprintf(text, sizeof(text), "[%d] ", p->rank);
	sink_add(s, text, n);
}

static void put_labelled(struct sink *s, struct part *p, const char *data,
			 size_t n)
{
	bool in_line = p->in_line;

	while (n) {
		const char *nl = memchr(data, '\n', n);
		size_t len = nl ? (size_t)(nl + 1 - data) : n;

		if (!in_line)
			label(s, p);
		sink_add(s, data, len);
		in_line = !nl;
		data += len;
		n -= len;
	}
}

/* A line that somebody else has left open is closed. */
static void begin_line(struct sink *s, const struct part *p)
{
	if (!s->open || s->open == p)
		return;
	sink_add(s, "\n", 1);
	s->open->in_line = false;
	s->open = NULL;
}

static void put(struct sink *s, struct part *p, size_t n)
{
	const char *data = buf_head(&p->data);

	begin_line(s, p);
	if (job.opt->label || job.opt->tag)
		put_labelled(s, p, data, n);
	else
		sink_add(s, data, n);
	p->in_line = data[n - 1] != '\n';
	s->open = p->in_line ? p : NULL;
	buf_consume(&p->data, n);
}

void io_output(struct node *n, enum frame_type type, int rank,
	       struct reader *data)
{
	int which = type == FRAME_STDERR;
	struct part *p = &parts[rank * 2 + which];
	const char *nl;

	if (!io_file_put(rank, which, data->at, data->end - data->at)) {
		n->unwritten += data->end - data->at;
		release();
		return;
	}
	if (!buf_len(&p->data))
		p->since = reading_ns();
	buf_append(&p->data, data->at, data->end - data->at);
	n->unwritten += data->end - data->at;
	nl = memrchr(buf_head(&p->data), '\n', buf_len(&p->data));
	if (nl) { /* before the length: what comes at once may be long */
		put(sink_of(which), p, nl + 1 - buf_head(&p->data));
		p->since = reading_ns();
	}
	if (buf_len(&p->data) > PARTIAL_MAX)
		put(sink_of(which), p, buf_len(&p->data));
	if (buf_len(&p->data) && !partial_timer.active)
		timer_set(&partial_timer, PARTIAL_MS);
	release();
}

/* Starts of lines that have waited for @ms or longer. The time until the next
 * has, or 0: there is none. */
static unsigned put_partial(unsigned ms)
{
	uint64_t now = reading_ns();
	unsigned next = 0;

	for (int i = 0; i < job.place.size * 2; i++) {
		struct part *p = &parts[i];
		unsigned age = (now - p->since) / 1000000;

		if (!buf_len(&p->data))
			continue;
		if (age >= ms)
			put(sink_of(i % 2), p, buf_len(&p->data));
		else if (!next || ms - age < next)
			next = ms - age;
	}
	return next;
}

static void on_partial(struct timer *t)
{
	unsigned next = put_partial(PARTIAL_MS);

	if (next)
		timer_set(t, held_since ? PARTIAL_MS : next);
}

void io_put_partial(void)
{
	put_partial(0);
}

/* Our own lines. */
static void io_say(const char *line, size_t n)
{
	struct sink *s = &sinks[!one_sink];

	begin_line(s, NULL);
	sink_add(s, line, n);
}

/* The same terminal, pipe or file? Lines for one would cut those for the other. */
static bool same(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static void open_sink(struct sink *s, int fd)
{
	struct stat st;

	s->watch = (struct watch){ .fd = fd, .fn = on_writable, .arg = s };
	s->chunk = 512; /* a terminal: little enough not to wait for a reader */
	if (fstat(fd, &st) < 0)
		s->broken = true;
	else if (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(fd)))
		s->chunk = 65536;
	else if (S_ISFIFO(st.st_mode))
		s->chunk = 4096; /* what poll promises of a pipe */
	watch_add(&s->watch);
}

/* --- stdin --- */

static bool wants_input(const struct node *n)
{
	int rank = job.opt->stdin_rank;

	return !n->done &&
	       (rank == STDIN_ALL || job.place.ranks[rank].node == n->index);
}

static void send_input(const char *data, size_t n)
{
	for (int i = 0; i < job.nnodes; i++) {
		if (!wants_input(&job.nodes[i]))
			continue;
		input_pending++;
		chan_send(&job.nodes[i].chan, FRAME_STDIN, job.opt->stdin_rank,
			  data, n);
	}
}

/* Reading from a terminal while in the background would stop us. */
static bool may_read(void)
{
	return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void on_input(struct watch *w, short revents)
{
	char data[STDIN_CHUNK];
	ssize_t n;

	if (!may_read()) {
		w->events = 0;
		return;
	}
	n = read(w->fd, data, sizeof(data));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		n = 0;
	w->events = 0;
	if (n == 0) {
		input_ended = true;
		watch_del(w);
	}
	send_input(data, n);
}

void io_stdin_taken(void)
{
	if (input_pending && --input_pending == 0)
		io_stdin_retry();
}

void io_stdin_retry(void)
{
	if (input.active && !input_ended && !input_pending)
		input.events = POLLIN;
}

void io_init(void)
{
	parts = xmalloc(job.place.size * 2 * sizeof(*parts));
	for (int i = 0; i < job.place.size * 2; i++)
		parts[i].rank = i / 2;
	partial_timer.fn = on_partial;
	open_sink(&sinks[0], STDOUT_FILENO);
	open_sink(&sinks[1], STDERR_FILENO);
	one_sink = same(STDOUT_FILENO, STDERR_FILENO);
	say_through(io_say);
	if (job.opt->stdin_rank == STDIN_NONE)
		return;
	input = (struct watch){ .fd = STDIN_FILENO,
				.events = POLLIN,
				.fn = on_input };
	watch_add(&input);
}

void io_give_up(void)
{
	finished = true;
}

static void on_last_words(struct timer *t)
{
	io_give_up();
}

/* The ranks are gone. If they were made to go, whoever reads slowly or not at
 * all does not keep us. */
void io_finish(void)
{
	struct timer last_words = { .fn = on_last_words };

	watch_del(&input);
	put_partial(0);
	finishing = true;
	finished = flushed();
	if (job.ending)
		timer_set(&last_words, LAST_WORDS_MS);
	loop_run(&finished);
	timer_clear(&last_words);
	say_through(NULL);
}
