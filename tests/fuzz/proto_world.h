/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The world of fuzz_proto.c: two or three endpoints and all that was started
 * between them.
 *
 *	proto_world.c	its beginning and its end, and what messages hold
 *	proto_ops.c	one thing that happens in it, as the input says
 *	proto_check.c	what must hold after every step, and when all is over
 */
#ifndef PROTO_WORLD_H
#define PROTO_WORLD_H

#include "fuzz.h"
#include "mock_engine.h"

#define MAX_MSGS 800
#define MAX_HANDLES 16
#define MAX_LEN 6300
#define HOSTILE 2

struct msg {
	struct mock_req *req; /* NULL: it went without */
	u64 number, tag, len;
	u32 src, dst;
};

struct handle {
	struct o2g_unexp *u;
	struct mock *at;
	u64 number;
};

struct world {
	struct mock m[MOCK_ENDS];
	struct mock *all[MOCK_ENDS];
	unsigned n;
	bool hostile, backwards;
	bool broken;		   /* some connection was lost */
	struct mock_conn stranger; /* the hostile end's packets */
	struct msg msgs[MAX_MSGS];
	struct mock_req *recvs[2 * MAX_MSGS];
	struct mock_req *rmas[MAX_MSGS];
	unsigned nmsgs, nrecvs, nrmas;
	struct handle handles[MAX_HANDLES];
	unsigned nhandles;
	u64 sum;		  /* added to cells, if nothing was lost */
	unsigned calls, answered; /* messages for handlers */
	u32 credit;
};

extern struct world world;

/* Loops over bytes teach the fuzzer nothing. */
#ifdef __clang__
#define NO_COVERAGE __attribute__((no_sanitize("coverage"), __noinline__))
#else
#define NO_COVERAGE
#endif

/* proto_world.c */
void start_world(struct input *in);
void end_world(void);
/* The bytes of message @number: itself first, then a pattern that it shifts. */
const u8 *contents(u64 number);
bool holds(const u8 *buf, u64 n, u64 number);
/* Puts go to the first half of the memory and write what belongs there. */
u8 put_byte(u64 offset);
u8 first_byte(u32 rank, u64 offset);
u64 tag_of(u8 b);
struct mock_req *add_recv(struct mock_req *r, u64 number);

/* proto_ops.c */
void one_op(struct input *in);
/* Receive the message of the @i-th handle. */
void receive_handle(unsigned i, u64 len);

/* proto_check.c */
void check_end(struct mock *m);
void finish_world(void);
void check_rma(void);

#endif
