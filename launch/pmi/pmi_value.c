// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * PMI-1 puts a value into a line of words, so spaces, newlines and '=' in it
 * would break the line, a backslash is taken away by the Hydra of MPICH 4.2, and
 * an empty value is dropped by some launchers. Such bytes travel as %XX, the
 * empty value as "%-". Plain values, ours and the
 * launcher's own, look the same on both sides.
 */
#include "pmi_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_plain(unsigned char c)
{
	return c > ' ' && c < 0x7f && !strchr("%=;\\\"'", c);
}

char *pmi_value_encode(const char *text)
{
	size_t n = strlen(text);
	char *out = malloc(n * 3 + 3), *p = out;

	if (!out)
		return NULL;
	if (!n)
		return strcpy(out, "%-");
	for (; *text; text++) {
		if (is_plain(*text))
			*p++ = *text;
		else
			p += sprintf(p, "%%%02X", (unsigned char)*text);
	}
	*p = '\0';
	return out;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int pmi_value_decode(char *text)
{
	char *out = text;

	if (!strcmp(text, "%-")) {
		*text = '\0';
		return 0;
	}
	for (; *text; text++) {
		int high, low;

		if (*text != '%') {
			*out++ = *text;
			continue;
		}
		high = hex(text[1]);
		low = high < 0 ? -1 : hex(text[2]);
		if (low < 0 || (high | low) == 0)
			return -EPROTO;
		*out++ = high << 4 | low;
		text += 2;
	}
	*out = '\0';
	return 0;
}
