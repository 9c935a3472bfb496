// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What went wrong first, and the end of everything else.
 *
 * When a rank dies, the others notice and may abort, and their complaint can be
 * here before the news of the death. So the verdict waits a moment: for the
 * death, if there was one, and for the others to print what they noticed. Then
 * one line says what happened, every rank gets SIGTERM, and after a grace
 * SIGKILL; all of it takes well under a second.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "job.h"
#include "pmi_int.h"
#include "spawned.h"
#include "util.h"

#define SETTLE_ABORT_MS 30
#define SETTLE_DEATH_MS 100
/* After the user's own SIGINT or SIGTERM ranks may have things to save. */
#define SETTLE_SIGNAL_MS 2000
#define GRACE_MS 200
#define GIVE_UP_MS 3000

/* The class of an error that says that another rank has gone, in the ABI. */
#define MPI_ERR_PROC_ABORTED 58

static struct {
	enum cause cause;
	int rank, code;
	bool bereaved; /* that rank ended because of another's end */
	char *text;
} first;

/* A rank wants all to end, which is more than a failure of its own. */
static bool abort_wanted;

static struct timer settle_timer, give_up_timer;

static void end_ranks(unsigned grace_ms)
{
	job.ending = true;
	remote_abandon();
	job_send_all_u32(FRAME_END, grace_ms);
	spawned_end_all();
	timer_set(&give_up_timer, GIVE_UP_MS);
}

static bool others_run(void)
{
	for (int r = 0; r < job.place.size; r++)
		if (r != first.rank && !job.ranks[r].exited)
			return true;
	return false;
}

/* Of a rank that has failed; CAUSE_OTHER has its own words. */
static const char *outcome(bool ends)
{
	if (first.cause == CAUSE_OTHER)
		return "";
	if (ends)
		return "; the job is ended";
	return others_run() ? "; the others go on" : "";
}

static void pronounce(const char *and)
{
	timer_clear(&settle_timer);
	io_put_partial(); /* the ranks' own words come first */
	if (first.text && !under_cannot(first.text))
		say("%s%s", first.text, and);
	free(first.text);
	first.text = NULL;
	job.code = first.code;
}

static void on_settled(struct timer *t)
{
	bool ends = !job.opt->keep_going || first.cause == CAUSE_OTHER ||
		    abort_wanted;

	pronounce(outcome(ends));
	if (ends)
		end_ranks(GRACE_MS);
	job.maimed = true;
	verdict_tell();
	job_check_done();
}

/* A proxy that does not answer: when we go, its stream ends, and so does it. */
static void on_give_up(struct timer *t)
{
	job.stop = true;
}

void verdict_init(void)
{
	settle_timer.fn = on_settled;
	give_up_timer.fn = on_give_up;
}

/* Would this explain what we know already? Other ranks abort because one was
 * killed, hardly the other way round. One that exits explains only those that said
 * that they had lost another. */
static bool explains(enum cause cause, int rank)
{
	if (!settle_timer.active || first.rank == rank)
		return false;
	if (cause == CAUSE_EXIT)
		return first.bereaved;
	return cause == CAUSE_SIGNAL &&
	       (first.cause == CAUSE_ABORT || first.cause == CAUSE_EXIT);
}

static unsigned settle_ms(enum cause cause)
{
	if (job.signal)
		return SETTLE_SIGNAL_MS;
	switch (cause) {
	case CAUSE_ABORT:
		return SETTLE_ABORT_MS;
	case CAUSE_EXIT:
	case CAUSE_SIGNAL:
		return SETTLE_DEATH_MS;
	default:
		return 0;
	}
}

void verdict_fail(enum cause cause, int rank, int code, char *text)
{
	if (first.cause && !explains(cause, rank)) {
		free(text);
		return;
	}
	if (!first.cause)
		timer_set(&settle_timer, settle_ms(cause));
	if (job.signal && cause != CAUSE_OTHER) {
		free(text); /* the user knows why */
		text = NULL;
	}
	free(first.text);
	first.cause = cause;
	first.rank = rank;
	first.code = code;
	first.bereaved = false;
	first.text = text;
}

static bool is_own_decision(int sig)
{
	return sig == SIGABRT || sig == SIGTERM || sig == SIGPIPE;
}

static void killed(int rank, int sig)
{
	/* abort() is what a rank does that has noticed another's death. */
	enum cause cause = is_own_decision(sig) && first.cause ? CAUSE_EXIT :
								 CAUSE_SIGNAL;

	verdict_fail(cause, rank, 128 + sig,
		     xprintf("rank %d on %s was killed by signal %d (%s)", rank,
			     job_host(rank), sig, strsignal(sig)));
}

static void left(int rank, int code, enum rank_state state)
{
	const char *when = state == RANK_IN_MPI ? " before MPI_Finalize" : "";

	if (state == RANK_FINALIZED) {
		say("rank %d on %s exited with code %d", rank, job_host(rank),
		    code);
		if (!job.code)
			job.code = code;
		return;
	}
	verdict_fail(CAUSE_EXIT, rank, code ? code : EXIT_TROUBLE,
		     xprintf("rank %d on %s exited with code %d%s", rank,
			     job_host(rank), code, when));
}

void verdict_exit(int rank, int status, enum rank_state state)
{
	int code = WEXITSTATUS(status);

	if (job.ending || job.ranks[rank].aborted)
		return;
	if (WIFSIGNALED(status))
		killed(rank, WTERMSIG(status));
	else if (code || (state == RANK_IN_MPI && job.running))
		left(rank, code, state);
}

