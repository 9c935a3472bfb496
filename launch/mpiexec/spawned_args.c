// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * From what a rank has said (PMI-1's spawn, see pmi_spawn.c) to the command line of the
 * mpiexec that does it. What the user has told us about output, environment and how hosts
 * are reached holds for it as well.
 */
#include <stdlib.h>
#include <string.h>

#include "pmi_int.h"
#include "spawned.h"
#include "util.h"

#define PROGRAM_WORDS_MAX (1 << 20)

/* One program, as it was asked for. */
struct wish {
	int n;
	char *command;
	struct strings argv;
	struct strings keys; /* of its info */
	struct strings values;
	struct strings put_keys, put_values; /* for the new job */
};

static void add2(struct strings *w, const char *option, const char *value)
{
	strings_add(w, option);
	strings_add(w, value);
}

static void add_number(struct strings *w, const char *option, long n)
{
	char *text = xprintf("%ld", n);

	add2(w, option, text);
	free(text);
}

static void add_if(struct strings *w, const char *option, const char *value)
{
	if (value && *value)
		add2(w, option, value);
}

/* --- what was asked for --- */

static bool starts(const char *key, const char *front)
{
	return !strncmp(key, front, strlen(front));
}

static void take(struct wish *w, const char *key, const char *value)
{
	if (!strcmp(key, "nprocs"))
		parse_int(value, 1, 1 << 24, &w->n);
	else if (!strcmp(key, "execname") && !w->command)
		w->command = xstrdup(value);
	else if (starts(key, "arg") && key[3] >= '0' && key[3] <= '9')
		strings_add(&w->argv, value);
	else if (starts(key, "info_key_"))
		strings_add(&w->keys, value);
	else if (starts(key, "info_val_"))
		strings_add(&w->values, value);
	else if (starts(key, "preput_key_"))
		strings_add(&w->put_keys, value);
	else if (starts(key, "preput_val_"))
		strings_add(&w->put_values, value);
}

/* Lines up to "endcmd"; *text goes behind it. */
static void read_wish(struct wish *w, char **text)
{
	bool encoded = false;
	char *line;

	while ((line = strsep(text, "\n"))) {
		char *value = strchr(line, '=');

		if (!strcmp(line, "endcmd"))
			return;
		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(line, "o2g_encoded"))
			encoded = true;
		else if (!encoded || !pmi_value_decode(value))
			take(w, line, value);
	}
}

static const char *info(const struct wish *w, const char *key)
{
	for (size_t i = 0; i < w->keys.n && i < w->values.n; i++)
		if (!strcmp(w->keys.at[i], key))
			return w->values.at[i];
	return NULL;
}

static void free_wish(struct wish *w)
{
	free(w->command);
	strings_cleanup(&w->argv);
	strings_cleanup(&w->keys);
	strings_cleanup(&w->values);
	strings_cleanup(&w->put_keys);
	strings_cleanup(&w->put_values);
}

/* --- what holds for all --- */

static void add_environment(struct strings *w)
{
	const struct env_spec *e = &job.opt->env;

	if (e->all)
		strings_add(w, "-genvall");
	if (e->none)
		strings_add(w, "-genvnone");
	for (size_t i = 0; i < e->pass.n; i++)
		add2(w, "-genvlist", e->pass.at[i]);
	for (size_t i = 0; i < e->set.n; i++)
		add2(w, "-x", e->set.at[i]);
}

static void add_output(struct strings *w)
{
	const struct options *o = job.opt;

	if (o->label)
		strings_add(w, "-l");
	if (o->tag)
		strings_add(w, "-tag-output");
	if (o->merge)
		strings_add(w, "-merge-stderr-to-stdout");
	if (o->verbose)
		strings_add(w, "-v");
	if (o->out_dir) {
		char *dir = xprintf("%s%s", o->out_dir,
				    o->out_nocopy ? ":nocopy" : ":copy");

		add2(w, "-output-filename", dir);
		free(dir);
	}
	add_if(w, "-outfile-pattern", o->out_pattern);
	add_if(w, "-errfile-pattern", o->err_pattern);
}

/* Ranks of the job are bound already, and these would get the same processors. */
static void add_common(struct strings *w)
{
	add2(w, "-stdin", "none");
	add2(w, "-bind-to", "none");
	add2(w, "-rmk", "none");
	add_number(w, "-usize", job.place.universe);
	add_if(w, "-agent", job.opt->agent);
	add_if(w, "-proxy", job.opt->proxy);
	if (job.opt->force_agent)
		strings_add(w, "-force-agent");
	if (job.opt->keep_going)
		strings_add(w, "-disable-auto-cleanup");
	add_output(w);
	add_environment(w);
}

/* --- one program --- */

static bool add_hosts(struct spawn_plan *p, const struct wish *w)
{
	const char *soft = info(w, "soft");
	char *list;

	if (info(w, "host") || info(w, "hostfile")) {
		p->names_hosts = true;
		add_if(&p->words, "-hosts", info(w, "host"));
		add_if(&p->words, "-f", info(w, "hostfile"));
		return true;
	}
	list = spawn_place(p, w->n, soft != NULL);
	if (list)
		add2(&p->words, "-hosts", list);
	else
		p->why = xstrdup("no slot is free, and soft leaves it open "
				 "how many are started");
	free(list);
	return !p->why;
}

static void add_program(struct spawn_plan *p, const struct wish *w)
{
	struct strings *words = &p->words;

	add_number(words, "-n", w->n);
	if (!add_hosts(p, w))
		return;
	add_if(words, "-soft", info(w, "soft"));
	add_if(words, "-wdir", info(w, "wdir"));
	add_if(words, "-wdir", info(w, "wd"));
	add_if(words, "-path", info(w, "path"));
	add_if(words, "-arch", info(w, "arch"));
	add_number(words, "-words", 1 + (long)w->argv.n);
	add2(words, "--", w->command);
	for (size_t i = 0; i < w->argv.n; i++)
		strings_add(words, w->argv.at[i]);
}

static void add_keys(struct spawn_plan *p, const struct wish *w)
{
	for (size_t i = 0; i < w->put_keys.n && i < w->put_values.n; i++) {
		char *pair = xprintf("%s=%s", w->put_keys.at[i],
				     w->put_values.at[i]);

		strings_add(&p->keys, pair);
		free(pair);
	}
}

void spawn_plan(struct spawn_plan *p, const char *request)
{
	char *copy = xstrdup(request), *at = copy;
	bool first = true;

	add_common(&p->words);
	while (at && *at && !p->why) {
		struct wish w = { 0 };

		read_wish(&w, &at);
		if (!w.command || w.n < 1 || w.argv.n > PROGRAM_WORDS_MAX) {
			p->why = xstrdup("the request is not understood");
		} else {
			if (!first)
				strings_add(&p->words, ":");
			else
				add_keys(p, &w);
			add_program(p, &w);
			first = false;
		}
		free_wish(&w);
	}
	free(copy);
}

void spawn_plan_free(struct spawn_plan *p)
{
	strings_cleanup(&p->words);
	strings_cleanup(&p->keys);
	taken_free(&p->taken, &p->ntaken);
	free(p->why);
}
