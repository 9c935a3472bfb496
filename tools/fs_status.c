/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * How the file server on this host does, from its socket, and what is mounted here, from
 * the kernel. What the server says is JSON of a form that only it writes; each thing is
 * on a line.
 */
#define _GNU_SOURCE
#include "fs.h"

#include <errno.h>
#include <getopt.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define OPS 64

struct op {
	char name[20];
	unsigned long long count, errors, median, p99;
	double us;
};

struct seen {
	unsigned long long now_ns, read, written, replayed, refused;
	int pid, nops;
	struct op ops[OPS];
};

/* All that it says, or NULL. */
static char *ask(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char *text = NULL;
	size_t len = 0;
	ssize_t n = 1;

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	while (n > 0) {
		char *more = realloc(text, len + 65537);

		if (!more)
			break;
		text = more;
		n = read(fd, text + len, 65536);
		len += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (text)
		text[len] = '\0';
	return text;
}

static unsigned long long number(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void parse_op(struct seen *s, const char *line)
{
	struct op *o = &s->ops[s->nops];

	if (s->nops < OPS &&
	    sscanf(line,
		   " \"%19[a-z]\": { \"count\": %llu, \"errors\": %llu, \"us\": %lf, \"median_us\": %llu, \"p99_us\": %llu",
		   o->name, &o->count, &o->errors, &o->us, &o->median,
		   &o->p99) == 6)
		s->nops++;
}

static void parse(const char *text, struct seen *s)
{
	memset(s, 0, sizeof(*s));
	s->pid = (int)number(text, "\"pid\": ");
	s->now_ns = number(text, "\"now_ns\": ");
	s->read = number(text, "\"read\": ");
	s->written = number(text, "\"written\": ");
	s->replayed = number(text, "\"replayed\": ");
	s->refused = number(text, "\"refused\": ");
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		parse_op(s, line);
	}
}

static unsigned long long before(const struct seen *s, const char *name)
{
	for (int i = 0; i < s->nops; i++)
		if (!strcmp(s->ops[i].name, name))
			return s->ops[i].count;
	return 0;
}

/* Since the server was started, or since the last look. */
static void print_ops(const struct seen *now, const struct seen *last)
{
	double s = last ? (double)(now->now_ns - last->now_ns) / 1e9 : 0;

	printf("%-12s %10s %8s %9s %9s %9s%s\n", "operation", "count", "errors",
	       "mean us", "median <", "99 % <", last ? "     per s" : "");
	for (int i = 0; i < now->nops; i++) {
		const struct op *o = &now->ops[i];

		printf("%-12s %10llu %8llu %9.1f %9llu %9llu", o->name,
		       o->count, o->errors, o->us, o->median, o->p99);
		if (last)
			printf(" %9.0f",
			       (double)(o->count - before(last, o->name)) / s);
		printf("\n");
	}
	if (last)
		printf("reads %.1f MB/s, writes %.1f MB/s\n",
		       (double)(now->read - last->read) / s / 1e6,
		       (double)(now->written - last->written) / s / 1e6);
}

static void print_client(const char *line)
{
	unsigned long long ops, rd, wr;
	char host[65], session[33], up[6];
	unsigned fids;

	if (sscanf(line,
		   " { \"host\": \"%64[^\"]\", \"session\": \"%32[0-9a-f]\", \"connected\": %5[a-z], \"fids\": %u, \"operations\": %llu, \"read\": %llu, \"written\": %llu",
		   host, session, up, &fids, &ops, &rd, &wr) == 7)
		printf("%-20s %.8s  %-5s %8u %12llu %10.1f %10.1f\n", host,
		       session, strcmp(up, "true") ? "away" : "here", fids, ops,
		       (double)rd / 1e6, (double)wr / 1e6);
}

static void print_clients(const char *text)
{
	const char *line = strstr(text, "\"clients\"");

	printf("%-20s %-9s %-5s %8s %12s %10s %10s\n", "client", "session", "",
	       "files", "operations", "read MB", "written MB");
	for (; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		print_client(line);
	}
}

static void print_server(const char *text, const struct seen *now,
			 const struct seen *last)
{
	printf("o2gfsd %d: %.1f MB read, %.1f MB written, %llu answered again, %llu refused\n\n",
	       now->pid, (double)now->read / 1e6, (double)now->written / 1e6,
	       now->replayed, now->refused);
	print_ops(now, last);
	printf("\n");
	print_clients(text);
}

/* --- what is mounted here --- */

static void copy_file(const char *path)
{
	char line[1024];
	FILE *f = fopen(path, "re");

	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		printf("  %s", line);
	fclose(f);
}

static int print_mounts(void)
{
	FILE *f = setmntent("/proc/mounts", "re");
	struct mntent *m;
	int n = 0;

	while (f && (m = getmntent(f)))
		if (!strcmp(m->mnt_type, "9p") &&
		    strstr(m->mnt_opts, "trans=o2g")) {
			if (!n++)
				printf("mounted here:\n");
			printf("  %s at %s (%s)\n", m->mnt_fsname, m->mnt_dir,
			       m->mnt_opts);
		}
	if (f)
		endmntent(f);
	if (n)
		copy_file("/proc/fs/o2gfs");
	return n;
}

/* --- the command --- */

struct how {
	const char *socket;
	double delay;
	long rounds;
	int json;
};

static int read_arguments(struct how *h, int argc, char **argv)
{
	static const struct option longs[] = { { "json", 0, NULL, 'j' },
					       { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "s:d:n:", longs, NULL)) >= 0)
		if (c == 's')
			h->socket = optarg;
		else if (c == 'd')
			h->delay = atof(optarg);
		else if (c == 'n')
			h->rounds = atol(optarg);
		else if (c == 'j')
			h->json = 1;
		else
			return 2;
	if (optind == argc && h->delay >= 0)
		return 0;
	fputs("usage: o2g fs status [-s SOCKET] [-d SECONDS] [-n TIMES] [--json]\n",
	      stderr);
	return 2;
}

static int show(const struct how *h, struct seen *last, int first)
{
	char *text = ask(h->socket);
	struct seen now;

	if (!text)
		return -1;
	parse(text, &now);
	if (h->json)
		fputs(text, stdout);
	else
		print_server(text, &now, first ? NULL : last);
	*last = now;
	free(text);
	return 0;
}

int fs_status(int argc, char **argv)
{
	struct how h = { .socket = FS_TOOL_SOCKET, .rounds = 1 };
	struct seen last;
	int err = 0, rc = read_arguments(&h, argc, argv), mounts = 0;

	if (rc)
		return rc;
	if (h.delay > 0 && h.rounds == 1)
		h.rounds = -1;
	for (long i = 0; i != h.rounds && !err; i++) {
		if (i)
			usleep((useconds_t)(h.delay * 1e6));
		err = show(&h, &last, !i);
		fflush(stdout);
	}
	if (!h.json)
		mounts = print_mounts();
	if (!err || mounts)
		return 0;
	fprintf(stderr,
		"o2g fs: no server answers at %s (%s), and nothing is mounted here\n",
		h.socket, strerror(errno));
	return 1;
}
