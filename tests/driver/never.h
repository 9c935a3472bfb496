/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Memory whose pages never come: whoever touches it waits, until the process that
 * should deliver them ends.
 */
#ifndef TEST_DRIVER_NEVER_H
#define TEST_DRIVER_NEVER_H

#include <stdbool.h>
#include <stddef.h>

enum never_kind {
	NEVER_UFFD, /* userfaultfd: this process is to deliver them */
	NEVER_FUSE, /* a file of a file system whose server does not answer */
};

struct never {
	char *mem;
	int fd;	   /* userfaultfd: readable once somebody waits */
	int asked; /* FUSE: a pipe that the server writes to then */
	int server;
};

/* Is there such memory here? As root; FUSE needs /dev/fuse and a folder to mount on. */
bool never_can(enum never_kind kind);
void never_make(struct never *n, enum never_kind kind, size_t len);
/* Wait until somebody does; false after ten seconds. */
bool never_is_touched(const struct never *n);

#endif
