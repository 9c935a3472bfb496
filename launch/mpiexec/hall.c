// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A file for the shared memory of all ranks that this proxy starts, so that they
 * need not find each other's one by one. It is empty: the ranks give it its shape
 * (channel/shm/hall.c). Where it cannot be made they do without.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proxy.h"
#include "util.h"

static int hall_fd(void)
{
	static int fd = -2;

	if (fd != -2)
		return fd;
	fd = memfd_create("o2g-hall", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0)
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
	return fd;
}

void hall_prepare(void)
{
	hall_fd();
}

void hall_set_environment(pid_t owner, int seat)
{
	struct stat st;
	char *text;

	unsetenv("O2G_SHM_HALL");
	if (hall_fd() < 0 || fstat(hall_fd(), &st))
		return;
	text = xprintf("%d:%d:%llu:%d:%d", (int)owner, hall_fd(),
		       (unsigned long long)st.st_ino, seat, proxy.start.nranks);
	setenv("O2G_SHM_HALL", text, 1);
	free(text);
}
