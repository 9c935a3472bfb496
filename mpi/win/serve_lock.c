/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Batches, and the locks that they begin and end with. The owner draws the number of
 * an origin on another host. Until it comes, the batch waits, and so does all
 * that the same origin sends behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "win/serve.h"

static struct win_line *line_of(struct mpii_win *w)
{
	return w->peers[w->rank].line;
}

static void reply(struct mpii_win *w, const struct win_served *s, uint32_t seq,
		  int error, const struct win_bytes *results)
{
	struct win_reply_head head = { seq, error };
	struct o2g_seg segs[] = { { &head, sizeof(head) },
				  { results->data, results->used } };

	/* If it is lost nobody waits for it. */
	o2g_call(mpii.ep, mpii_comm_peer(w->comm, s->rank),
		 win_tag(w->comm->context, WIN_MSG_REPLY), segs,
		 error || !results->used ? 1 : 2);
}

/* The lock is held, if one is needed. */
static void run(struct mpii_win *w, struct win_served *s, const char *data,
		size_t len)
{
	struct win_batch_head head;
	struct win_bytes results = { NULL, 0, 0 };
	int error;

	memcpy(&head, data, sizeof(head));
	win_line_begins(line_of(w));
	error = win_serve_ops(w, s, data + sizeof(head), len - sizeof(head),
			      head.nops, &results);
	win_line_ends(line_of(w));
	s->error = s->error ? s->error : error;
	if (head.unlock)
		win_line_leave(line_of(w), head.unlock);
	if (head.flags & WIN_BATCH_COMPLETE)
		atomic_fetch_add(&line_of(w)->completed, 1);
	if (head.unlock || head.flags & WIN_BATCH_COMPLETE)
		win_wake(w);
	if (head.flags & WIN_BATCH_REPLY) {
		reply(w, s, head.seq, s->error, &results);
		s->error = MPI_SUCCESS;
	}
	free(results.data);
}

/* We begin or end to wait for somebody. Begun before the look: see line.c. */
static void count(struct win_served *s, int n)
{
	atomic_fetch_add(&s->turn.l->waiting, n);
	if (s->turn.kind == WIN_LOCK_JOIN)
		atomic_fetch_add(&s->turn.l->joiners, n);
}

/* True: the lock is its own. */
static bool enter(struct mpii_win *w, struct win_served *s)
{
	s->waits = !win_line_enter(&s->turn);
	if (s->waits)
		return false;
	count(s, -1);
	if (s->turn.kind == WIN_LOCK_SHARED && win_line_awaited(s->turn.l))
		win_wake(w);
	return true;
}

/* Does the batch have its lock, or need none? If not its turn will come. */
static bool may_run(struct mpii_win *w, struct win_served *s, const char *data)
{
	struct win_batch_head head;

	memcpy(&head, data, sizeof(head));
	if (head.lock == WIN_LOCK_NONE)
		return true;
	s->turn = win_turn(line_of(w), head.lock);
	count(s, 1);
	return enter(w, s);
}

static void queue(struct win_served *s, const void *data, size_t len)
{
	struct win_queued *q = malloc(sizeof(*q) + len);

	if (!q)
		abort(); /* an unlock that is lost would hang the job */
	q->next = NULL;
	q->len = len;
	memcpy(q->data, data, len);
	*s->last = q;
	s->last = &q->next;
}

/* The first has its lock; those behind it may want one as well. */
static void drain(struct mpii_win *w, struct win_served *s)
{
	struct win_queued *q = s->first;

	run(w, s, q->data, q->len);
	while ((s->first = q->next)) {
		free(q);
		q = s->first;
		if (!may_run(w, s, q->data))
			return;
		run(w, s, q->data, q->len);
	}
	s->last = &s->first;
	free(q);
}

/* Whose turn has come? True: somebody's. */
static bool look(struct mpii_win *w)
{
	bool found = false;

	for (struct win_served *s = w->served; s; s = s->next) {
		if (!s->waits || !enter(w, s))
			continue;
		drain(w, s);
		found = true;
	}
	return found;
}

void win_serve_lock(struct mpii_win *w)
{
	while (look(w))
		;
}

void win_serve_batch(struct mpii_win *w, struct win_served *s, const void *data,
		     size_t len)
{
	if (len < sizeof(struct win_batch_head))
		return;
	if (s->waits || !may_run(w, s, data)) {
		queue(s, data, len);
		return;
	}
	run(w, s, data, len);
	win_serve_lock(w);
}
