// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What a batch system has given us: its hosts and how many ranks each of them is to
 * have, in the order in which it names them, and the command by which it has programs
 * started on them.
 */
#include "allocation.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hosts.h"
#include "util.h"

/* A name that does not come from the user: no message of ours would help. */
static bool add(struct hosts *h, const char *name, int slots)
{
	if (!hosts_is_name(name) || slots < 1)
		return false;
	if (h->n && !strcmp(h->at[h->n - 1].name, name))
		h->at[h->n - 1].slots += slots;
	else
		hosts_add(h, name, slots);
	return true;
}

static bool in_path(const char *program)
{
	char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "");
	char *save = NULL;
	bool there = false;

	for (char *dir = strtok_r(path, ":", &save); dir && !there;
	     dir = strtok_r(NULL, ":", &save)) {
		char *file = xprintf("%s/%s", dir, program);

		there = !access(file, X_OK);
		free(file);
	}
	free(path);
	return there;
}

/* --- Slurm --- */

struct range {
	unsigned long first, last;
	int digits; /* "007" has three */
};

/* "3", "01-12": from *p on, which goes behind it. */
static bool take_range(const char **p, struct range *r)
{
	char *end;

	r->digits = (int)strspn(*p, "0123456789");
	if (!r->digits)
		return false;
	r->first = r->last = strtoul(*p, &end, 10);
	if (*end == '-') {
		if (!strspn(end + 1, "0123456789"))
			return false;
		r->last = strtoul(end + 1, &end, 10);
	}
	*p = end;
	return r->last >= r->first && r->last - r->first < 1000000;
}

static bool expand(struct strings *names, const char *front, const char *rest);

/* @p is behind a "[" that follows @front. */
static bool expand_ranges(struct strings *names, const char *front,
			  const char *p)
{
	const char *close = strchr(p, ']');
	struct range r;
	bool good = close;

	while (good && *p != ']') {
		good = take_range(&p, &r) && (*p == ',' || *p == ']');
		for (unsigned long i = r.first; good && i <= r.last; i++) {
			char *more = xprintf("%s%0*lu", front, r.digits, i);

			good = expand(names, more, close + 1);
			free(more);
		}
		p += good && *p == ',';
	}
	return good;
}

/* "node[01-03,7]-[a..": all names that begin with @front. */
static bool expand(struct strings *names, const char *front, const char *rest)
{
	size_t n = strcspn(rest, "[");
	char *more = xprintf("%s%.*s", front, (int)n, rest);
	bool good = true;

	if (rest[n])
		good = expand_ranges(names, more, rest + n + 1);
	else
		strings_add(names, more);
	free(more);
	return good;
}

/* Commas inside brackets do not part names. */
bool allocation_expand(const char *list, struct strings *names)
{
	bool good = true;

	while (*list && good) {
		size_t n = 0;
		int depth = 0;
		char *one;

		while (list[n] && (depth || list[n] != ',')) {
			depth += (list[n] == '[') - (list[n] == ']');
			n++;
		}
		one = xprintf("%.*s", (int)n, list);
		good = expand(names, "", one);
		free(one);
		list += n + (list[n] == ',');
	}
	return good && names->n;
}

/* "4(x2),3": that of the next host, counted in *left. */
static int next_count(const char **p, int *left, int *count)
{
	char *end;

	if (*left > 0) {
		(*left)--;
		return *count;
	}
	*count = (int)strtol(*p, &end, 10);
	if (end == *p)
		return *count = 1;
	if (sscanf(end, "(x%d)", left) == 1)
		end += strcspn(end, ")") + 1;
	else
		*left = 1;
	(*left)--;
	*p = end + (*end == ',');
	return *count;
}

static bool slurm(struct hosts *h)
{
	const char *list = getenv("SLURM_JOB_NODELIST");
	const char *counts = getenv("SLURM_TASKS_PER_NODE");
	struct strings names = { 0 };
	int left = 0, count = 1;
	bool good;

	if (!counts)
		counts = getenv("SLURM_JOB_CPUS_PER_NODE");
	if (!counts)
		counts = "";
	good = allocation_expand(list, &names);
	for (size_t i = 0; i < names.n && good; i++)
		good = add(h, names.at[i], next_count(&counts, &left, &count));
	strings_cleanup(&names);
	return good;
}

/* --- PBS, and LSF: files with a line for each slot --- */

static bool from_file(struct hosts *h, const char *path)
{
	FILE *f = fopen(path, "re");
	char name[256];
	bool good = f;

	while (good && fscanf(f, "%255s", name) == 1)
		good = add(h, name, 1);
	if (f)
		fclose(f);
	return good && h->n;
}

static bool pbs(struct hosts *h)
{
	return from_file(h, getenv("PBS_NODEFILE"));
}

/* "a 4 b 2" */
static bool lsf_counts(struct hosts *h, const char *text)
{
	char *copy = xstrdup(text), *save = NULL, *name, *count;
	bool good = true;
	int n;

	name = strtok_r(copy, " ", &save);
	while (name && good) {
		count = strtok_r(NULL, " ", &save);
		good = count && parse_int(count, 1, INT_MAX, &n) &&
		       add(h, name, n);
		name = strtok_r(NULL, " ", &save);
	}
	free(copy);
	return good && h->n;
}

static bool lsf(struct hosts *h)
{
	const char *file = getenv("LSB_DJOB_HOSTFILE");

	return file && *file ? from_file(h, file) :
			       lsf_counts(h, getenv("LSB_MCPU_HOSTS"));
}

/* --- which of them --- */

static const struct {
	const char *name, *job, *hosts;
	bool (*get)(struct hosts *h);
	const char *needs, *agent; /* a program, and how it is used */
} systems[] = {
	{ "Slurm", "SLURM_JOB_ID", "SLURM_JOB_NODELIST", slurm, "srun",
	  ALLOCATION_SRUN },
	{ "PBS", "PBS_JOBID", "PBS_NODEFILE", pbs, NULL, NULL },
	{ "LSF", "LSB_JOBID", "LSB_MCPU_HOSTS", lsf, "blaunch", "blaunch" },
};

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

const char *allocation_find(struct hosts *h, const char **agent)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++) {
		struct hosts found = { 0 };

		if (!is_set(systems[i].job) || !is_set(systems[i].hosts))
			continue;
		if (!systems[i].get(&found)) {
			say("this is a job of %s, but %s makes no sense (\"%s\"); running on this host",
			    systems[i].name, systems[i].hosts,
			    getenv(systems[i].hosts));
			return NULL;
		}
		*h = found;
		*agent = systems[i].needs && in_path(systems[i].needs) ?
				 systems[i].agent :
				 NULL;
		return systems[i].name;
	}
	return NULL;
}
