/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Writing the page of state. Nothing is written on the way of a message: libo2g
 * tells of a wait when it has lasted for a tenth of a second, and of what lies
 * unexpected at most four times a second (o2g_watch).
 */
#include "tools/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coll/coll.h"
#include "partitioned/partitioned.h"
#include "pt2pt/complete.h"
#include "win/win.h"

#define EXPLAINED 16

static struct o2g_state nobodys, *page = &nobodys;
static _Atomic(const void *) polled_from;

struct o2g_state_poll *mpii_poll = &nobodys.poll;
unsigned mpii_state_news; /* what counts is that it changes */

static struct {
	int (*cond)(void *arg);
	mpii_explain_fn *explain;
} explained[EXPLAINED];
static atomic_uint nexplained;

void mpii_state_explain(int (*cond)(void *arg), mpii_explain_fn *explain)
{
	unsigned n = atomic_load(&nexplained);

	for (unsigned i = 0; i < n; i++)
		if (explained[i].cond == cond)
			return;
	if (n == EXPLAINED)
		return;
	explained[n].cond = cond;
	explained[n].explain = explain;
	atomic_store(&nexplained, n + 1);
}

static void write_begins(uint32_t *number)
{
	__atomic_store_n(number, *number + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void write_ends(uint32_t *number)
{
	__atomic_store_n(number, *number + 1, __ATOMIC_RELEASE);
}

/* --- a wait --- */

static const uint8_t doing_of[] = {
	[O2G_SENDS] = O2G_PART_SEND,   [O2G_RECEIVES] = O2G_PART_RECV,
	[O2G_PUTS] = O2G_PART_PUT,     [O2G_GETS] = O2G_PART_GET,
	[O2G_PROBES] = O2G_PART_PROBE,
};
static const uint8_t moved_of[] = {
	[O2G_UNMATCHED] = O2G_MOVED_NOT,
	[O2G_NO_ROOM] = O2G_MOVED_NO_ROOM,
	[O2G_ANNOUNCED] = O2G_MOVED_ASKED,
	[O2G_MOVING] = O2G_MOVED_PARTLY,
};

static struct o2g_state_part *new_part(struct o2g_state_wait *w)
{
	w->parts_all++;
	return w->parts < O2G_STATE_PARTS ? &w->part[w->parts++] : NULL;
}

void mpii_state_in_coll(struct o2g_state_wait *w, const struct mpii_comm *c,
			unsigned seq)
{
	w->collective = 1;
	w->context = c->context;
	w->seq = seq % COLL_TAGS;
}

/* A message of a collective: which one is in its tag. */
static void note_coll(struct o2g_state_wait *w, const struct o2g_state_part *p)
{
	if (p->kind == MPII_CTX_COLL && !(p->tag & COLL_TAG_PERSISTENT)) {
		w->collective = 1;
		w->context = p->context;
		w->seq = (uint32_t)p->tag % COLL_TAGS;
	} else if (p->kind == MPII_CTX_GROUP || p->kind == MPII_CTX_ALL) {
		w->collective = 2; /* its number tells others nothing */
		w->context = p->context;
	}
}

void mpii_state_add(struct o2g_state_wait *w, const struct o2g_pending *p)
{
	struct o2g_state_part *part = new_part(w);
	uint32_t context = (uint32_t)(p->tag >> 32);

	if (!part)
		return;
	*part = (struct o2g_state_part){
		.doing = doing_of[p->doing],
		.moved = moved_of[p->stage],
		.kind = context % MPII_CTX_COUNT,
		.peer = p->peer,
		.tag = (uint32_t)p->ignore ? O2G_STATE_ANY :
					     (int)(uint32_t)p->tag,
		.context = context - context % MPII_CTX_COUNT,
		.bytes = p->length,
		.arrived = p->moved,
	};
	if (p->doing < O2G_PUTS)
		note_coll(w, part);
}

static void look_at_partitions(struct o2g_state_part *part,
			       const struct mpii_req *r)
{
	bool send = r->kind == MPII_REQ_PSEND;
	int n, marked;

	part->doing = send ? O2G_PART_SEND : O2G_PART_RECV;
	part->kind = MPII_CTX_PART;
	part->peer = r->peer < 0 ? O2G_STATE_NONE :
				   mpii_comm_peer(r->comm, r->peer);
	if (send && (marked = mpii_psend_marked(r, &n)) < n) {
		part->doing = O2G_PART_READY;
		part->peer = O2G_STATE_NONE;
		part->bytes = (uint64_t)n;
		part->arrived = (uint64_t)marked;
	}
}

static void add_other(struct o2g_state_wait *w, const struct mpii_req *r)
{
	struct o2g_state_part *part = new_part(w);

	if (!part)
		return;
	*part = (struct o2g_state_part){ .doing = O2G_PART_OTHER,
					 .peer = O2G_STATE_NONE,
					 .tag = r->tag };
	if (r->comm)
		part->context = r->comm->context;
	if (r->kind == MPII_REQ_COLL) {
		part->doing = O2G_PART_COLL;
		part->tag = (int)coll_task_number(r);
	} else if (r->kind == MPII_REQ_PSEND || r->kind == MPII_REQ_PRECV) {
		look_at_partitions(part, r);
	}
}

void mpii_state_add_target(struct o2g_state_wait *w, enum o2g_state_doing doing,
			   const struct mpii_comm *c, int rank)
{
	struct o2g_state_part *part = new_part(w);

	if (part)
		*part = (struct o2g_state_part){
			.doing = (uint8_t)doing,
			.peer = mpii_comm_peer(c, rank),
			.tag = O2G_STATE_NONE,
			.context = c->context,
		};
}

void mpii_state_add_req(struct o2g_state_wait *w, const struct mpii_req *r)
{
	struct o2g_pending p;

	if (r->o2g && !o2g_is_done(r->o2g)) {
		o2g_look_at(r->o2g, &p);
		mpii_state_add(w, &p);
	} else if (!r->o2g && r->poll) {
		add_other(w, r);
	}
}

static void explain(struct o2g_state_wait *w, const struct o2g_waits *waits)
{
	unsigned n = atomic_load(&nexplained);

	for (size_t i = 0; i < waits->n; i++)
		mpii_state_add(w, &waits->pending[i]);
	w->parts_all += (uint32_t)(waits->total - waits->n);
	for (unsigned i = 0; waits->cond && i < n; i++)
		if (explained[i].cond == waits->cond)
			explained[i].explain(w, waits->arg);
}

static void *begins(void *arg)
{
	for (int i = 0; i < O2G_STATE_WAITS; i++) {
		struct o2g_state_wait *w = &page->wait[i];
		uint8_t none = 0;

		if (!__atomic_compare_exchange_n(&w->used, &none, 1, false,
						 __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		w->frames = w->parts = 0;
		w->times = 0;
		mpii_where(page, w);
		return w;
	}
	return NULL;
}

/* All of it but its number, and whether it is used, which other threads look at. */
#define BODY offsetof(struct o2g_state_wait, any)

static void *body_of(struct o2g_state_wait *w)
{
	return (char *)w + BODY;
}

static void waits(void *arg, void *mine, const struct o2g_waits *waits)
{
	const size_t body = sizeof(struct o2g_state_wait) - BODY;
	struct o2g_state_wait *w = mine, now = { 0 };

	memcpy(body_of(&now), body_of(w), body);
	now.since_ns = waits->since_ns;
	now.any = waits->any;
	now.parts = 0;
	now.parts_all = 0;
	now.collective = now.seq = now.context = 0;
	memset(now.part, 0, sizeof(now.part));
	explain(&now, waits);
	if (__atomic_load_n(&w->used, __ATOMIC_RELAXED) == 2 &&
	    !memcmp(body_of(&now), body_of(w), body))
		return;
	now.times++;
	write_begins(&w->number);
	memcpy(body_of(w), body_of(&now), body);
	__atomic_store_n(&w->used, 2, __ATOMIC_RELAXED);
	write_ends(&w->number);
}

static void ends(void *arg, void *mine)
{
	struct o2g_state_wait *w = mine;

	write_begins(&w->number);
	w->times = 0;
	w->call[0] = '\0';
	write_ends(&w->number);
	__atomic_store_n(&w->used, 0, __ATOMIC_RELEASE);
}

void *mpii_state_blocks(enum o2g_state_doing doing)
{
	struct o2g_state_wait *w = begins(NULL);
	struct timespec t;

	if (!w)
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &t);
	write_begins(&w->number);
	w->since_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	w->any = 0;
	w->parts = w->parts_all = 1;
	w->collective = w->seq = w->context = 0;
	w->part[0] = (struct o2g_state_part){ .doing = (uint8_t)doing,
					      .peer = O2G_STATE_NONE,
					      .tag = O2G_STATE_NONE };
	write_ends(&w->number);
	__atomic_store_n(&w->used, 2, __ATOMIC_RELEASE);
	return w;
}

void mpii_state_goes_on(void *wait)
{
	if (wait)
		ends(NULL, wait);
}

/* --- locks --- */

/* With more than there are places, some are not known. */
void mpii_state_locked(const struct mpii_comm *c, int rank, bool exclusive)
{
	for (int i = 0; i < O2G_STATE_LOCKS; i++) {
		struct o2g_state_lock *l = &page->lock[i];
		uint32_t none = 0;

		if (!__atomic_compare_exchange_n(&l->used, &none, 1, false,
						 __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		l->context = c->context;
		l->target = mpii_comm_peer(c, rank);
		l->exclusive = exclusive;
		__atomic_store_n(&l->used, 2, __ATOMIC_RELEASE);
		return;
	}
}

void mpii_state_unlocked(const struct mpii_comm *c, int rank)
{
	int target = mpii_comm_peer(c, rank);

	for (int i = 0; i < O2G_STATE_LOCKS; i++) {
		struct o2g_state_lock *l = &page->lock[i];

		if (__atomic_load_n(&l->used, __ATOMIC_ACQUIRE) != 2 ||
		    l->context != c->context || l->target != target)
			continue;
		__atomic_store_n(&l->used, 0, __ATOMIC_RELEASE);
		return;
	}
}

/* --- how things stand --- */

static void look_at_comm(struct mpii_comm *c, void *arg)
{
	struct o2g_state_comm *to;

	if (page->comms_all++ >= O2G_STATE_COMMS)
		return;
	to = &page->comm[page->comms++];
	to->context = c->context;
	to->first = mpii_group_peer(c->group, 0);
	to->rank = c->rank;
	to->size = c->size;
	to->remote_size = c->inter ? c->remote_size : 0;
	to->colls = atomic_load(&c->coll_seq);
	memcpy(to->name, c->name, sizeof(to->name) - 1);
	for (int i = 0; i < O2G_STATE_NOTES; i++) {
		const char *func = __atomic_load_n(&c->coll_notes[i].func,
						   __ATOMIC_RELAXED);

		to->note[i].root = __atomic_load_n(&c->coll_notes[i].root,
						   __ATOMIC_RELAXED);
		snprintf(to->note[i].call, sizeof(to->note[i].call), "%s",
			 func ? func : "");
	}
}

/* Of the thread that looks, and of the one that starts MPI. */
static pthread_mutex_t look_lock = PTHREAD_MUTEX_INITIALIZER;

static void look_at_comms(void)
{
	page->comms = page->comms_all = 0;
	mpii_context_each(look_at_comm, NULL);
}

static void look_at_message(const struct o2g_unexpected *m,
			    struct o2g_state_message *to)
{
	uint32_t context = (uint32_t)(m->tag >> 32);

	*to = (struct o2g_state_message){
		.source = m->source,
		.tag = (int)(uint32_t)m->tag,
		.context = context - context % MPII_CTX_COUNT,
		.kind = context % MPII_CTX_COUNT,
		.announced = m->announced != 0,
		.bytes = m->length,
	};
}

static void look(void *arg, const struct o2g_looked *l)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	pthread_mutex_lock(&look_lock);
	write_begins(&page->number);
	page->looked_ns = (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
	page->calls = l->calls;
	page->sent = l->sent;
	page->received = l->received;
	page->bytes_moved = l->bytes;
	look_at_comms();
	page->messages = 0;
	while (page->messages < l->n && page->messages < O2G_STATE_MESSAGES) {
		look_at_message(&l->messages[page->messages],
				&page->message[page->messages]);
		page->messages++;
	}
	page->messages_all = l->unexpected;
	page->messages_bytes = l->unexpected_bytes;
	write_ends(&page->number);
	pthread_mutex_unlock(&look_lock);
}

/* --- calls that find nothing --- */

void mpii_state_polled_often(const void *where)
{
	struct o2g_state_frame f;

	if (where == polled_from || !mpii_where_is(page, where, &f))
		return;
	polled_from = where;
	page->poll_frame = f;
}

void mpii_polled_requests(enum o2g_state_poll_call call,
			  const MPI_Request *reqs, int n, const void *where)
{
	const struct mpii_req *r = NULL;
	int peer = O2G_STATE_NONE;
	enum o2g_state_doing doing = O2G_PART_OTHER;

	for (int i = 0; i < n && !r; i++)
		if (!idle(reqs[i]) && !mpii_req_done(req_of(reqs[i])))
			r = req_of(reqs[i]);
	if (!r)
		return;
	if (r->kind == MPII_REQ_COLL)
		doing = O2G_PART_COLL;
	else if (r->kind == MPII_REQ_SEND || r->kind == MPII_REQ_PSEND)
		doing = O2G_PART_SEND;
	else if (r->kind == MPII_REQ_RECV || r->kind == MPII_REQ_PRECV)
		doing = O2G_PART_RECV;
	if (r->comm && doing <= O2G_PART_RECV)
		peer = r->peer < 0 ? O2G_STATE_ANY :
				     mpii_comm_peer(r->comm, r->peer);
	mpii_polled(call, doing, r->comm ? r->comm->context : 0, peer, r->tag,
		    (unsigned)n, where);
}

/* --- the page --- */

static const struct o2g_watch watch = {
	.begins = begins,
	.waits = waits,
	.ends = ends,
	.look = look,
	.news = &mpii_state_news,
};

static long number_in(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long n;

	if (!text || !*text)
		return -1;
	n = strtol(text, &end, 10);
	return *end || n < 0 || n > 1 << 24 ? -1 : n;
}

/* A program that a rank has started inherits the variable, but not the file: the
 * number may stand for any other. */
static bool is_states_file(long fd)
{
	static const char name[] = "/memfd:" O2G_STATE_FILE;
	char link[64], path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%ld", fd);
	n = readlink(path, link, sizeof(link));
	return n >= (ssize_t)strlen(name) && !strncmp(link, name, strlen(name));
}

static struct o2g_state *map_page(void)
{
	long fd = number_in(O2G_STATE_FD), piece = number_in(O2G_STATE_PIECE);
	struct stat st;
	void *at;

	if (fd < 0 || piece < 0 || !is_states_file(fd) || fstat((int)fd, &st) ||
	    st.st_size < (piece + 1) * (off_t)O2G_STATE_BYTES)
		return NULL;
	at = mmap(NULL, O2G_STATE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		  (int)fd, piece * (off_t)O2G_STATE_BYTES);
	if (at == MAP_FAILED)
		return NULL;
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	return at;
}

void mpii_state_start(void)
{
	struct o2g_ep_info info;
	struct o2g_state *mine = map_page();

	if (!mine || o2g_ep_info(mpii.ep, &info))
		return;
	if (mine->magic) /* of a program that we have taken the place of */
		memset(mine, 0, sizeof(*mine));
	page = mine;
	mpii_poll = &page->poll;
	page->version = O2G_STATE_VERSION;
	page->rank = mpii.rank;
	page->size = mpii.size;
	page->pid = getpid();
	snprintf(page->engine, sizeof(page->engine), "%s", info.engine);
	page->phase = O2G_PHASE_INIT;
	mpii_where_start(page);
	__atomic_store_n(&page->magic, O2G_STATE_MAGIC, __ATOMIC_RELEASE);
	mpii_req_explain();
	coll_shared_explain();
	win_wait_explain();
	o2g_watch(mpii.ep, &watch);
}

void mpii_state_phase(enum o2g_state_phase phase)
{
	/* A rank that does nothing more is known to be a member. */
	if (phase == O2G_PHASE_RUNNING) {
		pthread_mutex_lock(&look_lock);
		write_begins(&page->number);
		look_at_comms();
		write_ends(&page->number);
		pthread_mutex_unlock(&look_lock);
	}
	__atomic_store_n(&page->phase, phase, __ATOMIC_RELAXED);
}

/* The page stays: it tells that we have left. */
void mpii_state_stop(void)
{
	mpii_state_phase(O2G_PHASE_OVER);
	o2g_watch(mpii.ep, NULL);
}
