// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The job's stdout, stderr and stdin. A line goes out whole; the start of one,
 * a prompt perhaps, after a moment without the rest. We never block in a write:
 * the descriptors are shared with others and cannot be made non-blocking, so
 * only as much is written as poll promises to be taken.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job.h"
#include "util.h"

#define PROMPT_MS 50   /* a person waits for the start of a line, */
#define PARTIAL_MS 500 /* but a file does not: so it is less often torn */
#define PARTIAL_MAX 65536
#define QUEUE_MAX (1u << 20)
#define STDIN_CHUNK 65536
#define LAST_WORDS_MS 500

/* Where output goes: our stdout or stderr. */
struct sink {
	struct watch watch;
	struct buf queue;
	size_t chunk; /* what a write may take without blocking */
	int patience; /* ms that the start of a line waits for the rest */
	bool broken;
	struct part *open; /* whose line is not finished */
};

/* What a rank writes on one of them. */
struct part {
	struct buf data; /* the start of a line */
	bool in_line;	 /* some of that line is out already */
	int rank;
};

static struct sink sinks[2]; /* stdout, stderr */
static struct part *parts;   /* 2 for each rank */
static struct timer partial_timer;

static struct watch input;
static int input_pending; /* hosts that have not taken the last piece */
static bool input_ended;

static bool finishing; /* nothing more comes, */
static bool finished;  /* and all is out */

static bool flushed(void)
{
	return !buf_len(&sinks[0].queue) && !buf_len(&sinks[1].queue);
}

static bool is_full(void)
{
	return buf_len(&sinks[0].queue) + buf_len(&sinks[1].queue) > QUEUE_MAX;
}

/* Hosts whose output has gone on its way may send more. */
static void release(void)
{
	if (is_full())
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

static void label(struct sink *s, struct part *p)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "[%d] ", p->rank);

	sink_add(s, text, n);
}

/* With labels, a label comes before each line, and a line that another rank
 * has left open is closed first. */
static void put_labelled(struct sink *s, struct part *p, const char *data,
			 size_t n)
{
	if (s->open && s->open != p) {
		sink_add(s, "\n", 1);
		s->open->in_line = false;
	}
	while (n) {
		const char *nl = memchr(data, '\n', n);
		size_t len = nl ? (size_t)(nl + 1 - data) : n;

		if (!p->in_line)
			label(s, p);
		sink_add(s, data, len);
		p->in_line = !nl;
		data += len;
		n -= len;
	}
	s->open = p->in_line ? p : NULL;
}

static void put(struct sink *s, struct part *p, size_t n)
{
	if (job.opt->label)
		put_labelled(s, p, buf_head(&p->data), n);
	else
		sink_add(s, buf_head(&p->data), n);
	buf_consume(&p->data, n);
}

void io_output(struct node *n, enum frame_type type, int rank,
	       struct reader *data)
{
	int which = type == FRAME_STDERR;
	struct part *p = &parts[rank * 2 + which];
	const char *nl;

	buf_append(&p->data, data->at, data->end - data->at);
	n->unwritten += data->end - data->at;
	nl = memrchr(buf_head(&p->data), '\n', buf_len(&p->data));
	if (nl) /* before the length: what comes at once may be long */
		put(&sinks[which], p, nl + 1 - buf_head(&p->data));
	if (buf_len(&p->data) > PARTIAL_MAX)
		put(&sinks[which], p, buf_len(&p->data));
	if (buf_len(&p->data))
		timer_set(&partial_timer, sinks[which].patience);
	release();
}

static void put_partial(struct timer *t)
{
	for (int i = 0; i < job.place.size * 2; i++)
		if (buf_len(&parts[i].data))
			put(&sinks[i % 2], &parts[i], buf_len(&parts[i].data));
}

static void open_sink(struct sink *s, int fd)
{
	struct stat st;

	s->watch = (struct watch){ .fd = fd, .fn = on_writable, .arg = s };
	s->patience = isatty(fd) ? PROMPT_MS : PARTIAL_MS;
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
	partial_timer.fn = put_partial;
	open_sink(&sinks[0], STDOUT_FILENO);
	open_sink(&sinks[1], STDERR_FILENO);
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
	put_partial(&partial_timer);
	finishing = true;
	finished = flushed();
	if (job.ending)
		timer_set(&last_words, LAST_WORDS_MS);
	loop_run(&finished);
	timer_clear(&last_words);
}
