// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * stuck FILE: read from a file into memory that never comes, and say so once somebody
 * waits for that.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "never.h"

#define SIZE 65536

static struct never n;

static void *read_file(void *arg)
{
	int fd = open(arg, O_RDONLY | O_DIRECT);

	if (fd < 0 || pread(fd, n.mem, SIZE, 0) < 0)
		perror(arg);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 2 || !never_can(NEVER_UFFD))
		return 77;
	never_make(&n, NEVER_UFFD, SIZE);
	if (pthread_create(&thread, NULL, read_file, argv[1]) ||
	    !never_is_touched(&n))
		return 1;
	puts("stuck");
	fflush(stdout);
	pause();
	return 1;
}
