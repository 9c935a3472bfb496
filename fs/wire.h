/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What 9pnet_o2g.ko and o2gfsd say to each other beside 9P itself: docs/fs_server.md has the
 * story.
 *
 * The two are endpoints of a job named "o2gfs" whose secret is the key. The server is
 * rank 0. A client is some other rank, drawn at random for each connection. What
 * stays over connections is the session, which has a number drawn once for each mount.
 *
 *	client -> server  FS_TAG_SESSION            struct fs_hello
 *	server -> client  FS_TAG_SESSION            struct fs_welcome
 *	client -> server  fs_tag_request(seq, tag)  a T-message of 9P2000.L
 *	server -> client  fs_tag_reply(seq, tag)    its R-message
 *
 * The client posts the receive of a reply before it sends the request. A request
 * that is repeated over a new connection has the number it had before, and the server
 * answers it from memory if it has done it already.
 *
 * All integers are little-endian. Kernel and process compile this; env.h is the one of
 * whoever does.
 */
#ifndef O2G_FS_WIRE_H
#define O2G_FS_WIRE_H

#include "env.h"

#define FS_JOB "o2gfs"
#define FS_PORT 5640
#define FS_VERSION 1

#define FS_SERVER_RANK 0
#define FS_RANKS \
	(1 << 20) /* the size of the job; a client is 1 … FS_RANKS - 1 */

#define FS_TAG_SESSION (1ull << 62)
#define FS_TAG_REQUEST (1ull << 63)
#define FS_TAG_REPLY (3ull << 62)
#define FS_TAG_KIND (3ull << 62) /* the bits that tell these three apart */

#define FS_SEQ_BITS 46
#define FS_SEQ_MAX ((1ull << FS_SEQ_BITS) - 1)

static inline u64 fs_tag_request(u64 seq, u16 tag)
{
	return FS_TAG_REQUEST | (seq & FS_SEQ_MAX) << 16 | tag;
}

static inline u64 fs_tag_reply(u64 seq, u16 tag)
{
	return FS_TAG_REPLY | (seq & FS_SEQ_MAX) << 16 | tag;
}

static inline u64 fs_tag_seq(u64 tag)
{
	return tag >> 16 & FS_SEQ_MAX;
}

/*
 * Headers of the two messages whose data is placed where it is wanted: Rread is these
 * bytes, then what was read; Rlerror fits in them too. Twrite is these, then what is
 * to be written.
 */
#define FS_RREAD_HDR 11	 /* size[4] type[1] tag[2] count[4] */
#define FS_TWRITE_HDR 23 /* size[4] type[1] tag[2] fid[4] offset[8] count[4] */

/* Both ends take the smaller of what they offer: a mebibyte of data by default. */
#define FS_MSIZE_MIN 4096
#define FS_MSIZE_DEFAULT ((1u << 20) + FS_TWRITE_HDR + 1)
#define FS_MSIZE_MAX ((16u << 20) + FS_TWRITE_HDR + 1)

#define FS_UUID_SIZE 16

/* The first message over a connection. */
struct fs_hello {
	u8 uuid[FS_UUID_SIZE];
	__le32 version; /* FS_VERSION */
	__le32 msize;	/* the longest message of 9P, with its header */
	__le64 flags;	/* 0: none has a meaning yet; others are refused */
};

struct fs_welcome {
	__le32 status; /* 0, or an errno; then nothing else has a meaning */
	__le32 msize;
	__le64 epoch; /* of the server: other than before, it was started anew */
	__le32 known; /* 1: it still has the fids of this session */
	__le32 pad;
};

_Static_assert(sizeof(struct fs_hello) == 32, "hello");
_Static_assert(sizeof(struct fs_welcome) == 24, "welcome");

#endif
