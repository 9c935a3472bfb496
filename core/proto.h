/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The protocols: eager, rendezvous, get, put, and the credit that bounds
 * unexpected memory. docs/protocol.md tells the story with its drawings.
 *
 * An endpoint's engine embeds these structures, fills the ops and calls in with
 * its lock held. Nothing here blocks, allocates or locks.
 *
 * Credit. Every message that may have to wait at the receiver costs the sender
 * its length plus O2G_COST of the credit the receiver has granted. What is
 * consumed is given back, on the next packet or in a CREDIT packet. A sender
 * without credit for its next message keeps it at home, in order, and says it is
 * stalled. The receiver then grants more while the budget allows; after that a
 * few envelopes (RTS, O2G_COST each), by which the sender falls back to
 * rendezvous; and more and more of them, up to extra_max, when a receive is posted
 * that nothing at hand satisfies, since the message it wants may be one that is held
 * back: envelopes may exceed the limit for a program that receives its last message
 * first, payload never.
 *
 * Messages to handlers have credit of their own, a fixed grant: they are handled
 * without anybody asking for them, so it always comes back, and a peer whose messages
 * nobody receives can still be called, and call.
 */
#ifndef O2G_PROTO_H
#define O2G_PROTO_H

#include "cookies.h"
#include "match.h"
#include "wire.h"

#define O2G_COST 192 /* charge for an envelope: what it takes here */
#define O2G_CREDIT_INIT (32u << 10)   /* granted without asking, both ways */
#define O2G_CREDIT_RESERVE (4u << 10) /* eager data leaves this to RTS */
#define O2G_CREDIT_FLOW (1u << 20)    /* a grant grows to this by itself */
#define O2G_CREDIT_EXTRA (128u << 10) /* envelopes beyond the budget, a time */
#define O2G_CREDIT_SERVED (64u << 10) /* for messages to handlers, both ways */
#define O2G_GETS_MAX 256  /* gets from one peer under way; it refuses more */
#define O2G_PUTS_MAX 1024 /* pieces of operations that are not answered */
/* Packets without a body that a channel keeps for a peer that does not read: more than
 * any that keeps to the rules is owed. */
#define O2G_ANSWERS_MAX (1u << 20)
#define O2G_SERVED_BODY_MAX (64u << 20) /* of a message to a handler */
#define O2G_SHORT 16 /* operands that need no memory at the target */

struct o2g_core;
struct o2g_peer;
struct o2g_req;
struct o2g_view; /* the engine's; the core only passes it on */

enum o2g_req_kind {
	O2G_REQ_SEND,
	O2G_REQ_RECV,
	O2G_REQ_PUT,
	O2G_REQ_GET,
	O2G_REQ_ATOMIC,
	O2G_REQ_REPLY
};

enum o2g_req_state {
	O2G_ST_NEW,
	O2G_ST_POSTED,	/* recv: in the matching queues */
	O2G_ST_CLAIMED, /* recv: matched, its message is still arriving */
	O2G_ST_STALLED, /* send, get: kept at home until there is room */
	O2G_ST_XMIT,	/* the channel holds its body */
	O2G_ST_PUSH,	/* put, atomic: being handed to the channel */
	O2G_ST_WAIT,	/* send, put, atomic: waiting for CTS, FIN or NAK */
	O2G_ST_DATA,	/* recv, get: DATA packets expected */
	O2G_ST_FILLING, /* ... one is coming in: no other packet may touch it */
	O2G_ST_DONE,
};

enum o2g_req_flags {
	O2G_REQF_SYNC = 1,	/* send: complete only when matched */
	O2G_REQF_CANCEL = 2,	/* a cancel was asked for */
	O2G_REQF_CANCELLED = 4, /* ... and worked */
	O2G_REQF_SHARED = 8,	/* recv: posted to another matcher as well */
	O2G_REQF_GOT_CTS = 16,	/* send: DATA is going out */
	O2G_REQF_SERVED = 32,	/* send: for a handler */
	O2G_REQF_FETCH = 64,	/* atomic: with a result */
	O2G_REQF_FILLED = 128,	/* atomic: DATA comes into its result */
	/* send: its memory is read as long as the receiver has not got all of it, so
	 * that is said by whoever announces it: DATA with REFERENCE */
	O2G_REQF_REFERENCE = 256,
};

