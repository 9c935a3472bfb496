// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "hosts.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "args.h"
#include "buf.h"
#include "util.h"

static void add(struct hosts *h, const char *name, int slots)
{
	h->at = xrealloc(h->at, (h->n + 1) * sizeof(*h->at));
	h->at[h->n].name = xstrdup(name);
	h->at[h->n++].slots = slots;
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
static bool is_name(const char *name)
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

		if (!split_slots(w, &name, &slots) || !is_name(name))
			fail(EXIT_USAGE,
			     "\"%s\" in the list of hosts is neither HOST nor HOST:SLOTS",
			     shown);
		add(h, name, slots);
		free(shown);
	}
	free(copy);
	if (h->n == before)
		fail(EXIT_USAGE, "the list of hosts is empty; e.g. -hosts a,b");
}

/* What is wrong with a line of a host file; NULL if nothing. */
static const char *add_line(struct hosts *h, char *line)
{
	char *save = NULL, *word, *name;
	int slots;

	line[strcspn(line, "#\n\r")] = '\0';
	word = strtok_r(line, " \t", &save);
	if (!word)
		return NULL;
	if (!split_slots(word, &name, &slots))
		return "the number of slots must be 1 or more";
	if (!is_name(name))
		return "that is not the name of a host";
	while ((word = strtok_r(NULL, " \t", &save))) {
		if (!strncmp(word, "max_slots=", 10) ||
		    !strncmp(word, "max-slots=", 10))
			continue;
		if (strncmp(word, "slots=", 6))
			return "expected HOST, HOST:SLOTS or HOST slots=N";
		if (!parse_int(word + 6, 1, INT_MAX, &slots))
			return "the number of slots must be 1 or more";
	}
	add(h, name, slots);
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

bool host_is_here(const char *name)
{
	char self[256] = "";
	size_t n;

	if (!strcasecmp(name, "localhost") || !strncmp(name, "127.", 4) ||
	    !strcmp(name, "::1"))
		return true;
	gethostname(self, sizeof(self) - 1);
	if (!strcasecmp(name, self))
		return true;
	/* The short name of the long one, or the other way round. */
	n = strcspn(name, ".");
	return n == strcspn(self, ".") && !strncasecmp(name, self, n) &&
	       (!name[n] || !self[n]);
}

/* The name of this machine, when @name is one of several for it. */
static const char *canonical(const char *name, const char *self)
{
	return self && host_is_here(name) ? self : name;
}

static int find_node(struct placement *p, const char *name)
{
	for (int i = 0; i < p->nnodes; i++)
		if (!strcasecmp(p->nodes[i], name))
			return i;
	p->nodes = xrealloc(p->nodes, (p->nnodes + 1) * sizeof(*p->nodes));
	p->nodes[p->nnodes] = xstrdup(name);
	return p->nnodes++;
}

/* The host of the next rank: each takes its slots (or -ppn) in turn, and after
 * the last the first comes again, so there may be more ranks than slots. */
static const char *next_host(struct hosts *h, int ppn)
{
	const char *name = h->at[h->next].name;

	if (++h->used >= (ppn ? ppn : h->at[h->next].slots)) {
		h->used = 0;
		h->next = (h->next + 1) % h->n;
	}
	return name;
}

static int count_slots(const struct hosts *h, int ppn)
{
	int n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += ppn ? ppn : h->at[i].slots;
	return n;
}

void hosts_place(struct options *opt, struct placement *p)
{
	bool listed = opt->hosts.n > 0;
	char self[256] = "localhost";

	memset(p, 0, sizeof(*p));
	gethostname(self, sizeof(self) - 1);
	if (!listed)
		add(&opt->hosts, self, 1);
	for (int a = 0; a < opt->napps; a++) {
		struct app *app = &opt->apps[a];
		struct hosts *h = app->hosts.n ? &app->hosts : &opt->hosts;

		if (!app->n)
			app->n = app->hosts.n || listed ?
					 count_slots(h, opt->ppn) :
					 1;
		p->ranks = xrealloc(p->ranks,
				    (p->size + app->n) * sizeof(*p->ranks));
		for (int i = 0; i < app->n; i++) {
			struct place *at = &p->ranks[p->size++];

			at->node = find_node(
				p, canonical(next_host(h, opt->ppn),
					     opt->force_agent ? NULL : self));
			at->app = a;
		}
		p->universe += app->hosts.n ? count_slots(h, opt->ppn) : 0;
	}
	p->universe += count_slots(&opt->hosts, opt->ppn);
	if (p->universe < p->size)
		p->universe = p->size;
}

char *hosts_mapping(const struct placement *p)
{
	struct buf text = { 0 };
	int i = 0;

	buf_append(&text, "(vector", 7);
	while (i < p->size) {
		int first = p->ranks[i].node, nodes = 0, each = 0;
		char *block;

		while (i + each < p->size && p->ranks[i + each].node == first)
			each++;
		/* Nodes that follow with as many ranks join the block. */
		for (;;) {
			int n = 0, start = i + nodes * each;

			while (start + n < p->size &&
			       p->ranks[start + n].node == first + nodes)
				n++;
			if (n != each)
				break;
			nodes++;
		}
		block = xprintf(",(%d,%d,%d)", first, nodes, each);
		buf_append(&text, block, strlen(block));
		free(block);
		i += nodes * each;
	}
	buf_append(&text, ")", 2);
	return text.data;
}
