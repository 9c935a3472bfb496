/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Collectives. The calls of a communicator are numbered, at every member alike, so
 * it can be seen who has not come to a call, who has left it, and whose call
 * of that number was another one. The latest few are known by name and root.
 */
#include "why.h"

#include <stdlib.h>
#include <string.h>

/* Which call: that of a rank that waits in it. */
struct call {
	const struct why_job *job;
	int rank; /* the first who waits in it */
	const struct o2g_state_comm *comm;
	const struct o2g_state_wait *wait;
	bool numbered; /* its number means something at other ranks */
};

/* One member's view of it. */
enum part {
	NO_MEMBER,
	NOT_YET, /* it has not come to this call */
	INSIDE,
	PASSED,
};

struct view {
	enum part part;
	const char *name; /* of its call of that number, or NULL */
	int root;
};

static bool call_of(const struct why_job *job, int rank, struct call *c)
{
	const struct why_rank *r = &job->rank[rank];

	c->job = job;
	c->rank = rank;
	c->wait = why_wait_of(r);
	if (r->does != WHY_WAITS || !c->wait || !c->wait->collective)
		return false;
	c->comm = why_comm(r, c->wait->context);
	c->numbered = c->wait->collective == 1;
	return c->comm && !c->comm->remote_size;
}

static void look_in_notes(const struct call *c, const struct o2g_state_comm *m,
			  struct view *v)
{
	const struct o2g_state_note *n =
		&m->note[c->wait->seq % O2G_STATE_NOTES];

	if (m->colls <= c->wait->seq ||
	    m->colls - c->wait->seq > O2G_STATE_NOTES || !n->call[0])
		return;
	v->name = n->call;
	v->root = n->root;
}

/* A call whose number says nothing: who is in the same one is inside. */
static void view_unnumbered(const struct call *c, int rank, struct view *v)
{
	const struct o2g_state_wait *w = why_wait_of(&c->job->rank[rank]);

	v->part = NOT_YET;
	if (w && w->collective == 2 && w->context == c->wait->context &&
	    !strcmp(w->call, c->wait->call))
		v->part = INSIDE;
}

static struct view view_of(const struct call *c, int rank)
{
	const struct why_rank *r = &c->job->rank[rank];
	const struct o2g_state_comm *m = why_comm(r, c->comm->context);
	const struct o2g_state_wait *w = why_wait_of(r);
	struct view v = { NO_MEMBER, NULL, 0 };

	if (!m || m->first != c->comm->first || m->size != c->comm->size)
		return v;
	if (!c->numbered) {
		view_unnumbered(c, rank, &v);
		return v;
	}
	look_in_notes(c, m, &v);
	if (w && w->collective == 1 && w->context == c->wait->context &&
	    w->seq == c->wait->seq)
		v.part = INSIDE;
	else
		v.part = m->colls <= c->wait->seq ? NOT_YET : PASSED;
	return v;
}

int why_missing(const struct why_job *job, int rank, bool *missing)
{
	struct call c;
	int n = 0;

	if (!call_of(job, rank, &c))
		return 0;
	for (int i = 0; i < job->n; i++) {
		if (view_of(&c, i).part != NOT_YET || i == rank)
			continue;
		missing[i] = true;
		n++;
	}
	return n;
}

/* --- what does not go together --- */

static bool has_root(const char *name)
{
	static const char *const rooted[] = {
		"Bcast",   "Reduce",   "Gather",   "Gatherv",
		"Scatter", "Scatterv", "Ibcast",   "Ireduce",
		"Igather", "Igatherv", "Iscatter", "Iscatterv"
	};
	size_t n;

	if (strncmp(name, "MPI_", 4))
		return false;
	name += 4;
	n = strlen(name);
	if (n > 2 && !strcmp(name + n - 2, "_c"))
		n -= 2;
	for (size_t i = 0; i < sizeof(rooted) / sizeof(*rooted); i++)
		if (strlen(rooted[i]) == n && !strncmp(name, rooted[i], n))
			return true;
	return false;
}

/* Blocking, or of large counts: the same collective, as far as others see. */
static bool same_name(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	if (n > 2 && !strcmp(a + n - 2, "_c"))
		n -= 2;
	if (m > 2 && !strcmp(b + m - 2, "_c"))
		m -= 2;
	return n == m && !strncmp(a, b, n);
}

/* Members whose call is the same as that of @like; the others' are left. */
static void take_alike(const struct call *c, const struct view *like,
		       bool by_root, bool *left, bool *alike)
{
	for (int i = 0; i < c->job->n; i++) {
		struct view v = view_of(c, i);

		alike[i] = left[i] && v.name &&
			   (by_root ? v.root == like->root :
				      same_name(v.name, like->name));
		if (alike[i])
			left[i] = false;
	}
}

static void add_place(const struct call *c, int rank, struct text *t)
{
	const struct o2g_state_wait *w = why_wait_of(&c->job->rank[rank]);

	if (w && w->collective == 1 && w->context == c->wait->context &&
	    w->seq == c->wait->seq)
		text_add(t, " at %s", why_where(&c->job->rank[rank], w));
}

