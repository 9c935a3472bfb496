// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "perf.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long parse_number(const char *text, const char **end)
{
	static const char units[] = "kmg";
	const char *unit;
	char *rest;
	long value = strtol(text, &rest, 10);

	if (rest == text || value < 0)
		perf_fail("'%s' is not a number (like 8, 16k, 4M or 1G)", text);
	unit = *rest ? strchr(units, *rest | 0x20) : NULL;
	if (unit) {
		value <<= 10 * (unit - units + 1);
		rest++;
	}
	*end = rest;
	return value;
}

static long parse_whole(const char *text)
{
	const char *end;
	long value = parse_number(text, &end);

	if (*end)
		perf_fail("'%s' is not a number (like 8, 16k, 4M or 1G)", text);
	return value;
}

static void add_size(struct perf *p, long size)
{
	if (p->n_sizes == PERF_MAX_SIZES)
		perf_fail("more than %d sizes", PERF_MAX_SIZES);
	if (size > INT_MAX)
		perf_fail("sizes go up to 2 GiB - 1");
	p->sizes[p->n_sizes++] = size;
}

/* FROM:TO doubles from one to the other. */
static void add_range(struct perf *p, long from, long to)
{
	for (long size = from; size <= to; size = size ? 2 * size : 1)
		add_size(p, size);
}

static void parse_sizes(struct perf *p, const char *text)
{
	p->n_sizes = 0;
	while (*text) {
		long size = parse_number(text, &text);

		if (*text == ':')
			add_range(p, size, parse_number(text + 1, &text));
		else
			add_size(p, size);
		if (*text && *text++ != ',')
			perf_fail("sizes are written like 8,16k,4M or 0:1M");
	}
	if (!p->n_sizes)
		perf_fail("--sizes names no size");
}

static bool set_flag(struct perf *p, const char *name)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "best", &p->best },
		{ "check", &p->check },
		{ "json", &p->json },
		{ "pin", &p->pin },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(flags[i].name, name))
			continue;
		*flags[i].flag = true;
		return true;
	}
	return false;
}

static bool set_own(const struct perf_option *o, const char *name,
		    const char *value)
{
	for (; o && o->name; o++) {
		if (strcmp(o->name, name))
			continue;
		*o->value = parse_whole(value);
		return true;
	}
	return false;
}

static void set_value(struct perf *p, const char *name, const char *value)
{
	if (!value)
		perf_fail("--%s needs a value, or there is no such option; "
			  "see perf %s --help",
			  name, p->command->name);
	if (!strcmp(name, "sizes") && p->command->sizes)
		parse_sizes(p, value);
	else if (!strcmp(name, "reps"))
		p->reps = parse_whole(value);
	else if (!strcmp(name, "rep-ms"))
		p->rep_time = parse_whole(value) * 1e-3;
	else if (!strcmp(name, "samples"))
		p->samples = parse_whole(value);
	else if (!set_own(p->command->options, name, value))
		perf_fail("no option --%s, see perf %s --help", name,
			  p->command->name);
}

void perf_options_parse(struct perf *p, int argc, char **argv)
{
	if (p->command->sizes)
		parse_sizes(p, p->command->sizes);
	for (int i = 0; i < argc; i++) {
		const char *name = argv[i] + 2;

		if (strncmp(argv[i], "--", 2))
			perf_fail("'%s' is not an option; see perf %s --help",
				  argv[i], p->command->name);
		if (!set_flag(p, name)) {
			set_value(p, name, i + 1 < argc ? argv[i + 1] : NULL);
			i++;
		}
	}
	if (p->reps < 1 || p->reps > PERF_MAX_REPS)
		perf_fail("--reps is between 1 and %d", PERF_MAX_REPS);
}

void perf_options_print(const struct perf_command *c)
{
	printf("%s: %s\n\n", c->name, c->help);
	if (c->sizes)
		printf("  --sizes LIST   like 8,16k,4M or 0:1M (%s)\n",
		       c->sizes);
	printf("  --reps N       repetitions; the median counts (11)\n"
	       "  --rep-ms N     length of one repetition (20)\n"
	       "  --samples N    operations timed one by one, for percentiles "
	       "(1000)\n"
	       "  --best         the best repetition counts, not the median\n"
	       "  --check        also check the data\n"
	       "  --pin          keep rank N on core N\n"
	       "  --json         one JSON object for each row\n");
	for (const struct perf_option *o = c->options; o && o->name; o++) {
		char text[32];

		snprintf(text, sizeof(text), "--%s N", o->name);
		printf("  %-14s %s (%ld)\n", text, o->help, *o->value);
	}
}
