/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What waits for the disk is done aside, by the pool: a fiber stops meanwhile, and
 * a call goes on with messages.
 */
#ifndef MPII_IO_ASIDE_H
#define MPII_IO_ASIDE_H

#include "io/file.h"

struct coll;
struct io_aside_job;

struct io_aside {
	struct mpii_file *f;
	void (*fn)(void *arg);
	void *arg;
	struct io_aside_job *job; /* under way, or NULL */
};
void io_aside_start(const struct coll *k, struct io_aside *s);
void io_aside_wait(const struct coll *k, struct io_aside *s);
/* Both at once; a call that waits anyway does it itself. */
void io_aside(const struct coll *k, struct mpii_file *f, void (*fn)(void *arg),
	      void *arg);

#endif
