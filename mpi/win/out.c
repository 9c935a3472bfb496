/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Batches: made, sent, answered. See wire.h. */
#include "win/out.h"

#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "pt2pt/transfer.h"
#include "win/remote.h"

/* --- the object --- */

static struct win_out *create(struct mpii_win *w, int rank)
{
	struct win_out *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->refs = 1;
	o->rank = rank;
	o->last = &o->first;
	o->used = sizeof(struct win_batch_head);
	pthread_mutex_init(&o->lock, NULL);
	return o;
}

/* Only the program's threads make them; handlers find them there. */
struct win_out *win_out_get(struct mpii_win *w, int rank)
{
	struct win_peer *p = &w->peers[rank];
	struct win_out *o = win_out_of(p);

	if (mpii_likely(o))
		return o;
	pthread_mutex_lock(&w->owner);
	o = p->out;
	if (!o && (o = create(w, rank))) {
		o->next = w->outs;
		__atomic_store_n(&w->outs, o, __ATOMIC_RELEASE);
		__atomic_store_n(&p->out, o, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&w->owner);
	return o;
}

static void drop_results(const struct win_result *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		mpii_type_put(r[i].t);
}

void win_out_put(struct win_out *o)
{
	struct win_asked *a;

	if (atomic_fetch_sub(&o->refs, 1) > 1)
		return;
	while ((a = o->first)) {
		o->first = a->next;
		drop_results(a->results, a->n);
		free(a);
	}
	drop_results(o->results, o->nresults);
	for (int i = 0; i < WIN_LAYOUTS; i++)
		if (o->layouts[i])
			mpii_type_put(o->layouts[i]);
	pthread_mutex_destroy(&o->lock);
	free(o->results);
	free(o->batch);
	free(o);
}

void win_out_free(struct mpii_win *w)
{
	struct win_out *o;

	while ((o = w->outs)) {
		w->outs = o->next;
		win_out_put(o);
	}
}

/* --- a batch is made --- */

static bool make_room(struct win_out *o, size_t bytes)
{
	size_t room = o->room ? o->room : 256;
	char *p;

	while (room < o->used + bytes)
		room *= 2;
	if (room == o->room)
		return true;
	p = realloc(o->batch, room);
	if (!p)
		return false;
	o->batch = p;
	o->room = room;
	return true;
}

char *win_out_room(struct mpii_win *w, struct win_out *o, uint64_t bytes)
{
	char *at;

	if (o->nops &&
	    (o->used + bytes > WIN_OUT_FULL || o->fetched > WIN_OUT_FULL) &&
	    win_out_send(w, o, 0))
		return NULL;
	if (!make_room(o, bytes)) {
		mpii_fail(MPI_ERR_NO_MEM, "out of memory");
		return NULL;
	}
	at = o->batch + o->used;
	o->used += bytes;
	o->nops++;
	return at;
}

struct win_wire_op *win_out_add(struct mpii_win *w, struct win_out *o,
				uint64_t data)
{
	struct win_wire_op *op = (struct win_wire_op *)win_out_room(
		w, o, sizeof(*op) + win_padded(data));

	if (!op)
		return NULL;
	memset(op, 0, sizeof(*op));
	op->data = data;
	return op;
}

bool win_out_add_result(struct win_out *o, const struct win_result *r)
{
	unsigned room = o->results_room ? 2 * o->results_room : 4;
	struct win_result *p;

	if (o->nresults == o->results_room) {
		p = realloc(o->results, room * sizeof(*p));
		if (!p) {
			mpii_fail(MPI_ERR_NO_MEM, "out of memory");
			return false;
		}
		o->results = p;
		o->results_room = room;
	}
	mpii_type_hold(r->t);
	o->results[o->nresults++] = *r;
	o->fetched += (uint64_t)r->bytes;
	return true;
}

static uint32_t known_layout(const struct win_out *o, const struct mpii_type *t)
{
	for (uint32_t i = 0; i < WIN_LAYOUTS; i++)
		if (o->layouts[i] == t)
			return i + 1;
	return 0;
}

uint32_t win_out_layout(struct mpii_win *w, struct win_out *o,
			struct mpii_type *t)
{
	uint32_t number = known_layout(o, t);
	struct win_wire_op *op;

