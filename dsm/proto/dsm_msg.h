/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The six messages; docs/dsm.md says who sends them when. */
#ifndef DSM_MSG_H
#define DSM_MSG_H

#include "dsm_env.h"

#define DSM_PAGE_SIZE 4096u

enum dsm_access { DSM_NONE, DSM_READ, DSM_WRITE };

enum dsm_type {
	DSM_ASK = 1, /* node to home, or passed on: `node` wants `access` */
	DSM_GRANT,   /* home to node: it has `access` from now on */
	DSM_TAKE,    /* home to node: keep no more than `access` */
	DSM_GIVEN,   /* its answer: done */
	DSM_GONE,    /* to whoever asked: the page died with another node */
	DSM_AGAIN    /* to whoever asked: that may be lost, ask again */
};

enum dsm_flags {
	DSM_DATA = 1, /* the content follows */
	DSM_ZERO = 2, /* GRANT: the content is zeros */
	/* ASK: with the home, please; GRANT: you are the home now; GONE: the home
	 * itself says so; AGAIN: ask `node`, which I take to be the home */
	DSM_HOME = 4,
	/* ASK: if you are not the home, do not pass this on, but say who is */
	DSM_DIRECT = 8
};

/* In the byte order of the hosts, which is the same at all ends. */
struct dsm_msg {
	u8 type;
	u8 access;
	u8 flags;
	u8 node; /* ASK: who wants it; AGAIN: whom to ask; else 0 */
	u32 page;
};

_Static_assert(sizeof(struct dsm_msg) == 8, "the message has no holes");

#endif
