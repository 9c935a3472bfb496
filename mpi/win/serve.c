/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Messages of windows, as they come in: by the handler that libo2g calls, in
 * whichever thread makes progress, also while the program computes.
 *
 * w->serving keeps the handler and threads of the program apart which give back the
 * own lock. It is taken before libo2g's lock, never after.
 */
#include "win/serve.h"

#include <stdlib.h>

#include "env/errors.h"
#include "win/out.h"
#include "win/remote.h"

/* Of all below; held while a message is handled, so that its window stays. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpii_win *windows[256]; /* by context */
static struct o2g_ep *serving;	      /* which endpoint has our handler */

static struct mpii_win **place_of(uint32_t context)
{
	return &windows[context * 0x9e3779b1u >> 24];
}

static struct mpii_win *find(uint32_t context)
{
	struct mpii_win *w;

	for (w = *place_of(context); w && w->comm->context != context;)
		w = w->next;
	return w;
}

static struct win_served *served_of(struct mpii_win *w, int rank)
{
	struct win_served *s;

	for (s = w->served; s; s = s->next)
		if (s->rank == rank)
			return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->rank = rank;
	s->last = &s->first;
	s->next = w->served;
	w->served = s;
	return s;
}

void win_served_free(struct mpii_win *w)
{
	struct win_queued *q;
	struct win_served *s;

	while ((s = w->served)) {
		w->served = s->next;
		while ((q = s->first)) {
			s->first = q->next;
			free(q);
		}
		for (int i = 0; i < WIN_LAYOUTS; i++)
			if (s->layouts[i])
				mpii_type_put(s->layouts[i]);
		free(s);
	}
}

static void batch(struct mpii_win *w, int rank, const void *data, size_t len)
{
	struct win_served *s = served_of(w, rank);

	if (s)
		win_serve_batch(w, s, data, len);
}

static void handle_for(struct mpii_win *w, int rank, unsigned kind,
		       const void *data, size_t len)
{
	switch (kind) {
	case WIN_MSG_REPLY:
		win_out_reply(w, rank, data, len);
		return;
	case WIN_MSG_POST:
		atomic_fetch_add(&w->peers[rank].posts, 1);
		return;
	}
	pthread_mutex_lock(&w->serving);
	if (kind == WIN_MSG_BATCH)
		batch(w, rank, data, len);
	else if (kind == WIN_MSG_POKE)
		win_serve_lock(w);
	pthread_mutex_unlock(&w->serving);
}

/* A window that is freed has nothing to do any more: its members have flushed and
 * met. Only a word about its lock may come late. */
static void handle(void *arg, int peer, uint64_t tag, const void *data,
		   size_t len)
{
	struct mpii_win *w;
	int rank;

	pthread_mutex_lock(&lock);
	w = find((uint32_t)(tag >> 8));
	rank = w ? mpii_comm_rank_of(w->comm, peer) : MPI_UNDEFINED;
	if (rank != MPI_UNDEFINED)
		handle_for(w, rank, tag & 0xff, data, len);
	pthread_mutex_unlock(&lock);
}

int win_serve_add(struct mpii_win *w)
{
	struct mpii_win **place = place_of(w->comm->context);
	int err = 0;

	pthread_mutex_lock(&lock);
	if (serving != mpii.ep)
		err = o2g_serve(mpii.ep, WIN_TAG, WIN_TAG_IGNORE, handle, NULL);
	if (!err) {
		serving = mpii.ep;
		w->next = *place;
		*place = w;
	}
	pthread_mutex_unlock(&lock);
	return err ? mpii_fail(mpii_class_of(err), "%s", o2g_strerror(err)) :
		     MPI_SUCCESS;
}

void win_serve_del(struct mpii_win *w)
{
	struct mpii_win **p;

	if (!w->comm)
		return;
	pthread_mutex_lock(&lock);
	for (p = place_of(w->comm->context); *p && *p != w;)
		p = &(*p)->next;
	if (*p)
		*p = w->next;
	pthread_mutex_unlock(&lock);
}

void win_poke(struct mpii_win *w, int rank)
{
	struct o2g_seg none = { NULL, 0 };

	if (rank != w->rank) {
		o2g_call(mpii.ep, mpii_comm_peer(w->comm, rank),
			 win_tag(w->comm->context, WIN_MSG_POKE), &none, 1);
		return;
	}
	pthread_mutex_lock(&w->serving);
	win_serve_lock(w);
	pthread_mutex_unlock(&w->serving);
}
