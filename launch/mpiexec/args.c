// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#define _GNU_SOURCE
#include "args_int.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "nearest.h"
#include "spawned.h"

static struct app *add_app(struct options *opt)
{
	opt->apps = xrealloc(opt->apps, (opt->napps + 1) * sizeof(*opt->apps));
	memset(&opt->apps[opt->napps], 0, sizeof(*opt->apps));
	return &opt->apps[opt->napps++];
}

static int number(struct args_state *s, const char *text, int low)
{
	int v;

	if (!parse_int(text, low, 1 << 24, &v))
		fail(EXIT_USAGE, "%s needs a number of at least %d, not \"%s\"",
		     s->name, low, text);
	return v;
}

static void set_n(struct args_state *s, char **v)
{
	s->app->n = number(s, v[0], 1);
}

static void set_wdir(struct args_state *s, char **v)
{
	s->app->wdir = v[0];
}

static void check_name(struct args_state *s, const char *name)
{
	if (!*name || strchr(name, '='))
		fail(EXIT_USAGE, "%s needs the name of a variable, not \"%s\"",
		     s->name, name);
}

static void env_set(struct args_state *s, struct env_spec *e, char **v)
{
	char *text;

	check_name(s, v[0]);
	text = xprintf("%s=%s", v[0], v[1]);
	strings_add(&e->set, text);
	free(text);
}

static void env_list(struct args_state *s, struct env_spec *e, const char *list)
{
	char *copy = xstrdup(list), *save = NULL;

	for (char *w = strtok_r(copy, ",", &save); w;
	     w = strtok_r(NULL, ",", &save)) {
		check_name(s, w);
		strings_add(&e->pass, w);
	}
	free(copy);
}

static void set_env(struct args_state *s, char **v)
{
	env_set(s, &s->app->env, v);
}

static void set_genv(struct args_state *s, char **v)
{
	env_set(s, &s->opt->env, v);
}

static void set_envlist(struct args_state *s, char **v)
{
	env_list(s, &s->app->env, v[0]);
}

static void set_genvlist(struct args_state *s, char **v)
{
	env_list(s, &s->opt->env, v[0]);
}

static void set_x(struct args_state *s, char **v)
{
	const char *eq = strchr(v[0], '=');

	if (eq && eq != v[0]) {
		strings_add(&s->opt->env.set, v[0]);
		return;
	}
	check_name(s, v[0]);
	strings_add(&s->opt->env.pass, v[0]);
}

static void set_iface(struct args_state *s, char **v)
{
	args_interfaces(s, v[0]);
}

static void set_envall(struct args_state *s, char **v)
{
	s->app->env.all = true;
}

static void set_genvall(struct args_state *s, char **v)
{
	s->opt->env.all = true;
}

static void set_envnone(struct args_state *s, char **v)
{
	s->app->env.none = true;
}

static void set_genvnone(struct args_state *s, char **v)
{
	s->opt->env.none = true;
}

/* The first program's hosts are the job's; a later program may have its own. */
static struct hosts *hosts_here(struct args_state *s)
{
	return s->app == &s->opt->apps[0] ? &s->opt->hosts : &s->app->hosts;
}

static void set_hosts(struct args_state *s, char **v)
{
	hosts_add_list(hosts_here(s), v[0]);
}

static void set_hostfile(struct args_state *s, char **v)
{
	hosts_add_file(hosts_here(s), v[0]);
}

static void set_ppn(struct args_state *s, char **v)
{
	s->opt->ppn = number(s, v[0], 1);
}

static void set_agent(struct args_state *s, char **v)
{
	if (!v[0][strspn(v[0], " \t")])
		fail(EXIT_USAGE, "%s needs a command, e.g. \"ssh -p 2222\"",
		     s->name);
	s->opt->agent = v[0];
}

static void set_force_agent(struct args_state *s, char **v)
{
	s->opt->force_agent = true;
}

static void set_proxy(struct args_state *s, char **v)
{
	s->opt->proxy = v[0];
}

static void set_label(struct args_state *s, char **v)
{
	s->opt->label = true;
}

static void set_stdin(struct args_state *s, char **v)
{
	if (!strcmp(v[0], "all"))
		s->opt->stdin_rank = STDIN_ALL;
	else if (!strcmp(v[0], "none"))
		s->opt->stdin_rank = STDIN_NONE;
	else if (!parse_int(v[0], 0, INT_MAX, &s->opt->stdin_rank))
		fail(EXIT_USAGE, "%s needs a rank, all or none, not \"%s\"",
		     s->name, v[0]);
}

static void set_bind(struct args_state *s, char **v)
{
	args_bind_to(s, v[0]);
}

static void set_map(struct args_state *s, char **v)
{
	args_map_by(s, v[0]);
}

static void set_pernode(struct args_state *s, char **v)
{
	s->opt->ppn = 1;
}

static void set_bynode(struct args_state *s, char **v)
{
	s->opt->by_node = true;
}

static void set_byslot(struct args_state *s, char **v)
{
	s->opt->by_node = false;
}

static void set_rankfile(struct args_state *s, char **v)
{
	s->opt->rankfile = v[0];
}

