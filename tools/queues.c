/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* o2g queues PID: what a process is waiting for, and what is waiting for it. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd.h"
#include "look.h"

#define FIRST 256

static int by_queue_and_number(const void *x, const void *y)
{
	const struct o2gd_queue_entry *a = x, *b = y;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void print_source(uint32_t source)
{
	if (source == O2GD_ANY)
		printf("%8s", "any");
	else
		printf("%8u", source);
}

static const char *const body_words[] = {
	[O2GD_BODY_HERE] = "",
	[O2GD_BODY_ARRIVING] = "  arriving",
	[O2GD_BODY_ANNOUNCED] = "  announced",
};

/* MPI's tags are context << 32 | tag; the mask says what is not compared. */
static void print_queue(const struct o2gd_queue_entry *e, uint32_t n,
			uint32_t queue, const char *title)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += e[i].queue == queue;
	printf("%s: %u\n", title, count);
	if (!count)
		return;
	printf("%8s %8s %10s %16s %14s\n", "source", "context", "tag",
	       queue == O2GD_QUEUE_POSTED ? "ignored" : "", "bytes");
	for (uint32_t i = 0; i < n; i++) {
		if (e[i].queue != queue)
			continue;
		print_source(e[i].source);
		printf(" %8u %10d", (unsigned)(e[i].tag >> 32),
		       (int)(uint32_t)e[i].tag);
		if (e[i].ignore)
			printf(" %16llx", (unsigned long long)e[i].ignore);
		else
			printf(" %16s", "");
		printf(" %14llu%s\n", (unsigned long long)e[i].length,
		       body_words[e[i].body % 3]);
	}
}

/* The entries of an endpoint, each of @size bytes; NULL: it has gone. */
static void *look(int fd, unsigned long request, struct o2gd_look *q,
		  size_t size)
{
	void *to = NULL;

	q->entry = (uint32_t)size;
	for (q->max = FIRST;; q->max = q->count > O2GD_MAX_LOOK / 2 ?
					       O2GD_MAX_LOOK :
					       q->count * 2) {
		void *more = realloc(to, q->max * size);

		if (!more)
			break;
		to = more;
		q->addr = (uintptr_t)to;
		if (ioctl(fd, request, q))
			break;
		if (q->count <= q->max || q->max == O2GD_MAX_LOOK)
			return to;
	}
	free(to);
	return NULL;
}

static uint32_t shown(const struct o2gd_look *q)
{
	return q->count < q->max ? q->count : q->max;
}

static void print_rest(const struct o2gd_look *q)
{
	if (shown(q) < q->count)
		printf("... and %u more\n", q->count - shown(q));
}

static int print_queues(int fd, const struct look_ep *ep)
{
	struct o2gd_look q = { .id = ep->id };
	struct o2gd_queue_entry *e = look(fd, O2GD_QUEUES, &q, sizeof(*e));

	if (!e)
		return -1;
	qsort(e, shown(&q), sizeof(*e), by_queue_and_number);
	print_queue(e, shown(&q), O2GD_QUEUE_POSTED, "receives posted");
	print_queue(e, shown(&q), O2GD_QUEUE_UNEXPECTED,
		    "messages nobody has asked for");
	print_rest(&q);
	free(e);
	return 0;
}

static int print_rank(int fd, const struct look_ep *ep)
{
	printf("process %u, rank %u\n", ep->pid, ep->rank);
	return print_queues(fd, ep);
}

/* --- the eight calls --- */

static void print_state(const struct o2gd_paper_sock *s)
{
	if (s->state == O2GD_PAPER_HOLDS)
		printf("%llu bytes are waiting for room\n",
		       (unsigned long long)s->length);
	else if (s->state != O2GD_PAPER_LOST)
		printf("open\n");
	else
		printf("%s%s\n", look_lost(s->why),
		       s->inside ? ", in the middle of a message" : "");
}

static int print_sockets(int fd, const struct look_ep *ep)
{
	struct o2gd_look q = { .id = ep->id };
	struct o2gd_paper_sock *s = look(fd, O2GD_PAPER_SOCKS, &q, sizeof(*s));

	if (!s)
		return -1;
	printf("sockets: %u\n", q.count);
	if (q.count)
		printf("%8s %10s %14s %10s %8s  %s\n", "rank", "messages",
		       "bytes", "unexpected", "held", "state");
	for (uint32_t i = 0; i < shown(&q); i++) {
		printf("%8u %10llu %14llu %10llu %8llu  ", s[i].rank,
		       (unsigned long long)s[i].messages,
		       (unsigned long long)s[i].bytes,
		       (unsigned long long)s[i].unexpected,
		       (unsigned long long)s[i].held);
		print_state(&s[i]);
	}
	print_rest(&q);
	free(s);
	return 0;
}

static int print_paper(int fd, const struct look_ep *ep)
{
	const struct o2gd_info *i = &ep->info;

	printf("process %u, the eight calls\n", ep->pid);
	if (print_queues(fd, ep))
		return -1;
	printf("dump area: %llu bytes in use\n",
	       (unsigned long long)i->unexpected_bytes);
	printf("pinned: %llu pages; refused %llu times\n",
	       (unsigned long long)i->pinned_pages,
	       (unsigned long long)i->pin_refused);
	if (print_sockets(fd, ep))
		return -1;
	look_print_drops(i, "");
	return 0;
}

int cmd_queues(int argc, char **argv)
{
	struct look_ep *list;
	unsigned long pid = 0;
	char *end = NULL;
	long n, found = 0;
	int fd;

	if (argc == 2)
		pid = strtoul(argv[1], &end, 10);
	if (argc != 2 || !pid || *end) {
		fprintf(stderr, "usage: o2g queues PID\n");
		return 2;
	}
	fd = look_open();
	if (fd < 0)
		return 1;
	n = look_list(fd, &list);
	for (long i = 0; i < n; i++)
		if (list[i].pid == pid)
			found += !(list[i].kind == O2GD_KIND_PAPER ?
					   print_paper :
					   print_rank)(fd, &list[i]);
	if (n >= 0)
		free(list);
	close(fd);
	if (n >= 0 && !found)
		fprintf(stderr,
			"o2g: process %lu has no endpoint in the driver, or none that you may see\n",
			pid);
	return found ? 0 : 1;
}
