/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Buffers of any datatype for libo2g, and words for what it reports.
 *
 * Data in a few big pieces goes as a list of segments. Many or small pieces are
 * a view: libo2g asks for the part of the packed data that it can move next, and
 * that is packed into the ring or what is given to the socket, while the part
 * before is unpacked at the other end. Only where libo2g has no use for views is
 * all of it packed first.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/errcode.h"
#include "env/errors.h"
#include "process/gone.h"
#include "pt2pt/transfer.h"

/* Average bytes from which a piece is left to libo2g. */
#define PIECE_MIN 2048

static const struct mpii_req *req_of(const struct o2g_view *v)
{
	return (const struct mpii_req *)((const char *)v -
					 offsetof(struct mpii_req, view));
}

static void view_read(const struct o2g_view *v, uint64_t off, void *to,
		      size_t n)
{
	const struct mpii_req *r = req_of(v);

	mpii_pack(r->type, r->buf, r->count, (MPI_Count)off, to, n);
}

static void view_write(const struct o2g_view *v, uint64_t off, const void *from,
		       size_t n)
{
	const struct mpii_req *r = req_of(v);

	mpii_unpack(r->type, r->buf, r->count, (MPI_Count)off, from, n);
}

/* Can it go as a few pieces? Fills the segments if so. */
static bool in_pieces(struct mpii_xfer *x, const void *buf, MPI_Count count,
		      const struct mpii_type *t)
{
	size_t n;

	if (t->contiguous || count == 0 || t->size == 0) {
		x->segs[0].base = (void *)buf;
		x->segs[0].len = (size_t)(count * t->size);
		x->n = 1;
		return true;
	}
	n = mpii_type_segs(t, buf, count, x->segs, MPII_SEGS);
	x->n = (unsigned)n;
	return n == 1 ||
	       (n <= MPII_SEGS && (size_t)(count * t->size) / n >= PIECE_MIN);
}

void mpii_xfer_begin(struct mpii_xfer *x, struct mpii_req *r, const void *buf,
		     MPI_Count count, struct mpii_type *t)
{
	bool pieces = in_pieces(x, buf, count, t);

	r->buf = (void *)buf;
	r->count = count;
	if (!pieces) {
		x->segs[0].base = &r->view;
		x->segs[0].len = (size_t)(count * t->size);
		x->n = O2G_VIEW;
		r->view.read = view_read;
		r->view.write = view_write;
	}
	if (r->type)
		return; /* persistent: it has all */
	if (pieces) {
		r->count = count * t->size;
	} else {
		mpii_type_hold(t);
		r->type = t;
	}
}

bool mpii_xfer_copied(struct mpii_xfer *x, struct mpii_req *r, int *err)
{
	if (*err != -EOPNOTSUPP || x->n != O2G_VIEW)
		return false;
	*err = -ENOMEM;
	r->pack = malloc(x->segs[0].len);
	if (!r->pack)
		return false;
	x->segs[0].base = r->pack;
	x->n = 1;
	if (r->kind == MPII_REQ_SEND)
		mpii_pack(r->type, r->buf, r->count, 0, r->pack,
			  x->segs[0].len);
	return true;
}

/* --- words --- */

/* Record "lost rank ...", as a user of @c knows the rank. */
static int say_lost(struct mpii_comm *c, int peer, int code, const char *words)
{
	int rank = !c->peers ? -1 : mpii_comm_rank_of(c, peer);

	if (rank < 0)
		return mpii_fail(code, "%s", words);
	return mpii_fail(code, "lost rank %d of %s, which is %s", rank,
			 mpii_comm_words(c), words + strlen("lost "));
}

static int peer_gone(struct mpii_comm *c, int peer)
{
	char text[320], words[sizeof(text) + 8];

	/* It may be there, but another member is not (gone.c). */
	if (peer < 0 || o2g_peer_error(mpii.ep, peer, text, sizeof(text))) {
		peer = mpii_gone_latest(c);
		if (peer < 0 ||
		    o2g_peer_error(mpii.ep, peer, text, sizeof(text)))
			return mpii_fail(MPI_ERR_PROC_ABORTED,
					 "a process of the job is gone");
	}
	snprintf(words, sizeof(words), "lost %s", text);
	return say_lost(c, peer, mpii_lost_code(peer, words), words);
}

void mpii_say_again(struct mpii_comm *c, int code)
{
	const char *words = mpii_lost_text(code);

	if (words)
		say_lost(c, mpii_lost_peer(code), code, words);
}

int mpii_call_error(struct mpii_comm *c, int peer, int error)
{
	/* a send of a collective that cannot come to an end */
	if (error == -O2G_ERR_PEER || error == -O2G_ERR_CANCELLED)
		return peer_gone(c, peer < 0 ? -1 : mpii_comm_peer(c, peer));
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
		return peer_gone(c, peer >= 0 ? mpii_comm_peer(c, peer) :
						st->source);
	return mpii_call_error(c, peer, st->error);
}

int mpii_length_error(int peer, MPI_Count got, MPI_Count want)
{
	return mpii_fail(got > want ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
			 "rank %d has sent %lld bytes where %lld are expected: "
			 "the counts or types of the two ranks differ",
			 peer, (long long)got, (long long)want);
}
