// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#define _GNU_SOURCE
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void no_memory(void)
{
	say("out of memory");
	_exit(EXIT_TROUBLE);
}

void *xmalloc(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		no_memory();
	return p;
}

void *xrealloc(void *p, size_t n)
{
	p = realloc(p, n);
	if (!p)
		no_memory();
	return p;
}

char *xstrdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		no_memory();
	return p;
}

char *xprintf(const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	if (vasprintf(&p, fmt, ap) < 0)
		no_memory();
	va_end(ap);
	return p;
}

/* --- what we say --- */

static void (*say_to)(const char *line, size_t n);

static void (*fail_to)(const char *line);
static const char *front = "mpiexec: ";

void fail_through(void (*fn)(const char *line))
{
	fail_to = fn;
}

void say_as(const char *text)
{
	front = text;
}

void say_through(void (*fn)(const char *line, size_t n))
{
	say_to = fn;
}

/* Bytes of a character in UTF-8 that is no control character; 0: it is none. */
static size_t printable(const unsigned char *s)
{
	size_t n = s[0] < 0x80		 ? 1 :
		   (s[0] & 0xe0) == 0xc0 ? 2 :
		   (s[0] & 0xf0) == 0xe0 ? 3 :
		   (s[0] & 0xf8) == 0xf0 ? 4 :
					   0;

	if (n == 1)
		return (s[0] >= ' ' && s[0] != 0x7f) || s[0] == '\t';
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return s[0] == 0xc2 && s[1] < 0xa0 ? 0 : n;
}

void tame(char *text)
{
	unsigned char *s = (unsigned char *)text;

	while (*s) {
		size_t n = printable(s);

		if (!n)
			*s = '?';
		s += n ? n : 1;
	}
}

/* In one write, so that lines of several processes do not mix. */
static void say_line(const char *start, const char *fmt, va_list ap)
{
	char line[2048];
	int n = snprintf(line, sizeof(line) - 1, "%s", start);

	vsnprintf(line + n, sizeof(line) - 1 - n, fmt, ap);
	tame(line);
	n = (int)strlen(line);
	line[n++] = '\n';
	if (say_to)
		say_to(line, n);
	else if (write(STDERR_FILENO, line, n) < 0)
		return;
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line(front, fmt, ap);
	va_end(ap);
}

void say_plain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line("", fmt, ap);
	va_end(ap);
}

void fail(int code, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	say_to = NULL;
	va_start(ap, fmt);
	if (fail_to) {
		vsnprintf(line, sizeof(line), fmt, ap);
		fail_to(line);
	} else {
		say_line(front, fmt, ap);
	}
	va_end(ap);
	exit(code);
}

void strings_add(struct strings *l, const char *s)
{
	l->at = xrealloc(l->at, (l->n + 2) * sizeof(*l->at));
	l->at[l->n++] = xstrdup(s);
	l->at[l->n] = NULL;
}

void strings_cleanup(struct strings *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i]);
	free(l->at);
	memset(l, 0, sizeof(*l));
}

bool parse_int(const char *text, int low, int high, int *value)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || end == text || *end || v < low || v > high)
		return false;
	*value = v;
	return true;
}

void set_cloexec(int fd)
{
	fcntl(fd, F_SETFD, fcntl(fd, F_GETFD) | FD_CLOEXEC);
}

void set_nonblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}
