// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A rank without MPI, for the launcher's tests: it speaks PMI through the
 * library's own client and does what its first argument says.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "pmi.h"

static struct pmi_job job;

static void die(const char *what, int err)
{
	fprintf(stderr, "rank %d: %s: %d\n", job.rank, what, err);
	exit(99);
}

/* Every byte but NUL, over and over, starting at the rank. */
static void make_value(int rank, size_t len, char *value)
{
	for (size_t i = 0; i < len; i++)
		value[i] = 1 + (i + rank) % 255;
	value[len] = '\0';
}

static void check_value(int rank, size_t len)
{
	char key[32], *want = malloc(len + 1), *got = malloc(len + 1);
	int err;

	make_value(rank, len, want);
	snprintf(key, sizeof(key), "v-%d-%zu", rank, len);
	err = pmi_get(rank, key, got, len + 1);
	if (err || strcmp(want, got))
		die(key, err);
	if (len && pmi_get(rank, key, got, len) != -ENOSPC)
		die("a value that does not fit", 0);
	free(want);
	free(got);
}

static void put_value(size_t len)
{
	char key[32], *value = malloc(len + 1);
	int err;

	make_value(job.rank, len, value);
	snprintf(key, sizeof(key), "v-%d-%zu", job.rank, len);
	err = pmi_put(key, value);
	if (err)
		die(key, err);
	free(value);
}

/* Everybody's values of many lengths, seen by everybody. */
static void board(void)
{
	static const size_t lens[] = { 0, 1, 10, 300, 1022, 1023, 1024, 5000 };
	int *node = malloc(job.size * sizeof(*node)), local = 0;
	char value[8];

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++)
		put_value(lens[i]);
	if (pmi_barrier())
		die("barrier", 0);
	for (int r = 0; r < job.size; r++)
		for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++)
			check_value(r, lens[i]);
	if (pmi_get(0, "nobody-put-this", value, sizeof(value)) != -ENOENT)
		die("a key that is not there", 0);
	if (pmi_barrier())
		die("barrier", 0);
	if (pmi_nodes(node))
		die("nodes", 0);
	for (int r = 0; r < job.size; r++)
		local += node[r] == node[job.rank];
	if (local != job.local_size)
		die("ranks of this host", local);
	free(node);
	printf("rank %d of %d app %d universe %d board ok\n", job.rank,
	       job.size, job.appnum, job.universe_size);
}

static void *get_often(void *arg)
{
	for (int i = 0; i < 200; i++)
		check_value((int)(long)arg, 10);
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];

	put_value(10);
	if (pmi_barrier())
		die("barrier", 0);
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, get_often, (void *)(i % job.size));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	if (pmi_barrier())
		die("barrier", 0);
	printf("rank %d threads ok\n", job.rank);
}

static void many_barriers(int n)
{
	for (int i = 0; i < n; i++)
		if (pmi_barrier())
			die("barrier", i);
	printf("rank %d barriers ok\n", job.rank);
}

static void *abort_now(void *arg)
{
	usleep(100000);
	o2g_error("a thread has had enough");
	pmi_abort(23, PMI_CALLED);
	_exit(23);
}

static void abort_as_asked(int code)
{
	o2g_error("asked to");
	pmi_abort(code, PMI_CALLED);
}

/* One thread aborts while the other waits in a barrier forever. */
static void abort_in_barrier(void)
{
	pthread_t t;

	if (job.rank == 0) {
		pthread_create(&t, NULL, abort_now, NULL);
		pmi_barrier();
	}
	pause();
}

/* Rank 1 dies while 0 and 2 say, a little before, that it has. */
static void kill_and_abort(void)
{
	if (pmi_barrier())
		die("barrier", 0);
	if (job.rank == 1) {
		usleep(10000);
		raise(SIGKILL);
	}
	pmi_abort(1, PMI_CALLED);
	_exit(1);
}

static void show_key(const char *key)
{
	char value[4096];

	if (pmi_get(0, key, value, sizeof(value)))
		die(key, 0);
	printf("%s\n", value);
}

/* Each with one write. In a pipe this large the reader's chunks end within
 * lines, whose rest is there already. */
static void print_lines(int n)
{
	char line[128];
	int len;

	if (fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 18) < 0)
		die("F_SETPIPE_SZ", errno);
	for (int i = 0; i < n; i++) {
		len = snprintf(line, sizeof(line), "%d %07d %089d\n", job.rank,
			       i, job.rank);
		if (write(STDOUT_FILENO, line, len) != len)
			die("write", errno);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "board";
	int number = argc > 2 ? atoi(argv[2]) : 0;
	int err = pmi_init(&job);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (err)
		return 98;
	if (!strcmp(what, "board"))
		board();
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "barriers"))
		many_barriers(number);
	else if (!strcmp(what, "lines"))
		print_lines(number);
	else if (!strcmp(what, "singleton"))
		printf("%s\n", job.singleton ? "alone" : "launched");
	else if (!strcmp(what, "key") && argc > 2)
		show_key(argv[2]);
	else if (!strcmp(what, "kill-and-abort"))
		kill_and_abort();
	else if (!strcmp(what, "abort-in-barrier"))
		abort_in_barrier();
	else if (!strcmp(what, "abort") && job.rank == job.size - 1)
		abort_as_asked(number);
	else if (!strcmp(what, "exit-early") && job.rank == job.size - 1)
		exit(number);
	else if (!strcmp(what, "kill-self") && job.rank == job.size - 1)
		raise(number);
	else if (!strcmp(what, "wait-lost"))
		return pmi_barrier() == -EPIPE ? 5 : 6;
	if (!strcmp(what, "abort") || !strcmp(what, "exit-early") ||
	    !strcmp(what, "kill-self"))
		pause();
	err = pmi_finalize();
	if (err)
		die("finalize", err);
	return !strcmp(what, "exit-late") && job.rank == job.size - 1 ? number :
									0;
}
