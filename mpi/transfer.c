/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Buffers of any datatype for libo2g, and words for what it reports.
 *
 * Data in a few big pieces goes as a list of segments; many or small pieces are
 * packed into one, since handling a piece costs more than copying it. A receive
 * puts up with more and smaller pieces than a send: a message that was packed
 * can be read from the sender's memory in one go.
 */
#include "request.h"

/* Average bytes from which a piece is left in place. */
#define SEND_PIECE_MIN 2048
#define RECV_PIECE_MIN 256
#define RECV_SEGS 1024 /* pieces of a message at most */

/* Can it go without packing, as a few pieces? Fills the segments if so. */
static bool in_place(struct mpii_xfer *x, const void *buf, MPI_Count count,
		     const struct mpii_type *t, size_t piece_min)
{
	size_t n;

	x->pack = NULL;
	x->segs = x->few;
	if (t->contiguous || count == 0 || t->size == 0) {
		x->segs[0].base = (void *)buf;
		x->segs[0].len = (size_t)(count * t->size);
		x->n = 1;
		return true;
	}
	n = mpii_type_segs(t, buf, count, x->segs, MPII_SEGS);
	x->n = n <= RECV_SEGS ? (unsigned)n : RECV_SEGS + 1;
	return n <= MPII_SEGS &&
	       (n == 1 || (size_t)(count * t->size) / n >= piece_min);
}

/* After that: can it be received as a longer list of pieces? */
static bool in_pieces(struct mpii_xfer *x, void *buf, MPI_Count count,
		      const struct mpii_type *t)
{
	struct o2g_seg *list;

	if (x->n <= MPII_SEGS || x->n > RECV_SEGS ||
	    (size_t)(count * t->size) / x->n < RECV_PIECE_MIN)
		return false;
	list = malloc(x->n * sizeof(*list));
	if (!list)
		return false;
	mpii_type_segs(t, buf, count, list, x->n);
	x->segs = list;
	return true;
}

static bool through_copy(struct mpii_xfer *x, MPI_Count bytes)
{
	x->pack = malloc((size_t)bytes);
	x->segs[0].base = x->pack;
	x->segs[0].len = (size_t)bytes;
	x->n = 1;
	return x->pack;
}

bool mpii_xfer_send(struct mpii_xfer *x, const void *buf, MPI_Count count,
		    const struct mpii_type *t)
{
	if (in_place(x, buf, count, t, SEND_PIECE_MIN))
		return true;
	if (!through_copy(x, count * t->size))
		return false;
	mpii_pack(t, buf, count, 0, x->pack, x->segs[0].len);
	return true;
}

bool mpii_xfer_recv(struct mpii_xfer *x, void *buf, MPI_Count count,
		    const struct mpii_type *t)
{
	return in_place(x, buf, count, t, RECV_PIECE_MIN) ||
	       in_pieces(x, buf, count, t) ||
	       through_copy(x, count * t->size);
}

/* --- words --- */

static int peer_gone(struct mpii_comm *c, int peer, int world)
{
	char text[320] = "it is gone";

	if (world >= 0)
		o2g_peer_error(mpii.ep, world, text, sizeof(text));
	if (world < 0)
		return mpii_fail(MPI_ERR_PROC_ABORTED,
				 "a process of the job is gone");
	if (c->identity || peer < 0)
		return mpii_fail(MPI_ERR_PROC_ABORTED, "lost %s", text);
	return mpii_fail(MPI_ERR_PROC_ABORTED,
			 "lost rank %d of %s, which is %s", peer,
			 mpii_comm_words(c), text);
}

int mpii_call_error(struct mpii_comm *c, int peer, int error)
{
	if (error == -O2G_ERR_PEER)
		return peer_gone(c, peer, peer < 0 ? -1 : c->world[peer]);
	return mpii_fail(mpii_class_of(error), "%s", o2g_strerror(error));
}

int mpii_message_error(struct mpii_comm *c, int peer, int tag,
		       const struct o2g_status *st, MPI_Count room)
{
	if (st->error == -O2G_ERR_TRUNCATED)
		return mpii_fail(MPI_ERR_TRUNCATE,
				 "the message of %llu bytes from rank %d with "
				 "tag %d does not fit into a buffer of %lld "
				 "bytes",
				 (unsigned long long)st->message_length,
				 peer >= 0 ? peer :
					     mpii_comm_rank_of(c, st->source),
				 (int)(uint32_t)st->tag, (long long)room);
	if (st->error == -O2G_ERR_PEER)
		return peer_gone(c, peer,
				 peer >= 0 ? c->world[peer] : st->source);
	return mpii_call_error(c, peer, st->error);
}

int mpii_length_error(int peer, MPI_Count got, MPI_Count want)
{
	return mpii_fail(got > want ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
			 "rank %d has sent %lld bytes where %lld are expected: "
			 "the counts or types of the two ranks differ",
			 peer, (long long)got, (long long)want);
}