static void abort_rank(int r, bool itself)
{
	struct node *n = &job.nodes[job.place.ranks[r].node];

	if (job.ranks[r].exited)
		return;
	job.ranks[r].aborted = true;
	if (!itself && !n->done)
		chan_send_u32(&n->chan, FRAME_KILL, r, GRACE_MS);
}

void verdict_abort_some(int by, int code, const char *ranks)
{
	const char *p = ranks;
	char *end;

	if (job.ending || (first.cause && !job.opt->keep_going))
		return;
	say("rank %d on %s aborts rank%s %s with code %d; the others go on", by,
	    job_host(by), strpbrk(ranks, ",-") ? "s" : "", ranks, code);
	while (*p >= '0' && *p <= '9') {
		long r = strtol(p, &end, 10), last = r;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (; r <= last && r < job.place.size; r++)
			abort_rank((int)r, r == by);
		p = end + (*end == ',');
	}
	if (!job.code)
		job.code = code & 0xff ? code & 0xff : EXIT_TROUBLE;
	job.maimed = true;
}

/* --- telling the others --- */

static bool is_finished(const struct job_rank *k)
{
	return !k->aborted && !WIFSIGNALED(k->status) &&
	       k->state == RANK_FINALIZED;
}

static char *how_it_ended(const struct job_rank *k)
{
	if (k->aborted)
		return xprintf("it has aborted");
	if (WIFSIGNALED(k->status))
		return xprintf("it was killed by signal %d (%s)",
			       WTERMSIG(k->status),
			       strsignal(WTERMSIG(k->status)));
	if (is_finished(k))
		return xprintf("it has finished");
	return xprintf("it has exited with code %d", WEXITSTATUS(k->status));
}

/*
 * Ranks that are connected to one that exits see that for themselves. For the
 * others there is a numbered list of those who have, among the keys and values:
 * whoever waits for long looks whether it has become longer.
 */
static void tell(int rank)
{
	const struct job_rank *k = &job.ranks[rank];
	char *how = how_it_ended(k);
	char *key = xprintf("o2g-ended-%d", job.told++);
	char *text = xprintf("%d %d %s %s", rank, is_finished(k),
			     job_host(rank), how);
	char *value = pmi_value_encode(text);
	struct buf b = { 0 };

	job.ranks[rank].told = true;
	buf_put_str(&b, key);
	buf_put_str(&b, value ? value : "");
	job_send_all(FRAME_SHARED, -1, b.data, buf_len(&b));
	buf_cleanup(&b);
	free(value);
	free(text);
	free(key);
	free(how);
}

void verdict_tell(void)
{
	if (!job.maimed || job.ending)
		return;
	for (int r = 0; r < job.place.size; r++)
		if (job.ranks[r].exited && !job.ranks[r].told)
			tell(r);
}

/* Does somebody wait for this rank, which will not come any more? */
static bool fails_others(const struct job_rank *k)
{
	if (k->leaving)
		return job.waiting;
	return k->exited && (job.waiting || (k->awaited && !k->shared));
}

static const char *how_it_ends(const struct job_rank *k)
{
	if (!k->exited)
		return "is about to end without calling MPI_Init";
	return k->state == RANK_NEW ? "has ended without calling MPI_Init" :
				      "has ended";
}

/* The job was to go on without those that fail. */
static void cannot_go_on(char *text)
{
	if (!first.cause) {
		first.cause = CAUSE_EXIT;
		first.code = EXIT_TROUBLE;
	}
	pronounce("");
	say("%s; the job is ended", text);
	free(text);
	end_ranks(GRACE_MS);
}

void verdict_check_waiting(void)
{
	char *text;
	int r = 0;

	if (job.ending || (first.cause && !job.opt->keep_going))
		return;
	while (r < job.place.size && !fails_others(&job.ranks[r]))
		r++;
	if (r == job.place.size)
		return;
	text = xprintf("rank %d on %s %s, and other ranks are waiting for it",
		       r, job_host(r), how_it_ends(&job.ranks[r]));
	if (!job.opt->keep_going) {
		verdict_fail(CAUSE_EXIT, r, EXIT_TROUBLE, text);
		return;
	}
	cannot_go_on(text);
}

void verdict_abort(int rank, int code, bool error)
{
	char *text = xprintf(
		error ? "rank %d on %s ended after an MPI error (class %d)" :
			"rank %d on %s called MPI_Abort with code %d",
		rank, job_host(rank), code);

	abort_wanted = true;
	if (first.cause && !settle_timer.active && !job.ending) {
		cannot_go_on(text);
		return;
	}
	/* A job that was aborted has not succeeded, whatever it says. */
	verdict_fail(CAUSE_ABORT, rank, code & 0xff ? code & 0xff : 1, text);
	if (first.cause == CAUSE_ABORT && first.rank == rank)
		first.bereaved = error && code == MPI_ERR_PROC_ABORTED;
}

void verdict_kill(int code)
{
	if (!first.cause) {
		first.cause = CAUSE_OTHER;
		first.code = code;
	}
	pronounce(outcome(true));
	end_ranks(0);
	job_check_done();
}

void verdict_finish(void)
{
	/* All ranks have gone before the moment was over. */
	if (first.cause && settle_timer.active)
		pronounce("");
}
