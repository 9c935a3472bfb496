/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Requests are received into slots. A slot has memory for the longest message; what a
 * client writes is received where pwrite() takes it from, and what it reads is sent from
 * where pread() has put it. There are always some slots posted as receives from any
 * client; one that has got a request is worked on, sent from, and posted again.
 *
 * Of the threads one waits for messages, the leader. With a request it stops being that
 * and does the work itself, so that a lone client costs no switch between threads. Where
 * requests come while others are worked on there is a crowd for a while, and the leader
 * wakes another thread to take its place before it starts. One that comes when the last
 * one is answered, before its thread leads again, is no crowd: a lone client is that quick.
 */
#define _GNU_SOURCE
#include "serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "clock.h"
#include "guests.h"
#include "fsd_log.h"
#include "o2g.h"
#include "ops.h"

#define PAGE 4096
#define LOOK_US 1000000
#define CROWD 256     /* requests after which a crowd is over */
#define SLOTS_EACH 16 /* at most, for each thread */
#define STUCK_NS (30ull * 1000000000u)

struct fsd_slot {
	struct fsd_slot *next; /* ready */
	struct fsd_slot *all;  /* of the door */
	struct fsd_door *door;
	u8 *base; /* a page, then room for data */
	size_t size;
	struct o2g_req *recv;
	struct o2g_status status; /* of that */
	struct fsd_session *s;
	struct fsd_req req;
	enum fsd_begin how;
	const u8 *kept;
	u32 kept_len;
	atomic_ullong sending_ns; /* since when; 0: not */
	int to;
	u8 out[FSD_OUT_ROOM];
};

/* Data of a write starts with the second page. */
static u8 *message_of(const struct fsd_slot *slot)
{
	return slot->base + PAGE - FS_TWRITE_HDR;
}

/* --- slots --- */

static struct fsd_slot *new_slot(struct fsd_door *d)
{
	struct fsd_slot *slot = calloc(1, sizeof(*slot));

	if (!slot)
		return NULL;
	slot->door = d;
	slot->size = PAGE + d->server->limits.msize;
	slot->base = mmap(NULL, slot->size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slot->base == MAP_FAILED) {
		free(slot);
		return NULL;
	}
	return slot;
}

static void free_slot(struct fsd_slot *slot)
{
	munmap(slot->base, slot->size);
	free(slot);
}

static void wake_one(struct fsd_door *d)
{
	if (d->idle)
		pthread_cond_signal(&d->work);
}

/* A message is there, or the receive has failed. By any thread, with libo2g's lock. */
static void received(void *arg)
{
	struct fsd_slot *slot = arg;
	struct fsd_door *d = slot->door;

	o2g_peek_status(slot->recv, &slot->status);
	pthread_mutex_lock(&d->lock);
	slot->next = NULL;
	*d->ready_tail = slot;
	d->ready_tail = &slot->next;
	d->posted--;
	if (!d->leader && atomic_load(&d->at_work)) {
		d->crowd = CROWD;
		wake_one(d);
	}
	pthread_mutex_unlock(&d->lock);
}

/* Also from callbacks. What cannot be posted is lost to us, not to clients. */
static void post(struct fsd_slot *slot)
{
	struct fsd_door *d = slot->door;
	struct o2g_seg seg = { message_of(slot), d->server->limits.msize };
	struct o2g_req *req;
	int err;

	pthread_mutex_lock(&d->lock);
	d->posted++;
	pthread_mutex_unlock(&d->lock);
	err = o2g_irecv(d->ep, O2G_ANY_SOURCE, 0, ~0ull, &seg, 1, &slot->recv);
	if (err) {
		pthread_mutex_lock(&d->lock);
		d->posted--;
		pthread_mutex_unlock(&d->lock);
		fsd_error("cannot receive: %s", o2g_strerror(err));
		return;
	}
	req = slot->recv; /* the slot may be at work before we are back */
	o2g_on_done(req, received, slot);
	o2g_detach(req);
}

static void add_slots(struct fsd_door *d, unsigned n)
{
	while (n--) {
		struct fsd_slot *slot = new_slot(d);

		if (!slot)
			return;
		pthread_mutex_lock(&d->lock);
		slot->all = d->slots;
		d->slots = slot;
		d->nslots++;
		pthread_mutex_unlock(&d->lock);
		post(slot);
	}
}

