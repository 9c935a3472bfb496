/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "lock.h"
#include "fsd_log.h"
#include "place.h"

#define S_NS 1000000000ull
#define XATTRS_MAX 1024 /* of a session, up to 64 KiB each */

void fsd_server_init(struct fsd_server *srv)
{
	pthread_mutex_init(&srv->lock, NULL);
	srv->epoch = o2g_now_ns() ^ (u64)getpid() << 40;
	if (!srv->epoch)
		srv->epoch = 1;
}

/* --- sessions --- */

static struct fsd_session *find(struct fsd_server *srv, const u8 *uuid)
{
	struct fsd_session *s = srv->sessions;

	while (s && memcmp(s->uuid, uuid, FS_UUID_SIZE))
		s = s->next;
	return s;
}

static struct fsd_export *export_by_id(struct fsd_session *s, u64 id)
{
	struct fsd_export *e = s->exports;

	while (e && e->id != id)
		e = e->next;
	return e;
}

/* A fid of before the server was started; it sleeps until it is used. */
static void remember(void *arg, struct fsd_record *r)
{
	struct fsd_session *s = arg;
	struct fsd_user user = { r->uid, r->gid };
	struct fsd_export *ex = export_by_id(s, r->export);
	struct fsd_fid *f;

	if (fsd_fids_find(&s->fids, r->fid)) { /* killed between two steps */
		fsd_store_drop(s->store, r);
		return;
	}
	f = fsd_fid_alloc(r->fid, ex, user, -1);
	if (!f)
		return;
	f->from_disk = true;
	f->uncertain = !ex || r->flags & (FSD_REC_LOST | FSD_REC_LOCKED);
	f->kind = r->flags & FSD_REC_OPEN ? FSD_FID_OPEN : FSD_FID_PATH;
	f->open_flags = (int)r->open_flags;
	f->record = r;
	if (fsd_fids_add(&s->fids, f))
		fsd_fid_free(f);
}

static struct fsd_session *make(struct fsd_server *srv, const u8 *uuid,
				struct fsd_export *exports, bool *known,
				int *err)
{
	struct fsd_session *s = calloc(1, sizeof(*s));

	*err = -ENOMEM;
	if (!s)
		return NULL;
	*known = false;
	*err = fsd_store_open(srv->state_dir, uuid, srv->limits.fids, &s->store,
			      known);
	if (*err) {
		free(s);
		return NULL;
	}
	memcpy(s->uuid, uuid, FS_UUID_SIZE);
	for (int i = 0; i < FS_UUID_SIZE; i++)
		sprintf(s->name + 2 * i, "%02x", uuid[i]);
	s->server = srv;
	s->exports = exports;
	s->rank = -1;
	s->lost_ns = o2g_now_ns();
	s->msize = srv->limits.msize;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->ended, NULL);
	if (*known)
		fsd_store_each(s->store, remember, s);
	return s;
}

static void free_session(struct fsd_session *s)
{
	struct fsd_fid *f;
	u32 from = 0;

	fsd_locks_drop(s, NULL);
	while ((f = fsd_fids_pop(&s->fids, &from)))
		fsd_fid_free(f);
	fsd_fids_cleanup(&s->fids);
	fsd_store_close(s->store, s->dead);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->ended);
	free(s);
}

/* With the server's lock. */
static void unlist(struct fsd_session *s)
{
	struct fsd_session **at = &s->server->sessions;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	s->server->nsessions--;
}

/* With the server's lock: has its client been gone for so long that only a repeated
 * request would miss it? Then since when, else 0. */
static u64 gone_since(struct fsd_session *s, u64 now)
{
	u64 since = 0;

	pthread_mutex_lock(&s->lock);
	if (s->refs == 1 && s->rank < 0 && !s->running &&
	    now - s->lost_ns > s->server->limits.grace_s * S_NS)
		since = s->lost_ns;
	pthread_mutex_unlock(&s->lock);
	return since;
}

/* With the server's lock: there are as many as there may be, so the one that has been
 * gone for longest goes. */
static void make_room(struct fsd_server *srv)
{
	struct fsd_session *oldest = NULL;
	u64 now = o2g_now_ns(), first = now;

	for (struct fsd_session *s = srv->sessions; s; s = s->next) {
		u64 since = gone_since(s, now);

		if (since && since < first) {
			first = since;
			oldest = s;
		}
	}
	if (!oldest)
		return;
	fsd_info("session %s is forgotten, to make room for another",
		 oldest->name);
	oldest->dead = true;
	unlist(oldest);
	free_session(oldest);
}

