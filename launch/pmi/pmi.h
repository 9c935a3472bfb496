/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What a rank asks of its launcher, whichever that is: who am I, how many are
 * we, and a small board where each rank pins strings for the others. Launchers
 * speak PMI-1 (our mpiexec, MPICH's, Intel's, Flux), PMI-2 (Slurm) or PMIx
 * (Open MPI, PRRTE, Slurm); the environment tells which. Without a launcher the
 * process is a job of one, and the board is local.
 *
 * Every call may be made from any thread; one is served at a time. Every call
 * that fails has said why on stderr, once, except those that ask for a
 * value with -ENOENT and -ENOSPC. Needs base/log.c and nothing else.
 */
#ifndef PMI_H
#define PMI_H

#include <stdbool.h>
#include <stddef.h>

#define PMI_KVSNAME_MAX 256

struct pmi_job {
	int rank, size;	   /* this process, and how many there are */
	int local_size;	   /* how many of them share this host; 0 unknown */
	int appnum;	   /* which program of `mpiexec a : b`; -1 unknown */
	int universe_size; /* -1 unknown */
	bool singleton;	   /* no launcher: rank 0 of 1 */
	char kvsname[PMI_KVSNAME_MAX]; /* a name for this job */
};

/*
 * Once per process. Negative: the launcher cannot serve us (-ENOTSUP: it is
 * one whose protocol we do not speak); the caller must exit, since going on
 * would make every process rank 0 of 1.
 */
int pmi_init(struct pmi_job *job);

/* How many processes the environment says that the job has, which can be asked
 * at any time; 0: it does not say. */
int pmi_told_size(void);

/* Others see it after the next barrier. Any bytes but NUL, any length. A key is
 * put by one rank only. */
int pmi_put(const char *key, const char *value);
/* Returns when every rank has come; all that was put before is visible. */
int pmi_barrier(void);
/* What rank @owner has put. -ENOENT: it has not. -ENOSPC: @size is too small. */
int pmi_get(int owner, const char *key, char *value, size_t size);

/*
 * The same without waiting. Ask: -EBUSY: another call is under way, or the last question
 * has no answer, or its answer was not fetched yet. Then, for the same key: -EINPROGRESS, or what
 * pmi_get() would say; -EINVAL: it was not asked, or something else was since.
 */
int pmi_ask(int owner, const char *key);
int pmi_answered(const char *key, char *value, size_t size);

/*
 * Not all launchers can do more than let all wait for all. Those that can have
 * also put the job's secret on the board (PMI_SECRET_KEY).
 */
bool pmi_shares(void);
#define PMI_SECRET_KEY "o2g-secret"
/* What we have put becomes visible to the others soon, without a barrier. */
int pmi_share(void);
/* We look again and again for what @owner has to share: if it ends without having
 * shared it the job fails, so we need not look any longer. Returns at once. */
int pmi_await(int owner);
/* Returns when every rank that has shared something, or was in a barrier, wants
 * to leave. */
int pmi_leave(void);

/* The node of each rank of the job: numbers that say who shares one. -ENOENT:
 * the launcher does not tell. */
int pmi_nodes(int *node);

/*
 * More processes, which the launcher starts: a job of their own, that finds
 * @port under PMI_PARENT_KEY. -ENOTSUP: it cannot, does not say so, or cannot be told
 * so much. -EIO: it has refused, and @why says why, if it does. *child is a number for what follows.
 */
#define PMI_PARENT_KEY "PARENT_ROOT_PORT_NAME"
struct pmi_program {
	const char *command;
	char **argv; /* without the command; NULL: none */
	int n;
	const char *const *info; /* key, value ..., NULL */
};
int pmi_spawn(const struct pmi_program *programs, int count, const char *port,
	      int *child, char *why, size_t size);
/* Does that job still run? 1 also where nobody can tell. */
int pmi_child_runs(int child);
/* Can the launcher tell? */
bool pmi_child_known(int child);
/* Were we started like that? */
bool pmi_spawned(void);

/* Says goodbye: from here on, leaving is no failure of the job. */
int pmi_finalize(void);

/* The exit code of a process that ends with @code, which may be any number: a failure
 * must not look like success. */
static inline int pmi_exit_code(int code)
{
	return code && !(code & 0xff) ? 1 : code & 0xff;
}

/* Who wants the end: the program itself, or the library, after an error. */
enum pmi_why { PMI_CALLED, PMI_ERROR };

/*
 * Asks the launcher to end the whole job with that code. Returns; the caller must
 * exit with pmi_exit_code(). Safe while another thread waits in a call above.
 */
void pmi_abort(int code, enum pmi_why why);
/* The same for some of the ranks, of which we are one. Where the launcher cannot
 * do that, for all. */
void pmi_abort_some(int code, enum pmi_why why, const int *ranks, int n);

#endif
