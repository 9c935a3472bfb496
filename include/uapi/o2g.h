/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/o2g: what the library and the driver say to each other.
 *
 * An open file is an endpoint, once O2GD_SETUP has given it a rank. Its memory
 * is mapped with mmap(2) at offset 0, as one piece:
 *
 *	struct o2gd_shared	a page: indices and flags
 *	struct o2gd_sqe[]	receives that are posted without a system call
 *	struct o2gd_cqe[]	completions
 *	dump area		bodies of small and of unexpected messages
 *
 * A request has a slot, which the library chooses; there are as many as
 * O2GD_GROW has asked for. A slot is in use from the submission until the
 * library has taken the completion out of the ring.
 *
 * Posting. A receive of at most O2GD_SMALL bytes is written to the posting
 * ring, then shared->sq_tail is moved on. The driver looks there before it
 * matches a message. It does not look when nothing arrives: after moving sq_tail
 * and a full fence, the library reads shared->unexpected, and calls O2GD_KICK
 * when that is not 0. Everything else goes through O2GD_SUBMIT, which also takes
 * what is in the ring first, so that the order of posting holds.
 *
 * Completion. Entry i of the ring (i never wraps) is valid when its seq is
 * i + 1. The library takes it, copies a body out of the dump area if it names
 * one, and moves shared->cq_head on, with which that piece of the dump area is
 * the driver's again. When shared->overflow is not 0, completions wait for room
 * in the ring: take what is there, then O2GD_KICK.
 *
 * Sleeping. Write 1 to shared->armed, a full fence, look at the ring once more,
 * then poll(2) the descriptor, or call O2GD_WAIT, which does all of it. The
 * descriptor is also readable while shared->arrived differs from shared->seen:
 * whoever waits in a probe copies the one to the other and probes again.
 *
 * Handlers. A message for one (O2GD_SERVED) is not matched. A completion of its own
 * (O2GD_SLOT_SERVED) says that there are some; O2GD_PROBE hands them out, one of each
 * peer at a time, and O2GD_OP_MRECV receives them.
 *
 * A lost peer. What needs it ends with O2G_ERR_PEER, and a completion of its own
 * (O2GD_SLOT_PEER) says why. A receive from any source stays: others may send to
 * it. Whoever knows better cancels it.
 *
 * How it grows. Where the argument of a call is a struct, the call's number has its size:
 * the driver takes a shorter one for one whose last fields are 0, and a longer one if what
 * it does not know of it is 0 (else E2BIG); of what it returns it writes as much as there
 * is room for, and 0 behind it. Entries of an array are as long as the caller says.
 * Counters have names. So fields are added at the ends of structs and counters anywhere;
 * O2GD_VERSION grows when that is not enough. 32-bit programs have the same structs;
 * struct iovec is theirs. The eight calls, which are as they are, do not grow.
 */
#ifndef O2G_UAPI_H
#define O2G_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define O2GD_DEVICE "/dev/o2g"
#define O2GD_VERSION 2
#define O2GD_SMALL 4096 /* receives up to this need no pinned memory */
#define O2GD_INLINE 16	/* bodies up to this are in the completion */
#define O2GD_BLOCK 256	/* granularity of the dump area */
#define O2GD_BURST_MAX 16384
#define O2GD_BURST_ALIGN 8
#define O2GD_ANY 0xffffffffu /* source of a receive: any */
/*
 * Peers have numbers. Those below the job's size are its ranks; those from here on, and
 * below 2^31, are peers of other jobs, as the library has numbered them: O2GD_PEER_ADD.
 */
#define O2GD_OTHERS (1u << 30)
#define O2GD_MAX_SEGS (1 << 20)

/* Statuses beside negative errno values; the same as in o2g.h. */
#define O2G_ERR_PEER 200
#define O2G_ERR_TRUNCATED 201
#define O2G_ERR_CANCELLED 202