	if (number)
		return number;
	op = win_out_add(w, o, win_layout_bytes(t));
	if (!op)
		return 0;
	number = o->next_layout++ % WIN_LAYOUTS + 1;
	op->kind = WIN_WIRE_LAYOUT;
	op->layout = number;
	win_layout_write(t, (char *)(op + 1));
	if (o->layouts[number - 1])
		mpii_type_put(o->layouts[number - 1]);
	mpii_type_hold(t);
	o->layouts[number - 1] = t;
	return number;
}

/* --- it is sent --- */

/* The lock that this batch has to ask for; from now on it is asked for. */
static uint8_t lock_wanted(struct mpii_win *w, struct win_peer *p)
{
	if (p->held == WIN_WANTED) {
		p->held = WIN_LOCKED;
		return p->lock;
	}
	if (w->access == WIN_LOCK_ALL && !w->unchecked && !p->line && !p->all) {
		p->all = true;
		return WIN_LOCK_JOIN;
	}
	return WIN_LOCK_NONE;
}

static uint8_t lock_to_leave(const struct win_peer *p)
{
	if (p->line)
		return WIN_LOCK_NONE;
	if (p->all)
		return WIN_LOCK_JOIN;
	return p->held == WIN_LOCKED ? p->lock : WIN_LOCK_NONE;
}

static bool expect_reply(struct win_out *o)
{
	struct win_asked *a =
		malloc(sizeof(*a) + o->nresults * sizeof(*a->results));

	if (!a)
		return false;
	a->next = NULL;
	a->seq = o->seq;
	a->n = o->nresults;
	a->request = NULL;
	if (a->n)
		memcpy(a->results, o->results, a->n * sizeof(*a->results));
	*o->last = a;
	o->last = &a->next;
	atomic_fetch_add(&o->pending, 1);
	return true;
}

static void begin_anew(struct win_out *o)
{
	o->used = sizeof(struct win_batch_head);
	o->nops = 0;
	o->nresults = 0;
	o->fetched = 0;
}

int win_out_send(struct mpii_win *w, struct win_out *o, unsigned flags)
{
	struct win_peer *p = &w->peers[o->rank];
	struct win_batch_head head = { .seq = ++o->seq, .nops = o->nops };
	struct o2g_seg seg;
	int err;

	/* One without operations may only be about those of earlier epochs. */
	if (o->nops || flags & WIN_OUT_LOCK)
		head.lock = lock_wanted(w, p);
	if (head.lock)
		o->locked = o->seq;
	if (flags & WIN_BATCH_UNLOCK)
		head.unlock = lock_to_leave(p);
	if (o->nresults)
		flags |= WIN_BATCH_REPLY;
	head.flags = (uint8_t)(flags & ~WIN_OUT_LOCK);
	if (!make_room(o, 0) || (flags & WIN_BATCH_REPLY && !expect_reply(o)))
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	memcpy(o->batch, &head, sizeof(head));
	seg = (struct o2g_seg){ o->batch, o->used };
	__atomic_fetch_add(&o->flying, o->used + o->fetched, __ATOMIC_RELAXED);
	o->unanswered = !(flags & WIN_BATCH_REPLY);
	begin_anew(o);
	err = o2g_call(mpii.ep, mpii_comm_peer(w->comm, o->rank),
		       win_tag(w->comm->context, WIN_MSG_BATCH), &seg, 1);
	return err ? mpii_call_error(w->comm, o->rank, err) : MPI_SUCCESS;
}

void win_out_answers(struct win_out *o, atomic_int *error, bool alone)
{
	struct win_asked *a = o->first;

	while (a && a->seq != o->seq)
		a = a->next;
	if (!a)
		return;
	a->request = error;
	a->alone = alone;
}

void win_out_forget(struct win_out *o, const atomic_int *error)
{
	for (struct win_asked *a = o->first; a; a = a->next)
		if (a->request == error)
			a->request = NULL;
}

/* --- it is answered --- */

/* Whoever waits for just that is told, else who completes all. */
static void blame(struct win_out *o, const struct win_asked *a, int error)
{
	if (a->request)
		atomic_store(a->request, error);
	if (!a->request || !a->alone)
		atomic_store(&o->error, error);
}

static void deliver(const struct win_asked *a, const char *from, size_t len)
{
	for (unsigned i = 0; i < a->n; i++) {
		const struct win_result *r = &a->results[i];

		if ((size_t)r->bytes > len)
			return;
		mpii_unpack(r->t, r->buf, r->count, r->off, from,
			    (size_t)r->bytes);
		from += r->bytes;
		len -= (size_t)r->bytes;
	}
}

void win_out_reply(struct mpii_win *w, int rank, const void *data, size_t len)
{
	struct win_out *o =
		__atomic_load_n(&w->peers[rank].out, __ATOMIC_ACQUIRE);
	struct win_reply_head head;
	struct win_asked *a;

	if (!o || len < sizeof(head))
		return;
	memcpy(&head, data, sizeof(head));
	pthread_mutex_lock(&o->lock);
	a = o->first;
	if (a && a->seq == head.seq) {
		o->first = a->next;
		if (!o->first)
			o->last = &o->first;
		if (head.error)
			blame(o, a, head.error);
		else
			deliver(a, (const char *)data + sizeof(head),
				len - sizeof(head));
		drop_results(a->results, a->n);
		free(a);
		atomic_store(&o->answered, head.seq);
		atomic_fetch_sub(&o->pending, 1);
	}
	pthread_mutex_unlock(&o->lock);
}
