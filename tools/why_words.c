/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Ranks, messages, communicators and what ranks do, in words. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "why.h"

/* enum mpii_context: messages of the program; others belong to calls */
#define OF_PROGRAM 0
#define PARTITIONED 4

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	char *more;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	more = n < 0 ? NULL : realloc(t->at, t->n + (size_t)n + 1);
	if (!more) {
		fprintf(stderr, "o2g: out of memory\n");
		exit(1);
	}
	t->at = more;
	va_start(ap, fmt);
	vsnprintf(t->at + t->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->n += (size_t)n;
}

void text_free(struct text *t)
{
	free(t->at);
	*t = (struct text){ 0 };
}

void text_ranks(struct text *t, const bool *set, int n)
{
	int count = 0, pieces = 0;

	for (int i = 0; i < n; i++) {
		count += set[i];
		pieces += set[i] && (!i || !set[i - 1]);
	}
	text_add(t, count == 1 ? "rank " : "ranks ");
	for (int i = 0, piece = 0; i < n; i++) {
		int last = i;

		if (!set[i])
			continue;
		while (last + 1 < n && set[last + 1])
			last++;
		text_add(t, "%s%d",
			 piece == 0	     ? "" :
			 piece == pieces - 1 ? " and " :
					       ", ",
			 i);
		if (last > i)
			text_add(t, "%s%d",
				 last > i + 1 ? "-" :
				 pieces == 1  ? " and " :
						", ",
				 last);
		piece++;
		i = last;
	}
}

void text_bytes(struct text *t, uint64_t bytes)
{
	if (bytes == 1)
		text_add(t, "1 byte");
	else if (bytes < 10 << 10)
		text_add(t, "%llu bytes", (unsigned long long)bytes);
	else if (bytes < 10 << 20)
		text_add(t, "%.0f KiB", (double)bytes / 1024);
	else
		text_add(t, "%.0f MiB", (double)bytes / (1 << 20));
}

void text_comm(struct text *t, const struct o2g_state_comm *c)
{
	if (!c)
		text_add(t, "a communicator that was freed or is not known");
	else if (c->name[0])
		text_add(t, "%s", c->name);
	else
		text_add(
			t,
			"a communicator without a name (%d ranks, the first is rank %d of the job)",
			c->size, c->first);
}

void text_nth(struct text *t, uint32_t n)
{
	const char *end = n % 100 / 10 == 1 ? "th" :
			  n % 10 == 1	    ? "st" :
			  n % 10 == 2	    ? "nd" :
			  n % 10 == 3	    ? "rd" :
					      "th";

	text_add(t, "%u%s", n, end);
}

void text_call(struct text *t, const struct why_rank *r,
	       const struct o2g_state_wait *w)
{
	text_add(t, "%s at %s", w->call[0] ? w->call : "an MPI call",
		 why_where(r, w));
}

static void add_tag(struct text *t, int tag)
{
	if (tag == O2G_STATE_ANY)
		text_add(t, "any tag");
	else
		text_add(t, "tag %d", tag);
}

static void add_peer(struct text *t, const struct why_job *job, int peer)
{
	if (peer >= 0 && peer < job->n)
		text_add(t, "rank %d", peer);
	else if (peer == O2G_STATE_ANY)
		text_add(t, "any rank");
	else
		text_add(t, "a process of another job");
}

static void add_receive(struct text *t, const struct why_job *job, int rank,
			const struct o2g_state_part *p)
{
	text_add(t, p->kind == PARTITIONED ? "for partitions from " :
					     "for a message from ");
	add_peer(t, job, p->peer);
	if (p->kind == OF_PROGRAM || p->kind == PARTITIONED) {
		text_add(t, " with ");
		add_tag(t, p->tag);
		text_add(t, " on ");
		text_comm(t, why_comm_of(job, rank, p));
	}
	if (p->moved == O2G_MOVED_PARTLY) {
		text_add(t, ", of which ");
		text_bytes(t, p->arrived);
		text_add(t, " have come");
	} else if (p->doing == O2G_PART_RECV && p->kind == OF_PROGRAM) {
		text_add(t, " (room for ");
		text_bytes(t, p->bytes);
		text_add(t, ")");
	}
}

