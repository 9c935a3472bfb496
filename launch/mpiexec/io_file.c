// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Output of each rank in files of its own: -output-filename, -outfile-pattern and
 * -errfile-pattern. A file is opened for each piece, and closed again: there may be
 * more ranks than descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job.h"
#include "util.h"

static bool *begun; /* 2 for each rank: it has been made */

/* Of a job that was spawned: with its number in front. */
static char *rank_name(int rank)
{
	return job.opt->number ? xprintf("%d.%d", job.opt->number, rank) :
				 xprintf("%d", rank);
}

/* What a pattern says of a rank: %r its number, %h its host. */
static char *fill_in(const char *pattern, int rank)
{
	struct buf b = { 0 };

	for (const char *p = pattern; *p; p++) {
		char *text = NULL;

		if (p[0] == '%' && p[1] == 'r')
			text = rank_name(rank);
		else if (p[0] == '%' && p[1] == 'h')
			text = xstrdup(job_host(rank));
		else if (p[0] == '%' && p[1] == '%')
			text = xstrdup("%");
		if (text)
			p++;
		buf_append(&b, text ? text : p, text ? strlen(text) : 1);
		free(text);
	}
	buf_append(&b, "", 1);
	return b.data;
}

static int digits(int n)
{
	return n < 10 ? 1 : 1 + digits(n / 10);
}

/* NULL: that of this rank has no file. */
static char *path_of(int rank, int which)
{
	const char *pattern = which ? job.opt->err_pattern :
				      job.opt->out_pattern;

	if (pattern)
		return fill_in(pattern, rank);
	if (!job.opt->out_dir)
		return NULL;
	return xprintf("%s/%d/rank.%0*d/%s", job.opt->out_dir,
		       job.opt->number + 1, digits(job.place.size - 1), rank,
		       which ? "stderr" : "stdout");
}

static void make_parents(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0777);
		*p = '/';
	}
}

static void cannot(const char *path)
{
	verdict_fail(CAUSE_OTHER, -1, EXIT_TROUBLE,
		     xprintf("cannot write to %s: %s; the job is ended", path,
			     strerror(errno)));
}

static void write_all(int fd, const char *path, const char *data, size_t n)
{
	while (n) {
		ssize_t r = write(fd, data, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			cannot(path);
			return;
		}
		data += r;
		n -= r;
	}
}

static void append(int rank, int which, char *path, const char *data, size_t n)
{
	bool first = !begun[rank * 2 + which];
	int fd;

	if (first)
		make_parents(path);
	fd = open(path,
		  O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND |
			  (first ? O_TRUNC : 0),
		  0666);
	if (fd < 0) {
		cannot(path);
		return;
	}
	begun[rank * 2 + which] = true;
	write_all(fd, path, data, n);
	close(fd);
}

bool io_file_put(int rank, int which, const char *data, size_t n)
{
	char *path = path_of(rank, which);

	if (!path)
		return true;
	if (!begun)
		begun = xmalloc(job.place.size * 2 * sizeof(*begun));
	append(rank, which, path, data, n);
	free(path);
	return job.opt->out_dir && !job.opt->out_nocopy;
}
