/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Jobs that processes of this job have spawned. Each has an mpiexec of its own, which we
 * start, and which uses our proxies to reach hosts (tunnel.c). It tells us where
 * its ranks are, when they run, and what its own ranks want to have spawned; when we
 * end, so does it (under.c is its side).
 */
#ifndef EXEC_SPAWNED_H
#define EXEC_SPAWNED_H

#include "job.h"

/* Ranks on a host. */
struct taken {
	char *host;
	int ranks;
};

struct spawned {
	struct spawned *next;
	uint32_t id;
	pid_t pid;
	struct chan link;
	struct chan *origin; /* leads to the rank that wants it; NULL: gone */
	int rank;	     /* that one */
	bool started;	     /* and the rank has been told */
	char *why;	     /* it could not */
	struct taken *taken;
	int ntaken;
};

/* A rank wants more processes; @request is what it has said. */
void spawned_start(struct chan *origin, int rank, const char *request);
/* Nobody is behind it any more. */
void spawned_origin_lost(const struct chan *origin);
bool spawned_any(void);
void spawned_end_all(void);
void spawned_signal(int sig);
const struct spawned *spawned_first(void);

/* --- spawned_args.c --- */

/* What was asked for, and the command that does it. */
struct spawn_plan {
	struct strings words;
	struct strings keys; /* "key=value", for the new job */
	struct taken *taken;
	int ntaken;
	bool names_hosts; /* which may be any */
	char *why;	  /* it cannot be done; NULL: it can */
};
void spawn_plan(struct spawn_plan *p, const char *request);
void spawn_plan_free(struct spawn_plan *p);

/* --- spawned_slots.c --- */

/* Where @n more ranks go, as a list of hosts for mpiexec; with @soft all slots that
 * are free. NULL: none is. What it gives is added to the plan. */
char *spawn_place(struct spawn_plan *p, int n, bool soft);
void taken_add(struct taken **list, int *count, const char *host, int ranks);
void taken_free(struct taken **list, int *count);

/* --- tunnel.c --- */

/* A descriptor for a child of ours: to a new proxy on that host. -1: none. */
int tunnel_make(struct node *n);
void tunnel_take(struct node *n, int id, struct reader *data);
void tunnel_node_lost(const struct node *n);

/* --- under.c: we are such an mpiexec --- */
/* While the command line is read: what is wrong with it is heard there. */
void under_open(int fd, int number);
/* Keys that it has for us, or whoever else has spawned this job. */
void under_init(void);
bool under_is(void);
void under_placed(void);
void under_node_started(void);
/* All that we have to say is said. */
void under_finish(void);
/* Says why it did not start, and is heard by the rank that wanted it. False: it
 * runs already, or nobody listens. */
bool under_cannot(const char *text);
/* To the one above us. */
void under_spawn(int rank, struct reader *data);
/* To a proxy on that host, by the one above us; -1: we have to reach it. */
int under_tunnel(const char *host);

#endif
