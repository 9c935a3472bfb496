/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Why a job hangs. Each finding is one sentence or two about some ranks. First what
 * is wrong in the program as far as it can be seen: tags, communicators, roots and
 * the order of collectives that do not go together. Then ranks that will not
 * answer. Then, for ranks about which nothing was found so far, circles and those who
 * have not come to a collective.
 */
#include "why.h"

#include <stdlib.h>
#include <string.h>

const char *why_kind_name(enum why_kind kind)
{
	static const char *const names[] = {
		[WHY_WRONG_TAG] = "wrong-tag",
		[WHY_WRONG_COMM] = "wrong-communicator",
		[WHY_OTHER_COLLECTIVE] = "other-collective",
		[WHY_WRONG_ROOT] = "wrong-root",
		[WHY_PEER_ENDED] = "ended",
		[WHY_PEER_STOPPED] = "stopped",
		[WHY_CIRCLE] = "circle",
		[WHY_MISSING] = "missing",
		[WHY_NO_MEMORY] = "no-memory",
		[WHY_NOT_RECEIVED] = "not-received",
		[WHY_NOBODY_SENDS] = "nobody-sends",
		[WHY_NOT_READY] = "not-ready",
		[WHY_IS_WAITED_FOR] = "waited-for",
	};

	return names[kind];
}

void why_found(const struct why_job *job, struct why_findings *f,
	       enum why_kind kind, struct text *text, const bool *ranks)
{
	struct why_finding *more = realloc(f->at, (f->n + 1) * sizeof(*f->at));
	bool *set = malloc((size_t)job->n * sizeof(*set));

	if (!more || !set) {
		fprintf(stderr, "o2g: out of memory\n");
		exit(1);
	}
	memcpy(set, ranks, (size_t)job->n * sizeof(*set));
	f->at = more;
	more += f->n++;
	more->kind = kind;
	more->sentence = text->at;
	more->ranks = set;
	*text = (struct text){ 0 };
}

void why_findings_free(struct why_findings *f)
{
	for (int i = 0; i < f->n; i++) {
		free(f->at[i].sentence);
		free(f->at[i].ranks);
	}
	free(f->at);
	*f = (struct why_findings){ 0 };
}

static bool *new_set(const struct why_job *job)
{
	bool *set = calloc((size_t)job->n, sizeof(*set));

	if (!set) {
		fprintf(stderr, "o2g: out of memory\n");
		exit(1);
	}
	return set;
}

/* --- who waits for whom --- */

static int add_peer(const struct why_job *job, int rank, int peer, bool *whom)
{
	if (peer < 0 || peer >= job->n || peer == rank || whom[peer])
		return 0;
	whom[peer] = true;
	return 1;
}

/* A nonblocking collective that is waited for: whoever has not called it. */
static int add_later_coll(const struct why_job *job, int rank,
			  const struct o2g_state_part *p, bool *whom)
{
	const struct o2g_state_comm *c = why_comm(&job->rank[rank], p->context),
				    *other;
	int n = 0;

	for (int i = 0; c && i < job->n; i++) {
		other = why_comm(&job->rank[i], p->context);
		if (other && other->first == c->first &&
		    other->colls <= (uint32_t)p->tag)
			n += add_peer(job, rank, i, whom);
	}
	return n;
}

static int find_whom(const struct why_job *job, int rank, bool *whom)
{
	const struct why_rank *r = &job->rank[rank];
	const struct o2g_state_wait *w = why_wait_of(r);
	int n = 0;

	if (r->does == WHY_POLLS && r->page.poll.n == 1)
		return add_peer(job, rank, r->page.poll.peer, whom);
	if (r->does != WHY_WAITS || !w || (w->any && w->parts_all > 1))
		return 0;
	if (w->collective)
		n = why_missing(job, rank, whom);
	for (int i = 0; !n && i < w->parts; i++) {
		if (w->part[i].moved == O2G_MOVED_PARTLY)
			continue;
		if (w->part[i].doing == O2G_PART_COLL)
			n += add_later_coll(job, rank, &w->part[i], whom);
		else if (w->part[i].doing == O2G_PART_LOCK)
			n += why_holders(job, rank, &w->part[i], whom);
		else
			n += add_peer(job, rank, w->part[i].peer, whom);
	}
	return n;
}

static void find_all(struct why_job *job)
{
	size_t n = (size_t)job->n;

	job->waits = calloc(n * n, sizeof(*job->waits));
	if (!job->waits) {
		fprintf(stderr, "o2g: out of memory\n");
		exit(1);
	}
	for (int i = 0; i < job->n; i++)
		find_whom(job, i, job->waits + (size_t)i * n);
}

/* --- circles --- */

struct search {
	const struct why_job *job;
	int *from;     /* the rank by which one was reached, -1: not */
	bool *left;    /* nothing to find behind it */
	bool *circle;  /* out */
	int *order, n; /* out: its ranks, one after the other */
};

static void take_circle(struct search *s, int first, int last)
{
	s->n = 0;
	for (int i = last;; i = s->from[i]) {
		s->circle[i] = true;
		s->order[s->n++] = i;
		if (i == first)
			break;
	}
}