/* With the server's lock: one more, in the list. */
static struct fsd_session *add(struct fsd_server *srv, const u8 *uuid,
			       struct fsd_export *exports, bool *known,
			       int *err)
{
	struct fsd_session *s;

	if (srv->nsessions >= srv->limits.sessions)
		make_room(srv);
	*err = -EUSERS;
	if (srv->nsessions >= srv->limits.sessions)
		return NULL;
	s = make(srv, uuid, exports, known, err);
	if (!s)
		return NULL;
	s->refs = 1; /* the list's */
	s->next = srv->sessions;
	srv->sessions = s;
	srv->nsessions++;
	return s;
}

int fsd_session_open(struct fsd_server *srv, const u8 *uuid,
		     struct fsd_export *exports, struct fsd_session **out,
		     bool *known)
{
	struct fsd_session *s;
	int err = 0;

	pthread_mutex_lock(&srv->lock);
	s = find(srv, uuid);
	*known = s != NULL;
	if (!s)
		s = add(srv, uuid, exports, known, &err);
	if (s && s->exports != exports) {
		err = -EACCES; /* it has come with another key */
		s = NULL;
	}
	if (s)
		s->refs++;
	pthread_mutex_unlock(&srv->lock);
	*out = s;
	return s ? 0 : err;
}

void fsd_session_ref(struct fsd_session *s)
{
	pthread_mutex_lock(&s->server->lock);
	s->refs++;
	pthread_mutex_unlock(&s->server->lock);
}

void fsd_session_unref(struct fsd_session *s)
{
	u32 left;

	pthread_mutex_lock(&s->server->lock);
	left = --s->refs;
	pthread_mutex_unlock(&s->server->lock);
	if (!left)
		free_session(s);
}

void fsd_session_end(struct fsd_session *s)
{
	bool was;

	pthread_mutex_lock(&s->server->lock);
	was = s->dead;
	if (!was) {
		s->dead = true;
		unlist(s);
	}
	pthread_mutex_unlock(&s->server->lock);
	if (!was)
		fsd_session_unref(s);
}

void fsd_sessions_close(struct fsd_server *srv)
{
	while (srv->sessions) {
		struct fsd_session *s = srv->sessions;

		srv->sessions = s->next;
		srv->nsessions--;
		fsd_session_unref(s);
	}
}

/* --- clients that are gone --- */

/* Its descriptors and locks go; its fids stay, as records. */
static void go_to_sleep(struct fsd_session *s)
{
	fsd_locks_drop(s, NULL);
	for (u32 i = 0; i < s->fids.buckets; i++)
		for (struct fsd_fid *f = s->fids.table[i]; f; f = f->next) {
			if (f->refs > 1 || f->fd < 0)
				continue;
			close(f->fd);
			f->fd = -1;
			f->uncertain |= f->kind > FSD_FID_OPEN;
		}
	s->asleep = true;
	fsd_info(
		"client %s has been gone for %u s: its locks are free, its files are closed",
		s->name, s->server->limits.grace_s);
}

/* True: it has to go. */
static bool tend(struct fsd_session *s, u64 now)
{
	const struct fsd_limits *l = &s->server->limits;
	bool end;

	pthread_mutex_lock(&s->lock);
	fsd_store_sync(s->store);
	end = s->rank < 0 && !s->running &&
	      (!s->fids.n || now - s->lost_ns > l->keep_s * S_NS);
	if (s->rank < 0 && !s->running && !s->asleep && !end &&
	    now - s->lost_ns > l->grace_s * S_NS)
		go_to_sleep(s);
	pthread_mutex_unlock(&s->lock);
	return end;
}

void fsd_sessions_tend(struct fsd_server *srv)
{
	struct fsd_session *s, *next, *over = NULL;
	u64 now = o2g_now_ns();

	pthread_mutex_lock(&srv->lock);
	for (s = srv->sessions; s; s = next) {
		next = s->next;
		/* Somebody may be about to use it, unless only the list knows it. */
		if (!tend(s, now) || s->refs > 1)
			continue;
		s->dead = true;
		unlist(s);
		s->next = over;
		over = s;
	}
	pthread_mutex_unlock(&srv->lock);
	for (; over; over = next) {
		next = over->next;
		fsd_debug("session %s has ended", over->name);
		fsd_session_unref(over);
	}
}

/* --- too many descriptors --- */

/* With the session's lock: can it be closed, and opened again whenever it is needed? Nobody
 * uses it; the client has not opened it, so nothing is lost; and it has a handle. */
static bool is_idle(struct fsd_fid *f)
{
	bool was = f->recent;

	f->recent = false;
	return !was && f->refs == 1 && f->fd >= 0 && f->kind == FSD_FID_PATH &&
	       f->record && f->record->handle_len && !f->record->flags;
}

