/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "guests.h"

#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "fsd_log.h"
#include "o2g.h"

struct fsd_guest {
	struct fsd_guest *next;
	int rank;
	struct fsd_session *s; /* with a reference */
};

static struct fsd_guest **bucket(struct fsd_door *d, int rank)
{
	return &d->guests[(unsigned)rank % 256];
}

struct fsd_session *fsd_guest_session(struct fsd_door *d, int rank)
{
	struct fsd_session *s = NULL;
	struct fsd_guest *g;

	pthread_mutex_lock(&d->guests_lock);
	for (g = *bucket(d, rank); g; g = g->next)
		if (g->rank == rank)
			break;
	if (g) {
		s = g->s;
		fsd_session_ref(s);
	}
	pthread_mutex_unlock(&d->guests_lock);
	return s;
}

static struct fsd_session *take_out(struct fsd_door *d, int rank)
{
	struct fsd_guest **at, *g;
	struct fsd_session *s = NULL;

	pthread_mutex_lock(&d->guests_lock);
	for (at = bucket(d, rank); (g = *at); at = &g->next)
		if (g->rank == rank) {
			*at = g->next;
			s = g->s;
			free(g);
			break;
		}
	pthread_mutex_unlock(&d->guests_lock);
	return s;
}

void fsd_guest_gone(struct fsd_door *d, int rank)
{
	struct fsd_session *s = take_out(d, rank);
	bool over = false;

	o2g_peer_del(d->ep, rank);
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	if (s->rank == rank) {
		s->rank = -1;
		s->lost_ns = o2g_now_ns();
		/* It has given everything back: it was unmounted. */
		over = !s->fids.n && !s->running;
		fsd_info("%s has left%s", s->host,
			 over ? "" : ", with files in use: it may come again");
	}
	pthread_mutex_unlock(&s->lock);
	if (over)
		fsd_session_end(s);
	fsd_session_unref(s);
}

void fsd_guests_forget(struct fsd_door *d)
{
	for (int i = 0; i < 256; i++)
		while (d->guests[i]) {
			struct fsd_guest *g = d->guests[i];

			d->guests[i] = g->next;
			fsd_session_unref(g->s);
			free(g);
		}
}

static int put_in(struct fsd_door *d, int rank, struct fsd_session *s)
{
	struct fsd_guest *g = malloc(sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->rank = rank;
	g->s = s;
	pthread_mutex_lock(&d->guests_lock);
	g->next = *bucket(d, rank);
	*bucket(d, rank) = g;
	pthread_mutex_unlock(&d->guests_lock);
	return 0;
}

static void name_host(struct fsd_door *d, int rank, char *host, size_t size)
{
	struct o2g_peer_info info;

	if (!o2g_peer_info(d->ep, rank, &info) && info.host[0])
		snprintf(host, size, "%s", info.host);
	else
		snprintf(host, size, "a client");
}

/* From now on this is the session's connection. Returns the one of before, or -1. */
static int bind_to(struct fsd_door *d, struct fsd_session *s, int rank,
		   u32 msize)
{
	char host[sizeof(s->host)];
	int before;

	name_host(d, rank, host, sizeof(host));
	pthread_mutex_lock(&s->lock);
	before = s->rank;
	s->rank = rank;
	s->asleep = false;
	if (msize < s->msize)
		s->msize = msize;
	memcpy(s->host, host, sizeof(host));
	pthread_mutex_unlock(&s->lock);
	return before;
}

static int check(const struct fs_hello *h, size_t len)
{
	if (len != sizeof(*h))
		return -EBADMSG;
	if (le32_to_cpu(h->version) != FS_VERSION)
		return -EPROTONOSUPPORT;
	if (h->flags || le32_to_cpu(h->msize) < FS_MSIZE_MIN)
		return -EINVAL;
	return 0;
}

static int welcome(struct fsd_door *d, int rank, const struct fs_hello *h,
		   struct fs_welcome *w)
{
	struct fsd_session *s;
	bool known;
	int err = fsd_session_open(d->server, h->uuid, d->exports, &s, &known),
	    before;

	if (err)
		return err;
	err = put_in(d, rank, s);
	if (err) {
		fsd_session_unref(s);
		return err;
	}
	before = bind_to(d, s, rank, le32_to_cpu(h->msize));
	w->msize = cpu_to_le32(s->msize);
	w->epoch = cpu_to_le64(d->server->epoch);
	w->known = cpu_to_le32(known);
	fsd_info("%s has come%s (session %.8s)", s->host, known ? " again" : "",
		 s->name);
	if (before >= 0 && before != rank)
		fsd_guest_gone(d, before);
	return 0;
}

int fsd_guest_hello(struct fsd_door *d, int rank, const void *msg, size_t len,
		    struct fs_welcome *w)
{
	struct fsd_session *s = fsd_guest_session(d, rank);
	struct fs_hello h;
	int err;

	memset(w, 0, sizeof(*w));
	if (s) {
		fsd_session_unref(s);
		err = -EALREADY; /* once for each connection */
	} else {
		memcpy(&h, msg, len < sizeof(h) ? len : sizeof(h));
		err = check(&h, len);
		if (!err)
			err = welcome(d, rank, &h, w);
	}
	if (err && fsd_log_allowed())
		fsd_warn("a client is refused: %s", strerror(-err));
	w->status = cpu_to_le32((u32)-err);
	return err;
}