/* A packet a channel could not send at once; queued in the channel. */
struct o2g_tx {
	struct o2g_list link;
	struct o2g_req *req; /* whose body it carries, NULL for control */
	u32 hdr_done;	     /* header bytes already out */
	u64 off, left;	     /* body: offset into req's segments, bytes to go */
	u8 hdr[O2G_HDR_SIZE];
};

/* Take what went out, of *n bytes, off a packet; true when all of it is out. */
static inline bool o2g_tx_advance(struct o2g_tx *tx, u64 *n)
{
	u64 step = O2G_HDR_SIZE - tx->hdr_done;

	if (step > *n)
		step = *n;
	tx->hdr_done += step;
	*n -= step;
	step = tx->left < *n ? tx->left : *n;
	tx->off += step;
	tx->left -= step;
	*n -= step;
	return tx->hdr_done == O2G_HDR_SIZE && !tx->left;
}

/* The core's part of a request; engines embed it in theirs. What a small
 * message does not need comes last. */
struct o2g_req {
	void *owner;		      /* the engine's, for its own use */
	struct o2g_match_entry match; /* recv: source, tag, ignore as asked */
	struct o2g_peer *peer; /* whom it talks to; recv: set when matched */
	u8 kind, state;
	u16 flags;
	int status;  /* 0 or negative errno, valid when done */
	u64 id;	     /* engine's cookie for it, never 0 */
	u64 tag;     /* send: tag. recv: of the matched message */
	u64 len;     /* send: bytes. recv: capacity. */
	u64 msg_len; /* recv: length of the matched message */
	u64 got;     /* recv, get: bytes that have arrived */
	const struct o2g_seg *segs;
	u32 nsegs;
	struct o2g_seg seg0; /* segs points here for a single segment */
	/* Who copies any part of the data, in place of segments: nsegs is 0 and
	 * segs an empty one. */
	const struct o2g_view *view;
	struct o2g_list link;	  /* in one of the peer's lists */
	u64 remote;		  /* cookie at the other end */
	u64 key, offset;	  /* put, get, atomic: remote memory */
	u8 op, type;		  /* atomic */
	struct o2g_unexp *memory; /* reply: where its data is; goes with it */
	struct o2g_seg result;	  /* atomic, FETCH: where the values from ... */
	const struct o2g_seg *result_segs; /* ... before go, as segs and view */
	u32 n_result_segs;
	const struct o2g_view *result_view;
	u64 operand[2];	  /* atomic: of a single element */
	struct o2g_tx tx; /* for the one packet in flight with a body */
};

/* What a message was paid with. */
enum o2g_paid { O2G_PAID_CREDIT, O2G_PAID_EXTRA, O2G_PAID_SERVED };

/* A message nobody asked for yet; the engine allocates it with room for body. */
struct o2g_unexp {
	struct o2g_match_entry match;
	struct o2g_peer *peer;
	u8 type, flags; /* EAGER or RTS; packet flags */
	bool complete;	/* EAGER: the body is all here */
	bool named;	/* it is in peer->named */
	int error;	/* the peer died before it was complete */
	u64 len, aux;
	struct o2g_cookie cookie; /* its value is the packet's */
	u64 charge;		  /* credit to give back */
	u8 paid;		  /* enum o2g_paid: of which kind */
	struct o2g_req *req;	  /* claimed by this receive while arriving */
	struct o2g_seg body;	  /* engine's memory, len bytes */
	struct o2g_list link; /* peer->arriving while incomplete, then ->here */
	struct o2g_list served; /* peer->served: for a handler */
};