static unsigned doze(struct fsd_session *s)
{
	unsigned n = 0;

	pthread_mutex_lock(&s->lock);
	for (u32 i = 0; i < s->fids.buckets; i++)
		for (struct fsd_fid *f = s->fids.table[i]; f; f = f->next)
			if (is_idle(f)) {
				close(f->fd);
				f->fd = -1;
				n++;
			}
	pthread_mutex_unlock(&s->lock);
	return n;
}

unsigned fsd_sessions_doze(struct fsd_server *srv)
{
	unsigned n = 0;

	/* The second time those are idle that were not the first time. */
	pthread_mutex_lock(&srv->lock);
	for (int i = 0; i < 2 && !n; i++)
		for (struct fsd_session *s = srv->sessions; s; s = s->next)
			n += doze(s);
	pthread_mutex_unlock(&srv->lock);
	return n;
}

/* --- requests --- */

static struct fsd_running *at_work(struct fsd_session *s, u16 tag)
{
	struct fsd_running *r = s->running;

	while (r && r->tag != tag)
		r = r->next;
	return r;
}

enum fsd_begin fsd_request_begin(struct fsd_session *s, struct fsd_running *r,
				 const u8 **kept, u32 *len)
{
	enum fsd_begin how = FSD_BEGIN;
	struct fsd_running *same;

	r->waits = r->answered = false;
	pthread_mutex_lock(&s->lock);
	same = at_work(s, r->tag);
	if (same && same->seq == r->seq && !same->answered) {
		how = FSD_BEGIN_DROP;
	} else {
		switch (fsd_store_answer(s->store, r->tag, r->seq, kept, len)) {
		case FSD_ANSWER:
			how = FSD_BEGIN_KEPT;
			break;
		case FSD_DONE:
			how = FSD_BEGIN_AGAIN;
			break;
		case FSD_NEW:
			break;
		}
		if (how != FSD_BEGIN)
			atomic_fetch_add(&s->server->stats.replayed, 1);
		r->next = s->running;
		s->running = r;
	}
	pthread_mutex_unlock(&s->lock);
	return how;
}

int fsd_request_answer(struct fsd_session *s, struct fsd_running *r,
		       const void *answer, u32 len, bool keep)
{
	int rank;

	pthread_mutex_lock(&s->lock);
	if (keep)
		fsd_store_keep(s->store, r->tag, r->seq, answer, len);
	r->answered = true;
	rank = s->rank;
	pthread_mutex_unlock(&s->lock);
	return rank;
}

void fsd_request_end(struct fsd_session *s, struct fsd_running *r)
{
	struct fsd_running **at = &s->running;

	pthread_mutex_lock(&s->lock);
	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	pthread_cond_broadcast(&s->ended);
	pthread_mutex_unlock(&s->lock);
}

