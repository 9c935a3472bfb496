/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The proxy: one process on each host, also on the launcher's own, which
 * starts the ranks there, serves them PMI and carries their output. Inside
 * its files only, except proxy_main.
 */
#ifndef EXEC_PROXY_H
#define EXEC_PROXY_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "frame.h"
#include "start.h"

/* A rank on this host. */
struct rank {
	const struct start_rank *spec;
	int local; /* index on this host */
	pid_t pid; /* 0: not started, or gone */
	enum rank_state state;
	bool in_barrier, in_spawn, leaving;
	bool aborted;	    /* SIGTERM has been sent to it, but not to all */
	bool stopping;	    /* it handles SIGTSTP, and is stopped after that */
	int spawn, spawns;  /* of a request to spawn, which one of how many, */
	struct buf request; /* and all its lines so far */
	struct watch out, err; /* what it writes; fd -1: closed */
	struct watch in;       /* its stdin, if it has one */
	struct buf in_data;    /* still to be written there */
	bool in_eof;	       /* close it after that */
	struct watch pmi;
	struct buf pmi_in, pmi_out;
};

struct proxy {
	struct chan up; /* to mpiexec */
	struct start start;
	struct rank *ranks;
	int nranks; /* started, or being started */
	int alive;
	int stdin_busy;	  /* ranks that have not read all their input */
	size_t unwritten; /* bytes sent up and not yet written by mpiexec */
	bool ending;	  /* SIGTERM has been sent */
	bool stop;
	struct rlimit files; /* of open files, as the ranks get it */
};

extern struct proxy proxy;

/* Runs the proxy on stdin and stdout. */
int proxy_main(void);

/* --- spawn.c --- */

/* 0, or an exit code, with a text for the user in *why. */
int spawn_rank(struct rank *r, char **why);

/* --- hall.c --- */
/* Before the first rank is started. */
void hall_prepare(void);
/* In the new process: tell the rank which seat it has in the hall of @owner. */
void hall_set_environment(pid_t owner, int seat);

/* --- stranger.c --- */
/* A rank has been started: says so if it is of another MPI. */
void stranger_look(const struct rank *r);

/* --- stop.c --- */
void stop_ranks(void); /* as SIGTSTP does */
void stop_over(void);  /* they go on */

/* --- proxy_io.c --- */
void proxy_io_start(struct rank *r, int in, int out, int err);
/* Passes on what the pipes hold now. */
void proxy_io_flush(struct rank *r);
/* The same for the last time: nobody is left who could write. */
void proxy_io_drain(struct rank *r);
void proxy_io_stdin(int rank, struct reader *data);
void proxy_io_taken(uint32_t n);

/* --- pmi_server.c --- */
void pmi_server_init(void);
void pmi_server_start(struct rank *r, int fd);
/* Handles what a rank that has died had still sent. */
void pmi_server_drain(struct rank *r);
void pmi_server_fence(struct reader *data);
/* Keys and values of others. */
void pmi_server_take(struct reader *data);
void pmi_server_leave(void);
/* A line to the rank, with its newline. */
void pmi_server_answer(struct rank *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* --- pmi_spawn.c --- */
void pmi_spawn_line(struct rank *r, const char *line);
/* "cmd=child id=N": does the job of that number still run? */
void pmi_spawn_child(struct rank *r, const char *line);
void pmi_spawn_done(int rank, struct reader *data);
void pmi_spawn_over(struct reader *data);

/* --- proxy_tunnel.c --- */
void proxy_tunnel_open(int id);
void proxy_tunnel_take(int id, struct reader *data);
bool proxy_tunnel_any(void);
/* Nobody is left here: tells mpiexec so. */
void proxy_finish(void);
/* A rank aborts, perhaps because another one has died: that is told first. */
void proxy_reap_others(const struct rank *r);

#endif
