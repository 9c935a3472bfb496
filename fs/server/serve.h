/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A door: an endpoint where clients with one key come in, the exports that it opens, and
 * the threads that work for whoever has come.
 */
#ifndef FSD_SERVE_H
#define FSD_SERVE_H

#include "session.h"

struct o2g_ep;
struct fsd_slot;
struct fsd_guest;

struct fsd_door {
	struct fsd_door *next;
	struct fsd_server *server;
	struct fsd_export *exports;
	char listen[128];
	unsigned threads;
	struct o2g_ep *ep;
	pthread_t *workers;
	unsigned started;

	pthread_mutex_t lock; /* of all that follows; taken under libo2g's */
	pthread_cond_t work;
	struct fsd_slot *ready, **ready_tail; /* requests that have come */
	struct fsd_slot *slots;		      /* all */
	unsigned nslots, posted;
	unsigned idle;	/* threads asleep on `work` */
	unsigned crowd; /* requests for which to keep a second thread at hand */
	bool leader;	/* a thread waits for messages */
	atomic_uint at_work; /* threads busy with what is not answered */
	bool stop;
	int *lost; /* ranks that are gone */
	unsigned nlost, lost_room;

	pthread_mutex_t guests_lock; /* under `lock` */
	struct fsd_guest *guests[256];
};

/* @key is O2G_SECRET_SIZE bytes. 0 or a negative errno, and a line in the log. */
int fsd_door_open(struct fsd_door *d, const unsigned char *key);
void fsd_door_close(struct fsd_door *d);
/* Every second or so. */
void fsd_door_tend(struct fsd_door *d);
/* Where it is, as o2g_address() writes it. */
int fsd_door_address(struct fsd_door *d, char *text, size_t size);

#endif
