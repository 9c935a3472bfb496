/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What two processes share: an endpoint's segment, and in it one ring for every
 * peer that sends to it. A segment starts with its head and the table of keys;
 * then come the rings, each in its place, as many as there are senders. place.c
 * has how places are taken and given back.
 *
 * A ring has two parts. Cells of one cache line carry the packets: control
 * word, header and a short body, so a small message is one line that moves from
 * core to core; tiny messages (8 bytes) take half a cell, so that two share a
 * line when many are on their way. Longer bodies lie in the data part, a plain
 * ring of bytes, rounded up to lines. A cell is published by storing its
 * position plus one in its control word. Positions count half cells. Cells hold
 * nothing but cells, so at an even position a control word of the lap before is
 * never mistaken for a new one; the second half of a cell may hold anything,
 * and who uses the first half alone clears the second's control word.
 *
 * The receiver publishes how far it has read (head) only every quarter of the
 * ring, so in a ping-pong that line does not move at all. A record never takes
 * more than a quarter of the data part: a sender that waits for room has always
 * filled enough for the receiver to publish.
 *
 * Rejected: one ring of cells for both (the sender must then clear the cell
 * that follows, a second line per message), and the 48-byte wire header in the
 * cell (version, size, source and destination say nothing new here; without
 * them 40 bytes of body fit in the line instead of 8).
 */
#ifndef SHM_RING_H
#define SHM_RING_H

#include "channel.h"

#define SHM_MAGIC 0x6d68732d6732306full
#define SHM_VERSION 7
#define SHM_LINE 64
#define SHM_HALF 32
#define SHM_TINY_MAX 8 /* bytes of body in half a cell */
#define SHM_PAGE 4096
#define SHM_CARD_MAX 384
#define SHM_RING_HEAD 512
#define SHM_MARKS 4
#define SHM_PIECE (16u << 10)
#define SHM_CELLS_MIN 64
#define SHM_CELLS_MAX 1024
#define SHM_DATA_MIN (16u << 10)
#define SHM_DATA_MAX (1u << 30)
#define SHM_KEYS 256 /* who registers more memory is asked with packets */
#define SHM_KEYS_AT SHM_PAGE
#define SHM_GROUP 464	    /* places in the head; further groups have a page */
#define SHM_GROUPS_MAX 4096 /* more are not believed */
#define SHM_PLACES_MAX (SHM_GROUPS_MAX * SHM_GROUP)

/* The start of a segment. */
struct shm_head {
	u64 magic;
	u32 version;
	u32 rank;
	u32 cells; /* of every ring */
	u32 data;  /* bytes of every ring */
	u32 pid;
	u64 token;
	u64 bell_key;	/* whoever rings says it, see doorbell.c */
	u64 self;	/* where the owner sees this struct */
	u32 no_barrier; /* the owner cannot membarrier: senders must fence */
	u32 has_keys;	/* there is memory for the table of keys */
	u32 max_places;
	u32 nseats; /* the first of them, for ranks with a seat in the hall */
	/* Counted up by a sender that attached or closed: look at the places. */
	_Alignas(SHM_LINE) u32 attention;
	/* The owner sleeps: who sees this clears it and rings. */
	_Alignas(SHM_LINE) u32 sleeping;
	_Alignas(SHM_LINE) u32 waiting; /* threads of the owner in a wait */
	_Alignas(SHM_LINE) u32 top; /* places from here on were never used */
	_Alignas(SHM_LINE) u64 places[SHM_GROUP];
};
_Static_assert(sizeof(struct shm_head) <= SHM_PAGE, "head");

/* What a place holds: the sender's name, and one of these. */
enum shm_state {
	SHM_FREE,
	SHM_HELD,     /* by the owner, for that sender */
	SHM_TAKEN,    /* by the sender, which is not ready yet */
	SHM_ATTACHED, /* the ring may be read */
	SHM_CLOSED,   /* by the sender: nothing will follow */
	SHM_GOING,    /* the owner is about to make it free */
};
#define SHM_STATE 7ull

/* A sender's name: its segment's token, which leaves room for a state. */
static inline u64 shm_name(u64 token)
{
	return token & ~SHM_STATE;
}

/* Memory that the owner has registered. */
struct shm_key {
	u64 key; /* 0: none; stored last */
	u64 base, len;
	u64 access; /* O2G_READ, O2G_WRITE */
};

/* The start of a ring; the cells follow, then the data. */
struct shm_ring {
	/* written by the receiver: cells and, << 32, data bytes read */
	_Alignas(SHM_LINE) u64 head;
	/* written by the sender */
	_Alignas(SHM_LINE) u32 waits; /* it has packets that did not fit */
	u32 rank;		      /* whose it is, and of which job: */
	u64 job;
	u64 marks[SHM_MARKS];	 /* of another job: for which meetings it is */
	char card[SHM_CARD_MAX]; /* how the receiver reaches the sender */
};
_Static_assert(sizeof(struct shm_ring) == SHM_RING_HEAD, "ring head");

/* What a cell holds, besides O2G_PKT_ types. */
#define SHM_MORE 0xff /* the next piece of a body */
#define SHM_PAD 0xfe  /* nothing: the second half of a cell left free */

