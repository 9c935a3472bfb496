/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What a caller orders from a server, which may be a process: of both. */
#ifndef KAPI_ORDERS_H
#define KAPI_ORDERS_H

#include <linux/types.h>

#define KAPI_TAG_ORDER 1
#define KAPI_TAG_DATA 2 /* what is to be sent back, */
#define KAPI_TAG_ECHO 3 /* and is */
#define KAPI_TAG_KEY 4	/* answer to KAPI_OPEN: a struct kapi_key */
#define KAPI_TAG_BALL 5 /* sent back with BACK, by whoever gets it */
#define KAPI_TAG_BACK 6
#define KAPI_TAG_NOBODY 99 /* is not received */

enum kapi_op {
	KAPI_ECHO, /* a message of so many bytes comes: send it back */
	KAPI_OPEN, /* register so many bytes, and say by what key */
	KAPI_SHUT, /* end that */
	KAPI_DIE,  /* in so many microseconds, without a word */
};

enum kapi_order_flags {
	KAPI_SYNC = 1, /* the echo is a synchronous send */
};

struct kapi_order {
	__u32 op, kind, flags, pad;
	__u64 length;
};

struct kapi_key {
	__u64 key;
};

#endif