static void set_launcher(struct args_state *s, char **v)
{
	args_launcher(s, v[0]);
}

static void set_rmk(struct args_state *s, char **v)
{
	s->opt->no_allocation = !strcmp(v[0], "none") || !strcmp(v[0], "user");
}

static void set_tag(struct args_state *s, char **v)
{
	s->opt->tag = true;
}

static void set_merge(struct args_state *s, char **v)
{
	s->opt->merge = true;
}

static void set_verbose(struct args_state *s, char **v)
{
	s->opt->verbose = true;
}

/* "DIR", "DIR:nocopy" */
static void set_out_dir(struct args_state *s, char **v)
{
	char *colon = strrchr(v[0], ':');

	s->opt->out_dir = xstrdup(v[0]);
	s->opt->out_nocopy = colon && !strcmp(colon, ":nocopy");
	if (colon && (s->opt->out_nocopy || !strcmp(colon, ":copy")))
		s->opt->out_dir[colon - v[0]] = '\0';
	if (!s->opt->out_dir[0])
		fail(EXIT_USAGE, "%s needs the name of a directory", s->name);
}

static void set_out_pattern(struct args_state *s, char **v)
{
	s->opt->out_pattern = v[0];
}

static void set_err_pattern(struct args_state *s, char **v)
{
	s->opt->err_pattern = v[0];
}

static void set_configfile(struct args_state *s, char **v)
{
	s->opt->configfile = v[0];
}

static void set_report(struct args_state *s, char **v)
{
	s->opt->report_bindings = true;
}

static void set_timeout(struct args_state *s, char **v)
{
	s->opt->timeout = number(s, v[0], 1);
}

static void set_why(struct args_state *s, char **v)
{
	s->opt->why = number(s, v[0], 1);
}

static void set_universe(struct args_state *s, char **v)
{
	s->opt->universe = number(s, v[0], 1);
}

/* For MPI_Comm_spawn, and not in the help. */
static void set_parent(struct args_state *s, char **v)
{
	s->opt->parent = number(s, v[0], 3);
}

static void set_under(struct args_state *s, char **v)
{
	s->opt->number = number(s, v[1], 1);
	under_open(number(s, v[0], 3), s->opt->number);
}

static void set_through(struct args_state *s, char **v)
{
	struct options *o = s->opt;

	o->ways = xrealloc(o->ways, (o->nways + 1) * sizeof(*o->ways));
	o->ways[o->nways++] = (struct way){ v[0], number(s, v[1], 3) };
	set_cloexec(o->ways[o->nways - 1].fd);
}

static void set_words(struct args_state *s, char **v)
{
	s->app->words = number(s, v[0], 1);
}

static void set_path(struct args_state *s, char **v)
{
	s->app->path = v[0];
}

static void set_soft(struct args_state *s, char **v)
{
	s->app->soft = v[0];
}

static void set_arch(struct args_state *s, char **v)
{
	struct utsname u;

	if (!uname(&u) && strcmp(v[0], u.machine))
		fail(EXIT_USAGE, "%s is %s, but the hosts are %s", s->name,
		     v[0], u.machine);
}

static void set_keep_going(struct args_state *s, char **v)
{
	s->opt->keep_going = true;
}

static void show_help(struct args_state *s, char **v)
{
	fputs(args_help, stdout);
	exit(0);
}

static void show_version(struct args_state *s, char **v)
{
	printf("mpiexec (O2G) %s\n", O2G_VERSION);
	exit(0);
}

static const struct option {
	const char *names; /* with spaces, without dashes */
	int values;
	void (*fn)(struct args_state *s, char **values);
} table[] = {
	{ "n np", 1, set_n },
	{ "wdir wd", 1, set_wdir },
	{ "env", 2, set_env },
	{ "genv", 2, set_genv },
	{ "envlist", 1, set_envlist },
	{ "genvlist", 1, set_genvlist },
	{ "x", 1, set_x },
	{ "iface", 1, set_iface },
	{ "envall", 0, set_envall },
	{ "genvall", 0, set_genvall },
	{ "envnone", 0, set_envnone },
	{ "genvnone", 0, set_genvnone },
	{ "hosts host H", 1, set_hosts },
	{ "f hostfile machinefile", 1, set_hostfile },
	{ "ppn perhost N npernode", 1, set_ppn },
	{ "pernode", 0, set_pernode },
	{ "bynode", 0, set_bynode },
	{ "byslot", 0, set_byslot },
	{ "rankfile rf", 1, set_rankfile },
	{ "configfile app", 1, set_configfile },
	{ "rmk", 1, set_rmk },
	{ "agent launcher-exec bootstrap-exec", 1, set_agent },
	{ "launcher bootstrap", 1, set_launcher },
	{ "force-agent", 0, set_force_agent },
	{ "proxy", 1, set_proxy },
	{ "l prepend-rank", 0, set_label },
	{ "tag-output", 0, set_tag },
	{ "merge-stderr-to-stdout", 0, set_merge },
	{ "output-filename", 1, set_out_dir },
	{ "outfile-pattern outfile", 1, set_out_pattern },
	{ "errfile-pattern errfile", 1, set_err_pattern },
	{ "v verbose", 0, set_verbose },
	{ "stdin s", 1, set_stdin },
	{ "bind-to", 1, set_bind },
	{ "map-by", 1, set_map },
	{ "report-bindings", 0, set_report },
	{ "timeout", 1, set_timeout },
	{ "why", 1, set_why },
	{ "disable-auto-cleanup", 0, set_keep_going },
	{ "usize", 1, set_universe },
	{ "parent", 1, set_parent },
	{ "words", 1, set_words },
	{ "under", 2, set_under },
	{ "through", 2, set_through },
	{ "path", 1, set_path },
	{ "soft", 1, set_soft },
	{ "arch", 1, set_arch },
	{ "h help", 0, show_help },
	{ "V version", 0, show_version },
};