/* Where a body goes: a cursor over segments, or the offset in a view; past
 * `room` bytes are dropped. */
struct o2g_sink {
	const struct o2g_seg *segs;
	u32 nsegs;
	u64 off;  /* next byte, as an offset into the segment list */
	u64 room; /* bytes that still fit */
	const struct o2g_view *view;
};

/* One packet being received; one per connection. */
struct o2g_rx {
	struct o2g_hdr hdr;
	struct o2g_sink sink;
	struct o2g_req *req;
	struct o2g_unexp *unexp;
	struct o2g_seg put_seg; /* PUT: the registered memory. ATOMIC: operands */
	int nak;		/* PUT, ATOMIC: error to answer with */
	u64 operand[O2G_SHORT / 8];
};

struct o2g_peer {
	u32 rank;	 /* its number here: what matching knows it by */
	u32 wire_rank;	 /* its rank in its own job: what packets say */
	bool down;	 /* no packet goes out any more */
	bool said_bye;	 /* it closed in order */
	bool said_stall; /* we told it that we are stalled */
	bool is_stalled; /* it told us */
	bool starting;	 /* o2g_send_stalled is at work, further up the stack */
	bool calling;	 /* o2g_send_calls likewise */
	bool no_get;	 /* reading its memory was refused */
	bool can_get;	 /* its channel can read its memory */
	u64 eager_max;	 /* largest eager body, from the channel */
	u64 inject_max; /* below this the channel may take it without a request */
	u64 get_min;	/* shorter messages are not offered for reading */
	/* credit, as sender and as receiver */
	u32 credit;	       /* what we may still charge it */
	u32 env_credit;	       /* ... for envelopes only */
	u32 granted;	       /* what it may have outstanding here */
	u32 used;	       /* charged by it and not given back */
	u32 extra, extra_used; /* the same for envelopes beyond the budget; an
				* extra grant is good for one use */
	u32 owed;	       /* to be given back with the next packet */
	u32 posted;	       /* receives posted here for it alone */
	/* ... credit, used and owed for messages to handlers */
	u32 served_credit, served_used, served_owed;
	struct o2g_list stall_link; /* core->stalled_peers while is_stalled */
	/* requests */
	struct o2g_list stalled;   /* sends kept at home */
	struct o2g_list calls;	   /* ... that are for handlers */
	struct o2g_list waiting;   /* all of it sent, waits for an answer */
	struct o2g_list incoming;  /* receives, gets with DATA to come */
	struct o2g_list arriving;  /* unexpected messages, incomplete */
	struct o2g_list here;	   /* ... whole, or announced; not taken */
	struct o2g_cookie *named;  /* ... that a CANCEL may name */
	struct o2g_list held_gets; /* beyond O2G_GETS_MAX */
	struct o2g_list ops; /* puts, atomics that are not all sent, in order */
	struct o2g_list served; /* its messages for handlers, in order */
	u32 gets;		/* under way */
	u32 puts;		/* pieces of ops under way */
	bool pushing;		/* ops are being sent, further up the stack */
	u32 replies; /* to its gets, not all handed to the channel yet */
	/* messages and puts, with the bytes they announce */
	u64 msgs_sent, bytes_sent, msgs_recv, bytes_recv;
};

