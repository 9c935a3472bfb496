/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The page of state: what a rank waits for, as others see it.
 *
 * The proxy gives every rank of its host a piece of one memory file, which the rank
 * maps and writes to (mpi/tools/state.c) and the proxy reads at any time: also when
 * the rank computes, is stopped or has died. Nobody asks the rank anything.
 *
 * Each part has a number that is odd while it is written. A reader copies the
 * part and takes the copy if the number was even and is the same afterwards.
 * Whatever is read may be nonsense all the same: a program can write anywhere. So
 * numbers that count are limited by the reader, and text ends where it must.
 */
#ifndef BASE_RANK_STATE_H
#define BASE_RANK_STATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a proxy gives its ranks: the file, and which piece is the rank's. */
#define O2G_STATE_FD "O2G_STATE_FD"
#define O2G_STATE_PIECE "O2G_STATE_PIECE"
#define O2G_STATE_FILE "o2g-state"

#define O2G_STATE_MAGIC 0x6732736f
/* Grows with every change of what is below. */
#define O2G_STATE_VERSION 3
#define O2G_STATE_BYTES 32768u /* a rank's piece of the file */

#define O2G_STATE_WAITS 6     /* threads that wait */
#define O2G_STATE_PARTS 8     /* messages that one of them waits for */
#define O2G_STATE_FRAMES 6    /* return addresses */
#define O2G_STATE_MODULES 4   /* files they are in */
#define O2G_STATE_COMMS 48    /* communicators */
#define O2G_STATE_NOTES 8     /* latest collectives of each */
#define O2G_STATE_MESSAGES 64 /* that nobody has asked for */
#define O2G_STATE_LOCKS 8     /* of windows, held */
#define O2G_STATE_NAME 48
#define O2G_STATE_CALL 32
#define O2G_STATE_PATH 256
#define O2G_STATE_BUILD_ID 20

enum o2g_state_phase {
	O2G_PHASE_NOT_YET, /* it has not called MPI_Init, or uses another MPI */
	O2G_PHASE_INIT,
	O2G_PHASE_RUNNING,
	O2G_PHASE_FINALIZE,
	O2G_PHASE_OVER,
};

enum o2g_state_doing {
	O2G_PART_SEND,
	O2G_PART_RECV,
	O2G_PART_PROBE,
	O2G_PART_PUT,
	O2G_PART_GET,
	O2G_PART_COLL,	   /* a nonblocking collective */
	O2G_PART_LOCK,	   /* of a rank's memory in a window */
	O2G_PART_POST,	   /* MPI_Win_post of a rank, */
	O2G_PART_COMPLETE, /* MPI_Win_complete */
	O2G_PART_READY, /* MPI_Pready: partitions are .bytes, marked are .arrived */
	O2G_PART_PORT,	/* a job that calls, or answers, at a port */
	O2G_PART_OTHER, /* a generalized request, for instance */
};

/* How far a message has come. */
enum o2g_state_moved {
	O2G_MOVED_NOT,	   /* receive: none has matched; send: it is not out */
	O2G_MOVED_NO_ROOM, /* send: the receiver has no memory for it */
	O2G_MOVED_ASKED, /* send: the receiver knows, and has no receive for it */
	O2G_MOVED_PARTLY, /* data is moving */
};

#define O2G_STATE_ANY (-1) /* source or tag */
#define O2G_STATE_NONE (-2)

/* A message, or another thing that is waited for. Ranks are of the job. */
struct o2g_state_part {
	uint8_t doing, moved, kind,
		pad; /* kind: enum mpii_context, for messages */
	int32_t peer, tag;
	uint32_t context; /* of the communicator */
	uint64_t bytes, arrived;
};

struct o2g_state_frame {
	uint32_t module, pad;
	uint64_t offset; /* in the file's addresses */
};

struct o2g_state_module {
	uint32_t build_id_len;
	uint8_t build_id[O2G_STATE_BUILD_ID];
	char path[O2G_STATE_PATH]; /* its end, if it is longer */
};

/* A thread that has been in one call for a while. */
struct o2g_state_wait {
	uint32_t number; /* odd: being written */
	uint8_t used, any, frames, parts;
	uint64_t since_ns;  /* CLOCK_MONOTONIC */
	uint64_t times;	    /* it was woken since, and something had moved */
	uint32_t parts_all; /* of which parts[] has the first ones */
	uint32_t context;   /* in a collective: of this communicator, */
	uint32_t collective, seq; /* ... if any, and which call of it */
	char call[O2G_STATE_CALL];
	struct o2g_state_frame frame[O2G_STATE_FRAMES];
	struct o2g_state_part part[O2G_STATE_PARTS];
};

