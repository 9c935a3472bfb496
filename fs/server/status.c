/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#define _GNU_SOURCE
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "fsd_log.h"
#include "ops.h"

/* Under another name first: whoever sees the socket can connect to it. */
static int open_at(const char *path, struct sockaddr_un *at)
{
	int fd, err;

	if (snprintf(at->sun_path, sizeof(at->sun_path), "%s~", path) >=
	    (int)sizeof(at->sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(at->sun_path); /* of one that was killed */
	if (!bind(fd, (struct sockaddr *)at, sizeof(*at)) &&
	    !chmod(at->sun_path, 0600) && !listen(fd, 16) &&
	    !rename(at->sun_path, path))
		return fd;
	err = -errno;
	unlink(at->sun_path);
	close(fd);
	return err;
}

int fsd_status_open(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = open_at(path, &at);

	if (fd < 0)
		fsd_error("cannot make the socket %s: %s", path, strerror(-fd));
	return fd;
}

/* Text in JSON; names of hosts come from clients. */
static void put_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			fprintf(out, "\\u%04x", (unsigned char)*text);
		else
			fputc(*text, out);
	fputc('"', out);
}

static unsigned long long value(const atomic_ullong *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

/* Microseconds below which so many of a hundred were done. */
static unsigned long long below(const struct fsd_op_stats *o, unsigned percent)
{
	unsigned long long n = value(&o->count) * percent / 100, sum = 0;
	int i;

	for (i = 0; i < FSD_BINS - 1; i++) {
		sum += value(&o->bins[i]);
		if (sum > n)
			break;
	}
	return 1ull << i;
}

static void put_ops(FILE *out, const struct fsd_stats *s)
{
	const char *comma = "";

	fputs("\"operations\": {", out);
	for (unsigned i = 0; i < P9_TYPES; i++) {
		const struct fsd_op_stats *o = &s->ops[i];
		unsigned long long n = value(&o->count);

		if (!n)
			continue;
		fprintf(out,
			"%s\n    \"%s\": { \"count\": %llu, \"errors\": %llu, \"us\": %.1f, \"median_us\": %llu, \"p99_us\": %llu }",
			comma, fsd_op_name(i), n, value(&o->errors),
			(double)value(&o->ns) / (double)n / 1000, below(o, 50),
			below(o, 99));
		comma = ",";
	}
	fputs("\n  }", out);
}

static void put_session(FILE *out, struct fsd_session *s)
{
	bool there;
	u32 fids;
	char host[sizeof(s->host)];

	pthread_mutex_lock(&s->lock);
	there = s->rank >= 0;
	fids = s->fids.n;
	memcpy(host, s->host, sizeof(host));
	pthread_mutex_unlock(&s->lock);
	fputs("    { \"host\": ", out);
	put_text(out, host);
	fprintf(out,
		", \"session\": \"%s\", \"connected\": %s, \"fids\": %u, \"operations\": %llu, \"read\": %llu, \"written\": %llu }",
		s->name, there ? "true" : "false", fids, value(&s->ops),
		value(&s->read), value(&s->written));
}

static void put_all(FILE *out, struct fsd_server *srv)
{
	const struct fsd_stats *s = &srv->stats;
	const char *comma = "\n";

	fprintf(out,
		"{\n  \"version\": \"%s\",\n  \"pid\": %d,\n  \"now_ns\": %llu,\n  \"read\": %llu,\n  \"written\": %llu,\n  \"replayed\": %llu,\n  \"refused\": %llu,\n  ",
		O2G_VERSION, (int)getpid(), (unsigned long long)o2g_now_ns(),
		value(&s->read), value(&s->written), value(&s->replayed),
		value(&s->refused));
	put_ops(out, s);
	fputs(",\n  \"clients\": [", out);
	pthread_mutex_lock(&srv->lock);
	for (struct fsd_session *c = srv->sessions; c; c = c->next) {
		fputs(comma, out);
		put_session(out, c);
		comma = ",\n";
	}
	pthread_mutex_unlock(&srv->lock);
	fputs("\n  ]\n}\n", out);
}

/* Into memory first: whoever asks may be slow, and sessions must not wait for it. */
void fsd_status_tell(int fd, struct fsd_server *srv)
{
	struct timeval limit = { .tv_sec = 1 };
	char *text = NULL;
	size_t len = 0, done = 0;
	FILE *out = open_memstream(&text, &len);
	int to = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	ssize_t n = 1;

	if (out) {
		put_all(out, srv);
		fclose(out);
	}
	if (to >= 0) {
		setsockopt(to, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		for (; text && done < len && n > 0; done += (size_t)n)
			n = send(to, text + done, len - done, MSG_NOSIGNAL);
		close(to);
	}
	free(text);
}
