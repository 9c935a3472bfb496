// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * -configfile: each line is what would stand between two colons. Words are parted by
 * spaces, quotes and backslashes keep them together as in a shell, and a # at the
 * beginning of a word makes the rest of the line a comment. A line that ends in a
 * backslash goes on in the next.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args_int.h"
#include "buf.h"

/* One word from *p on, which goes behind it. False: a quote is not closed. */
static bool take_word(const char **p, struct buf *word)
{
	const char *s = *p;
	char quote = 0;

	for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
		if (quote && *s == quote) {
			quote = 0;
		} else if (!quote && (*s == '"' || *s == '\'')) {
			quote = *s;
		} else {
			if (*s == '\\' && quote != '\'' && s[1])
				s++;
			buf_append(word, s, 1);
		}
	}
	buf_append(word, "", 1);
	*p = s;
	return !quote;
}

static bool take_line(const char *line, struct strings *words)
{
	size_t before = words->n;

	for (;;) {
		struct buf word = { 0 };
		bool good;

		line += strspn(line, " \t\r\n");
		if (!*line || *line == '#')
			return true;
		if (before && words->n == before)
			strings_add(words, ":");
		good = take_word(&line, &word);
		strings_add(words, buf_head(&word));
		buf_cleanup(&word);
		if (!good)
			return false;
	}
}

/* The whole file, with lines that go on put together. */
static char *next_line(FILE *f, int *number)
{
	char *all = NULL, *line = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, f)) >= 0) {
		char *more;
		bool goes_on;

		(*number)++;
		while (n && (line[n - 1] == '\n' || line[n - 1] == '\r'))
			line[--n] = '\0';
		goes_on = n && line[n - 1] == '\\';
		if (goes_on)
			line[n - 1] = ' ';
		more = xprintf("%s%s", all ? all : "", line);
		free(all);
		all = more;
		if (!goes_on)
			break;
	}
	free(line);
	return all;
}

void args_file(const char *path, struct strings *words)
{
	FILE *f = fopen(path, "re");
	int number = 0;
	char *line;

	if (!f)
		fail(EXIT_USAGE, "cannot read the file %s: %s", path,
		     strerror(errno));
	while ((line = next_line(f, &number))) {
		if (!take_line(line, words))
			fail(EXIT_USAGE, "%s:%d: a quote is not closed", path,
			     number);
		free(line);
	}
	fclose(f);
	if (!words->n)
		fail(EXIT_USAGE, "the file %s names no program", path);
}
