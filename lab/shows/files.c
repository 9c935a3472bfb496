// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * files MODE PATH TIMES: do something with a file or in a folder so many times, and
 * print how many instructions this machine has executed meanwhile.
 *
 *	read, write	1 MiB with O_DIRECT, one after the other
 *	small		4 KiB with O_DIRECT, at random
 *	buffered	1 MiB without
 *	names		make a file, look at it, rename it, remove it
 *
 * With PLAIN in the environment nothing is opened with O_DIRECT: diod would do the same
 * at the server, and its buffers are not fit for it. Without a cache 9p reads and writes
 * in the same way.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mark.h"

#define MIB (1u << 20)
#define SIZE (16 * MIB)
#define WARM 4

static void die(const char *what)
{
	perror(what);
	exit(1);
}

struct work {
	const char *path;
	int fd;
	bool writes;
	size_t unit;
	char *buf;
	unsigned seed;
};

static void move_data(struct work *w, long i)
{
	off_t at = (off_t)(w->unit == MIB ? (size_t)i * MIB % SIZE :
					    (size_t)rand_r(&w->seed) %
						    (SIZE / w->unit) * w->unit);
	ssize_t n = w->writes ? pwrite(w->fd, w->buf, w->unit, at) :
				pread(w->fd, w->buf, w->unit, at);

	if (n != (ssize_t)w->unit)
		die(w->path);
}

static void use_names(struct work *w, long i)
{
	char one[400], other[400];
	struct stat st;
	int fd;

	snprintf(one, sizeof(one), "%s/one-%ld", w->path, i);
	snprintf(other, sizeof(other), "%s/other-%ld", w->path, i);
	fd = open(one, O_CREAT | O_EXCL | O_WRONLY, 0644);
	if (fd < 0 || close(fd) || stat(one, &st) || rename(one, other) ||
	    unlink(other))
		die(one);
}

int main(int argc, char **argv)
{
	struct work w = { .unit = MIB, .seed = 1 };
	void (*turn)(struct work * w, long i) = move_data;
	unsigned long long user, kernel;
	int flags = getenv("PLAIN") ? 0 : O_DIRECT;
	long times, warm;

	if (argc != 4)
		return 2;
	w.path = argv[2];
	times = atol(argv[3]);
	w.writes = !strcmp(argv[1], "write");
	if (!strcmp(argv[1], "small"))
		w.unit = 4096;
	warm = WARM;
	if (!strcmp(argv[1], "buffered"))
		flags = warm = 0;
	if (!strcmp(argv[1], "names"))
		turn = use_names;
	else if ((w.fd = open(w.path,
			      flags | (w.writes ? O_WRONLY : O_RDONLY))) < 0)
		die(w.path);
	if (posix_memalign((void **)&w.buf, 4096, MIB))
		return 1;
	memset(w.buf, 1, MIB);
	/* What is buffered is read only once. */
	for (long i = 0; i < warm; i++)
		turn(&w, i);
	lab_count_begin();
	for (long i = 0; i < times; i++)
		turn(&w, i);
	if (!lab_count_end(&user, &kernel))
		return 77;
	printf("%llu\n", user + kernel);
	return 0;
}
