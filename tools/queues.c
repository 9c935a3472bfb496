/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* o2g queues PID: what a process waits for, and what waits for it. */
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
		printf(" %14llu\n", (unsigned long long)e[i].length);
	}
}

static int print_endpoint(int fd, uint32_t pid, uint32_t rank)
{
	struct o2gd_queues q = { .pid = pid, .rank = rank, .max = FIRST };
	struct o2gd_queue_entry *e = NULL;
	int ret = -1;

	for (;;) {
		void *more = realloc(e, q.max * sizeof(*e));

		if (!more)
			break;
		e = more;
		q.addr = (uintptr_t)e;
		ret = ioctl(fd, O2GD_QUEUES, &q);
		if (ret || q.count <= q.max || q.max == O2GD_MAX_LOOK)
			break;
		q.max = q.count > O2GD_MAX_LOOK / 2 ? O2GD_MAX_LOOK :
						      q.count * 2;
	}
	if (!ret) {
		uint32_t n = q.count < q.max ? q.count : q.max;

		qsort(e, n, sizeof(*e), by_queue_and_number);
		printf("process %u, rank %u\n", pid, q.rank);
		print_queue(e, n, O2GD_QUEUE_POSTED, "receives posted");
		print_queue(e, n, O2GD_QUEUE_UNEXPECTED,
			    "messages nobody has asked for");
		if (n < q.count)
			printf("... and %u more\n", q.count - n);
	}
	free(e);
	return ret;
}

int cmd_queues(int argc, char **argv)
{
	struct o2gd_list_entry *list;
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
			found += !print_endpoint(fd, (uint32_t)pid,
						 list[i].rank);
	if (n >= 0)
		free(list);
	close(fd);
	if (n >= 0 && !found)
		fprintf(stderr, "o2g: process %lu has no endpoint in the driver, or it is not yours to see\n",
			pid);
	return found ? 0 : 1;
}
