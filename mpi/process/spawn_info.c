/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Keys of the standard: host, arch, wdir, path, file, soft; and hostfile. A file has one
 * of them in each line, "key = value"; what is in the info itself comes first.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "env/errors.h"
#include "info/info.h"
#include "pmi.h"
#include "process/spawn_info.h"

static const char *const known[] = { "host", "hostfile", "wdir", "path",
				     "arch", "soft",	 "wd" };
#define KNOWN (sizeof(known) / sizeof(*known))
/* Pairs, one more for the directory, and the end. */
#define ROOM (2 * (KNOWN + 1) + 1)

const char *mpii_spawn_info_value(const char *const *list, const char *key)
{
	for (; list && list[0]; list += 2)
		if (!strcmp(list[0], key))
			return list[1];
	return NULL;
}

void mpii_spawn_info_free(const char *const *list)
{
	for (int i = 0; list && list[i]; i++)
		free((char *)list[i]);
	free((void *)list);
}

static int out_of_memory(void)
{
	return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

/* The first of a key counts. */
static int add(const char **list, const char *key, const char *value)
{
	int n = 0;

	if (mpii_spawn_info_value(list, key))
		return MPI_SUCCESS;
	while (list[n])
		n++;
	list[n] = strdup(key);
	list[n + 1] = list[n] ? strdup(value) : NULL;
	return list[n + 1] ? MPI_SUCCESS : out_of_memory();
}

static bool is_known(const char *key)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (!strcmp(known[i], key))
			return true;
	return false;
}

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	return text + strspn(text, " \t");
}

static int add_line(const char **list, const char *path, int number, char *line)
{
	char *key = trim(line), *value = strchr(key, '=');

	if (!*key || *key == '#')
		return MPI_SUCCESS;
	if (value)
		*value++ = '\0';
	key = trim(key);
	if (!value || !is_known(key))
		return mpii_fail(MPI_ERR_SPAWN,
				 "%.200s, line %d: expected KEY = VALUE, with "
				 "host, hostfile, wdir, path, arch or soft",
				 path, number);
	return add(list, key, trim(value));
}

static int add_file(const char **list, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int err = MPI_SUCCESS;

	if (!f)
		return mpii_fail(MPI_ERR_SPAWN, "file is \"%.200s\": %s", path,
				 strerror(errno));
	for (int n = 1; !err && getline(&line, &room, f) >= 0; n++)
		err = add_line(list, path, n, line);
	free(line);
	fclose(f);
	return err;
}

static int add_known(const char **list, const struct mpii_info *i)
{
	int err = MPI_SUCCESS;

	for (size_t k = 0; k < KNOWN && !err; k++) {
		const char *value = mpii_info_value(i, known[k]);

		if (value && *value)
			err = add(list, known[k], value);
	}
	return err;
}

/* Our own launchers are told where we are; others decide for themselves. */
static int add_directory(const char **list)
{
	char *cwd;
	int err;

	if (mpii_spawn_info_value(list, "wd"))
		return add(list, "wdir", mpii_spawn_info_value(list, "wd"));
	if (!pmi_shares() || mpii_spawn_info_value(list, "wdir"))
		return MPI_SUCCESS;
	cwd = getcwd(NULL, 0);
	err = cwd ? add(list, "wdir", cwd) : MPI_SUCCESS;
	free(cwd);
	return err;
}

int mpii_spawn_info(MPI_Info info, const char *const **out)
{
	struct mpii_info *i = info == MPI_INFO_NULL ? NULL :
						      mpii_info_get(info);
	const char **list = calloc(ROOM, sizeof(*list));
	const char *file = i ? mpii_info_value(i, "file") : NULL;
	int err = list ? MPI_SUCCESS : out_of_memory();

	if (!err && i)
		err = add_known(list, i);
	if (!err && file && *file)
		err = add_file(list, file);
	if (!err)
		err = add_directory(list);
	if (err) {
		mpii_spawn_info_free(list);
		return err;
	}
	*out = list;
	return MPI_SUCCESS;
}
