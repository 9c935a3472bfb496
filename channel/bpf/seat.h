/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A seat: the memory that the BPF program and one process share. The program is
 * the only one to fill it, from any processor; the process takes out.
 *
 * What arrives on a connection goes one of two ways, and never overtakes itself:
 *
 *	ring	copied to the seat; one descriptor says whose it is
 *	passed	left to the socket, for recv(): when the ring is full, when it
 *		is much at a time (one copy less), or when the process asks
 *
 * Once something was passed, all that follows is, until the process has read as
 * much from the socket (`taken`) as was passed (`passed`). So whatever is in the
 * ring is older than what waits in the socket, and the process reads the ring
 * first. A passed piece makes a descriptor too, which says where to look.
 *
 * Descriptor and room in the ring are reserved together, with one compare and
 * exchange of `tail`. A descriptor is good when its `seq` says so, which is
 * written last; it never holds anything else, so what an earlier round left there
 * cannot be mistaken for it. What is short is in the descriptor itself, so that one
 * cache line goes from the program's processor to that of the process. A piece in the
 * ring that begins before its end may run on into the slack behind it and is always
 * in one piece.
 *
 * The program knows a connection by its ends. `names` says where they lead to: the
 * process enters an index near the place that they give, and the ends with the
 * connection. (The kernel has a hash for that, and a number for each socket, but a
 * helper's call is a quarter of all that the program takes.)
 *
 * A piece may begin with bytes that came before: a sender that has lost an
 * acknowledgement joins what it sends again. recv() would skip them, but the
 * kernel gives a sockmap's program, and what the program passes, the whole piece.
 * So the program cuts them off, and for that keeps the number of the `next` byte.
 *
 * In the middle of a large body a few bytes more are of no use to anybody who
 * sleeps. So the process says how many are (`wake_at`, compared with `passed`), and
 * the program wakes it for less only when the connection is over or the socket's
 * buffer fills up. It is told of the first piece in any case.
 *
 * Whether somebody sleeps the program may ask only after a full barrier. For that it
 * waits until the other processor has let go of the line that it just read, and who
 * answers also waits, since the socket is locked meanwhile. So the process says of one
 * connection when it is not asleep (`calm`); before it sleeps it takes that back and has
 * the socket's lock once: whatever the program did without asking is visible then.
 *
 * Nothing the program reads here is trusted: every index is masked.
 */
#ifndef BPF_SEAT_H
#define BPF_SEAT_H

#define BPF_SEAT_VERSION 4

#define BPF_UNIT 64 /* the ring is given out in cache lines */
#define BPF_RING (256 << 10)
#define BPF_UNITS (BPF_RING / BPF_UNIT)
#define BPF_PIECE (32 << 10) /* larger ones are passed: one copy less */
#define BPF_DESCS 4096
#define BPF_CONNS 1024	    /* connections of a process */
#define BPF_NAMES 4096	    /* places to look for one by its ends, ... */
#define BPF_PROBES 8	    /* ... so many in a row */
#define BPF_CLAIM BPF_CONNS /* the place in the sockmap that says "taken" */

/* The name of a connection: the generation above the index. */
#define BPF_CONN_BITS 10
#define BPF_GEN_MASK 0x3fffu
#define BPF_ID_MASK 0xffffffu

/* struct bpf_desc.what: whose, and above that */
#define BPF_SHORT 24 /* bytes in the descriptor; 0: something was passed */
#define BPF_SHORT_MASK 0x3fu
#define BPF_VOID (1u << 30) /* nobody's: room that was given out in vain */
#define BPF_LONG (1u << 31) /* the bytes are in the ring */
#define BPF_INSIDE 56

/* A cache line. */
struct bpf_desc {
	__u32 seq; /* its number + 1 when it is good */
	__u32 what;
	union {
		__u64 words[BPF_INSIDE / 8];
		struct {
			__u32 len;
			__u32 at; /* offset in the ring */
		};
	};
};

/*
 * The ends of a connection: of an address as the kernel has it the last 32 bits, and
 * the ports. The process sees to it that no two are the same.
 */
struct bpf_ends {
	__u32 address; /* the peer's, in the order of the network */
	__u32 peer_port, port;
};

/* One connection. */
struct bpf_conn {
	/* the program's */
	__u64 passed; /* bytes */
	__u32 told;   /* a descriptor says so, until the process clears it */
	__u32 next;   /* TCP's number of the byte that comes next ... */
	__u32 known;  /* ... once there was a first one */
	__u32 lost;   /* a piece could not be made fit: it is over */
	/* the process's, when it joins */
	__u32 id;	      /* its name */
	__u32 gen;	      /* of the last one here; survives the process */
	struct bpf_ends ends; /* of port 0: nobody's */
	__u32 pad1[5];
	/* the process's */
	__u64 taken;   /* bytes that recv() gave */
	__u32 pass;    /* pass all of it: a large body is coming */
	__u32 calm;    /* nobody sleeps: do not ask whether to wake */
	__u64 wake_at; /* nobody is woken before so much was passed */
	__u64 pad2[5];
};

struct bpf_seat {
	__u32 version;
	__u32 size; /* sizeof(struct bpf_seat) */
	__u64 pad0[7];

	/* the program's: descriptor number << 32 | units given out */
	__u64 tail;
	__u64 fence; /* means nothing; changing it is a full barrier */
	__u64 pad1[6];
	/* by itself: the process looks at it all the time, and would otherwise
	 * keep taking `tail` away from the program's processor */
	__u32 missed; /* no descriptor was left to tell of a passed piece */
	__u32 pad2[15];

	/* the process's */
	__u64 head; /* the same for what it has taken out, or a little less */
	__u64 pad3[7];
	__u32 armed;	 /* wake it; the program clears it when it does */
	__u32 next_conn; /* where to look for a free one; survives the process */
	__u64 pad4[7];

	__u16 names[BPF_NAMES]; /* index + 1, near the place of its ends */
	struct bpf_conn conns[BPF_CONNS];
	struct bpf_desc descs[BPF_DESCS];
	__u8 ring[BPF_RING + BPF_PIECE];
};

/* Where to look for it in `names`, place by place. */
static inline __u32 bpf_ends_place(const struct bpf_ends *e, __u32 probe)
{
	__u32 mixed = (e->address ^ e->peer_port << 8 ^ e->port) * 0x9e3779b1u;

	return ((mixed >> 20) + probe) & (BPF_NAMES - 1);
}

static inline int bpf_ends_same(const struct bpf_ends *a,
				const struct bpf_ends *b)
{
	return a->address == b->address && a->peer_port == b->peer_port &&
	       a->port == b->port;
}

static inline __u32 bpf_desc_len(const struct bpf_desc *d)
{
	return d->what & BPF_LONG ? d->len :
				    d->what >> BPF_SHORT & BPF_SHORT_MASK;
}

/* Units of the ring that go with it. */
static inline __u32 bpf_desc_units(const struct bpf_desc *d)
{
	return d->what & BPF_LONG ? (d->len + BPF_UNIT - 1) / BPF_UNIT : 0;
}

static inline const void *bpf_desc_bytes(const struct bpf_seat *s,
					 const struct bpf_desc *d)
{
	return d->what & BPF_LONG ? (const void *)(s->ring + d->at) : d->words;
}

#endif