struct o2gd_setup {
	__u32 version;	  /* O2GD_VERSION */
	__u32 rank, size; /* of this endpoint; endpoints of the job */
	__u32 sq_entries; /* powers of two */
	__u32 cq_entries;
	__u32 dump_size;   /* bytes, a multiple of the page size */
	__u64 eager_max;   /* largest message sent without asking */
	__u64 data_chunk;  /* largest packet of a long one */
	__u64 peer_budget; /* what one peer's share of the dump may grow to */
	/* out: where things are in the mapping */
	__u64 map_size;
	__u32 sq_off, cq_off, dump_off, pad;
};

struct o2gd_shared {
	/* written by the driver */
	__u32 sq_head;	  /* posted receives it has taken */
	__u32 unexpected; /* messages nobody has asked for */
	__u32 overflow;	  /* completions that wait for room in the ring */
	__u32 arrived;	  /* unexpected messages that have come, all together */
	__u32 pad0[12];
	/* written by the library; the driver checks what it reads */
	__u32 sq_tail;
	__u32 cq_head;
	__u32 armed;
	__u32 seen; /* how far it knows of `arrived` */
	__u32 pad1[12];
};

enum o2gd_op {
	O2GD_OP_SEND = 1,
	O2GD_OP_RECV,
	O2GD_OP_MRECV, /* key: what O2GD_PROBE returned as handle */
	O2GD_OP_PUT,
	O2GD_OP_GET,
	O2GD_OP_ATOMIC, /* tag: O2GD_ATOMIC(); the buffer has the operands */
};

/*
 * What to do with elements of the peer's memory: enum o2g_op or O2GD_CAS, and enum
 * o2g_type, of o2g.h. Operands lie behind each other; those of compare-and-swap, of one
 * element, are what to compare with and what to put there. With O2GD_FETCH_OLD the values
 * from before come with the completion, as the body of a message does; that is possible
 * for O2GD_SMALL bytes of them. They are in length then. EOPNOTSUPP: the peer does not do
 * that, not to this memory, or not so much at a time.
 */
#define O2GD_ATOMIC(op, type) ((__u64)(op) | (__u64)(type) << 8)
#define O2GD_CAS 12

enum o2gd_flags {
	O2GD_SYNC = 1,	    /* send: complete once matched */
	O2GD_SERVED = 2,    /* send: for a handler, not to be matched */
	O2GD_FETCH_OLD = 4, /* atomic: with the values from before */
};

struct o2gd_sqe {
	__u8 op, flags;
	__u16 pad;
	__u32 slot;
	__u32 peer; /* recv: source, or O2GD_ANY */
	__u32 nsegs; /* 0: addr and len are the buffer; else addr is an iovec[] */
	__u64 tag, ignore;
	__u64 addr, len;   /* len: of the whole buffer in any case */
	__u64 key, offset; /* put, get, atomic: remote memory */
};

enum o2gd_where {
	O2GD_AT_BUFFER, /* in the buffer, or there is no body */
	O2GD_AT_INLINE, /* in data[] */
	O2GD_AT_DUMP,	/* in the dump area, at off */
	O2GD_AT_DRIVER, /* with the driver: O2GD_FETCH copies it */
};

#define O2GD_SLOT_PEER 0xffffffffu /* not a request: a peer is lost */
/*
 * Nor this: there are messages for handlers. It comes again once O2GD_PROBE has said
 * that there are no more.
 */
#define O2GD_SLOT_SERVED 0xfffffffeu

/* Why, in tag; length has the detail. */
enum o2gd_lost {
	O2GD_LOST_CLOSED = 1, /* it closed the connection */
	O2GD_LOST_BYE,	      /* it has finished */
	O2GD_LOST_ERROR,      /* length: errno of the socket */
	O2GD_LOST_HEADER,     /* malformed header; length: o2g_wire_reason */
	O2GD_LOST_PACKET,     /* refused packet; length: o2g_proto_reason */
	O2GD_LOST_MEMORY,     /* out of memory here */
	O2GD_LOST_LOCAL,      /* O2GD_PEER_DOWN */
};

