/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What a proxy is told: its share of the job. */
#ifndef EXEC_START_H
#define EXEC_START_H

#include <stdbool.h>

#include "buf.h"
#include "util.h"

struct start_app {
	struct strings argv;
	char *wdir;
	struct strings env; /* NAME=VALUE on top of the proxy's own */
	bool env_none;	    /* nothing of the proxy's own but PATH */
	char *path; /* where to look for the program first; "": nowhere */
};

struct start_rank {
	int rank, app;
	bool has_stdin;
	char *cpus; /* of a rank file; "": not said */
};

struct start {
	char *host; /* this host, as the user calls it */
	char *kvsname, *mapping;
	char *secret; /* of the job, for its ranks to know each other by */
	int size, universe;
	char *bind_to, *map_by; /* "": not said */
	uint32_t bind_width;	/* bind_to so many of them */
	bool report_bindings;
	bool spawned;	     /* by a process of another job, */
	struct strings keys; /* which gives it these: key, value ... */
	struct start_app *apps;
	int napps;
	struct start_rank *ranks;
	int nranks;
};

void start_write(const struct start *s, struct buf *b);
/* -EPROTO */
int start_read(struct start *s, struct reader *r);

#endif