static void add_send(struct text *t, const struct why_job *job, int rank,
		     const struct o2g_state_part *p)
{
	text_add(t, "to send ");
	if (p->kind == PARTITIONED)
		text_add(t, "partitions");
	else
		text_bytes(t, p->bytes);
	text_add(t, " to ");
	add_peer(t, job, p->peer);
	if (p->kind == OF_PROGRAM || p->kind == PARTITIONED) {
		text_add(t, " with ");
		add_tag(t, p->tag);
		text_add(t, " on ");
		text_comm(t, why_comm_of(job, rank, p));
	}
	if (p->moved == O2G_MOVED_ASKED)
		text_add(t, ", which has not asked for it");
	else if (p->moved == O2G_MOVED_NO_ROOM)
		text_add(t, ", which has no memory left for it");
	else if (p->moved == O2G_MOVED_PARTLY)
		text_add(t, ", which is under way");
}

static void add_holders(struct text *t, const struct why_job *job, int rank,
			const struct o2g_state_part *p)
{
	bool *whom = calloc((size_t)job->n, sizeof(*whom));
	int n = whom ? why_holders(job, rank, p, whom) : 0;

	if (n) {
		text_add(t, ", which ");
		text_ranks(t, whom, job->n);
		text_add(t, n == 1 ? " holds" : " hold");
	}
	free(whom);
}

/* A send whose partitions the program has not all marked. */
static void add_unmarked(struct text *t, const struct why_job *job, int rank,
			 const struct o2g_state_part *p)
{
	text_add(t, "to send partitions with tag %d on ", p->tag);
	text_comm(t, why_comm(&job->rank[rank], p->context));
	text_add(t, ", of which %llu of %llu are not marked ready (MPI_Pready)",
		 (unsigned long long)(p->bytes - p->arrived),
		 (unsigned long long)p->bytes);
}

void text_part(struct text *t, const struct why_job *job, int rank,
	       const struct o2g_state_part *p)
{
	switch (p->doing) {
	case O2G_PART_RECV:
	case O2G_PART_PROBE:
		add_receive(t, job, rank, p);
		break;
	case O2G_PART_SEND:
		add_send(t, job, rank, p);
		break;
	case O2G_PART_COLL:
		text_add(t, "for a nonblocking collective on ");
		text_comm(t, why_comm(&job->rank[rank], p->context));
		break;
	case O2G_PART_LOCK:
		text_add(t, "for the lock of ");
		add_peer(t, job, p->peer);
		text_add(t, " in a window");
		add_holders(t, job, rank, p);
		break;
	case O2G_PART_PUT:
	case O2G_PART_GET:
		text_add(t, "for an access to the memory of ");
		add_peer(t, job, p->peer);
		break;
	case O2G_PART_POST:
		text_add(t, "for MPI_Win_post of ");
		add_peer(t, job, p->peer);
		break;
	case O2G_PART_COMPLETE:
		text_add(t, "for MPI_Win_complete of ");
		add_peer(t, job, p->peer);
		break;
	case O2G_PART_READY:
		add_unmarked(t, job, rank, p);
		break;
	case O2G_PART_PORT:
		text_add(t, "for another job at a port");
		break;
	default:
		text_add(t, "for a request that is no message");
	}
}

void text_message(struct text *t, const struct why_rank *r,
		  const struct o2g_state_message *m)
{
	text_add(t, "from rank %d, ", m->source);
	if (m->kind == OF_PROGRAM || m->kind == PARTITIONED) {
		add_tag(t, m->tag);
		text_add(t, ", on ");
		text_comm(t, why_comm(r, m->context));
	} else {
		text_add(t, "of a collective call on ");
		text_comm(t, why_comm(r, m->context));
	}
	text_add(t, ", ");
	text_bytes(t, m->bytes);
	if (m->announced)
		text_add(t, ", still at the sender");
}

const char *why_poll_call(const struct o2g_state_poll *p)
{
	static const char *const names[] = {
		[O2G_POLL_NONE] = "MPI",
		[O2G_POLL_IPROBE] = "MPI_Iprobe",
		[O2G_POLL_IMPROBE] = "MPI_Improbe",
		[O2G_POLL_TEST] = "MPI_Test",
		[O2G_POLL_TESTALL] = "MPI_Testall",
		[O2G_POLL_TESTANY] = "MPI_Testany",
		[O2G_POLL_TESTSOME] = "MPI_Testsome",
		[O2G_POLL_STATUS] = "MPI_Request_get_status",
	};

	return p->call < sizeof(names) / sizeof(*names) ? names[p->call] :
							  "MPI";
}

/* --- what a rank does --- */

