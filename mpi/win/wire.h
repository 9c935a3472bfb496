/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The messages of windows, which handlers receive (o2g_serve).
 *
 * An origin collects what it wants of a target into a batch: a lock to take first,
 * operations, and a lock to give back or an epoch to complete at the end. So
 * lock, operation and unlock are one message and one answer, and a thousand small
 * puts are a few messages. The target does batches of one origin in the order in
 * which they were sent. It answers those that ask for it, with what was fetched.
 *
 * Both ends are of one job and one build, so numbers are as the processor has
 * them. What the target is told it checks nevertheless: a range of memory outside
 * of the window is refused.
 */
#ifndef WIN_WIRE_H
#define WIN_WIRE_H

#include <stdint.h>

/* A tag is this, the context of the window, and the kind of message. */
#define WIN_TAG (UINT64_C(0x57) << 56)
#define WIN_TAG_IGNORE ((UINT64_C(1) << 56) - 1)

enum win_message {
	WIN_MSG_BATCH, /* struct win_batch_head, operations */
	WIN_MSG_REPLY, /* struct win_reply_head, what was fetched */
	WIN_MSG_POST,  /* of MPI_Win_post */
	WIN_MSG_POKE,  /* look at the lock: it was given back */
};

static inline uint64_t win_tag(uint32_t context, enum win_message kind)
{
	return WIN_TAG | (uint64_t)context << 8 | kind;
}

enum win_batch_flags {
	WIN_BATCH_REPLY = 1,
	WIN_BATCH_UNLOCK = 2,	/* after the operations */
	WIN_BATCH_COMPLETE = 4, /* the same for MPI_Win_complete */
};

struct win_batch_head {
	uint32_t seq;
	uint32_t nops;
	uint8_t lock, unlock; /* enum win_lock: to take, to give back */
	uint8_t flags;
	uint8_t pad[5];
};

#define WIN_WIRE_LAYOUT 63 /* beside enum win_kind: a layout to be kept */

/* An operation; its data follows, up to a multiple of 8. */
struct win_wire_op {
	uint8_t kind;  /* enum win_kind */
	uint8_t op;    /* handle, from MPII_OP_FIRST on */
	uint8_t fetch; /* what was there is wanted */
	uint8_t pad;
	uint32_t layout;       /* number of one that was sent; 0: one piece */
	uint32_t basic, index; /* ABI handle of the elements' type; index: that
				* of a pair's second half, else 0 */
	uint64_t data;	       /* bytes that follow */
	uint64_t at; /* where the target's buffer begins, from the window's
		      * beginning; in dynamic windows an address */
	uint64_t off, bytes; /* which part of its packed form */
	uint64_t count;	     /* instances of the layout */
};

/*
 * The same in brief, for few bytes in one piece, which most are: many in a batch cost
 * little to write and to read. What WIN_ACC and WIN_CAS do comes next, then the data,
 * up to a multiple of 8.
 */
#define WIN_BRIEF 128u	    /* in kind */
#define WIN_BRIEF_FETCH 64u /* likewise */
#define WIN_BRIEF_MAX 128   /* bytes of memory */
#define WIN_BRIEF_AT 48	    /* bits of where that begins */

struct win_brief {
	uint8_t kind, bytes;
	uint16_t at_high;
	uint32_t at_low;
};

struct win_brief_acc {
	uint8_t op;    /* handle, from MPII_OP_FIRST on */
	uint8_t basic; /* handle, from MPII_TYPE_FIRST on */
	uint8_t pad[6];
};

static inline struct win_brief win_brief(unsigned kind, uint64_t at,
					 uint64_t bytes)
{
	return (struct win_brief){ (uint8_t)(kind | WIN_BRIEF), (uint8_t)bytes,
				   (uint16_t)(at >> 32), (uint32_t)at };
}

static inline uint64_t win_brief_at(const struct win_brief *b)
{
	return (uint64_t)b->at_high << 32 | b->at_low;
}

struct win_reply_head {
	uint32_t seq;
	int32_t error; /* MPI class */
};

/* A datatype as far as its bytes are concerned; loops and blocks follow. */
struct win_wire_type {
	int64_t size, extent;
	uint64_t nloops, nblocks;
};

#define WIN_LAYOUTS 32 /* that a target keeps for an origin: 1 to 32 */

static inline uint64_t win_padded(uint64_t n)
{
	return (n + 7) & ~UINT64_C(7);
}

#endif
