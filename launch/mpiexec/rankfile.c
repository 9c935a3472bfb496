// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "rankfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "hosts.h"
#include "util.h"

#define RANKS_MAX (1 << 24)

struct line {
	int rank;
	char host[256], slots[256];
};

/* Digits, commas and dashes, and before them perhaps "SOCKET:". */
static bool is_cpu_list(const char *text)
{
	const char *colon = strchr(text, ':');
	const char *list = colon ? colon + 1 : text;

	if (colon && (colon == text ||
		      strspn(text, "0123456789") != (size_t)(colon - text)))
		return false;
	return isdigit((unsigned char)*list) &&
	       !list[strspn(list, "0123456789,-")];
}

/* What is wrong with it; NULL: nothing, and l->rank is -1 if it says nothing. */
static const char *read_line(char *text, struct line *l)
{
	int end = 0;

	l->rank = -1;
	text[strcspn(text, "#\r\n")] = '\0';
	text += strspn(text, " \t");
	if (!*text)
		return NULL;
	if (sscanf(text, "rank %d = %255s slot = %255s %n", &l->rank, l->host,
		   l->slots, &end) != 3 ||
	    !end || text[end] || l->rank < 0)
		return "expected rank N=HOST slot=LIST";
	if (!is_cpu_list(l->slots))
		return "slot must be a list of processors (0,2-3) or SOCKET:CORES (1:0-3)";
	if (l->host[0] != '+' && !hosts_is_name(l->host))
		return "that is not the name of a host";
	return NULL;
}

/* "+n1" is the second host of the list. */
static const char *host_named(const struct options *opt, const char *name)
{
	int i;

	if (name[0] != '+')
		return name;
	if ((name[1] != 'n' && name[1] != 'N') ||
	    !parse_int(name + 2, 0, (int)opt->hosts.n - 1, &i))
		return NULL;
	return opt->hosts.at[i].name;
}

/* By rank, for as many as the file speaks of; NULL: it has no line. */
static char **names;

static const char *take(struct options *opt, struct placement *p,
			const struct line *l)
{
	const char *host = host_named(opt, l->host);

	if (!host)
		return "there are not so many hosts";
	if (l->rank >= RANKS_MAX)
		return "there cannot be so many ranks";
	while (p->size <= l->rank) {
		names = xrealloc(names, (p->size + 1) * sizeof(*names));
		p->ranks =
			xrealloc(p->ranks, (p->size + 1) * sizeof(*p->ranks));
		names[p->size] = NULL;
		p->ranks[p->size++] = (struct place){ .node = -1 };
	}
	if (names[l->rank])
		return "this rank has a line already";
	names[l->rank] = xstrdup(host);
	p->ranks[l->rank].cpus = xstrdup(l->slots);
	return NULL;
}

static void read_all(FILE *f, struct options *opt, struct placement *p)
{
	size_t room = 0;
	char *text = NULL;
	int number = 0;

	while (getline(&text, &room, f) >= 0) {
		char *shown = xstrdup(text);
		struct line l;
		const char *wrong = read_line(text, &l);

		shown[strcspn(shown, "\r\n")] = '\0';
		number++;
		if (!wrong && l.rank >= 0)
			wrong = take(opt, p, &l);
		if (wrong)
			fail(EXIT_USAGE, "%s:%d: \"%s\": %s", opt->rankfile,
			     number, shown, wrong);
		free(shown);
	}
	free(text);
}

/* Which program each rank is of. */
static void deal_programs(struct options *opt, struct placement *p)
{
	int wanted = 0, rank = 0;

	for (int a = 0; a < opt->napps; a++)
		wanted += opt->apps[a].n;
	if (!opt->apps[0].n && opt->napps == 1)
		wanted = opt->apps[0].n = p->size;
	if (wanted > p->size)
		fail(EXIT_USAGE, "%s has no line for rank %d", opt->rankfile,
		     p->size);
	p->size = wanted;
	for (int a = 0; a < opt->napps; a++)
		for (int i = 0; i < opt->apps[a].n; i++)
			p->ranks[rank++].app = a;
}

void rankfile_place(struct options *opt, struct placement *p)
{
	FILE *f = fopen(opt->rankfile, "re");

	if (!f)
		fail(EXIT_USAGE, "cannot read the rank file %s: %s",
		     opt->rankfile, strerror(errno));
	read_all(f, opt, p);
	fclose(f);
	if (!p->size)
		fail(EXIT_USAGE, "the rank file %s places no rank",
		     opt->rankfile);
	deal_programs(opt, p);
	for (int r = 0; r < p->size; r++) {
		if (!names[r])
			fail(EXIT_USAGE, "%s has no line for rank %d",
			     opt->rankfile, r);
		p->ranks[r].node = hosts_node(opt, p, names[r]);
	}
}