bool args_has_name(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = names; *p; p += *p == ' ') {
		size_t len = strcspn(p, " ");

		if (len == n && !strncmp(p, name, n))
			return true;
		p += len;
	}
	return false;
}

static const struct option *find_option(const char *arg)
{
	arg += strspn(arg, "-");
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (args_has_name(table[i].names, arg))
			return &table[i];
	return NULL;
}

/* The option whose name is nearest, if it is near at all. */
static const char *nearest(const char *arg, char *name, size_t size)
{
	unsigned best = 3;

	arg += strspn(arg, "-");
	*name = '\0';
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		for (const char *p = table[i].names; *p; p += *p == ' ') {
			char one[32] = "";
			size_t len = strcspn(p, " ");
			unsigned d;

			memcpy(one, p, len);
			p += len;
			d = o2g_distance(arg, one);
			/* Of very short names everything is near. */
			if (d < best && d < len) {
				best = d;
				snprintf(name, size, "%s", one);
			}
		}
	}
	return *name ? name : NULL;
}

static _Noreturn void no_option(const char *arg)
{
	char name[32];

	if (nearest(arg, name, sizeof(name)))
		fail(EXIT_USAGE,
		     "%s is not an option; did you mean -%s? mpiexec --help lists them",
		     arg, name);
	fail(EXIT_USAGE, "%s is not an option; mpiexec --help lists them", arg);
}

static void check_values(const char *arg, int there, int needed)
{
	if (there < needed)
		fail(EXIT_USAGE, "%s needs %d more argument%s", arg, needed,
		     needed > 1 ? "s" : "");
}

static int skip_foreign(struct args_state *s, int argc, char **argv, int i)
{
	int values = args_foreign(argv[i]);

	if (values < 0)
		no_option(argv[i]);
	check_values(argv[i], argc - i - 1, values);
	args_foreign_take(s, argv + i, values);
	return i + 1 + values;
}

/* Options up to the program; returns where that is. */
static int parse_options(struct args_state *s, int argc, char **argv, int i)
{
	while (i < argc && argv[i][0] == '-' && argv[i][1]) {
		const struct option *o = find_option(argv[i]);

		if (!strcmp(argv[i], "--"))
			return i + 1;
		s->name = argv[i];
		if (!o) {
			i = skip_foreign(s, argc, argv, i);
			continue;
		}
		check_values(argv[i], argc - i - 1, o->values);
		o->fn(s, argv + i + 1);
		i += 1 + o->values;
	}
	return i;
}

static void check(const struct options *opt)
{
	for (int i = 0; i < opt->napps; i++)
		if (!opt->apps[i].argv.n)
			fail(EXIT_USAGE,
			     "no program to run is given%s; e.g. mpiexec -n 4 ./program",
			     opt->napps > 1 ? " between the colons" : "");
}

static void parse_all(struct options *opt, int argc, char **argv, int i)
{
	do {
		struct args_state s = { .opt = opt, .app = add_app(opt) };

		i = parse_options(&s, argc, argv, i);
		while (i < argc && (s.app->argv.n < (size_t)s.app->words ||
				    strcmp(argv[i], ":")))
			strings_add(&s.app->argv, argv[i++]);
	} while (i++ < argc);
}

/* The programs are in a file; the options before it are for all of them. */
static void parse_file(struct options *opt)
{
	struct strings words = { 0 };
	const char *path = opt->configfile;

	if (opt->napps > 1 || opt->apps[0].argv.n)
		fail(EXIT_USAGE,
		     "behind -configfile %s there must be no program: they are in the file",
		     path);
	args_file(path, &words);
	opt->configfile = NULL;
	opt->napps = 0;
	parse_all(opt, (int)words.n, words.at, 0);
	if (opt->configfile)
		fail(EXIT_USAGE, "%s names another file (-configfile)", path);
}

void args_parse(int argc, char **argv, struct options *opt)
{
	const char *timeout = getenv("MPIEXEC_TIMEOUT");

	memset(opt, 0, sizeof(*opt));
	if (timeout)
		parse_int(timeout, 1, INT_MAX, &opt->timeout);
	parse_all(opt, argc, argv, 1);
	if (opt->configfile)
		parse_file(opt);
	check(opt);
	args_foreign_note();
}