/* A collective call that was made. */
struct o2g_state_note {
	int32_t root;
	char call[28]; /* MPI_Reduce_scatter_block */
};

struct o2g_state_comm {
	uint32_t context;
	int32_t first; /* rank 0 of it, as a rank of the job */
	int32_t rank, size;
	int32_t remote_size; /* 0: no intercommunicator */
	uint32_t colls; /* collectives called so far: the next one's number */
	char name[O2G_STATE_NAME];
	struct o2g_state_note note[O2G_STATE_NOTES]; /* by number */
};

struct o2g_state_message {
	int32_t source, tag;
	uint32_t context; /* of the communicator */
	uint8_t kind, announced, pad[2];
	uint64_t bytes;
};

/* A call that only looks, and has found nothing. Written without a number:
 * it may be looked at while it changes, which the reader shows as it is. */
struct o2g_state_poll {
	uint64_t times; /* in all */
	uint64_t where; /* return address */
	uint32_t context;
	int32_t peer, tag;
	uint32_t doing;
	uint32_t call; /* enum o2g_state_poll_call */
	uint32_t n;    /* requests looked at */
};

enum o2g_state_poll_call {
	O2G_POLL_NONE,
	O2G_POLL_IPROBE,
	O2G_POLL_IMPROBE,
	O2G_POLL_TEST,
	O2G_POLL_TESTALL,
	O2G_POLL_TESTANY,
	O2G_POLL_TESTSOME,
	O2G_POLL_STATUS,
};

/* A lock that the rank holds; written without a number. */
struct o2g_state_lock {
	uint32_t used;	  /* 2: it is there */
	uint32_t context; /* of the window's communicator */
	int32_t target;
	uint32_t exclusive;
};

struct o2g_state {
	uint32_t magic, version;
	int32_t rank, size, pid;
	uint32_t phase; /* enum o2g_state_phase */
	char engine[8]; /* "kernel": what is unexpected is in the driver as well */
	struct o2g_state_poll poll;
	struct o2g_state_lock lock[O2G_STATE_LOCKS];

	/* the modules are only added to */
	uint32_t modules;
	struct o2g_state_module module[O2G_STATE_MODULES];

	struct o2g_state_wait wait[O2G_STATE_WAITS];

	/* how things stand, as of the latest look */
	uint32_t number; /* odd: being written */
	uint32_t comms, comms_all;
	uint32_t messages;
	uint64_t messages_all, messages_bytes;
	uint64_t looked_ns;
	uint64_t calls; /* into the library: grows while the program uses it */
	uint64_t sent, received, bytes_moved;
	struct o2g_state_frame poll_frame; /* poll.where, resolved */
	struct o2g_state_comm comm[O2G_STATE_COMMS];
	struct o2g_state_message message[O2G_STATE_MESSAGES];
};

/*
 * Packed for the way: most of a page is zero. A byte n below 128: so many
 * bytes follow; otherwise n - 127 words of eight zero bytes are left out. A
 * packed page is at most O2G_STATE_PACKED bytes.
 */
#define O2G_STATE_PACKED (sizeof(struct o2g_state) / 8 * 9)

static inline size_t o2g_state_zeros(const uint64_t *at, size_t n)
{
	size_t i = 0;

	while (i < n && i < 128 && !at[i])
		i++;
	return i;
}

static inline size_t o2g_state_pack(const struct o2g_state *s, uint8_t *to)
{
	const uint64_t *at = (const uint64_t *)s;
	size_t left = sizeof(*s) / 8, n;
	uint8_t *start = to;

	while (left) {
		n = o2g_state_zeros(at, left);
		if (n) {
			*to++ = (uint8_t)(127 + n);
		} else {
			n = 1;
			*to++ = 8;
			memcpy(to, at, 8);
			to += 8;
		}
		at += n;
		left -= n;
	}
	return (size_t)(to - start);
}

/* -1: nonsense. */
static inline int o2g_state_unpack(struct o2g_state *s, const uint8_t *from,
				   size_t n)
{
	uint8_t *to = (uint8_t *)s, *end = to + sizeof(*s);
	const uint8_t *last = from + n;

	memset(s, 0, sizeof(*s));
	while (from < last) {
		size_t count = *from++;

		if (count > 127) {
			count = (count - 127) * 8;
		} else {
			if ((size_t)(last - from) < count ||
			    (size_t)(end - to) < count)
				return -1;
			memcpy(to, from, count);
			from += count;
		}
		if ((size_t)(end - to) < count)
			return -1;
		to += count;
	}
	return to == end ? 0 : -1;
}

_Static_assert(sizeof(struct o2g_state) % 8 == 0, "packed in words");
_Static_assert(sizeof(struct o2g_state) <= O2G_STATE_BYTES,
	       "a rank's piece of the file is too small");

#endif