struct o2gd_cqe {
	__u32 seq; /* written last */
	__u32 slot;
	__s32 status; /* 0 or negative: errno or O2G_ERR_ */
	__u32 source;
	__u64 tag, length, msg_len;
	__u32 where, off;
	__u8 data[O2GD_INLINE];
};

/* A message of at most O2GD_SMALL bytes that leaves at once, or -EAGAIN. */
struct o2gd_inject {
	__u32 peer, len;
	__u64 tag, addr;
};

/* Several of those, one after the other in memory: each is this, its body, and
 * what is missing to a multiple of O2GD_BURST_ALIGN.
 */
struct o2gd_small {
	__u32 peer, len;
	__u64 tag;
};

struct o2gd_burst {
	__u64 addr;
	__u32 len, pad; /* len: at most O2GD_BURST_MAX */
};

enum o2gd_take {
	O2GD_LOOK,
	O2GD_TAKE, /* a matched probe: it is the caller's, by its handle */
	/*
	 * The next message for a handler. source is O2GD_ANY; or a peer, whose last
	 * one has been handled: until then no other of it is handed out. The tag is
	 * not looked at.
	 */
	O2GD_TAKE_SERVED,
};

struct o2gd_probe {
	__u32 source, take; /* take: enum o2gd_take */
	__u64 tag, ignore;
	/* out */
	__u64 msg_tag, length, handle;
	__u32 from, pad;
};

struct o2gd_socket {
	__u32 peer;
	__s32 fd;
};

struct o2gd_peer {
	__u32 peer;	 /* its number, from O2GD_OTHERS on */
	__u32 wire_rank; /* its rank in its own job, which packets name */
};

struct o2gd_wait {
	__u32 seen;	  /* completions taken so far: what cq_head says */
	__u32 timeout_ms; /* 0xffffffff: no limit */
};

struct o2gd_fetch {
	__u32 slot, nsegs; /* as in a sqe */
	__u64 addr, len;
};

enum o2gd_access { O2GD_READ = 1, O2GD_WRITE = 2 };

struct o2gd_mem {
	__u64 addr, len;
	__u32 access, pad;
	__u64 key; /* the library's choice, which peers cannot guess; not 0 */
};

/*
 * Why a packet, or what came with it, was refused or dropped: X(name, words), and
 * LAST for the last. Each has a counter, of each peer. A refused packet ends the
 * connection, except for the last three, which the peer is told. The first ones
 * are o2g_wire_reason and o2g_proto_reason of the core, in their order.
 */
#define O2GD_DROPS(X, LAST)                                        \
	X(BAD_VERSION, "header of another version")                \
	X(BAD_SIZE, "header of a wrong size")                      \
	X(BAD_TYPE, "unknown packet type")                         \
	X(BAD_FLAGS, "flags that this packet cannot have")         \
	X(BAD_LENGTH, "length that this packet cannot have")       \
	X(WRONG_ENDPOINT, "packet from or for somebody else")      \
	X(TOO_LONG, "message beyond its credit")                   \
	X(NO_REQUEST, "packet for an unknown request")             \
	X(BAD_STATE, "packet out of turn")                         \
	X(BAD_RANGE, "data outside its buffer")                    \
	X(BAD_CREDIT, "impossible credit")                         \
	X(NO_MEMORY, "message there was no memory for")            \
	X(AFTER_BYE, "packet after goodbye")                       \
	X(NO_BODY, "body or answer there was no memory for")       \
	X(FAULT, "body that could not be copied")                  \
	X(CUT, "packet that the connection's end has cut")         \
	X(UNSENT, "packets unsent when the connection ended")      \
	X(EXCESS, "bytes beyond the end of their receive")         \
	X(BAD_KEY, "put or get with an unknown key")               \
	X(BAD_ACCESS, "put or get that the memory is not open to") \
	LAST(BAD_OFFSET, "put or get outside of its memory")

#define O2GD_DROP_VALUE(name, words) O2GD_DROP_##name,
enum o2gd_drop { O2GD_DROPS(O2GD_DROP_VALUE, O2GD_DROP_VALUE) O2GD_NDROPS };