struct o2g_core_ops {
	/*
	 * Send a packet, with body bytes [off, off+len) of req's segments. The
	 * header is copied. 0: taken whole, the body may be reused. 1: the
	 * channel holds on to req->tx and calls o2g_proto_sent(). Negative: the
	 * peer is gone; o2g_proto_peer_down() will be called, but not from
	 * inside this call.
	 */
	int (*xmit)(struct o2g_core *c, struct o2g_peer *p,
		    const struct o2g_hdr *h, struct o2g_req *req, u64 off,
		    u64 len);
	/* As xmit for an EAGER packet, now or not at all: 0 or -EAGAIN. May be
	 * NULL. */
	int (*inject)(struct o2g_core *c, struct o2g_peer *p,
		      const struct o2g_hdr *h, const void *buf, u64 len);
	/*
	 * A message has met a SHARED receive: is it ours? False: the other
	 * matcher was quicker and completes it. NULL where there is none.
	 */
	bool (*claim)(struct o2g_core *c, struct o2g_req *req);
	/* The request is complete; the core does not touch it again. */
	void (*complete)(struct o2g_core *c, struct o2g_req *req);
	/* The live request with this id, or NULL: ids come from the network. */
	struct o2g_req *(*find)(struct o2g_core *c, u64 id);
	/* An unexpected message with room for a body; NULL when out of memory. */
	struct o2g_unexp *(*unexp_alloc)(struct o2g_core *c, struct o2g_peer *p,
					 u64 body);
	void (*unexp_free)(struct o2g_core *c, struct o2g_unexp *u);
	/* Copy between two segment lists. */
	void (*copy)(struct o2g_core *c, const struct o2g_sink *to,
		     const struct o2g_seg *from, u64 len);
	/* A new unexpected message can be probed for. May be NULL. */
	void (*arrived)(struct o2g_core *c, struct o2g_unexp *u);
	/*
	 * Read/write the peer's memory directly. 0, or negative: -EOPNOTSUPP
	 * and -EPERM mean "use packets instead", -EAGAIN: this time. May be
	 * NULL.
	 */
	int (*get)(struct o2g_core *c, struct o2g_req *req, u64 addr, u64 len);
	/* Registered memory for a put (write) or get; 0 or negative errno. */
	int (*mem)(struct o2g_core *c, struct o2g_peer *p, u64 key, u64 offset,
		   u64 len, bool write, struct o2g_seg *seg);
	/*
	 * Do an ATOMIC packet's operation to @seg, which ops->mem gave. Operands
	 * become the values from before. 0 or negative errno. NULL: never.
	 */
	int (*atomic)(struct o2g_core *c, const struct o2g_seg *seg, u32 op,
		      u32 type, void *operands, u64 n);
	/* Read up to 8 bytes of it, now; false: not now. May be NULL. */
	bool (*peek)(struct o2g_core *c, const struct o2g_seg *seg, u64 *to);
	/* o2g_proto_go_on() is to be called soon. NULL where core->turn is 0. */
	void (*again)(struct o2g_core *c, struct o2g_peer *p);
	/* The first message in p->served can be handled. NULL: there are no
	 * handlers, and such messages are refused. */
	void (*served)(struct o2g_core *c, struct o2g_peer *p);
	/* The data of a put or atomic is not needed any more, but it is not
	 * complete. May be NULL. */
	void (*departed)(struct o2g_core *c, struct o2g_req *req);
	/* A request of kind REPLY for serving a get; NULL when out of memory. */
	struct o2g_req *(*reply_alloc)(struct o2g_core *c, struct o2g_peer *p);
	/* RTS: an address the peer can read this send at; false if it cannot. */
	bool (*expose)(struct o2g_core *c, struct o2g_req *req, u64 *addr);
	/*
	 * CTS has come for @len bytes of this send. True: its memory is in use until
	 * the peer answers, not only until it is sent (O2G_REQF_REFERENCE). NULL: as
	 * the request says.
	 */
	bool (*lend)(struct o2g_core *c, struct o2g_req *req, u64 len);
	/* The peer said BYE. Soon, but not from inside this call, the engine
	 * closes the connection and calls o2g_proto_peer_down(). */
	void (*bye)(struct o2g_core *c, struct o2g_peer *p);
};

/* Counters; read by tools, never by the protocol. */
struct o2g_core_stats {
	u64 eager_sent, rts_sent, rts_no_credit, stalls, credits_sent;
	u64 rts_recv, unexpected, gets, data_recv, extra_grants;
	u64 bad_packets;
};

