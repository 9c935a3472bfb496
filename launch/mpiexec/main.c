// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "bind.h"
#include "job.h"
#include "proxy.h"
#include "util.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void check_level(const char *name)
{
	if (!name || bind_is_level(name) || !strcmp(name, "none") ||
	    !strcmp(name, "auto"))
		return;
	fail(EXIT_USAGE,
	     "-bind-to needs hwthread, core, socket or numa, none or auto, not \"%s\"",
	     name);
}

/* Without this, a pipe of ours could become the job's stdout. */
static void open_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	struct options opt;

	open_standard();
	if (!strcmp(base_name(argv[0]), "o2g-proxy") ||
	    (argc == 2 && !strcmp(argv[1], "--proxy")))
		return proxy_main();
	args_parse(argc, argv, &opt);
	check_level(opt.bind_to);
	return job_run(&opt);
}