/* Two that wait for each other both see it, and go on. */
void fsd_request_wait(struct fsd_session *s, u16 tag, struct fsd_running *self)
{
	const struct fsd_running *r;

	pthread_mutex_lock(&s->lock);
	self->waits = true;
	pthread_cond_broadcast(&s->ended);
	while ((r = at_work(s, tag)) && !r->waits)
		pthread_cond_wait(&s->ended, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

/* --- fids --- */

/* With a reference of ours, which is taken away on error. */
static int lock_fid(struct fsd_session *s, struct fsd_fid *f, bool change)
{
	int err;

	if (!change) {
		pthread_rwlock_rdlock(&f->lock);
		if (f->fd >= 0 || f->xattr)
			return 0;
		pthread_rwlock_unlock(&f->lock);
	}
	pthread_rwlock_wrlock(&f->lock);
	err = f->fd >= 0 || f->xattr ? 0 : fsd_place_revive(f);
	if (err || change)
		return err;
	pthread_rwlock_unlock(&f->lock);
	pthread_rwlock_rdlock(&f->lock);
	return 0;
}

struct fsd_fid *fsd_hold(struct fsd_session *s, u32 fid, bool change, int *err)
{
	struct fsd_fid *f;

	pthread_mutex_lock(&s->lock);
	f = fsd_fids_find(&s->fids, fid);
	if (f) {
		f->refs++;
		f->from_disk = false;
		f->recent = true;
	}
	pthread_mutex_unlock(&s->lock);
	*err = f ? lock_fid(s, f, change) : -EBADF;
	if (!*err)
		return f;
	if (f)
		fsd_release(s, f);
	return NULL;
}

static void drop_ref(struct fsd_session *s, struct fsd_fid *f)
{
	u32 left;

	pthread_mutex_lock(&s->lock);
	left = --f->refs;
	pthread_mutex_unlock(&s->lock);
	if (!left)
		fsd_fid_free(f);
}

void fsd_release(struct fsd_session *s, struct fsd_fid *f)
{
	pthread_rwlock_unlock(&f->lock);
	drop_ref(s, f);
}

/* With the session's lock. Without a record it does not outlive the server. */
static void record(struct fsd_session *s, struct fsd_fid *f,
		   const struct fsd_record *what)
{
	size_t n = offsetof(struct fsd_record, data) + what->handle_len +
		   what->path_len;

	f->record = fsd_store_new(s->store);
	if (!f->record)
		return;
	/* `used`, which is first, is 0 */
	memcpy(f->record, what, n);
	fsd_store_put(s->store, f->record);
}

/* With the session's lock. */
static void left_table(struct fsd_session *s, struct fsd_fid *f)
{
	if (f->record)
		fsd_store_drop(s->store, f->record);
	f->record = NULL;
	s->nxattrs -= f->xattr != NULL;
}

static bool is_in_table(struct fsd_session *s, const struct fsd_fid *f)
{
	return fsd_fids_find(&s->fids, f->fid) == f;
}

static void unlink_fid(struct fsd_session *s, struct fsd_fid *f)
{
	fsd_fids_del(&s->fids, f);
	left_table(s, f);
}

int fsd_fid_add(struct fsd_session *s, struct fsd_fid *f, bool again)
{
	struct fsd_record what;
	struct fsd_fid *old;
	int err = 0;

	fsd_place_describe(f, &what);
	pthread_mutex_lock(&s->lock);
	old = fsd_fids_find(&s->fids, f->fid);
	/* Made by a request whose answer was lost: this is that request again. */
	if (old && (again || old->from_disk))
		unlink_fid(s, old);
	else if (old)
		err = -EINVAL;
	else if (s->fids.n >= s->server->limits.fids)
		err = -ENFILE;
	else if (f->xattr && s->nxattrs >= XATTRS_MAX)
		err = -ENOMEM;
	if (!err)
		err = fsd_fids_add(&s->fids, f);
	if (!err) {
		record(s, f, &what);
		s->nxattrs += f->xattr != NULL;
	}
	pthread_mutex_unlock(&s->lock);
	if (err)
		fsd_fid_free(f);
	else if (old)
		drop_ref(s, old);
	return err;
}

void fsd_fid_changed(struct fsd_session *s, struct fsd_fid *f)
{
	struct fsd_record what;

	fsd_place_describe(f, &what);
	pthread_mutex_lock(&s->lock);
	if (f->record)
		fsd_store_drop(s->store, f->record);
	f->record = NULL;
	if (is_in_table(s, f)) /* else all were given back meanwhile */
		record(s, f, &what);
	pthread_mutex_unlock(&s->lock);
}

int fsd_fid_take_xattr(struct fsd_session *s, struct fsd_fid *f,
		       struct fsd_xattr *x)
{
	int err = 0;

	pthread_mutex_lock(&s->lock);
	if (!is_in_table(s, f))
		err = -EBADF;
	else if (s->nxattrs >= XATTRS_MAX)
		err = -ENOMEM;
	if (!err) {
		f->xattr = x;
		s->nxattrs++;
	}
	pthread_mutex_unlock(&s->lock);
	return err;
}

void fsd_fid_opened(struct fsd_session *s, struct fsd_fid *f)
{
	pthread_mutex_lock(&s->lock);
	if (f->record) {
		f->record->open_flags = (u32)f->open_flags;
		f->record->flags |= FSD_REC_OPEN;
	}
	pthread_mutex_unlock(&s->lock);
}

void fsd_fid_locked(struct fsd_session *s, struct fsd_fid *f, bool locked)
{
	pthread_mutex_lock(&s->lock);
	if (f->record && locked)
		f->record->flags |= FSD_REC_LOCKED;
	else if (f->record)
		f->record->flags &= ~(u32)FSD_REC_LOCKED;
	pthread_mutex_unlock(&s->lock);
}

void fsd_fid_del(struct fsd_session *s, struct fsd_fid *f)
{
	bool there;

	pthread_mutex_lock(&s->lock);
	there = is_in_table(s, f);
	if (there)
		unlink_fid(s, f);
	pthread_mutex_unlock(&s->lock);
	if (there)
		drop_ref(s, f); /* the table's; the caller still has its own */
}

void fsd_fids_clear(struct fsd_session *s)
{
	struct fsd_fid *f;
	u32 from = 0;

	fsd_locks_drop(s, NULL);
	for (;;) {
		pthread_mutex_lock(&s->lock);
		f = fsd_fids_pop(&s->fids, &from);
		if (f)
			left_table(s, f);
		pthread_mutex_unlock(&s->lock);
		if (!f)
			return;
		drop_ref(s, f);
	}
}
