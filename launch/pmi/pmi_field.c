// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "pmi_int.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int pmi_field(const char *line, const char *name, char *value, size_t size)
{
	size_t len = strlen(name);

	while (*line) {
		size_t word = strcspn(line, " \t");

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
		line += strspn(line, " \t");
	}
	return -ENOENT;
}

int pmi_field_int(const char *line, const char *name, int *value)
{
	char text[24], *end;
	long v;

	if (pmi_field(line, name, text, sizeof(text)))
		return -ENOENT;
	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || end == text || *end || v < INT_MIN || v > INT_MAX)
		return -ENOENT;
	*value = v;
	return 0;
}
