// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Lists of hosts as people write them. Files that were made for MPICH or Open MPI
 * are read as they are: fields that say something we have no use for (how many sockets
 * a host has, which interface to take) are accepted, others are refused.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts.h"
#include "util.h"

void hosts_add(struct hosts *h, const char *name, int slots)
{
	h->at = xrealloc(h->at, (h->n + 1) * sizeof(*h->at));
	h->at[h->n++] =
		(struct host_slots){ .name = xstrdup(name), .slots = slots };
}

/* "host", "host:4", "[fe80::1]:4", or an IPv6 address as it is: cuts the name
 * off. False: the part after the colon is no number of slots. */
static bool split_slots(char *word, char **name, int *slots)
{
	char *colon = strrchr(word, ':');

	*name = word;
	*slots = 1;
	if (word[0] == '[') {
		char *close = strchr(word, ']');

		if (!close || (close[1] && close[1] != ':'))
			return false;
		*name = word + 1;
		colon = close[1] ? close + 1 : NULL;
		*close = '\0';
	} else if (colon && strchr(word, ':') != colon) {
		return true;
	}
	if (!colon)
		return **name;
	*colon = '\0';
	return **name && parse_int(colon + 1, 1, INT_MAX, slots);
}

/* Nothing that an agent could take for an option or a shell for more. */
bool hosts_is_name(const char *name)
{
	if (!isalnum((unsigned char)*name) && !strchr("_:", *name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("-_.:@%", *name))
			return false;
	return true;
}

void hosts_add_list(struct hosts *h, const char *list)
{
	char *copy = xstrdup(list), *save = NULL;
	size_t before = h->n;

	for (char *w = strtok_r(copy, ",", &save); w;
	     w = strtok_r(NULL, ",", &save)) {
		char *shown = xstrdup(w), *name;
		int slots;

		if (!split_slots(w, &name, &slots) || !hosts_is_name(name))
			fail(EXIT_USAGE,
			     "\"%s\" in the list of hosts is neither HOST nor HOST:SLOTS",
			     shown);
		hosts_add(h, name, slots);
		free(shown);
	}
	free(copy);
	if (h->n == before)
		fail(EXIT_USAGE, "the list of hosts is empty; e.g. -hosts a,b");
}

/* --- files --- */

static const char bad_slots[] = "the number of slots must be 1 or more";

static bool is_one_of(const char *name, size_t len, const char *names)
{
	for (const char *p = names; *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");

		if (n == len && !strncmp(p, name, n))
			return true;
		p += n;
	}
	return false;
}

/* What is wrong with "name=value"; NULL: nothing. */
static const char *field(struct host_slots *at, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *value = word + len + 1;

	if (!word[len] || !*value)
		return "expected HOST, HOST:SLOTS or HOST slots=N";
	if (is_one_of(word, len, "slots cpu cpus count"))
		return parse_int(value, 1, INT_MAX, &at->slots) ? NULL :
								  bad_slots;
	if (is_one_of(word, len, "max_slots max-slots max_count max-count"))
		return parse_int(value, 1, INT_MAX, &at->max) ?
			       NULL :
			       "max_slots must be 1 or more";
	if (is_one_of(word, len, "user username user_name user-name")) {
		at->user = xstrdup(value);
		return hosts_is_name(value) ? NULL :
					      "that is not the name of a user";
	}
	if (is_one_of(word, len,
		      "boards sockets sockets_per_board cores "
		      "cores_per_socket slot port ifname binding rankmap"))
		return NULL;
	return "there is no such field; slots, max_slots and user are used";
}

/* "slots = 4" is "slots=4". */
static void close_gaps(char *line)
{
	char *to = line;

	for (char *p = line; *p; p++) {
		if (isspace((unsigned char)*p) &&
		    (p[strspn(p, " \t")] == '=' ||
		     (to > line && to[-1] == '=')))
			continue;
		*to++ = *p;
	}
	*to = '\0';
}

/* What is wrong with a line of a host file; NULL if nothing. */
static const char *add_line(struct hosts *h, char *line)
{
	char *save = NULL, *word, *name;
	const char *wrong;
	int slots;

	line[strcspn(line, "#\n\r")] = '\0';
	close_gaps(line);
	word = strtok_r(line, " \t", &save);
	if (!word)
		return NULL;
	if (!split_slots(word, &name, &slots))
		return bad_slots;
	if (!hosts_is_name(name))
		return "that is not the name of a host";
	hosts_add(h, name, slots);
	while ((word = strtok_r(NULL, " \t", &save))) {
		wrong = field(&h->at[h->n - 1], word);
		if (wrong)
			return wrong;
	}
	if (h->at[h->n - 1].max && h->at[h->n - 1].max < h->at[h->n - 1].slots)
		return "max_slots is less than slots";
	return NULL;
}

void hosts_add_file(struct hosts *h, const char *path)
{
	FILE *f = fopen(path, "re");
	size_t before = h->n, room = 0;
	char *line = NULL;
	int number = 0;

	if (!f)
		fail(EXIT_USAGE, "cannot read the host file %s: %s", path,
		     strerror(errno));
	while (getline(&line, &room, f) >= 0) {
		char *shown = xstrdup(line);
		const char *wrong = add_line(h, line);

		shown[strcspn(shown, "\r\n")] = '\0';
		number++;
		if (wrong)
			fail(EXIT_USAGE, "%s:%d: \"%s\": %s", path, number,
			     shown, wrong);
		free(shown);
	}
	free(line);
	if (ferror(f)) /* a directory, for one */
		fail(EXIT_USAGE, "cannot read the host file %s: %s", path,
		     strerror(errno));
	fclose(f);
	if (h->n == before)
		fail(EXIT_USAGE,
		     "the host file %s names no host; write one HOST:SLOTS a line",
		     path);
}
