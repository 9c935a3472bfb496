// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A program that was linked with Open MPI does not understand us: each of its processes
 * takes itself for rank 0 of 1, and nothing tells. (MPICH's speak PMI-1, and are at
 * home here.) Either the file says so, or after a moment the memory of a process that
 * has not asked for its rank: a script may have loaded the library.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proxy.h"
#include "util.h"

#define LOOK_MS 1000
#define FILE_MAX (64u << 20) /* names of libraries are far in front of that */

static const char *const theirs[] = { "libmpi.so.40", "libmpi.so.20",
				      "libmpi.so.80", "libmpi_mpifh.so.40",
				      "libopen-rte.so.40" };

#define THEIRS (sizeof(theirs) / sizeof(*theirs))

static bool told;

static void tell(const char *program, const char *library)
{
	char *text = xprintf(
		"%s uses Open MPI (%s), which does not know this mpiexec: each of the %d ranks is a job of its own; start it with Open MPI's mpiexec, or compile it with O2G's mpicc",
		program, library, proxy.start.size);

	told = true;
	chan_send(&proxy.up, FRAME_TEXT, -1, text, strlen(text) + 1);
	free(text);
}

/* With the NUL: the name of a library that is needed, and not part of another. */
static const char *named_in(const char *data, size_t n)
{
	for (size_t i = 0; i < THEIRS; i++)
		if (memmem(data, n, theirs[i], strlen(theirs[i]) + 1))
			return theirs[i];
	return NULL;
}

static const char *library_of_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *name = NULL, *data;
	struct stat st;
	size_t n;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 4) {
		n = st.st_size < FILE_MAX ? (size_t)st.st_size : FILE_MAX;
		data = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data != MAP_FAILED) {
			if (!memcmp(data, "\177ELF", 4))
				name = named_in(data, n);
			munmap((void *)data, n);
		}
	}
	close(fd);
	return name;
}

static const char *library_in(const char *dir, const char *program)
{
	char *path = xprintf("%s%s%s", dir, *dir ? "/" : "", program);
	const char *name = library_of_file(path);

	free(path);
	return name;
}

/* As exec looks for it. */
static const char *library_of_program(const struct start_app *app)
{
	const char *program = app->argv.at[0], *path = getenv("PATH");
	const char *name = NULL;
	char *copy, *save = NULL;

	if (strchr(program, '/'))
		return library_in(program[0] == '/' ? "" : app->wdir, program);
	copy = xstrdup(path ? path : "");
	for (char *dir = strtok_r(copy, ":", &save); dir && !name;
	     dir = strtok_r(NULL, ":", &save))
		name = library_in(dir, program);
	free(copy);
	return name;
}

static const char *library_of_memory(pid_t pid)
{
	char *path = xprintf("/proc/%ld/maps", (long)pid), *line = NULL;
	FILE *f = fopen(path, "re");
	const char *name = NULL;
	size_t room = 0;

	free(path);
	while (f && !name && getline(&line, &room, f) >= 0)
		for (size_t i = 0; i < THEIRS && !name; i++)
			if (strstr(line, theirs[i]))
				name = theirs[i];
	free(line);
	if (f)
		fclose(f);
	return name;
}

static const char *program_of(const struct rank *r)
{
	return proxy.start.apps[r->spec->app].argv.at[0];
}

static void look(struct timer *t)
{
	for (int i = 0; i < proxy.nranks && !told; i++) {
		const struct rank *r = &proxy.ranks[i];
		const char *name;

		if (r->state != RANK_NEW || r->pid <= 0)
			continue;
		name = library_of_memory(r->pid);
		if (name)
			tell(program_of(r), name);
		return; /* one stands for all */
	}
}

static struct timer look_timer = { .fn = look };

/* One host says it for all. */
static bool is_ours_to_say(const struct rank *r)
{
	return proxy.start.size > 1 && !told && !r->local && r->spec->rank == 0;
}

void stranger_look(const struct rank *r)
{
	const char *name;

	if (!is_ours_to_say(r))
		return;
	name = library_of_program(&proxy.start.apps[r->spec->app]);
	if (name)
		tell(program_of(r), name);
	else
		timer_set(&look_timer, LOOK_MS);
}