struct o2g_core {
	const struct o2g_core_ops *ops;
	struct o2g_match match;
	u32 rank;
	u64 budget_total; /* unexpected bytes all peers together may use */
	u64 granted_total;
	u64 extra_max, extra_total; /* likewise, envelopes beyond that */
	u32 budget_peer;	    /* what one peer's grant may grow to */
	u32 served_grant;  /* for messages to handlers; the same everywhere */
	u32 npeers_alive;  /* peers initialised and not down */
	u32 posted_any;	   /* receives posted for any source */
	bool any_outlives; /* ... which end with no peer: the engine sees to
			    * them, by o2g_proto_give_up() */
	struct o2g_list stalled_peers;
	u32 turn; /* sends that credit starts in one go; 0: all that it can */
	u64 data_chunk;	  /* largest DATA body */
	u64 atomic_piece; /* largest of ATOMIC, a multiple of 16, */
	u64 fetch_piece;  /* ... and with a result, a multiple of 8 */
	/* ATOMIC packets that would need memory are refused: the driver's. */
	bool atomics_short;
	struct o2g_core_stats stats;
};

/* Why a packet was refused; a name for every one. */
enum o2g_proto_reason {
	O2G_PROTO_OK,
	O2G_PROTO_WRONG_ENDPOINT,
	O2G_PROTO_TOO_LONG,   /* eager body beyond eager_max or the credit */
	O2G_PROTO_NO_REQUEST, /* a cookie that names nothing of this peer */
	O2G_PROTO_BAD_STATE,  /* ... nothing that waits for this packet */
	O2G_PROTO_BAD_RANGE,  /* DATA outside the receive */
	O2G_PROTO_BAD_CREDIT, /* more credit than there can be */
	O2G_PROTO_NO_MEMORY,
	O2G_PROTO_AFTER_BYE,
	O2G_PROTO_REASONS
};
const char *o2g_proto_reason_name(enum o2g_proto_reason r);

/* Limits are set by the caller after init. */
void o2g_core_init(struct o2g_core *c, const struct o2g_core_ops *ops, u32 rank,
		   struct o2g_match_bin *bins, u32 nbins, u64 seed);
/* The caller sets wire_rank afterwards where it is not the number: other jobs. */
void o2g_peer_init(struct o2g_core *c, struct o2g_peer *p, u32 rank);

/* --- local calls; each request ends in ops->complete, maybe before return --- */

/*
 * The quick way for a small message: 0 when it is gone, no request involved.
 * -EAGAIN: nothing was done, it takes a request.
 */
int o2g_proto_inject(struct o2g_core *c, struct o2g_peer *p, u64 tag,
		     const void *buf, u64 len);
/* peer, tag, len, segs, id and flags are set. */
void o2g_proto_send(struct o2g_core *c, struct o2g_req *req);
/* The same request waits until the engine takes it out of peer->stalled and sends
 * it: the peer cannot be reached yet. */
void o2g_proto_hold(struct o2g_core *c, struct o2g_req *req);
/* match.{src,tag,ignore}, len, segs, id are set; peer too, unless any source. */
void o2g_proto_recv(struct o2g_core *c, struct o2g_req *req);
/* Take a posted receive back without completing it; false: it is not posted. */
bool o2g_proto_withdraw(struct o2g_core *c, struct o2g_req *req);
/* A receive for a message taken by o2g_proto_mprobe. */
void o2g_proto_mrecv(struct o2g_core *c, struct o2g_req *req,
		     struct o2g_unexp *u);
/* Complete or still arriving: what the header says is there. NULL if none. */
struct o2g_unexp *o2g_proto_probe(struct o2g_core *c, u32 src, u64 tag,
				  u64 ignore);
struct o2g_unexp *o2g_proto_mprobe(struct o2g_core *c, u32 src, u64 tag,
				   u64 ignore);