/* Depth first, but on a list of our own: a ring may have thousands of ranks. */
static bool find_circle(struct search *s, int start)
{
	const struct why_job *job = s->job;
	bool found = false;
	int at = start;

	s->from[start] = start;
	while (!found) {
		const bool *whom = why_waits_for(job, at);
		int next = -1;

		for (int i = 0; i < job->n && !found; i++) {
			if (!whom[i] || s->left[i])
				continue;
			if (s->from[i] >= 0) { /* on our way */
				take_circle(s, i, at);
				found = true;
			} else if (next < 0) {
				next = i;
			}
		}
		if (found)
			break;
		if (next >= 0) {
			s->from[next] = at;
			at = next;
			continue;
		}
		s->left[at] = true;
		if (at == start)
			break;
		next = s->from[at];
		s->from[at] = -1;
		at = next;
	}
	return found;
}

#define CIRCLE_SHOWN 6

/* In a collective it is not clear from the call whom it waits for. */
static void tell_absent(const struct why_job *job, int rank, struct text *t)
{
	const struct o2g_state_wait *w = why_wait_of(&job->rank[rank]);
	bool *missing = new_set(job);

	if (w && w->collective && why_missing(job, rank, missing)) {
		text_add(t, ", for ");
		text_ranks(t, missing, job->n);
		text_add(t, ", which %s not called it",
			 why_missing(job, rank, missing) == 1 ? "has" : "have");
	}
	free(missing);
}

static void tell_circle(const struct search *s, struct why_findings *f)
{
	struct text t = { 0 };

	text_ranks(&t, s->circle, s->job->n);
	t.at[0] = 'R';
	text_add(&t, " wait for each other in a circle:");
	for (int i = s->n - 1; i >= 0; i--) {
		if (s->n - 1 - i == CIRCLE_SHOWN) {
			text_add(&t, " and so on, for %d ranks;", s->n);
			break;
		}
		text_add(&t, " rank %d ", s->order[i]);
		text_does(&t, s->job, s->order[i], false);
		tell_absent(s->job, s->order[i], &t);
		text_add(&t, ";");
	}
	text_add(
		&t,
		" none of them can go on before another one does. Another order of the calls, or nonblocking ones, would help.");
	why_found(s->job, f, WHY_CIRCLE, &t, s->circle);
}

static bool is_explained(const struct why_findings *f, const bool *ranks, int n)
{
	for (int i = 0; i < f->n; i++)
		for (int r = 0; r < n; r++)
			if (f->at[i].ranks[r] && ranks[r] &&
			    f->at[i].kind < WHY_CIRCLE)
				return true;
	return false;
}

static void circles(const struct why_job *job, struct why_findings *f)
{
	struct search s = { .job = job };
	int *numbers = malloc(2 * (size_t)job->n * sizeof(*numbers));

	if (!numbers)
		return;
	s.from = numbers;
	s.order = numbers + job->n;
	s.left = new_set(job);
	s.circle = new_set(job);
	for (int i = 0; i < job->n; i++) {
		for (int r = 0; r < job->n; r++)
			s.from[r] = -1;
		memset(s.circle, 0, (size_t)job->n * sizeof(*s.circle));
		if (s.left[i] || !find_circle(&s, i))
			continue;
		if (!is_explained(f, s.circle, job->n))
			tell_circle(&s, f);
		for (int r = 0; r < job->n; r++)
			s.left[r] = s.left[r] || s.circle[r];
	}
	free(numbers);
	free(s.left);
	free(s.circle);
}

/* --- ranks that do not answer --- */

static int waiting_for(const struct why_job *job, int rank, bool *who)
{
	int n = 0;

	for (int i = 0; i < job->n; i++) {
		who[i] = why_waits_for(job, i)[rank];
		n += who[i];
	}
	return n;
}

static void tell_stopped(const struct why_job *job, int rank, bool *who, int n,
			 struct why_findings *f)
{
	const struct why_rank *r = &job->rank[rank];
	struct text t = { 0 };

	text_add(&t, "Rank %d (process %d on %s) is stopped %s", rank, r->pid,
		 r->host, r->process == 't' ? "by a debugger" : "by a signal");
	if (n) {
		text_add(&t, ", and ");
		text_ranks(&t, who, job->n);
		text_add(&t, n == 1 ? " waits for it" : " wait for it");
	}
	if (r->process == 't')
		text_add(&t, ". Have the debugger continue it.");
	else
		text_add(&t, ". `kill -CONT %d` on that host lets it go on.",
			 r->pid);
	who[rank] = true;
	why_found(job, f, WHY_PEER_STOPPED, &t, who);
}

static void tell_ended(const struct why_job *job, int rank, bool *who, int n,
		       struct why_findings *f)
{
	struct text t = { 0 };

	if (!n)
		return;
	text_ranks(&t, who, job->n);
	t.at[0] = 'R';
	text_add(&t,
		 n == 1 ? " waits for rank %d, which " :
			  " wait for rank %d, which ",
		 rank);
	text_does(&t, job, rank, false);
	text_add(&t, ". What it has not sent will not come.");
	who[rank] = true;
	why_found(job, f, WHY_PEER_ENDED, &t, who);
}

