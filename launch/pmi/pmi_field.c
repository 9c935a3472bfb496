// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "pmi_int.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int field(const char *line, const char *between, const char *name,
		 char *value, size_t size)
{
	size_t len = strlen(name);

	while (*line) {
		size_t word = strcspn(line, between);

		if (word > len && !strncmp(line, name, len) &&
		    line[len] == '=') {
			size_t n = word - len - 1;

			if (n >= size)
				return -ENOSPC;
			memcpy(value, line + len + 1, n);
			value[n] = '\0';
			return 0;
		}
		line += word;
		line += strspn(line, between);
	}
	return -ENOENT;
}

static int to_int(const char *text, int *value)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || end == text || *end || v < INT_MIN || v > INT_MAX)
		return -ENOENT;
	*value = (int)v;
	return 0;
}

int pmi_field(const char *line, const char *name, char *value, size_t size)
{
	return field(line, " \t", name, value, size);
}

int pmi_field_int(const char *line, const char *name, int *value)
{
	char text[24];

	if (pmi_field(line, name, text, sizeof(text)))
		return -ENOENT;
	return to_int(text, value);
}

int pmi2_field(const char *text, const char *name, char *value, size_t size)
{
	return field(text, ";", name, value, size);
}

int pmi2_field_int(const char *text, const char *name, int *value)
{
	char number[24];

	if (pmi2_field(text, name, number, sizeof(number)))
		return -ENOENT;
	return to_int(number, value);
}
