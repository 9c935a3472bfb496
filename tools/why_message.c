/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Messages that do not go together: a receive that waits beside a message from
 * the same rank with another tag, or on another communicator; sends that nobody
 * asks for.
 */
#include "why.h"

#include <stdlib.h>

#define OF_PROGRAM 0 /* enum mpii_context */

/* What a rank wants to receive: by a call that waits or by one that looks. */
struct want {
	int rank, source, tag;
	uint32_t context;
};

static bool is_from(const struct want *w, const struct o2g_state_message *m)
{
	return m->kind == OF_PROGRAM &&
	       (w->source == O2G_STATE_ANY || w->source == m->source);
}

static bool is_tag(const struct want *w, const struct o2g_state_message *m)
{
	return w->tag == O2G_STATE_ANY || w->tag == m->tag;
}

/* The message that is meant, most likely: the oldest that differs in one thing. */
static const struct o2g_state_message *
near_miss(const struct o2g_state *s, const struct want *w, bool same_comm)
{
	for (uint32_t i = 0; i < s->messages; i++) {
		const struct o2g_state_message *m = &s->message[i];

		if (!is_from(w, m) || (m->context == w->context) != same_comm)
			continue;
		if (same_comm ? !is_tag(w, m) : is_tag(w, m))
			return m;
	}
	return NULL;
}

static void tell_miss(const struct why_job *job, const struct want *w,
		      const struct o2g_state_message *m, bool tag,
		      struct why_findings *f)
{
	bool *who = calloc((size_t)job->n, sizeof(*who));
	struct text t = { 0 };

	if (!who)
		return;
	text_add(&t, "Rank %d ", w->rank);
	text_does(&t, job, w->rank, false);
	text_add(&t, ". A message has come from rank %d, but with tag %d on ",
		 m->source, m->tag);
	text_comm(&t, why_comm(&job->rank[w->rank], m->context));
	text_add(&t, tag ? ": the tags of the two calls differ." :
			   ": the two calls use different communicators.");
	who[w->rank] = true;
	why_found(job, f, tag ? WHY_WRONG_TAG : WHY_WRONG_COMM, &t, who);
	free(who);
}

/* True: something was found. */
static bool look_for(const struct why_job *job, const struct want *w,
		     struct why_findings *f)
{
	const struct o2g_state *s = &job->rank[w->rank].page;
	const struct o2g_state_message *m = near_miss(s, w, true);
	bool tag = m;

	if (!m)
		m = near_miss(s, w, false);
	if (!m)
		return false;
	tell_miss(job, w, m, tag, f);
	return true;
}

static void waits(const struct why_job *job, int rank, struct why_findings *f)
{
	const struct o2g_state_wait *w = why_wait_of(&job->rank[rank]);

	for (int i = 0; w && i < w->parts; i++) {
		const struct o2g_state_part *p = &w->part[i];
		struct want want = { rank, p->peer, p->tag, p->context };

		if ((p->doing == O2G_PART_RECV || p->doing == O2G_PART_PROBE) &&
		    p->kind == OF_PROGRAM && p->moved == O2G_MOVED_NOT &&
		    look_for(job, &want, f))
			return;
	}
}

static void polls(const struct why_job *job, int rank, struct why_findings *f)
{
	const struct o2g_state_poll *p = &job->rank[rank].page.poll;
	struct want want = { rank, p->peer, p->tag, p->context };

	if (p->doing == O2G_PART_RECV || p->doing == O2G_PART_PROBE)
		look_for(job, &want, f);
}

/* --- sends --- */

static const struct o2g_state_part *held_send(const struct why_rank *r,
					      enum o2g_state_moved how)
{
	const struct o2g_state_wait *w = why_wait_of(r);

	for (int i = 0; w && i < w->parts; i++)
		if (w->part[i].doing == O2G_PART_SEND &&
		    w->part[i].moved == how)
			return &w->part[i];
	return NULL;
}

static void tell_no_memory(const struct why_job *job, int rank,
			   const struct o2g_state_part *p,
			   struct why_findings *f)
{
	const struct why_rank *to = &job->rank[p->peer];
	bool *who = calloc((size_t)job->n, sizeof(*who));
	struct text t = { 0 };

	if (!who)
		return;
	text_add(&t, "Rank %d ", rank);
	text_does(&t, job, rank, false);
	text_add(&t, ". %llu messages, which take ",
		 (unsigned long long)to->page.messages_all);
	text_bytes(&t, to->page.messages_bytes);
	text_add(
		&t,
		" of memory, lie at rank %d and nobody there has asked for them; rank %d ",
		p->peer, p->peer);
	text_does(&t, job, p->peer, false);
	text_add(&t,
		 ". Receive them, or give it more memory (O2G_UNEXPECTED).");
	who[rank] = who[p->peer] = true;
	why_found(job, f, WHY_NO_MEMORY, &t, who);
	free(who);
}

static bool waits_or_is_over(const struct why_rank *r)
{
	return r->does == WHY_WAITS || r->does == WHY_POLLS ||
	       r->does == WHY_ENDED;
}

/* The other side waits for something else, so nobody will take it. */
static void tell_not_received(const struct why_job *job, int rank,
			      const struct o2g_state_part *p,
			      struct why_findings *f)
{
	bool *who = calloc((size_t)job->n, sizeof(*who));
	struct text t = { 0 };

	if (!who)
		return;
	text_add(&t, "Rank %d ", rank);
	text_does(&t, job, rank, false);
	text_add(
		&t,
		". A send of this size, or a synchronous one, ends only when it is received; rank %d ",
		p->peer);
	text_does(&t, job, p->peer, false);
	text_add(&t, ".");
	who[rank] = true;
	why_found(job, f, WHY_NOT_RECEIVED, &t, who);
	free(who);
}

static bool known_about(const struct why_findings *f, int rank)
{
	for (int i = 0; i < f->n; i++)
		if (f->at[i].ranks[rank])
			return true;
	return false;
}

static void sends(const struct why_job *job, int rank, struct why_findings *f)
{
	const struct why_rank *r = &job->rank[rank];
	const struct o2g_state_part *p = held_send(r, O2G_MOVED_ASKED);

	if (p && p->kind == OF_PROGRAM && p->peer >= 0 && p->peer < job->n &&
	    waits_or_is_over(&job->rank[p->peer]) && !known_about(f, p->peer) &&
	    !known_about(f, rank))
		tell_not_received(job, rank, p, f);
}

void why_not_received(const struct why_job *job, struct why_findings *f)
{
	for (int i = 0; i < job->n; i++)
		if (job->rank[i].does == WHY_WAITS)
			sends(job, i, f);
}

static void no_memory(const struct why_job *job, int rank,
		      struct why_findings *f)
{
	const struct o2g_state_part *p =
		held_send(&job->rank[rank], O2G_MOVED_NO_ROOM);

	if (p && p->peer >= 0 && p->peer < job->n)
		tell_no_memory(job, rank, p, f);
}

void why_messages(const struct why_job *job, struct why_findings *f)
{
	for (int i = 0; i < job->n; i++) {
		if (job->rank[i].does == WHY_WAITS) {
			waits(job, i, f);
			no_memory(job, i, f);
		} else if (job->rank[i].does == WHY_POLLS) {
			polls(job, i, f);
		}
	}
}
