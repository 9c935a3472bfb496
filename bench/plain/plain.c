// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* What plain programs share: numbers in and out. */
#include "plain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void plain_check(int good, const char *what)
{
	if (good)
		return;
	if (errno)
		perror(what);
	else
		fprintf(stderr, "%s\n", what);
	exit(1);
}

double plain_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double plain_median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), by_value);
	return values[count / 2];
}

static size_t unit(char letter)
{
	switch (letter) {
	case 'k':
		return 1 << 10;
	case 'M':
		return 1 << 20;
	default:
		return 1;
	}
}

int plain_sizes(const char *list, size_t *sizes, int room)
{
	int n = 0;
	char *end;

	while (n < room) {
		sizes[n] = strtoul(list, &end, 10);
		sizes[n++] *= unit(*end);
		list = end + (unit(*end) > 1);
		if (*list++ != ',')
			break;
	}
	return n;
}

void plain_row(size_t size, const char *column, double value)
{
	printf("{\"size\": %zu, \"%s\": %.6g}\n", size, column, value);
	fflush(stdout);
}
