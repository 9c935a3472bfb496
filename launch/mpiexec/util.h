/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef EXEC_UTIL_H
#define EXEC_UTIL_H

#include <stdbool.h>
#include <stddef.h>

/* What the launcher itself ends with, besides the codes of ranks. */
enum exit_code {
	EXIT_TROUBLE = 1,     /* a host was lost, a rank left early */
	EXIT_USAGE = 2,	      /* a bad option or host file */
	EXIT_TIMEOUT = 124,   /* -timeout */
	EXIT_NOT_RUN = 126,   /* the program is there but cannot be run */
	EXIT_NOT_FOUND = 127, /* no such program */
};

void *xmalloc(size_t n); /* zeroed */
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
char *xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One line on stderr: "mpiexec: text". What could upset a terminal is replaced. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The text alone. */
void say_plain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Not to stderr itself, but to whoever writes there; NULL: to stderr again. */
void say_through(void (*fn)(const char *line, size_t n));
/* Replaces control characters, and what is not UTF-8. */
void tame(char *text);
/* The same, then exit. Only while nothing has been started. */
_Noreturn void fail(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The last words of fail() go there instead. */
void fail_through(void (*fn)(const char *line));
/* In place of "mpiexec: ". */
void say_as(const char *front);

/* A list of strings that ends with NULL. */
struct strings {
	char **at;
	size_t n;
};
void strings_add(struct strings *l, const char *s);
void strings_cleanup(struct strings *l);

/* All digits, low ... high. */
bool parse_int(const char *text, int low, int high, int *value);

void set_cloexec(int fd);
void set_nonblock(int fd);

#endif
