/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* o2g top [-d SECONDS] [-n TIMES]: what the driver's endpoints are doing. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "look.h"

struct view {
	struct look_ep *list;
	long n;
	double when;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + t.tv_nsec / 1e9;
}

static const struct o2gd_info *before(const struct view *old,
				      const struct look_ep *e)
{
	for (long i = 0; i < old->n; i++)
		if (old->list[i].id == e->id)
			return &old->list[i].info;
	return NULL;
}

static void print(const struct view *v, const struct view *old)
{
	static const struct o2gd_info nothing;
	double t = old->n >= 0 && old->list ? v->when - old->when : 0;

	printf("%8s %6s %10s %10s %10s %10s %8s %8s\n", "process", "rank",
	       "msg/s in", "msg/s out", "MB/s in", "MB/s out", "posted",
	       "waiting");
	for (long i = 0; i < v->n; i++) {
		const struct look_ep *e = &v->list[i];
		const struct o2gd_info *a = before(old, e), *b = &e->info;
		double per = a && t > 0 ? 1 / t : 0;

		if (!a)
			a = &nothing;
		printf("%8u ", e->pid);
		if (e->kind == O2GD_KIND_PAPER)
			printf("%6s", "eight"); /* the eight calls have none */
		else
			printf("%6u", e->rank);
		printf(" %10.0f %10.0f %10.1f %10.1f %8llu %8llu\n",
		       (b->messages_received - a->messages_received) * per,
		       (b->messages_sent - a->messages_sent) * per,
		       (b->bytes_received - a->bytes_received) * per / 1e6,
		       (b->bytes_sent - a->bytes_sent) * per / 1e6,
		       (unsigned long long)b->posted,
		       (unsigned long long)b->unexpected);
		look_print_drops(b, "               ");
	}
	fflush(stdout);
}

static int usage(void)
{
	fprintf(stderr, "usage: o2g top [-d SECONDS] [-n TIMES]\n");
	return 2;
}

/* A terminal is wiped between two views; a file gets one after the other. */
static int watch(int fd, double seconds, long times)
{
	struct view old = { NULL, -1, 0 }, v;
	bool wipe = isatty(STDOUT_FILENO);

	for (long i = 0; times < 0 || i < times; i++) {
		v.n = look_list(fd, &v.list);
		if (v.n < 0)
			break;
		v.when = now();
		if (wipe)
			printf("\033[H\033[2J");
		print(&v, &old);
		free(old.list);
		old = v;
		if (times < 0 || i + 1 < times)
			usleep((useconds_t)(seconds * 1e6));
	}
	free(old.list);
	return old.n < 0 || (times >= 0 && !times) ? 1 : 0;
}

int cmd_top(int argc, char **argv)
{
	double seconds = 1;
	long times = -1;
	int fd, ret, c;

	while ((c = getopt(argc, argv, "d:n:")) != -1) {
		if (c == 'd')
			seconds = atof(optarg);
		else if (c == 'n')
			times = atol(optarg);
		else
			return usage();
	}
	if (optind != argc || seconds <= 0 || seconds > 3600 || times == 0)
		return usage();
	fd = look_open();
	if (fd < 0)
		return 1;
	ret = watch(fd, seconds, times);
	close(fd);
	return ret;
}
