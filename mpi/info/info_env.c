/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* How the program was started, as an info object tells it. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "info/info.h"
#include "pmi.h"
#include "process/process.h"

/* The arguments in one line; only as many as fit. */
static void join(char *line, size_t size, int argc, char **argv)
{
	size_t n = 0;

	line[0] = '\0';
	for (int i = 1; i < argc && argv[i]; i++) {
		if (n + strlen(argv[i]) + 2 > size)
			return;
		n += snprintf(line + n, size - n, "%s%s", n ? " " : "",
			      argv[i]);
	}
}

bool mpii_info_describe(struct mpii_info *i, int argc, char **argv)
{
	char text[MPI_MAX_INFO_VAL], number[16];
	struct utsname host;
	int size = pmi_told_size(); /* also where MPI has not started */
	bool ok = true;

	if (argc > 0 && argv && argv[0]) {
		ok = strlen(argv[0]) >= MPI_MAX_INFO_VAL ||
		     mpii_info_add(i, "command", argv[0]);
		join(text, sizeof(text), argc, argv);
		ok = ok && mpii_info_add(i, "argv", text);
	}
	if (!uname(&host))
		ok = ok && mpii_info_add(i, "host", host.nodename) &&
		     mpii_info_add(i, "arch", host.machine);
	if (getcwd(text, sizeof(text)))
		ok = ok && mpii_info_add(i, "wdir", text);
	if (!size && mpii_running())
		size = mpii.size;
	if (size) {
		snprintf(number, sizeof(number), "%d", size);
		ok = ok && mpii_info_add(i, "maxprocs", number);
	}
	return ok && mpii_info_add(i, "thread_level", "MPI_THREAD_MULTIPLE") &&
	       mpii_info_add(i, "mpi_memory_alloc_kinds", "mpi,system");
}

/* The command line as the kernel has it: MPI_Init may not have been given one. */
void mpii_info_describe_self(struct mpii_info *i)
{
	static char line[16384];
	char *argv[512];
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t n = f ? fread(line, 1, sizeof(line) - 1, f) : 0;
	int argc = 0;

	if (f)
		fclose(f);
	for (char *p = line; p < line + n && argc < 511; p += strlen(p) + 1)
		argv[argc++] = p;
	argv[argc] = NULL;
	mpii_info_describe(i, argc, argv);
}