/* With the door's lock: are there too few for those who come? */
static bool wants_slots(const struct fsd_door *d)
{
	return d->posted < d->threads && d->nslots < d->threads * SLOTS_EACH;
}

/* --- answers --- */

/* Once for each slot that was taken, before anybody can know that it is answered. */
static void no_longer_at_work(struct fsd_slot *slot)
{
	atomic_fetch_sub(&slot->door->at_work, 1);
}

static void sent(void *arg)
{
	struct fsd_slot *slot = arg;

	atomic_store(&slot->sending_ns, 0);
	if (!__atomic_load_n(&slot->door->stop, __ATOMIC_RELAXED))
		post(slot);
}

/*
 * The slot is posted again when it is sent. The request that is answered by this, if it
 * is one, ends as soon as nothing can overtake the answer.
 */
static void answer(struct fsd_slot *slot, int rank, u64 tag,
		   const struct o2g_seg *segs, unsigned n)
{
	struct fsd_session *s = slot->s;
	struct o2g_req *req = NULL;
	int err = -ENOTCONN;

	no_longer_at_work(slot);
	slot->to = rank;
	atomic_store(&slot->sending_ns, o2g_now_ns());
	if (rank >= 0 && n == 1 && segs[0].len <= FSD_OUT_ROOM)
		err = o2g_inject(slot->door->ep, rank, tag, segs[0].base,
				 segs[0].len);
	if (err && rank >= 0)
		err = o2g_isend(slot->door->ep, rank, tag, segs, n, 0, &req);
	if (s) {
		fsd_request_end(s, &slot->req.run);
		fsd_session_unref(s);
		slot->s = NULL;
	}
	if (err || !req) { /* gone; or small, and on its way */
		if (err && rank >= 0)
			fsd_guest_gone(slot->door, rank);
		sent(slot);
		return;
	}
	o2g_on_done(req, sent, slot);
	o2g_detach(req);
}

static void answer_request(struct fsd_slot *slot, bool keep)
{
	struct fsd_req *r = &slot->req;
	struct o2g_seg segs[2] = { { r->out.buf, r->out.len },
				   { r->data, r->data_len } };
	int rank;

	/* Data is not kept: what is read can be read again. */
	rank = fsd_request_answer(slot->s, &r->run, r->out.buf,
				  (u32)(r->out.len + r->data_len), keep);
	answer(slot, rank, fs_tag_reply(r->run.seq, r->run.tag), segs,
	       r->data_len ? 2 : 1);
}

static void answer_kept(struct fsd_slot *slot)
{
	struct fsd_req *r = &slot->req;
	struct o2g_seg seg = { slot->out, slot->kept_len };
	int rank = fsd_request_answer(slot->s, &r->run, NULL, 0, false);

	answer(slot, rank, fs_tag_reply(r->run.seq, r->run.tag), &seg, 1);
}

/* --- requests --- */

/* It has said what nobody says who means well. */
static void refuse(struct fsd_slot *slot, const char *why)
{
	atomic_fetch_add(&slot->door->server->stats.refused, 1);
	if (fsd_log_allowed())
		fsd_warn("a client is dropped: %s", why);
	fsd_guest_gone(slot->door, slot->status.source);
	no_longer_at_work(slot);
	post(slot);
}

static void hello(struct fsd_slot *slot)
{
	struct fs_welcome w;
	struct o2g_seg seg = { slot->out, sizeof(w) };
	int rank = slot->status.source;

	fsd_guest_hello(slot->door, rank, message_of(slot), slot->status.length,
			&w);
	memcpy(slot->out, &w, sizeof(w));
	answer(slot, rank, FS_TAG_SESSION, &seg, 1);
}

