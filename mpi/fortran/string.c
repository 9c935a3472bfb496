/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Strings: Fortran's have a length and end in blanks, C's end with a zero. */
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

static size_t without_blanks(const char *f, size_t len)
{
	while (len && f[len - 1] == ' ')
		len--;
	return len;
}

char *mpif_string(const char *f, size_t len)
{
	return strndup(f, without_blanks(f, len));
}

char *mpif_word(const char *f, size_t len)
{
	while (len && *f == ' ') {
		f++;
		len--;
	}
	return mpif_string(f, len);
}

void mpif_give(char *f, size_t len, const char *c)
{
	size_t n = strnlen(c, len);

	memcpy(f, c, n);
	memset(f + n, ' ', len - n);
}

char **mpif_strings(const char *f, size_t len, int n, int step)
{
	size_t used, far = len * step, count = n > 0 ? n : 0;
	char **all, *text;

	if (n < 0)
		while (without_blanks(f + count * far, len))
			count++;
	all = malloc((count + 1) * sizeof(*all) + count * (len + 1));
	if (!all)
		return NULL;
	text = (char *)&all[count + 1];
	for (size_t i = 0; i < count; i++, f += far, text += len + 1) {
		used = without_blanks(f, len);
		memcpy(text, f, used);
		text[used] = '\0';
		all[i] = text;
	}
	all[count] = NULL;
	return all;
}

char ***mpif_argvs(const char *f, size_t len, int n)
{
	char ***all = calloc(n + 1, sizeof(*all));

	/* element (i, j) is at i + j * n */
	for (int i = 0; all && i < n; i++) {
		all[i] = mpif_strings(f + i * len, len, -1, n);
		if (!all[i]) {
			mpif_free_argvs(all, n);
			return NULL;
		}
	}
	return all;
}

void mpif_free_argvs(char ***argvs, int n)
{
	for (int i = 0; argvs && i < n; i++)
		free(argvs[i]);
	free(argvs);
}
