/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* o2g fs: keys, exports, mounts, and how they do. */
#include "fs.h"

#include <stdio.h>
#include <string.h>

#include "cmd.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments, *help;
} table[] = {
	{ "key", fs_key, "[FILE]", "make a key, for server and clients" },
	{ "export", fs_export, "[-f CONF] [NAME PATH [OPTION...]]",
	  "what is exported, or one more" },
	{ "mount", fs_mount, "[-k KEY] [-o OPTIONS] SERVER[:NAME] DIR",
	  "use what a server exports" },
	{ "umount", fs_umount, "[-f] DIR", "no more" },
	{ "status", fs_status, "[-s SOCKET] [-d S] [-n N] [--json]",
	  "who uses this server, how fast it is, and what is mounted here" },
};

static void usage(FILE *out)
{
	fputs("usage: o2g fs COMMAND\n\n", out);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		fprintf(out, "  %-7s %-40s %s\n", table[i].name,
			table[i].arguments, table[i].help);
	fputs("\nSee o2g-fs(1).\n", out);
}

int cmd_fs(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "-h")) {
		usage(stdout);
		return 0;
	}
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(argv[1], table[i].name))
			return table[i].run(argc - 1, argv + 1);
	fprintf(stderr,
		"o2g fs: there is no command \"%s\"; `o2g fs help` lists them\n",
		argv[1]);
	return 2;
}
