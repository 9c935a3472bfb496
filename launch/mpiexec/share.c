// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* What each host is told to run, with which variables and in which directory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job.h"
#include "start.h"
#include "util.h"

extern char **environ;

/* These say something about the process or machine they come from. */
static bool is_personal(const char *var)
{
	static const char *const names[] = {
		"_=",	  "PWD=",    "OLDPWD=", "HOSTNAME=",
		"SHLVL=", "PMI_FD=", "TMPDIR=", "XDG_RUNTIME_DIR="
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(var, names[i], strlen(names[i])))
			return true;
	return false;
}

static void pass_matching(struct strings *env, bool everything)
{
	for (char **e = environ; *e; e++)
		if (everything ? !is_personal(*e) : !strncmp(*e, "O2G_", 4))
			strings_add(env, *e);
}

static void pass_named(struct strings *env, const struct strings *names)
{
	for (size_t i = 0; i < names->n; i++) {
		const char *value = getenv(names->at[i]);
		char *text;

		if (!value)
			continue;
		text = xprintf("%s=%s", names->at[i], value);
		strings_add(env, text);
		free(text);
	}
}

static void add_all(struct strings *env, const struct strings *set)
{
	for (size_t i = 0; i < set->n; i++)
		strings_add(env, set->at[i]);
}

/* Later ones win. */
static void make_env(const struct node *n, const struct app *app,
		     struct start_app *sa)
{
	const struct env_spec *all = &job.opt->env, *own = &app->env;

	sa->env_none = own->none || (all->none && !own->all);
	if (!sa->env_none && !n->here)
		pass_matching(&sa->env, all->all || own->all);
	pass_named(&sa->env, &all->pass);
	pass_named(&sa->env, &own->pass);
	add_all(&sa->env, &all->set);
	add_all(&sa->env, &own->set);
}

/* Where we are, by the name the user gave it: a path through a link may be
 * there on other hosts where the real one is not. */
static char *here(void)
{
	const char *pwd = getenv("PWD");
	struct stat a, b;

	if (pwd && pwd[0] == '/' && stat(pwd, &a) == 0 && stat(".", &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return xstrdup(pwd);
	return getcwd(NULL, 0);
}

static char *make_wdir(const struct app *app)
{
	char *cwd, *dir;

	if (app->wdir && app->wdir[0] == '/')
		return xstrdup(app->wdir);
	cwd = here();
	if (!cwd)
		fail(EXIT_TROUBLE, "the current directory is gone; use -wdir");
	if (!app->wdir)
		return cwd;
	dir = xprintf("%s/%s", cwd, app->wdir);
	free(cwd);
	return dir;
}

static void pick_ranks(const struct node *n, struct start *s)
{
	int wish = job.opt->stdin_rank;

	s->ranks = xmalloc(job.place.size * sizeof(*s->ranks));
	for (int r = 0; r < job.place.size; r++) {
		if (job.place.ranks[r].node != n->index)
			continue;
		s->ranks[s->nranks++] = (struct start_rank){
			.rank = r,
			.app = job.place.ranks[r].app,
			.has_stdin = wish == r || wish == STDIN_ALL,
			.cpus = job.place.ranks[r].cpus ?
					job.place.ranks[r].cpus :
					"",
		};
	}
}

static void describe(const struct node *n, struct start *s)
{
	const struct options *opt = job.opt;

	s->host = (char *)n->name;
	s->kvsname = job.kvsname;
	s->mapping = job.mapping;
	s->secret = job.secret;
	s->size = job.place.size;
	s->universe = job.place.universe;
	s->bind_to = opt->bind_to ? opt->bind_to : "";
	s->map_by = opt->map_by ? opt->map_by : "";
	s->bind_width = opt->bind_width ? (uint32_t)opt->bind_width : 1;
	s->report_bindings = opt->report_bindings;
	s->spawned = job.spawned;
	s->keys = job.keys;
	s->napps = opt->napps;
	s->apps = xmalloc(s->napps * sizeof(*s->apps));
	for (int i = 0; i < s->napps; i++) {
		s->apps[i].argv = opt->apps[i].argv;
		s->apps[i].wdir = make_wdir(&opt->apps[i]);
		s->apps[i].path = opt->apps[i].path ? opt->apps[i].path : "";
		make_env(n, &opt->apps[i], &s->apps[i]);
	}
	pick_ranks(n, s);
}

void share_send(struct node *n)
{
	struct start s = { 0 };
	struct buf b = { 0 };

	describe(n, &s);
	start_write(&s, &b);
	chan_send(&n->chan, FRAME_START, -1, b.data, buf_len(&b));
	buf_cleanup(&b);
	for (int i = 0; i < s.napps; i++) {
		free(s.apps[i].wdir);
		strings_cleanup(&s.apps[i].env);
	}
	free(s.apps);
	free(s.ranks);
}