static void add_age(struct text *t, const struct why_rank *r,
		    const struct o2g_state_wait *w)
{
	uint64_t s = r->now_ns > w->since_ns ?
			     (r->now_ns - w->since_ns) / 1000000000 :
			     0;

	if (s < 1)
		text_add(t, " for less than 1 s");
	else if (s < 120)
		text_add(t, " for %llu s", (unsigned long long)s);
	else
		text_add(t, " for %llu min", (unsigned long long)s / 60);
}

static bool is_own_message(const struct o2g_state_part *p)
{
	return p->doing > O2G_PART_PROBE || p->kind == OF_PROGRAM ||
	       p->kind == PARTITIONED;
}

static void add_parts(struct text *t, const struct why_job *job, int rank,
		      const struct o2g_state_wait *w)
{
	int shown = 0;

	for (int i = 0; i < w->parts && shown < 4; i++) {
		if (!is_own_message(&w->part[i]))
			continue;
		text_add(t, "%s", !shown ? ", " : w->any ? ", or " : ", and ");
		text_part(t, job, rank, &w->part[i]);
		shown++;
	}
	if (shown && w->parts_all > (uint32_t)shown)
		text_add(t, ", and for %u more", w->parts_all - shown);
}

static void add_wait(struct text *t, const struct why_job *job, int rank,
		     bool times)
{
	const struct why_rank *r = &job->rank[rank];
	const struct o2g_state_wait *w = why_wait_of(r);

	text_add(t, "waits in ");
	text_call(t, r, w);
	if (times)
		add_age(t, r, w);
	if (w->collective) {
		text_add(t, ", on ");
		text_comm(t, why_comm(r, w->context));
	}
	add_parts(t, job, rank, w);
}

static void add_polls(struct text *t, const struct why_job *job, int rank)
{
	const struct why_rank *r = &job->rank[rank];
	const struct o2g_state_poll *p = &r->page.poll;
	struct o2g_state_part part = { .doing = (uint8_t)p->doing,
				       .peer = p->peer,
				       .tag = p->tag,
				       .context = p->context };

	text_add(t, "calls %s in a loop at %s and finds nothing, ",
		 why_poll_call(p), why_polls_where(r));
	if (p->doing == O2G_PART_RECV || p->doing == O2G_PART_PROBE) {
		part.doing = O2G_PART_PROBE;
		text_add(t, "waiting ");
	} else {
		text_add(t, "waiting ");
	}
	text_part(t, job, rank, &part);
}

static void add_end(struct text *t, const struct why_rank *r)
{
	if (!r->exited)
		text_add(t, "has ended");
	else if (WIFSIGNALED(r->status))
		text_add(t, "was killed by signal %d (%s)", WTERMSIG(r->status),
			 strsignal(WTERMSIG(r->status)));
	else
		text_add(t, "has ended with exit code %d",
			 WEXITSTATUS(r->status));
	if (r->exited && r->has_page && r->page.phase < O2G_PHASE_OVER)
		text_add(t, ", without MPI_Finalize");
}

static void add_outside(struct text *t, const struct why_rank *r,
			const char *what)
{
	if (r->has_page && r->page.phase == O2G_PHASE_OVER)
		text_add(t, "has called MPI_Finalize and %s", what);
	else
		text_add(t, "is not in an MPI call that waits: it %s", what);
}

void text_does(struct text *t, const struct why_job *job, int rank, bool times)
{
	const struct why_rank *r = &job->rank[rank];

	switch (r->does) {
	case WHY_WAITS:
		add_wait(t, job, rank, times);
		break;
	case WHY_POLLS:
		add_polls(t, job, rank);
		break;
	case WHY_GETS_ON:
		text_add(t, "gets on: its messages move");
		break;
	case WHY_STOPPED:
		text_add(t, "is stopped %s",
			 r->process == 't' ? "by a debugger" : "by a signal");
		break;
	case WHY_ENDED:
		add_end(t, r);
		break;
	case WHY_COMPUTES:
		add_outside(t, r, "computes");
		break;
	case WHY_SLEEPS:
		add_outside(t, r,
			    "sleeps, or waits for something that is not MPI");
		break;
	case WHY_NOT_YET:
		text_add(t, "has not called MPI_Init");
		break;
	case WHY_MEETS:
		text_add(
			t,
			"waits in MPI_Init or MPI_Finalize until all ranks are there");
		break;
	default:
		text_add(t, "is on a host that does not answer");
	}
}
