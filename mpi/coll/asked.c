/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* O2G_COLL=collective=algorithm[:from-to],... */
#include "coll/asked.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "settings.h"

#define WORD_MAX 128

const struct coll_name coll_names[] = {
#define COLL_ROW(collective, algorithm, when, ...) \
	{ #collective, #algorithm, #when, __VA_ARGS__ },
#include "coll/table.def"
	{ .collective = NULL },
};

/* Every name once: of the collectives, or of the algorithms of one. */
static void list_names(const char *collective, char *text, size_t size)
{
	const struct coll_name *r, *q;
	size_t n = 0;

	text[0] = '\0';
	for (r = coll_names; r->collective && n < size; r++) {
		const char *name = collective ? r->algorithm : r->collective;

		if (collective && strcmp(r->collective, collective))
			continue;
		for (q = coll_names; q < r; q++)
			if (!strcmp(q->collective, r->collective) &&
			    (!collective || !strcmp(q->algorithm, name)))
				break;
		if (q == r)
			n += (size_t)snprintf(text + n, size - n, "%s%s",
					      n ? ", " : "", name);
	}
}

/* The last row, whose condition is that of the algorithm itself. */
static int find(const char *collective, const char *algorithm)
{
	int found = -1;

	for (int i = 0; coll_names[i].collective; i++)
		if (!strcmp(coll_names[i].collective, collective) &&
		    (!algorithm || !strcmp(coll_names[i].algorithm, algorithm)))
			found = i;
	return found;
}

/* "4k", "4k-", "4k-64k", "-64k" */
static bool read_range(const char *text, struct coll_range *range)
{
	char from[WORD_MAX];
	const char *dash = strchr(text, '-');
	uint64_t n;

	range->from = 0;
	range->to = COLL_MANY;
	snprintf(from, sizeof(from), "%.*s",
		 dash ? (int)(dash - text) : (int)strlen(text), text);
	if (from[0]) {
		if (o2g_parse_size(from, &n))
			return false;
		range->from = (int64_t)n;
	}
	if (!dash)
		range->to = range->from;
	else if (dash[1]) {
		if (o2g_parse_size(dash + 1, &n))
			return false;
		range->to = (int64_t)n;
	}
	return (from[0] || dash) && range->from <= range->to;
}

/* Taken apart in place. */
static bool read_one(char *word, struct coll_asked *asked)
{
	char *algorithm = strchr(word, '='), *range, names[512],
	     whole[WORD_MAX];

	snprintf(whole, sizeof(whole), "%s", word);
	if (!algorithm) {
		o2g_warn("O2G_COLL has \"%s\", but wants "
			 "collective=algorithm, like allreduce=doubling",
			 whole);
		return false;
	}
	*algorithm++ = '\0';
	range = strchr(algorithm, ':');
	if (range)
		*range++ = '\0';
	if (find(word, NULL) < 0) {
		list_names(NULL, names, sizeof(names));
		o2g_warn("O2G_COLL: there is no collective \"%s\"; there are "
			 "%s",
			 word, names);
		return false;
	}
	asked->row = find(word, algorithm);
	if (asked->row < 0) {
		list_names(word, names, sizeof(names));
		o2g_warn("O2G_COLL: %s has no algorithm \"%s\"; it has %s",
			 word, algorithm, names);
		return false;
	}
	asked->bytes = (struct coll_range)BYTES_ALL;
	if (!range || read_range(range, &asked->bytes))
		return true;
	o2g_warn("O2G_COLL: the bytes in \"%s\" are not a range like 0-256, "
		 "64k- or -4k",
		 whole);
	return false;
}

int coll_asked_read(const char *text, struct coll_asked *asked, int max)
{
	char word[WORD_MAX];
	int n = 0;

	while (*text && n < max) {
		size_t len = strcspn(text, ",");

		if (len >= sizeof(word)) {
			o2g_warn("O2G_COLL: \"%.*s...\" is too long", 40, text);
		} else if (len) {
			memcpy(word, text, len);
			word[len] = '\0';
			n += read_one(word, &asked[n]);
		}
		text += len + (text[len] == ',');
	}
	if (*text)
		o2g_warn("O2G_COLL: only the first %d entries are used", max);
	return n;
}