static void request(struct fsd_slot *slot)
{
	struct fsd_req *r = &slot->req;
	bool keep;

	if (slot->how == FSD_BEGIN_DROP) {
		fsd_session_unref(slot->s);
		slot->s = NULL;
		no_longer_at_work(slot);
		post(slot);
		return;
	}
	if (slot->how == FSD_BEGIN_KEPT) {
		answer_kept(slot);
		return;
	}
	r->s = slot->s;
	r->again = slot->how == FSD_BEGIN_AGAIN;
	r->out = (struct p9_out){ slot->out, 0, FSD_OUT_ROOM, false };
	r->data = slot->base + PAGE;
	r->data_room = slot->size - PAGE;
	fsd_dispatch(r, message_of(slot), slot->status.length, &keep);
	answer_request(slot, keep);
}

static void work_on(struct fsd_slot *slot)
{
	const struct o2g_status *st = &slot->status;

	if (st->error == -O2G_ERR_TRUNCATED) {
		refuse(slot, "its message is longer than was agreed on");
	} else if (st->error) {
		no_longer_at_work(slot);
		if (st->error != -O2G_ERR_CANCELLED)
			post(slot);
	} else if (st->tag == FS_TAG_SESSION) {
		hello(slot);
	} else if (slot->s) {
		request(slot);
	} else {
		refuse(slot,
		       "it has not said hello, or says what is no request");
	}
}

/*
 * With the door's lock, in the order in which they came: a request is known to be at
 * work before anybody can take the one that would flush it.
 */
static struct fsd_slot *take(struct fsd_door *d)
{
	struct fsd_slot *slot = d->ready;
	struct fsd_req *r = &slot->req;
	u64 tag = slot->status.tag;

	d->ready = slot->next;
	if (!d->ready)
		d->ready_tail = &d->ready;
	atomic_fetch_add(&d->at_work, 1);
	slot->s = NULL;
	if (slot->status.error || (tag & FS_TAG_KIND) != FS_TAG_REQUEST)
		return slot;
	slot->s = fsd_guest_session(d, slot->status.source);
	if (!slot->s)
		return slot;
	r->run.seq = fs_tag_seq(tag);
	r->run.tag = (u16)tag;
	slot->how = fsd_request_begin(slot->s, &r->run, &slot->kept,
				      &slot->kept_len);
	if (slot->how == FSD_BEGIN_KEPT)
		memcpy(slot->out, slot->kept, slot->kept_len);
	return slot;
}

/* --- threads --- */

/* With libo2g's lock, as received() and lost() are. */
static int something_to_do(void *arg)
{
	struct fsd_door *d = arg;
	int any;

	pthread_mutex_lock(&d->lock);
	any = d->ready || d->nlost || d->stop;
	pthread_mutex_unlock(&d->lock);
	return any;
}

static void lead(struct fsd_door *d)
{
	d->leader = true;
	pthread_mutex_unlock(&d->lock);
	o2g_wait_until(d->ep, something_to_do, d, LOOK_US);
	pthread_mutex_lock(&d->lock);
	d->leader = false;
}

/* With the door's lock, which is let go of meanwhile. */
static void mourn(struct fsd_door *d)
{
	int rank = d->lost[--d->nlost];

	atomic_fetch_add(&d->at_work, 1); /* it may take long */
	pthread_mutex_unlock(&d->lock);
	fsd_guest_gone(d, rank);
	pthread_mutex_lock(&d->lock);
	atomic_fetch_sub(&d->at_work, 1);
}

static void do_next(struct fsd_door *d)
{
	struct fsd_slot *slot = take(d);
	bool more;

	if (d->ready)
		d->crowd = CROWD;
	else if (d->crowd)
		d->crowd--;
	if (d->crowd && !d->leader)
		wake_one(d);
	more = wants_slots(d);
	pthread_mutex_unlock(&d->lock);
	if (more)
		add_slots(d, 1);
	work_on(slot);
	pthread_mutex_lock(&d->lock);
}