static bool is_over(const struct why_rank *r)
{
	return r->does == WHY_ENDED ||
	       (r->has_page && r->page.phase == O2G_PHASE_OVER);
}

static void silent_ranks(const struct why_job *job, struct why_findings *f)
{
	bool *who = new_set(job);

	for (int i = 0; i < job->n; i++) {
		const struct why_rank *r = &job->rank[i];
		int n;

		if (r->does != WHY_STOPPED && !is_over(r))
			continue;
		n = waiting_for(job, i, who);
		if (r->does == WHY_STOPPED)
			tell_stopped(job, i, who, n, f);
		else
			tell_ended(job, i, who, n, f);
	}
	free(who);
}

/* --- ranks that others wait for --- */

static bool runs(const struct why_rank *r)
{
	return r->does == WHY_COMPUTES || r->does == WHY_SLEEPS ||
	       r->does == WHY_NOT_YET;
}

static bool is_about(const struct why_findings *f, int rank)
{
	for (int i = 0; i < f->n; i++)
		if (f->at[i].ranks[rank])
			return true;
	return false;
}

static void running_ranks(const struct why_job *job, struct why_findings *f)
{
	bool *who = new_set(job);

	for (int i = 0; i < job->n; i++) {
		struct text t = { 0 };
		int n;

		if (!runs(&job->rank[i]) || is_about(f, i))
			continue;
		n = waiting_for(job, i, who);
		if (!n)
			continue;
		text_ranks(&t, who, job->n);
		t.at[0] = 'R';
		text_add(&t,
			 n == 1 ? " waits for rank %d, which " :
				  " wait for rank %d, which ",
			 i);
		text_does(&t, job, i, false);
		text_add(&t, ".");
		who[i] = true;
		why_found(job, f, WHY_IS_WAITED_FOR, &t, who);
	}
	free(who);
}

/* --- receives from anybody --- */

static bool may_yet_send(const struct why_rank *r)
{
	return !is_over(r) && r->does != WHY_WAITS && r->does != WHY_POLLS;
}

static bool takes_any(const struct why_rank *r)
{
	const struct o2g_state_wait *w = why_wait_of(r);

	if (r->does == WHY_POLLS)
		return r->page.poll.peer == O2G_STATE_ANY;
	for (int i = 0; r->does == WHY_WAITS && w && i < w->parts; i++)
		if (w->part[i].peer == O2G_STATE_ANY &&
		    w->part[i].moved != O2G_MOVED_PARTLY)
			return true;
	return false;
}

/* When everybody waits, nobody sends what a receive from anybody waits for. */
static void receives_from_any(const struct why_job *job, struct why_findings *f)
{
	bool *who = new_set(job);
	struct text t = { 0 };
	int n = 0;

	for (int i = 0; i < job->n; i++) {
		if (may_yet_send(&job->rank[i])) {
			free(who);
			return;
		}
		who[i] = takes_any(&job->rank[i]) && !is_about(f, i);
		n += who[i];
	}
	if (n) {
		text_ranks(&t, who, job->n);
		t.at[0] = 'R';
		text_add(
			&t,
			"%s for a message from any rank, but every other rank waits as well, or has ended: nobody is left who could send it.",
			n == 1 ? " waits" : " wait");
		why_found(job, f, WHY_NOBODY_SENDS, &t, who);
	}
	free(who);
}

/* --- partitions --- */

static const struct o2g_state_part *unmarked(const struct why_rank *r)
{
	const struct o2g_state_wait *w = why_wait_of(r);

	for (int i = 0; r->does == WHY_WAITS && w && i < w->parts; i++)
		if (w->part[i].doing == O2G_PART_READY)
			return &w->part[i];
	return NULL;
}

/* Who waits for partitions waits for a rank that waits for itself. */
static void partitions(const struct why_job *job, struct why_findings *f)
{
	bool *who = new_set(job);

	for (int i = 0; i < job->n; i++) {
		struct text t = { 0 };
		int n;

		if (!unmarked(&job->rank[i]))
			continue;
		n = waiting_for(job, i, who);
		text_add(&t, "Rank %d ", i);
		text_does(&t, job, i, false);
		text_add(
			&t,
			": unless another thread of it does that, it waits for ever");
		if (n) {
			text_add(&t, ", and ");
			text_ranks(&t, who, job->n);
			text_add(&t, n == 1 ? " waits for it" : " wait for it");
		}
		text_add(&t, ".");
		who[i] = true;
		why_found(job, f, WHY_NOT_READY, &t, who);
	}
	free(who);
}

void why_explain(struct why_job *job, struct why_findings *f)
{
	find_all(job);
	why_messages(job, f);
	why_collectives(job, f);
	silent_ranks(job, f);
	partitions(job, f);
	circles(job, f);
	why_not_received(job, f);
	why_not_entered(job, f);
	receives_from_any(job, f);
	running_ranks(job, f);
}