/* The same for one that is known, and that nobody has taken. */
void o2g_proto_take(struct o2g_core *c, struct o2g_unexp *u);
/* peer, key, offset, len, segs, id are set. */
void o2g_proto_put(struct o2g_core *c, struct o2g_req *req);
void o2g_proto_get(struct o2g_core *c, struct o2g_req *req);
/* ... op and type as well; with FETCH also where the result goes. For O2G_AOP_CAS
 * the data is two elements, else as many as there are. */
void o2g_proto_atomic(struct o2g_core *c, struct o2g_req *req);
/*
 * 0: cancelled and completed. -EINPROGRESS: the peer is being asked, the
 * request completes either way. -EBUSY: too late, it completes normally.
 */
int o2g_proto_cancel(struct o2g_core *c, struct o2g_req *req);
/* Tell a peer that we close; nothing may be sent to it afterwards. */
void o2g_proto_bye(struct o2g_core *c, struct o2g_peer *p);

/* --- messages for handlers --- */

/* The next of this peer, if it can be handled: a whole message, or an RTS. */
struct o2g_unexp *o2g_proto_served(struct o2g_peer *p);
/* It is the caller's: for o2g_proto_mrecv(), or to be dropped when handled. */
void o2g_proto_take_served(struct o2g_unexp *u);
void o2g_proto_drop(struct o2g_core *c, struct o2g_unexp *u);

/* --- from the channels --- */

/*
 * A header arrived on @p's connection. O2G_PROTO_OK, and rx->sink says where
 * the body goes; anything else: close the connection. Call end also when there
 * is no body; but with REFERENCE not on a connection that is reset, however much of it
 * was there: its sender may have changed it since.
 */
enum o2g_proto_reason o2g_proto_rx_begin(struct o2g_core *c, struct o2g_peer *p,
					 const struct o2g_hdr *h,
					 struct o2g_rx *rx);
void o2g_proto_rx_end(struct o2g_core *c, struct o2g_peer *p,
		      struct o2g_rx *rx);
/* Start more of what credit has come for; ops->again asked for it. */
void o2g_proto_go_on(struct o2g_core *c, struct o2g_peer *p);
/* The packet for which xmit returned 1 is out. */
void o2g_proto_sent(struct o2g_core *c, struct o2g_req *req);
/*
 * The peer is gone. The channel has dropped its rx and forgotten every tx, and if it
 * sends by reference (O2G_REQF_REFERENCE) it has reset the connection. All
 * that needs the peer completes with @err; receives from any source do too,
 * unless it said BYE.
 */
void o2g_proto_peer_down(struct o2g_core *c, struct o2g_peer *p, int err);
/*
 * The same in portions, for whoever may not take long. First the peer is cut off:
 * whatever is started for it from then on fails at once. Then end the receives that
 * are posted for it alone (@p->posted of them; the caller knows where they are), and
 * reap the rest, @max things at a time; true: nothing is left.
 */
void o2g_proto_peer_cut(struct o2g_core *c, struct o2g_peer *p);
bool o2g_proto_end_posted(struct o2g_core *c, struct o2g_req *req, int err);
bool o2g_proto_peer_reap(struct o2g_core *c, struct o2g_peer *p, int err,
			 u32 max);
/*
 * The peer is down, and is being forgotten: drop messages that nobody has asked for,
 * @max at most. True: no more are left.
 */
bool o2g_proto_forget(struct o2g_core *c, struct o2g_peer *p, u32 max);
/* End posted receives for which @fn says so, with @err. */
void o2g_proto_give_up(struct o2g_core *c,
		       bool (*fn)(const struct o2g_req *req, void *arg),
		       void *arg, int err);
/* Cancel such sends to @p. */
void o2g_proto_give_up_sends(struct o2g_core *c, struct o2g_peer *p,
			     bool (*fn)(const struct o2g_req *req, void *arg),
			     void *arg);

/* Move the cursor @n bytes on, and find the piece it points at. */
void o2g_sink_advance(struct o2g_sink *s, u64 n);

#endif