/*
 * What an endpoint counts, beside that: X(name).
 *
 *	rx_softirq, rx_worker			runs of the receive path
 *	tx_softirq, tx_caller, tx_worker	packets sent, by whom
 *	tx_calls	to TCP: several small packets share one
 *	rx_direct	packets from this host that did not go through TCP
 */
#define O2GD_COUNTED(X)      \
	X(posted)            \
	X(unexpected)        \
	X(unexpected_bytes)  \
	X(unexpected_peak)   \
	X(messages_sent)     \
	X(bytes_sent)        \
	X(messages_received) \
	X(bytes_received)    \
	X(eager_sent)        \
	X(rts_sent)          \
	X(rts_no_credit)     \
	X(stalls)            \
	X(rts_received)      \
	X(unexpected_total)  \
	X(data_received)     \
	X(rx_softirq)        \
	X(rx_worker)         \
	X(rx_bytes_softirq)  \
	X(rx_bytes_worker)   \
	X(tx_softirq)        \
	X(tx_caller)         \
	X(tx_worker)         \
	X(tx_calls)          \
	X(rx_direct)         \
	X(pinned_pages)      \
	X(pin_refused)       \
	X(dump_full)         \
	X(bad_posts)         \
	X(overflows)         \
	X(refused_headers)   \
	X(refused_packets)

/*
 * A place for each counter that this header knows. No call has it: O2GD_COUNTERS gives
 * names and values, and base/driver_info.h fills this from them.
 */
#define O2GD_COUNTER_FIELD(name) __u64 name;
struct o2gd_info {
	O2GD_COUNTED(O2GD_COUNTER_FIELD)
	__u64 drops[O2GD_NDROPS]; /* of all its peers */
};

#define O2GD_NAME 24
struct o2gd_counter {
	char name[O2GD_NAME]; /* of O2GD_COUNTED or O2GD_DROPS; ends with 0 */
	__u64 value;
};

struct o2gd_counters {
	__u64 id;   /* whose, as O2GD_LIST has it; 0: this endpoint's */
	__u32 peer; /* of what it has to do with this one; O2GD_ANY: all of it */
	__u32 entry;	  /* sizeof(struct o2gd_counter) */
	__u32 max, count; /* room; out: how many there are */
	__u64 addr;	  /* struct o2gd_counter[] */
};

enum o2gd_peer_state {
	O2GD_PEER_UNKNOWN,
	O2GD_PEER_NO_SOCKET, /* not yet */
	O2GD_PEER_OPEN,
	O2GD_PEER_LOST,
};

struct o2gd_peer_info {
	__u32 peer, state; /* out: enum o2gd_peer_state */
	__u64 messages_sent, bytes_sent, messages_received, bytes_received;
	__u64 queued; /* packets that wait for the socket */
};

/*
 * Looking at endpoints of other processes: on a descriptor that need not be set
 * up. Shown are those of the caller's user, group and network namespace, but for programs
 * that have, or had, the rights of others (set-user-ID); and all to who may trace any
 * process of their user namespace.
 */
enum o2gd_kind {
	O2GD_KIND_RANK, /* O2GD_SETUP: rank and size */
	O2GD_KIND_PAPER, /* O2GD_PAPER_INIT: rank is O2GD_ANY, size its sockets */
};

struct o2gd_list_entry {
	__u32 pid, uid, rank, size;
	__u64 id; /* what the calls below know it by; never used again */
	__u32 kind, pad;
};

struct o2gd_list {
	__u32 max;   /* entries there is room for; out: room that was used */
	__u32 count; /* out: how many there are, shown or not */
	__u64 addr;  /* struct o2gd_list_entry[] */
	__u32 entry; /* sizeof(struct o2gd_list_entry) */
	__u32 pad;
};

enum o2gd_queue { O2GD_QUEUE_POSTED = 1, O2GD_QUEUE_UNEXPECTED };

