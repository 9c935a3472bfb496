/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Collectives through memory that all ranks of a communicator share, for short
 * data of ranks on one host: a rank writes its row and says so in a counter, the
 * last to come does what there is to do for all and releases them, and they read.
 * A rank waits at most once, for one word; with more ranks than cores, where
 * every wait is a context switch, there is nothing cheaper.
 *
 * The memory is a ring of slots; a call takes the next one. Each slot has a row
 * per rank and a result, and three counters: ranks that have arrived, the number
 * of the call that was released, and ranks that have left. A slot is used again
 * when all have left it. Calls on a communicator come in the same order at every
 * rank, and blocking ones one after the other, so that all agree on the slot.
 * There are many slots, so that ranks which need not wait for others can be far
 * ahead of them; but only rows of up to 48 bytes lie in them. Longer ones take
 * their turns in a few areas. Before all that is the number of ranks asleep:
 * mostly there are none, and nobody has to be woken.
 *
 * An algorithm is
 *
 *	coll_slot_take()		which slot, without waiting
 *	coll_slot_enter()		before writing or arriving
 *	coll_slot_arrive()		true for the last
 *	coll_slot_release(), coll_slot_wait()
 *	coll_slot_publish(), coll_slot_await()	one row, for one other rank
 *	coll_slot_leave()		done with reading
 *
 * where every rank leaves once, and enter and arrive are for those that need them.
 */
#ifndef COLL_SHARED_H
#define COLL_SHARED_H

#include <string.h>

#include "coll/coll.h"

#define COLL_SHARED_SHORT 1024	   /* many rows of such */
#define COLL_SHARED_ROW (32 << 10) /* up to here short blocks and messages */
#define COLL_SHARED_LONG \
	((64 << 10) + 64) /* a piece of longer ones: pieces.h */
#define COLL_SHARED_RANKS 32

struct coll_shared;

/* How many slots this rank has used so far, on all communicators. */
uint64_t coll_shared_count(void);

/* Is this call to go that way? The same at all ranks; the first few calls go
 * another one, then the memory is made, in which every rank takes part. */
bool coll_shared_use(const struct coll *k);

/*
 * At the beginning of a slot; a line begins with a word of its own kind. Lengths
 * beside them, in the same line, show whether the ranks agree about theirs.
 */
struct coll_slot_counters {
	_Alignas(64) atomic_uint
		arrived; /* ranks, and what tells if lengths differ */
	_Alignas(64) atomic_uint released;
	unsigned length; /* of all who arrived, or of who released */
	_Alignas(64) atomic_uint left;
};

struct coll_slot {
	struct coll_shared *s;
	struct coll_slot_counters *c;
	char *lines; /* one for each rank */
	char *rows;
	size_t row_bytes;
	unsigned areas;	 /* calls that can have such rows at a time */
	unsigned length; /* that this rank gave */
	uint64_t call;
	int n;
};

/* For rows of so many bytes, at most COLL_SHARED_LONG. */
struct coll_slot coll_slot_take(const struct coll *k, MPI_Count bytes);
/* The same, but what ranks have to agree about is another length. */
struct coll_slot coll_slot_take_as(const struct coll *k, MPI_Count bytes,
				   MPI_Count length);
#define COLL_LENGTHS_DIFFER 0xfffffe /* more than any: their rows tell */
int coll_slot_enter(const struct coll *k, const struct coll_slot *o);
bool coll_slot_arrive(const struct coll *k, struct coll_slot *o);
void coll_slot_release(const struct coll_slot *o);
int coll_slot_wait(const struct coll *k, const struct coll_slot *o);
void coll_slot_leave(const struct coll_slot *o);
/* Having left it: all others have as well, and read nothing of ours any more. */
int coll_slot_wait_left(const struct coll *k, const struct coll_slot *o);
/* Our row is there, which rank @reader waits for. */
void coll_slot_publish(const struct coll *k, const struct coll_slot *o,
		       int reader);
int coll_slot_await(const struct coll *k, const struct coll_slot *o, int rank);

/* For boxes.h: their memory, and a number that this rank has for each. */
char *coll_shared_boxes(const struct coll *k, unsigned **turns);
/* Until a word of that memory is so far. */
int coll_shared_await(const struct coll *k, atomic_uint *word, unsigned want);
/* Having written what rank @reader may wait for. */
void coll_shared_wake(const struct coll *k, int reader);

static inline char *coll_slot_row(const struct coll_slot *o, int rank)
{
	return o->rows + (size_t)rank * o->row_bytes;
}
static inline char *coll_slot_result(const struct coll_slot *o)
{
	return coll_slot_row(o, o->n);
}

/*
 * Rows of which only the writer knows how long they are: the block if it is
 * short, or that it comes as a message.
 */
#define COLL_SHORT (8 << 10)
#define COLL_AS_MESSAGE UINT64_MAX

/* False: too long; the row says so. */
static inline bool coll_slot_put_short(const struct coll_slot *o, int row,
				       const void *buf, MPI_Count count,
				       const struct mpii_type *t)
{
	MPI_Count bytes = count * t->size;
	uint64_t *length = (uint64_t *)coll_slot_row(o, row);

	*length = bytes <= COLL_SHORT ? (uint64_t)bytes : COLL_AS_MESSAGE;
	if (bytes > COLL_SHORT)
		return false;
	mpii_pack(t, buf, count, 0, length + 1, (size_t)bytes);
	return true;
}
static inline size_t coll_slot_length(const struct coll_slot *o, int row)
{
	return *(const uint64_t *)coll_slot_row(o, row);
}
/* NULL: a message. */
static inline const char *coll_slot_short(const struct coll_slot *o, int row)
{
	return coll_slot_length(o, row) == COLL_AS_MESSAGE ?
		       NULL :
		       coll_slot_row(o, row) + sizeof(uint64_t);
}

/* A block of which the rank that wrote it knew the length: not more than fits. */
static inline int coll_slot_unpack(const struct coll *k, int rank,
				   const char *from, size_t got, void *buf,
				   MPI_Count count, const struct mpii_type *t)
{
	size_t want = (size_t)(count * t->size);

	mpii_unpack(t, buf, count, 0, from, got < want ? got : want);
	return coll_received(k, mpii_check_length(rank, (MPI_Count)got,
						  (MPI_Count)want));
}

/* Arrive and wait, or release if we are the last: for those that read rows. */
static inline int coll_slot_meet(const struct coll *k, struct coll_slot *o)
{
	if (!coll_slot_arrive(k, o))
		return coll_slot_wait(k, o);
	coll_slot_release(o);
	return MPI_SUCCESS;
}

#endif
