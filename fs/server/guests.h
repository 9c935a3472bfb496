/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Who is connected: from the rank of a connection to its session. */
#ifndef FSD_GUESTS_H
#define FSD_GUESTS_H

#include "serve.h"
#include "../wire.h"

/* The first message of a connection; the answer goes to *w. 0: it may stay. */
int fsd_guest_hello(struct fsd_door *d, int rank, const void *msg, size_t len,
		    struct fs_welcome *w);
/* Its session, with a reference, or NULL. */
struct fsd_session *fsd_guest_session(struct fsd_door *d, int rank);
/* All, when the door is closed. */
void fsd_guests_forget(struct fsd_door *d);
/* It is gone. */
void fsd_guest_gone(struct fsd_door *d, int rank);

#endif
