// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What PMI-1 has for MPI_Comm_spawn: a request of many lines for each program.
 *
 *	mcmd=spawn
 *	nprocs=2
 *	execname=./worker
 *	totspawns=1
 *	spawnssofar=1
 *	arg1=fast
 *	argcnt=1
 *	preput_num=1
 *	preput_key_0=PARENT_ROOT_PORT_NAME
 *	preput_val_0=...
 *	info_num=1
 *	info_key_0=wdir
 *	info_val_0=/tmp
 *	endcmd
 *
 * A line ends with its newline, so a word cannot have one in it; our own launcher is
 * told that values are encoded. Hydra has room for 64 KiB and 1,000 lines, and does not
 * survive more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmi.h"
#include "pmi_int.h"

#define BYTES_MAX 60000
#define LINES_MAX 960

struct writer {
	FILE *to;
	bool encoded, failed;
};

/* "name=value", "nameN=value" with a number that is not negative. */
static void put(struct writer *w, const char *name, int number,
		const char *value)
{
	char *text = w->encoded ? pmi_value_encode(value) : NULL;

	w->failed |= w->encoded ? !text : strchr(value, '\n') != NULL;
	if (number < 0)
		fprintf(w->to, "%s=%s\n", name, text ? text : value);
	else
		fprintf(w->to, "%s%d=%s\n", name, number, text ? text : value);
	free(text);
}

static void put_count(struct writer *w, const char *name, int value)
{
	fprintf(w->to, "%s=%d\n", name, value);
}

static void put_arguments(struct writer *w, char **argv)
{
	int n = 0;

	for (; argv && argv[n]; n++)
		put(w, "arg", n + 1, argv[n]);
	put_count(w, "argcnt", n);
}

static void put_info(struct writer *w, const char *const *info)
{
	int n = 0;

	while (info && info[2 * n])
		n++;
	put_count(w, "info_num", n);
	for (int i = 0; i < n; i++) {
		put(w, "info_key_", i, info[2 * i]);
		put(w, "info_val_", i, info[2 * i + 1]);
	}
}

/* The port is encoded always: pmi_get() decodes what it gets. */
static void put_port(struct writer *w, const char *port)
{
	char *text = pmi_value_encode(port);

	w->failed |= !text;
	put_count(w, "preput_num", 1);
	put(w, "preput_key_", 0, PMI_PARENT_KEY);
	put(w, "preput_val_", 0, text ? text : "");
	free(text);
}

static void put_program(struct writer *w, const struct pmi_program *p,
			int number, int count, const char *port)
{
	fputs("mcmd=spawn\n", w->to);
	if (w->encoded)
		fputs("o2g_encoded=1\n", w->to);
	put_count(w, "nprocs", p->n);
	put(w, "execname", -1, p->command);
	put_count(w, "totspawns", count);
	put_count(w, "spawnssofar", number + 1);
	put_arguments(w, p->argv);
	put_port(w, port);
	put_info(w, p->info);
	fputs("endcmd\n", w->to);
}

static bool is_short(const char *text, size_t size)
{
	int lines = 0;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	return size <= BYTES_MAX && lines <= LINES_MAX;
}

char *pmi_spawn_text(const struct pmi_program *programs, int count,
		     const char *port, bool encoded)
{
	char *text = NULL;
	size_t size;
	struct writer w = { open_memstream(&text, &size), encoded, false };

	if (!w.to) {
		errno = ENOMEM;
		return NULL;
	}
	for (int i = 0; i < count; i++)
		put_program(&w, &programs[i], i, count, port);
	if (fclose(w.to) || w.failed || !(encoded || is_short(text, size))) {
		free(text);
		errno = encoded ? ENOMEM : ENOTSUP;
		return NULL;
	}
	return text;
}

/* --- is it there? --- */

static const char *info_of(const struct pmi_program *p, const char *key)
{
	for (const char *const *i = p->info; i && i[0]; i += 2)
		if (!strcmp(i[0], key))
			return i[1];
	return NULL;
}

static bool is_in(const char *dir, size_t len, const char *command)
{
	char path[4096];

	snprintf(path, sizeof(path), "%.*s%s%s", (int)len, dir, len ? "/" : "",
		 command);
	return !access(path, X_OK);
}

static bool is_in_any(const char *dirs, const char *command)
{
	while (dirs) {
		size_t len = strcspn(dirs, ":");

		if (is_in(dirs, len, command))
			return true;
		dirs = dirs[len] ? dirs + len + 1 : NULL;
	}
	return false;
}

static bool is_here(const struct pmi_program *p)
{
	const char *wdir = info_of(p, "wdir");

	if (info_of(p, "host") || info_of(p, "hostfile") || info_of(p, "arch"))
		return true; /* elsewhere, perhaps */
	if (p->command[0] == '/' || (strchr(p->command, '/') && !wdir))
		return is_in("", 0, p->command);
	if (strchr(p->command, '/'))
		return is_in(wdir, strlen(wdir), p->command);
	return is_in_any(info_of(p, "path"), p->command) ||
	       is_in_any(getenv("PATH"), p->command);
}

bool pmi_spawn_is_possible(const struct pmi_program *programs, int count,
			   char *why, size_t size)
{
	for (int i = 0; i < count; i++) {
		if (is_here(&programs[i]))
			continue;
		snprintf(why, size, "there is no program %.200s here",
			 programs[i].command);
		return false;
	}
	return true;
}