static void *worker(void *arg)
{
	struct fsd_door *d = arg;

	pthread_mutex_lock(&d->lock);
	while (!d->stop) {
		if (d->nlost) {
			mourn(d);
		} else if (d->ready) {
			do_next(d);
		} else if (!d->leader) {
			lead(d);
		} else {
			d->idle++;
			pthread_cond_wait(&d->work, &d->lock);
			d->idle--;
		}
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* --- the endpoint --- */

/* With libo2g's lock, of which nothing may be called. */
static void lost(void *arg, int rank, int finished)
{
	struct fsd_door *d = arg;

	pthread_mutex_lock(&d->lock);
	if (d->nlost == d->lost_room) {
		unsigned room = d->lost_room ? 2 * d->lost_room : 64;
		int *more = realloc(d->lost, room * sizeof(*more));

		if (more) {
			d->lost = more;
			d->lost_room = room;
		}
	}
	if (d->nlost < d->lost_room)
		d->lost[d->nlost++] = rank;
	if (!d->leader)
		wake_one(d);
	pthread_mutex_unlock(&d->lock);
}

/* Receives from any client do not end with one of them. */
static int doomed(void *arg, uint64_t tag, int which)
{
	return 0;
}

static int open_endpoint(struct fsd_door *d, const unsigned char *key)
{
	struct o2g_attr attr = { .rank = FS_SERVER_RANK,
				 .size = FS_RANKS,
				 .job = FS_JOB,
				 .lost = lost,
				 .doomed = doomed,
				 .arg = d,
				 .listen = d->listen };
	int err;

	memcpy(attr.secret, key, sizeof(attr.secret));
	err = o2g_open(&attr, &d->ep);
	memset(attr.secret, 0, sizeof(attr.secret));
	if (err)
		fsd_error("cannot listen at %s: %s", d->listen,
			  o2g_strerror(err));
	return err;
}

static int start_threads(struct fsd_door *d)
{
	d->workers = calloc(d->threads, sizeof(*d->workers));
	if (!d->workers)
		return -ENOMEM;
	for (; d->started < d->threads; d->started++) {
		int err = pthread_create(&d->workers[d->started], NULL, worker,
					 d);

		if (err) {
			fsd_error("cannot start a thread: %s", strerror(err));
			return -err;
		}
	}
	return 0;
}

int fsd_door_open(struct fsd_door *d, const unsigned char *key)
{
	int err;

	pthread_mutex_init(&d->lock, NULL);
	pthread_mutex_init(&d->guests_lock, NULL);
	pthread_cond_init(&d->work, NULL);
	d->ready_tail = &d->ready;
	err = open_endpoint(d, key);
	if (err)
		return err;
	add_slots(d, 2 * d->threads);
	err = d->posted ? start_threads(d) : -ENOMEM;
	if (err)
		fsd_door_close(d);
	return err;
}

/* A message to ourselves wakes the leader; the others wait for the door's lock. */
static void stop_threads(struct fsd_door *d)
{
	pthread_mutex_lock(&d->lock);
	__atomic_store_n(&d->stop, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&d->work);
	pthread_mutex_unlock(&d->lock);
	o2g_send(d->ep, FS_SERVER_RANK, 0, "", 1, 0);
	for (unsigned i = 0; i < d->started; i++)
		pthread_join(d->workers[i], NULL);
	free(d->workers);
	d->workers = NULL;
	d->started = 0;
}

void fsd_door_close(struct fsd_door *d)
{
	struct fsd_slot *slot;

	stop_threads(d);
	o2g_close(d->ep);
	d->ep = NULL;
	fsd_guests_forget(d);
	while ((slot = d->slots)) {
		d->slots = slot->all;
		if (slot->s)
			fsd_session_unref(slot->s);
		free_slot(slot);
	}
	free(d->lost);
}

/* A client that never takes its answers would keep slots forever. */
void fsd_door_tend(struct fsd_door *d)
{
	u64 now = o2g_now_ns(), since;
	int rank = -1;

	pthread_mutex_lock(&d->lock);
	for (struct fsd_slot *slot = d->slots; slot; slot = slot->all) {
		since = atomic_load(&slot->sending_ns);
		if (since && since + STUCK_NS < now)
			rank = slot->to;
	}
	pthread_mutex_unlock(&d->lock);
	if (rank < 0)
		return;
	fsd_warn("a client has not taken an answer for %llu s, and is dropped",
		 STUCK_NS / 1000000000u);
	fsd_guest_gone(d, rank);
}

int fsd_door_address(struct fsd_door *d, char *text, size_t size)
{
	return o2g_address(d->ep, text, size);
}
