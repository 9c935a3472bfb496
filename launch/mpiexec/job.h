/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Inside mpiexec proper: the whole job, seen from where it was started. */
#ifndef EXEC_JOB_H
#define EXEC_JOB_H

#include <stdbool.h>
#include <sys/types.h>

#include "args.h"
#include "frame.h"
#include "hosts.h"

/* A host and the proxy there. */
struct node {
	const char *name;
	int index;
	bool here;  /* no agent is needed */
	pid_t pid;  /* of the proxy or the agent; 0: gone */
	int status; /* of that, once gone */
	struct chan chan;
	bool done; /* its ranks are gone, */
	bool lost; /* or we do not know */
	bool in_fence;
	unsigned lines;	  /* that came before its greeting */
	size_t unwritten; /* output we have not told it is written */
};

struct job_rank {
	bool exited;
	enum rank_state state; /* when it exited */
	bool shared;	       /* others can reach it */
	bool awaited;	       /* another rank waits for that */
	bool leaving; /* it waits until the others also want to leave */
	bool aborted; /* by itself or another, and the job goes on */
	int status;   /* when it exited, of waitpid */
	bool told;    /* the other ranks can know that it exited */
};

struct job {
	struct options *opt;
	struct placement place;
	char *kvsname, *mapping, *secret;
	bool spawned;	     /* by a process of another, */
	struct strings keys; /* which gives it these: key, value ... */
	struct node *nodes;
	int nnodes;
	struct job_rank *ranks;
	int running;  /* ranks that have not exited */
	int signal;   /* the user wants it to end; 0: not */
	bool waiting; /* a rank is in a barrier that is not complete */
	bool maimed;  /* a rank has failed, and the others go on */
	int told;     /* ranks of which they were told */
	bool ending;  /* ranks are being ended */
	bool stop;    /* nothing is left */
	int code;     /* to exit with */
};

extern struct job job;

int job_run(struct options *opt);
static inline const char *job_host(int rank)
{
	return job.place.nodes[job.place.ranks[rank].node];
}
void job_send_all(enum frame_type type, int rank, const void *data, size_t n);
void job_send_all_u32(enum frame_type type, uint32_t v);
/* Stops the loop if all proxies are done. */
void job_check_done(void);

/* --- remote.c --- */
void remote_start(struct node *n);
void remote_reap(void); /* after SIGCHLD */
/* What became of a node's agent, waiting shortly for it. */
const char *remote_fate(struct node *n);
const char *remote_agent(void); /* as the user knows it */
/* Hosts that have not answered yet: there is nobody to end there. */
void remote_abandon(void);
/* All streams are closed: waits for the agents, within limits. */
void remote_finish(void);

/* --- share.c --- */
/* FRAME_START for a node. */
void share_send(struct node *n);

/* --- parent.c --- */
void parent_init(void);
/* All ranks of one more node run. */
void parent_node_started(void);

/* --- verdict.c --- */

/* What ended the job; a later one may be the reason for an earlier one. */
enum cause { CAUSE_NONE, CAUSE_ABORT, CAUSE_EXIT, CAUSE_SIGNAL, CAUSE_OTHER };

void verdict_init(void);
/* The job has failed and will be ended. @text is freed; NULL says nothing. */
void verdict_fail(enum cause cause, int rank, int code, char *text);
void verdict_exit(int rank, int status, enum rank_state state);
/* All ranks are to end, also where a failure would end nobody else: the program
 * wants it, or has made an error. */
void verdict_abort(int rank, int code, bool error);
/* Some ranks are to end, as in "0-3,7", and the others go on. */
void verdict_abort_some(int by, int code, const char *ranks);
/* The others go on: have them know who has exited. */
void verdict_tell(void);
/* At once. */
void verdict_kill(int code);
/* Somebody waits in a barrier or for a rank, or has left: can that still be
 * completed? */
void verdict_check_waiting(void);
void verdict_finish(void);

/* --- io.c --- */
void io_init(void);
void io_output(struct node *n, enum frame_type type, int rank,
	       struct reader *data);
/* Starts of lines do not wait any longer for the rest. */
void io_put_partial(void);
void io_stdin_taken(void);
/* Terminal: we may have come to the foreground. */
void io_stdin_retry(void);
/* Everything that came is written, or cannot be. */
void io_finish(void);
/* In there: now. */
void io_give_up(void);

/* --- io_file.c --- */
/* To the rank's own file, if it has one. False: and nowhere else. */
bool io_file_put(int rank, int which, const char *data, size_t n);

/* --- signals.c --- */
void signals_init(void);
/* In a child: as they were before signals_init. */
void signals_restore(void);

#endif
