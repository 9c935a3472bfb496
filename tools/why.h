/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* o2g why: what the ranks of a job wait for. Ranks are those of MPI_COMM_WORLD. */
#ifndef TOOLS_WHY_H
#define TOOLS_WHY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "rank_state.h"

enum why_does {
	WHY_UNKNOWN, /* its host has not answered */
	WHY_ENDED,
	WHY_STOPPED,  /* by a signal, or a debugger */
	WHY_NOT_YET,  /* it has not called MPI_Init */
	WHY_MEETS,    /* it waits for the others, by the launcher */
	WHY_WAITS,    /* in an MPI call */
	WHY_POLLS,    /* it calls MPI again and again, and finds nothing */
	WHY_COMPUTES, /* it uses the CPU */
	WHY_SLEEPS,   /* outside of MPI, without using the CPU */
	WHY_GETS_ON,  /* it was in another call a moment ago */
};

struct why_rank {
	char host[256];
	bool exited;
	int status;    /* of waitpid, once exited */
	int pmi_state; /* enum rank_state of the launcher */
	bool answered, has_page;
	int pid;
	char process; /* as in /proc/PID/stat; 0: gone */
	bool in_barrier;
	uint32_t cpu_ms, polls, window_ms;
	uint64_t now_ns;
	struct o2g_state page;
	enum why_does does;
};

struct why_job {
	int mpiexec; /* its process */
	int n;
	struct why_rank *rank;
	bool *waits; /* n times n: does the first wait for the second? */
};

/* --- why_read.c --- */

/*
 * 0, or a negative errno: -ECONNRESET if the job ended before it had answered. @job is
 * empty before.
 */
int why_read(int pid, struct why_job *job);
void why_free(struct why_job *job);
/* Jobs of this user on this host: processes of mpiexec, at most max. How many. */
int why_find(int *pids, int max);
/* Whose the job of this mpiexec is; for root, who may ask about all. */
unsigned why_owner(int pid);
/* What each rank does; @before is the same job a moment earlier. */
void why_judge(struct why_job *job, const struct why_job *before);

/* The first thread of a rank that waits; NULL: none does. */
const struct o2g_state_wait *why_wait_of(const struct why_rank *r);
/* It does something, and others may have to wait for it. */
static inline bool why_runs(const struct why_rank *r)
{
	return r->does == WHY_COMPUTES || r->does == WHY_GETS_ON;
}
/* The communicator of a rank with this context, or NULL. */
const struct o2g_state_comm *why_comm(const struct why_rank *r,
				      uint32_t context);
/* Who holds the lock that a part waits for: how many. */
int why_holders(const struct why_job *job, int rank,
		const struct o2g_state_part *p, bool *whom);
/* Of a message between the two: an intercommunicator is known to one by another
 * number. */
const struct o2g_state_comm *why_comm_of(const struct why_job *job, int rank,
					 const struct o2g_state_part *p);

/* --- why_where.c --- */

/* "ring.c:12" or "ring+0x1234": where a thread has called MPI; never NULL. */
const char *why_where(const struct why_rank *r, const struct o2g_state_wait *w);
const char *why_polls_where(const struct why_rank *r);

/* --- why_words.c --- */

/* A growing text. */
struct text {
	char *at;
	size_t n;
};
void text_add(struct text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void text_free(struct text *t);
/* "rank 3", "ranks 0-2 and 5". */
void text_ranks(struct text *t, const bool *set, int n);
void text_bytes(struct text *t, uint64_t bytes);
void text_comm(struct text *t, const struct o2g_state_comm *c);
/* "MPI_Recv at ring.c:12" */
void text_call(struct text *t, const struct why_rank *r,
	       const struct o2g_state_wait *w);
/* "a message with tag 3 from rank 1 on MPI_COMM_WORLD" and so on. */
void text_part(struct text *t, const struct why_job *job, int rank,
	       const struct o2g_state_part *p);
void text_message(struct text *t, const struct why_rank *r,
		  const struct o2g_state_message *m);
/* What the rank does, as a sentence without its subject: "waits in ...". @times:
 * with how long. */
void text_does(struct text *t, const struct why_job *job, int rank, bool times);
const char *why_poll_call(const struct o2g_state_poll *p);
/* "5th" */
void text_nth(struct text *t, uint32_t n);

/* --- why_explain.c, why_coll.c, why_message.c --- */

enum why_kind {
	WHY_WRONG_TAG,
	WHY_WRONG_COMM,
	WHY_OTHER_COLLECTIVE,
	WHY_WRONG_ROOT,
	WHY_PEER_ENDED,
	WHY_PEER_STOPPED,
	WHY_CIRCLE,
	WHY_MISSING, /* a rank that has not entered a collective */
	WHY_NO_MEMORY,
	WHY_NOT_RECEIVED,
	WHY_NOBODY_SENDS,
	WHY_NOT_READY,	   /* partitions that are not marked */
	WHY_IS_WAITED_FOR, /* a rank that runs, and others wait for it */
};

struct why_finding {
	enum why_kind kind;
	char *sentence;
	bool *ranks; /* whom it is about */
};

struct why_findings {
	struct why_finding *at;
	int n;
};

void why_explain(struct why_job *job, struct why_findings *to);
void why_findings_free(struct why_findings *f);
const char *why_kind_name(enum why_kind kind);

/* For the three: @text is taken over. */
void why_found(const struct why_job *job, struct why_findings *f,
	       enum why_kind kind, struct text *text, const bool *ranks);
void why_messages(const struct why_job *job, struct why_findings *f);
void why_collectives(const struct why_job *job, struct why_findings *f);
/* What is left to say: sends that nobody takes, ranks that have not come. */
void why_not_received(const struct why_job *job, struct why_findings *f);
void why_not_entered(const struct why_job *job, struct why_findings *f);
/* Those of the collective that @rank waits in who are missing; how many. */
int why_missing(const struct why_job *job, int rank, bool *missing);
/* Whom a rank waits for: all of them, not one of several. */
static inline const bool *why_waits_for(const struct why_job *job, int rank)
{
	return job->waits + (size_t)rank * (size_t)job->n;
}

/* --- why_text.c, why_json.c --- */

void why_print_text(const struct why_job *job, const struct why_findings *f);
void why_print_json(const struct why_job *job, const struct why_findings *f);

#endif
