/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * An engine made of paper, for tests of the protocols: endpoints in one process,
 * joined by queues of encoded packets that the test moves as it likes, whole or
 * in pieces. Everything the core is handed lies in memory of its own and is
 * poisoned when it is no longer the core's, so that ASan sees a touch too late;
 * requests are checked to complete exactly once.
 */
#ifndef MOCK_ENGINE_H
#define MOCK_ENGINE_H

#include "channel.h"
#include "stream.h"

#define MOCK_ENDS 3
#define MOCK_MEM 2048	/* registered memory of each endpoint */
#define MOCK_MEM_KEY 77 /* readable and writable */
#define MOCK_MEM_RO 78	/* the same, readable only */
#define MOCK_CELLS 64	/* ... and for atomic operations, 8 bytes each: */
#define MOCK_CELLS_KEY 79
#define MOCK_BINS 8

struct mock;

/* A packet on its way; held ones wait at the sender with their body. */
struct mock_pkt {
	struct o2g_list link;
	struct o2g_hdr h;
	struct o2g_req *req; /* held: whose body, NULL for none */
	u64 off, len;
	size_t n, taken;
	u8 bytes[]; /* header and body, once sent */
};

/* One end of a connection; `peer` comes first. */
struct mock_conn {
	struct o2g_peer peer;
	struct mock *me;
	struct mock_conn *back; /* the other end; NULL: packets pile up */
	struct o2g_list out;	/* sent, not yet taken by the other end */
	struct o2g_list held;	/* what xmit answered 1 to, and all behind it */
	unsigned hold;		/* hold the next so many packets with a req */
	u64 lend_min;		/* sends from this length on go by reference */
	struct o2g_stream in;
	struct o2g_rx rx;
	u64 whole; /* plain eager packets shorter than this that lie in
			  * one piece arrive by whole_feed */
	enum o2g_proto_reason reason; /* why an arriving packet was refused */
	bool lost;		      /* peer_down was called here */
	bool got_bye;		      /* ops->bye was called */
	unsigned fail_xmit; /* countdown: the n-th xmit finds the peer gone */
	bool failed;	    /* it did; the test calls mock_lose soon */
};

struct mock_req {
	struct o2g_req core;
	struct mock *me;
	u64 number; /* order of starting, over all endpoints */
	u64 cookie; /* the test's own */
	u8 *buf;    /* all segments lie in it */
	u8 *result; /* atomic with FETCH; else NULL */
	struct o2g_seg segs[3];
	/* what it ended with; `core` must not be touched any more */
	bool done;
	u8 kind;
	u16 flags;
	int status;
	u32 src;
	u64 tag, len, msg_len, got;
};

/* A message the core asked memory for. */
struct mock_unexp {
	struct o2g_unexp core;
	struct mock *me;
	struct o2g_list all;
	u64 body;
};

struct mock {
	struct o2g_core core;
	struct mock_conn conn[MOCK_ENDS]; /* by rank; its own: loops back */
	struct mock_req **reqs;		  /* by id - 1; NULL when completed */
	size_t nreqs, size;
	u64 cells[MOCK_CELLS];
	bool peeks;	  /* a short get is answered with FIN */
	unsigned handled; /* messages for handlers */
	u64 handled_bytes, handled_tag;
	/* One can be handled; NULL: it is counted and dropped. */
	void (*on_served)(struct mock *m, struct mock_conn *c);
	size_t live; /* requests not completed */
	struct o2g_list unexps;
	u64 unexp_body, unexp_count;
	u8 mem[MOCK_MEM];
	/* behaviour */
	bool exposes;	     /* sends can be read by the peer */
	int get_error;	     /* what reading answers; 0: it works */
	unsigned fail_alloc; /* countdown: this allocation fails */
	bool claim_fails;    /* SHARED receives went elsewhere */
	unsigned claims;
	/* called after the request was taken out of the table */
	void (*on_complete)(struct mock *m, struct mock_req *r);
	/* called when a message can be probed for */
	void (*on_arrived)(struct mock *m, struct o2g_unexp *u);
	unsigned gets;
};

extern u64 mock_next_number;

/* Endpoint @rank with no peers yet. */
void mock_init(struct mock *m, u32 rank);
/* Frees all, also messages nobody received. Returns how many requests had not
 * completed. */
size_t mock_exit(struct mock *m);
/* A connection between two (or of one with itself); @credit each way, 0: the
 * protocol's own. */
void mock_join(struct mock *a, struct mock *b, u32 credit);
/* A connection whose other end is the test. */
struct mock_conn *mock_join_test(struct mock *m, u32 rank, u32 credit);

/* A request with a buffer of @len bytes in @nsegs pieces. */
struct mock_req *mock_req(struct mock *m, enum o2g_req_kind kind, u64 len,
			  unsigned nsegs);
void mock_req_free(struct mock_req *r);

/* Start one, and give it back (it may be done already). */
struct mock_req *mock_send(struct mock *m, u32 to, u64 tag, const void *data,
			   u64 len, u16 flags);
struct mock_req *mock_recv(struct mock *m, u32 from, u64 tag, u64 ignore,
			   u64 len);
struct mock_req *mock_mrecv(struct mock *m, struct o2g_unexp *u, u64 len);
struct mock_req *mock_put(struct mock *m, u32 to, u64 key, u64 offset,
			  const void *data, u64 len);
struct mock_req *mock_get(struct mock *m, u32 to, u64 key, u64 offset, u64 len);
/* Without FETCH if @fetch is not set; the data is the operands. */
struct mock_req *mock_atomic(struct mock *m, u32 to, u32 op, u32 type, u64 key,
			     u64 offset, const void *data, u64 len, bool fetch);

/* Send up to @n held packets of this connection; returns how many. */
unsigned mock_push(struct mock_conn *c, unsigned n);
/* Give @c's other end up to @n bytes of what is out; returns how many. */
size_t mock_deliver(struct mock_conn *c, size_t n);
/* A packet straight from the test into @c's endpoint. */
enum o2g_proto_reason mock_inject(struct mock_conn *c, struct o2g_hdr h,
				  const void *body);
/* Push and deliver everything between these until nothing moves. */
void mock_pump(struct mock **all, unsigned n);
/* This end of the connection is gone; the other one does not know. */
void mock_lose(struct mock_conn *c, int err);

/* For tests that look at packets: the oldest one out, or NULL. */
struct mock_pkt *mock_first(struct mock_conn *c);
void mock_drop_first(struct mock_conn *c);

#endif
