/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * o2g perf: the measuring itself is an MPI program (bench/perf). Inside a job
 * this becomes that program; otherwise it becomes mpiexec, which starts it.
 */
#include "cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The directory above the one that holds this program. */
static bool find_prefix(char *path, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", path, size - 1);

	if (len < 0)
		return false;
	path[len] = '\0';
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(path, '/');

		if (!slash)
			return false;
		*slash = '\0';
	}
	return true;
}

/* Options of mpiexec that make sense here; each has a value. */
static bool is_for_mpiexec(const char *word)
{
	static const char *const names[] = {
		"n", "np", "hosts", "host", "f", "hostfile", "ppn", "agent",
	};

	word += 1 + (word[1] == '-');
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(word, names[i]))
			return true;
	return false;
}

static bool inside_a_job(void)
{
	return getenv("PMI_FD") || getenv("PMI_PORT") || getenv("PMIX_RANK");
}

static bool asks_for_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* How many words there are before the sub-command; less than 0: wrong. */
static int count_options(int argc, char **argv)
{
	int i = 1;

	while (i < argc && argv[i][0] == '-' && !asks_for_help(argv[i])) {
		if (!is_for_mpiexec(argv[i]) || i + 1 == argc) {
			fprintf(stderr,
				"o2g perf: %s is not possible here. Options "
				"before the command are -n, -hosts, -f, -ppn\n"
				"and -agent, each with a value; for others, "
				"use mpiexec ... o2g perf COMMAND\n",
				argv[i]);
			return -1;
		}
		i += 2;
	}
	return i - 1;
}

static int become(char **argv)
{
	execv(argv[0], argv);
	fprintf(stderr, "o2g perf: cannot run %s: %s\n", argv[0],
		strerror(errno));
	return 1;
}

int cmd_perf(int argc, char **argv)
{
	char prefix[PATH_MAX], mpiexec[PATH_MAX + 32], program[PATH_MAX + 32];
	char *words[argc + 8], **to = words;
	int options = count_options(argc, argv);

	if (options < 0)
		return 2;
	if (!find_prefix(prefix, sizeof(prefix))) {
		fprintf(stderr,
			"o2g perf: cannot tell where o2g is installed\n");
		return 1;
	}
	snprintf(mpiexec, sizeof(mpiexec), "%s/bin/mpiexec", prefix);
	snprintf(program, sizeof(program), "%s/libexec/o2g/perf", prefix);
	if (!inside_a_job()) {
		*to++ = mpiexec;
		for (int i = 1; i <= options; i++)
			*to++ = argv[i];
		if (!options) {
			*to++ = (char *)"-n";
			*to++ = (char *)"2";
		}
	}
	*to++ = program;
	for (int i = options + 1; i < argc; i++)
		*to++ = argv[i];
	*to = NULL;
	return become(words);
}
