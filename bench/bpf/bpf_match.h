/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Shared by match.bpf.c and match.c (core/ has a match.h). */
#ifndef BENCH_BPF_MATCH_H
#define BENCH_BPF_MATCH_H

#define MATCH_RING (256 << 10)
#define MATCH_PIECE 8192
#define MATCH_MOST 72 /* messages in a piece */
#define MATCH_BINS 256
#define MATCH_DONE 4096
#define MATCH_HDR 48

/* A header, as core/wire.c writes it. */
struct match_hdr {
	__u8 version, type, flags, size;
	__u32 credit, src, dst;
	__u64 tag, length, cookie, aux;
};

/* A posted receive: exact ones only, one to a bin. */
struct match_posted {
	__u64 tag;
	__u32 src;
	__u32 state; /* 1 posted; the program makes it 2 */
};

/* A message that has found its receive. */
struct match_done {
	__u32 seq; /* its number + 1 when it is good */
	__u32 bin; /* ~0: nobody asked for it */
	__u32 at, length;
};

struct match_area {
	__u64 tail, head; /* bytes of the ring */
	__u64 done_tail;
	__u64 bad;
	struct match_posted posted[MATCH_BINS];
	struct match_done done[MATCH_DONE];
	__u8 ring[MATCH_RING + 2 * MATCH_PIECE];
};

/* No hash: another advantage for the program. */
#define MATCH_BIN(src, tag) ((__u32)((tag) ^ (src)) % MATCH_BINS)

#endif