/* How much of a message is there. */
enum o2gd_body { O2GD_BODY_HERE, O2GD_BODY_ARRIVING, O2GD_BODY_ANNOUNCED };

struct o2gd_queue_entry {
	__u32 queue, source;
	__u64 tag, ignore, length;
	__u64 number; /* order of posting or arrival */
	__u32 body, pad;
};

struct o2gd_look {
	__u64 id;	  /* whose, as O2GD_LIST has it */
	__u32 max, count; /* room, at most O2GD_MAX_LOOK; out: how many */
	__u64 addr;	  /* struct o2gd_queue_entry[] or o2gd_paper_sock[] */
	__u32 entry;	  /* the size of one */
	__u32 pad;
};

#define O2GD_MAX_LOOK 65536

/*
 * The eight calls of 2004. O2GD_PAPER_INIT instead of O2GD_SETUP makes an open
 * file that kind of endpoint; it then knows the calls below and no others.
 *
 * What is mapped at offset 0, to be read only, is
 *
 *	struct o2gd_paper_shared	a page
 *	struct o2gd_paper_sock[]	one for each socket, in order of registration
 *
 * Entries, buffers and the dump area are the program's own memory. The driver
 * has it pinned and writes there itself, also in softirq. Where pinning is
 * refused, threads in O2GD_PAPER_DUMP do the writing, or one in O2GD_PAPER_WAIT
 * when there is none. An entry is struct queue_entry of o2g.h as 64-bit programs
 * have it; others are refused.
 */
struct o2gd_paper_entry {
	__s32 rank; /* -1: any */
	__u32 context;
	__s32 tag; /* -1: any */
	__u32 pad;
	__u64 buf, size;
	__u64 received;
	__s32 error;
	__s32 done; /* written last */
	__u64 next;
	__u64 reserved; /* a posted receive's number */
};

/* At the begin of the dump area; messages follow. */
struct o2gd_paper_dump {
	__u64 magic; /* O2GD_PAPER_MAGIC */
	__u64 first; /* struct o2gd_paper_entry *: the oldest message, or 0 */
};

#define O2GD_PAPER_MAGIC 0x6f32675f64756d70ull
#define O2GD_PAPER_ALIGN 64 /* of the dump area's use */

struct o2gd_paper_init {
	__u32 version; /* O2GD_VERSION */
	__u32 nsocks;
	__u64 map_size; /* out */
};

struct o2gd_paper_shared {
	__u32 news;   /* grows with each message begun or ended, each loss */
	__u32 open;   /* connections that are not lost */
	__u32 events; /* grows when an o2gd_paper_sock has something to tell */
	__u32 nsocks;
};

enum o2gd_paper_state {
	O2GD_PAPER_NONE,
	O2GD_PAPER_OPEN,
	O2GD_PAPER_TOO_LONG, /* held; length: more than the dump area takes */
	O2GD_PAPER_LOST,     /* why, detail */
	O2GD_PAPER_HOLDS, /* O2GD_PAPER_SOCKS: a message waits for room; length */
};

struct o2gd_paper_sock {
	__u32 rank, state;
	__u32 why;    /* enum o2gd_lost; _PACKET: detail is the packet's type */
	__u32 inside; /* it was lost inside a message */
	__u64 detail, length;
	__u64 messages, bytes;
	__u64 unexpected; /* of the messages: nobody had asked for */
	__u64 held;	  /* waited in the socket: no room */
};

struct o2gd_paper_area {
	__u64 addr, len;
};

