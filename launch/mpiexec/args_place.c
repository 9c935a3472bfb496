// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* -map-by and -launcher, in the words of MPICH and of Open MPI. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "allocation.h"
#include "args_int.h"
#include "bind.h"

static _Noreturn void no_mapping(const struct args_state *s, const char *what)
{
	fail(EXIT_USAGE,
	     "%s needs slot, node, ppr:N:node, or hwthread, core, socket or numa, and perhaps :PE=N, not \"%s\"",
	     s->name, what);
}

/* What may follow: that there may be more ranks than slots, which is so anyway. */
static bool is_modifier(const char *word)
{
	return !strcasecmp(word, "oversubscribe") ||
	       !strcasecmp(word, "nooversubscribe") ||
	       !strcasecmp(word, "nolocal=0") || !strcasecmp(word, "span");
}

static bool take_width(struct args_state *s, const char *number)
{
	return parse_int(number, 1, 1 << 16, &s->opt->bind_width);
}

/* "PE=4": so many cores, or hardware threads, for each rank. */
static bool is_width(struct args_state *s, const char *word)
{
	return !strncasecmp(word, "pe=", 3) && take_width(s, word + 3);
}

/* "core:4" is the same in MPICH's words. */
void args_bind_to(struct args_state *s, char *what)
{
	char *colon = strchr(what, ':');

	if (colon && !take_width(s, colon + 1))
		fail(EXIT_USAGE,
		     "%s needs a number of at least 1 after the colon, not \"%s\"",
		     s->name, what);
	if (colon)
		*colon = '\0';
	s->opt->bind_to = what;
}

/* "N:node" is so many ranks on each host; "N:socket" on each of its sockets, of
 * which all hosts are taken to have as many as this one. */
static void per_resource(struct args_state *s, const char *what,
			 const char *count, const char *of)
{
	int n;

	if (!count || !of || !parse_int(count, 1, 1 << 24, &n))
		no_mapping(s, what);
	if (!strcasecmp(of, "node")) {
		s->opt->ppn = n;
		return;
	}
	if (!bind_is_level(of))
		no_mapping(s, what);
	s->opt->ppn = n * bind_count(of);
	s->opt->map_by = xstrdup(of);
}

void args_map_by(struct args_state *s, const char *what)
{
	char *copy = xstrdup(what), *save = NULL, *word;

	word = strtok_r(copy, ":", &save);
	if (!word)
		no_mapping(s, what);
	if (!strcasecmp(word, "ppr")) {
		char *count = strtok_r(NULL, ":", &save);

		per_resource(s, what, count, strtok_r(NULL, ":", &save));
	} else if (!strcasecmp(word, "node")) {
		s->opt->by_node = true;
	} else if (!strcasecmp(word, "slot")) {
		s->opt->by_node = false;
	} else if (bind_is_level(word)) {
		s->opt->map_by = xstrdup(word);
	} else {
		no_mapping(s, what);
	}
	while ((word = strtok_r(NULL, ":", &save)))
		if (!is_modifier(word) && !is_width(s, word))
			no_mapping(s, what);
	free(copy);
}

/* MPICH names kinds of launchers; whatever else is a command. */
void args_launcher(struct args_state *s, char *what)
{
	if (!strcmp(what, "ssh"))
		s->opt->agent = NULL;
	else if (!strcmp(what, "slurm"))
		s->opt->agent = (char *)ALLOCATION_SRUN;
	else if (!strcmp(what, "lsf"))
		s->opt->agent = (char *)"blaunch";
	else
		s->opt->agent = what;
}
