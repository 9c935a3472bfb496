/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "cmd.h"

#include <stdio.h>
#include <string.h>

static int cmd_version(int argc, char **argv);
static int cmd_help(int argc, char **argv);

static const struct cmd {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments, *help;
} table[] = {
	{ "info", cmd_info, "[--json]",
	  "what would be used, and why: engine, channels, interfaces, settings" },
	{ "perf", cmd_perf, "[-n N] COMMAND",
	  "measure messages: latency, bandwidth, collectives, ..." },
	{ "bpf", cmd_bpf, "load|...",
	  "receive through a BPF program, for ordinary users" },
	{ "why", cmd_why, "[--json] [JOB]",
	  "what the ranks of a job wait for, and why it does not come" },
	{ "fs", cmd_fs, "key|mount|...",
	  "files over O2G: keys, exports, mounts, and how they do" },
	{ "dsm", cmd_dsm, "[-d S] [-n N] [-j]",
	  "shared memory, and pages that are fought for" },
	{ "top", cmd_top, "[-d S] [-n N]", "the driver's endpoints, at work" },
	{ "queues", cmd_queues, "PID",
	  "what a process is waiting for, and what is waiting for it" },
	{ "names", cmd_names, "[-v] [FILE]",
	  "keep names that programs publish, for O2G_NAMES" },
	{ "version", cmd_version, "", "the version" },
	{ "help", cmd_help, "", "this list" },
};

#define NCMDS (sizeof(table) / sizeof(table[0]))

static int cmd_version(int argc, char **argv)
{
	puts("o2g " O2G_VERSION);
	return 0;
}

static void usage(FILE *out)
{
	fputs("usage: o2g command [arguments]\n\n", out);
	for (size_t i = 0; i < NCMDS; i++)
		fprintf(out, "  %-8s %-15s %s\n", table[i].name,
			table[i].arguments, table[i].help);
	fputs("\nSee o2g(1).\n", out);
}

static int cmd_help(int argc, char **argv)
{
	usage(stdout);
	return 0;
}

/* "--version" and "-h" are what people try first. */
static const char *as_command(const char *word)
{
	if (!strcmp(word, "-h"))
		return "help";
	if (!strcmp(word, "-V"))
		return "version";
	return !strncmp(word, "--", 2) ? word + 2 : word;
}

int main(int argc, char **argv)
{
	const char *name;

	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	name = as_command(argv[1]);
	for (size_t i = 0; i < NCMDS; i++)
		if (!strcmp(name, table[i].name))
			return table[i].run(argc - 1, argv + 1);
	fprintf(stderr,
		"o2g: there is no command \"%s\"; `o2g help` lists them\n",
		argv[1]);
	return 2;
}