#define O2GD_IOC 0xF2
/* Returns 0, or a negative errno as errno. */
#define O2GD_SETUP _IOWR(O2GD_IOC, 1, struct o2gd_setup)
#define O2GD_GROW _IOW(O2GD_IOC, 2, __u32)
#define O2GD_SOCKET _IOW(O2GD_IOC, 3, struct o2gd_socket)
/* A rank that nothing was sent to or received from yet is marked, and no more. */
#define O2GD_PEER_DOWN _IOW(O2GD_IOC, 4, __u32)
/* 0: a completion will follow. 1: done, with status 0, and none follows. */
#define O2GD_SUBMIT _IOW(O2GD_IOC, 5, struct o2gd_sqe)
#define O2GD_INJECT _IOW(O2GD_IOC, 6, struct o2gd_inject)
/* 0: cancelled, no completion follows. EINPROGRESS: one will. EBUSY: too late. */
#define O2GD_CANCEL _IOW(O2GD_IOC, 7, __u32)
/* EAGAIN: no such message. ENOTCONN: nor will there be, the peer is lost. */
#define O2GD_PROBE _IOWR(O2GD_IOC, 8, struct o2gd_probe)
#define O2GD_KICK _IO(O2GD_IOC, 9)
/* 0: there is something new. ETIME: the time is up. */
#define O2GD_WAIT _IOW(O2GD_IOC, 10, struct o2gd_wait)
#define O2GD_FETCH _IOW(O2GD_IOC, 11, struct o2gd_fetch)
#define O2GD_MEM_ADD _IOW(O2GD_IOC, 12, struct o2gd_mem)
#define O2GD_MEM_DROP _IOW(O2GD_IOC, 13, __u64)
/* Say goodbye to all peers; wait until that is out, or this many ms. */
#define O2GD_BYE _IOW(O2GD_IOC, 14, __u32)
/* ESRCH: as below; ENOENT: it does not know such a peer. */
#define O2GD_COUNTERS _IOWR(O2GD_IOC, 15, struct o2gd_counters)
#define O2GD_PEER_INFO _IOWR(O2GD_IOC, 16, struct o2gd_peer_info)
#define O2GD_LIST _IOWR(O2GD_IOC, 17, struct o2gd_list)
/* ESRCH: there is no such endpoint, or it is not the caller's to see. */
#define O2GD_QUEUES _IOWR(O2GD_IOC, 18, struct o2gd_look)
/* How many have left; the next one takes a request: O2GD_SUBMIT. */
#define O2GD_BURST _IOW(O2GD_IOC, 19, struct o2gd_burst)
/* What an endpoint of the eight calls maps of its sockets; others have none. */
#define O2GD_PAPER_SOCKS _IOWR(O2GD_IOC, 20, struct o2gd_look)

/* A peer of another job. EEXIST: it is known; ENFILE: there are too many. */
#define O2GD_PEER_ADD _IOW(O2GD_IOC, 21, struct o2gd_peer)
/*
 * Any peer: it is given up, its socket is the program's again, what it has sent and
 * nobody has asked for is gone, but for what a probe has taken. A rank of the job is
 * then as one that was never heard of; the number of another can be given to somebody
 * else. No completion tells of it once this returns. ENOENT: there is no such peer.
 */
#define O2GD_PEER_FORGET _IOW(O2GD_IOC, 22, __u32)

/* The eight calls; O2GD_PAPER_PUT leaves a number in the entry, by which
 * O2GD_PAPER_CANCEL finds the receive.
 */
#define O2GD_PAPER_INIT _IOWR(O2GD_IOC, 32, struct o2gd_paper_init)
#define O2GD_PAPER_SOCKET _IOW(O2GD_IOC, 33, struct o2gd_socket)
#define O2GD_PAPER_AREA _IOW(O2GD_IOC, 34, struct o2gd_paper_area)
/* A dumper thread: returns with EINTR, or when it should not come again. */
#define O2GD_PAPER_DUMP _IO(O2GD_IOC, 35)
/* The argument of these is the entry. */
#define O2GD_PAPER_PUT _IOWR(O2GD_IOC, 36, struct o2gd_paper_entry)
#define O2GD_PAPER_CANCEL _IOWR(O2GD_IOC, 37, struct o2gd_paper_entry)
#define O2GD_PAPER_FREE _IOWR(O2GD_IOC, 38, struct o2gd_paper_entry)
/* Until news is not this number. ENOTCONN: and will not change. */
#define O2GD_PAPER_WAIT _IOW(O2GD_IOC, 39, __u32)

#endif
