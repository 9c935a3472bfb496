/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A seat: the memory that the BPF program and one process share. The program is
 * the only one to fill it, from any processor; the process takes out.
 *
 * What arrives on a connection goes one of two ways, and never overtakes itself:
 *
 *	ring	copied to the seat's ring; one descriptor says whose it is
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
 * cannot be mistaken for it. A piece that begins before the end of the ring may
 * run on into the slack behind it and is always in one piece.
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
 * Nothing the program reads here is trusted: every index is masked.
 */
#ifndef BPF_SEAT_H
#define BPF_SEAT_H

#define BPF_SEAT_VERSION 3

#define BPF_UNIT 64		/* the ring is given out in cache lines */
#define BPF_RING (256 << 10)
#define BPF_UNITS (BPF_RING / BPF_UNIT)
#define BPF_PIECE (32 << 10)	/* larger ones are passed: one copy less */
#define BPF_DESCS 4096
#define BPF_CONNS 1024		/* connections of a process */
#define BPF_CLAIM BPF_CONNS	/* the place in the sockmap that says "taken" */

/* struct bpf_desc.conn: the generation above the index. */
#define BPF_CONN_BITS 10
#define BPF_GEN_MASK 0x1fffffu
#define BPF_VOID 0x80000000u /* nobody's: room that was given out in vain */

struct bpf_desc {
	__u32 seq;  /* its number + 1 when it is good */
	__u32 conn;
	__u32 len;  /* 0: something was passed */
	__u32 at;   /* offset in the ring */
};

/* One connection. */
struct bpf_conn {
	/* the program's */
	__u64 passed;	/* bytes */
	__u32 told;	/* a descriptor says so, until the process clears it */
	__u32 next;	/* TCP's number of the byte that comes next ... */
	__u32 known;	/* ... once there was a first one */
	__u32 lost;	/* a piece could not be made fit: it is over */
	__u64 pad1[5];
	/* the process's */
	__u64 taken;	/* bytes that recv() gave */
	__u32 pass;	/* pass all of it: a large body is coming */
	__u32 gen;
	__u64 wake_at;	/* nobody is woken before so much was passed */
	__u64 pad2[5];
};

struct bpf_seat {
	__u32 version;
	__u32 size;	/* sizeof(struct bpf_seat) */
	__u64 pad0[7];

	/* the program's: descriptor number << 32 | units given out */
	__u64 tail;
	__u64 pad1[7];
	/* by itself: the process looks at it all the time, and would otherwise
	 * keep taking `tail` away from the program's processor */
	__u32 missed;	/* no descriptor was left to tell of a passed piece */
	__u32 pad2[15];

	/* the process's */
	__u64 head;	/* the same for what it has taken out, or a little less */
	__u64 pad3[7];
	__u32 armed;	/* wake it; the program clears it when it does */
	__u32 next_conn; /* where to look for a free one; survives the process */
	__u64 pad4[7];

	struct bpf_desc descs[BPF_DESCS];
	struct bpf_conn conns[BPF_CONNS];
	__u8 ring[BPF_RING + BPF_PIECE];
};

#endif