static void add_kinds(const struct call *c, bool by_root, struct text *t,
		      bool *left)
{
	bool *alike = calloc((size_t)c->job->n, sizeof(*alike));
	bool first = true;

	for (int i = 0; alike && i < c->job->n; i++) {
		struct view v = view_of(c, i);

		if (!left[i] || !v.name)
			continue;
		take_alike(c, &v, by_root, left, alike);
		text_add(t, first ? " " : ", ");
		first = false;
		text_ranks(t, alike, c->job->n);
		if (by_root)
			text_add(t, " gave root %d", v.root);
		else
			text_add(t, " called %s", v.name);
		add_place(c, i, t);
	}
	free(alike);
}

static void tell_difference(const struct call *c, bool by_root,
			    const bool *members, struct why_findings *f)
{
	bool *left = malloc((size_t)c->job->n * sizeof(*left));
	struct text t = { 0 };

	if (!left)
		return;
	memcpy(left, members, (size_t)c->job->n * sizeof(*left));
	if (by_root) {
		text_add(&t, "The ranks disagree about the root of an %s on ",
			 view_of(c, c->rank).name);
		text_comm(&t, c->comm);
	} else {
		text_add(&t, "The ranks call different collectives on ");
		text_comm(&t, c->comm);
	}
	text_add(&t, ", in the ");
	text_nth(&t, c->wait->seq + 1);
	text_add(&t, " collective call there:");
	add_kinds(c, by_root, &t, left);
	text_add(
		&t,
		by_root ?
			". All of them have to give the same root." :
			". All ranks of a communicator have to call the same collectives in the same order.");
	why_found(c->job, f, by_root ? WHY_WRONG_ROOT : WHY_OTHER_COLLECTIVE,
		  &t, members);
	free(left);
}

static void differences(const struct call *c, struct why_findings *f)
{
	bool *members = calloc((size_t)c->job->n, sizeof(*members));
	struct view mine = view_of(c, c->rank);
	bool names = false, roots = false;

	for (int i = 0; members && mine.name && i < c->job->n; i++) {
		struct view v = view_of(c, i);

		if (!v.name)
			continue;
		members[i] = true;
		if (!same_name(v.name, mine.name))
			names = true;
		else if (has_root(mine.name) && v.root != mine.root)
			roots = true;
	}
	if (names || roots)
		tell_difference(c, !names, members, f);
	free(members);
}

/* --- who has not come --- */

static void add_who_misses(const struct call *c, const bool *missing,
			   struct text *t)
{
	int shown = 0;

	for (int i = 0; i < c->job->n; i++) {
		if (!missing[i])
			continue;
		if (shown++ == 4) {
			text_add(t, " ...");
			return;
		}
		text_add(t, "%s rank %d ", shown > 1 ? ";" : ":", i);
		text_does(t, c->job, i, false);
	}
}

/* Then that they are missing is but a consequence. */
static bool all_explained(const struct why_findings *f, const bool *ranks,
			  int n)
{
	for (int r = 0; r < n; r++) {
		bool explained = !ranks[r];

		for (int i = 0; i < f->n && !explained; i++)
			explained = f->at[i].ranks[r];
		if (!explained)
			return false;
	}
	return true;
}

static void tell_missing(const struct call *c, struct why_findings *f)
{
	int n = c->job->n, count = 0;
	bool *missing = calloc(2 * (size_t)n, sizeof(*missing)), *inside;
	bool runs = false;
	struct text t = { 0 };

	if (!missing || !why_missing(c->job, c->rank, missing) ||
	    all_explained(f, missing, n)) {
		free(missing);
		return;
	}
	inside = missing + n;
	for (int i = 0; i < n; i++) {
		inside[i] = view_of(c, i).part == INSIDE;
		count += inside[i];
	}
	text_ranks(&t, inside, n);
	t.at[0] = 'R';
	text_add(&t, count == 1 ? " waits in " : " wait in ");
	text_call(&t, &c->job->rank[c->rank], c->wait);
	text_add(&t, " on ");
	text_comm(&t, c->comm);
	text_add(&t, " for ");
	text_ranks(&t, missing, n);
	text_add(&t, ", which %s not called it",
		 why_missing(c->job, c->rank, missing) == 1 ? "has" : "have");
	add_who_misses(c, missing, &t);
	text_add(&t, ".");
	for (int i = 0; i < n; i++) {
		runs = runs || (missing[i] && why_runs(&c->job->rank[i]));
		inside[i] = inside[i] || missing[i];
	}
	why_found(c->job, f, runs ? WHY_IS_WAITED_FOR : WHY_MISSING, &t,
		  inside);
	free(missing);
}

/* Only the first who waits in a call speaks for it. */
static bool is_first(const struct call *c)
{
	for (int i = 0; i < c->rank; i++) {
		struct call other;

		if (call_of(c->job, i, &other) &&
		    other.comm->context == c->comm->context &&
		    other.comm->first == c->comm->first &&
		    other.wait->seq == c->wait->seq &&
		    other.wait->collective == c->wait->collective &&
		    (c->numbered || !strcmp(other.wait->call, c->wait->call)))
			return false;
	}
	return true;
}

void why_collectives(const struct why_job *job, struct why_findings *f)
{
	for (int i = 0; i < job->n; i++) {
		struct call c;

		if (call_of(job, i, &c) && c.numbered && is_first(&c))
			differences(&c, f);
	}
}

void why_not_entered(const struct why_job *job, struct why_findings *f)
{
	for (int i = 0; i < job->n; i++) {
		struct call c;

		if (call_of(job, i, &c) && is_first(&c))
			tell_missing(&c, f);
	}
}