/* Shape of a cell: which header fields it has. */
enum shm_form {
	SHM_FULL,  /* all */
	SHM_BRIEF, /* EAGER: length is bytes; cookie and aux are 0 */
	SHM_TINY,  /* the same in half a cell; also SHM_PAD */
};

struct shm_cell {
	u64 ctl; /* seq:32 type:8 flags:8 form:8, stored last */
	u32 credit;
	u32 bytes; /* of the body, in this cell if they fit or in the data */
	union {
		struct {
			u64 tag, length, cookie, aux;
			u8 body[16];
		} full;
		struct {
			u64 tag;
			u8 body[40];
		} brief;
		u8 more[48];
	};
};
_Static_assert(sizeof(struct shm_cell) == SHM_LINE, "a cell is a line");
_Static_assert(offsetof(struct shm_cell, brief.body) + SHM_TINY_MAX == SHM_HALF,
	       "a tiny message is half a cell");

static inline u64 shm_ctl(u32 seq, u8 type, u8 flags, u8 form)
{
	return seq | (u64)type << 32 | (u64)flags << 40 | (u64)form << 48;
}

static inline u32 shm_ctl_seq(u64 ctl)
{
	return (u32)ctl;
}

static inline u8 shm_ctl_type(u64 ctl)
{
	return ctl >> 32;
}

static inline u8 shm_ctl_flags(u64 ctl)
{
	return ctl >> 40;
}

static inline u8 shm_ctl_form(u64 ctl)
{
	return ctl >> 48;
}

/* A process's own idea of a ring, at either end. */
struct shm_end {
	struct shm_ring *ring; /* NULL: not there (yet) */
	struct shm_cell *cells;
	char *data;
	u32 cell_mask, data_mask;
	u32 cell, at;		  /* next half cell and data byte; run freely */
	u32 head_cell, head_data; /* as last published or last seen */
	bool stays;		  /* mapped with its segment */
};

static inline u64 shm_ring_bytes(u32 cells, u32 data)
{
	return SHM_RING_HEAD + (u64)cells * SHM_LINE + data;
}

static inline u32 shm_round(u32 bytes)
{
	return (bytes + SHM_LINE - 1) & ~(SHM_LINE - 1);
}

/* Largest piece of a body that one record carries. */
static inline u32 shm_piece_max(const struct shm_end *e)
{
	return (e->data_mask + 1) / 4;
}

/* What senders put in one: less, so that both ends copy at the same time. */
static inline u32 shm_piece(const struct shm_end *e)
{
	u32 max = shm_piece_max(e);

	return max < SHM_PIECE ? max : SHM_PIECE;
}

static inline struct shm_cell *shm_cell(const struct shm_end *e)
{
	return (struct shm_cell *)((char *)e->cells +
				   (size_t)(e->cell & e->cell_mask) * SHM_HALF);
}

static inline void shm_see_head(struct shm_end *e)
{
	u64 head = __atomic_load_n(&e->ring->head, __ATOMIC_ACQUIRE);

	e->head_cell = (u32)head;
	e->head_data = head >> 32;
}

/* Sender: a free cell (and the half before it) and @bytes of data room. What a
 * broken receiver wrote can make this false forever, and nothing worse. */
static inline bool shm_has_room(const struct shm_end *e, u32 bytes)
{
	u32 cells = e->cell - e->head_cell, data = e->at - e->head_data;

	return cells <= e->cell_mask - 2 && data <= e->data_mask + 1 &&
	       bytes <= e->data_mask + 1 - data;
}

static inline bool shm_get_room(struct shm_end *e, u32 bytes)
{
	if (likely(shm_has_room(e, bytes)))
		return true;
	shm_see_head(e);
	return shm_has_room(e, bytes);
}

/* Receiver: has the next cell been published? */
static inline bool shm_ready(const struct shm_cell *cell, u32 pos, u64 *ctl)
{
	*ctl = __atomic_load_n(&cell->ctl, __ATOMIC_ACQUIRE);
	return shm_ctl_seq(*ctl) == pos + 1;
}

/* Ask for the lines of the next @n data bytes, to read or to write. */
#define SHM_AHEAD 2048
#define shm_prefetch_data(e, n, rw)                                          \
	do {                                                                 \
		for (u32 i_ = 0; i_ < (n) && i_ < SHM_AHEAD; i_ += SHM_LINE) \
			__builtin_prefetch((e)->data + (((e)->at + i_) &     \
							(e)->data_mask),     \
					   rw);                              \
	} while (0)

/* memcpy for a few bytes, in moves that overlap. @n is at most 64. */
static inline void shm_copy_short(void *to, const void *from, u32 n)
{
	typedef struct {
		u8 b[16];
	} block;
	char *t = to;
	const char *f = from;

	if (n >= 16) {
		for (u32 i = 0; i + 16 <= n; i += 16)
			*(block *)(t + i) = *(const block *)(f + i);
		*(block *)(t + n - 16) = *(const block *)(f + n - 16);
	} else if (n >= 8) {
		memcpy(t, f, 8);
		memcpy(t + n - 8, f + n - 8, 8);
	} else if (n >= 4) {
		memcpy(t, f, 4);
		memcpy(t + n - 4, f + n - 4, 4);
	} else if (n) {
		t[0] = f[0];
		t[n / 2] = f[n / 2];
		t[n - 1] = f[n - 1];
	}
}

#endif
