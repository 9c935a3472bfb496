/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Buffers of any datatype as segments, and what libo2g says about them. */
#ifndef MPII_PT2PT_TRANSFER_H
#define MPII_PT2PT_TRANSFER_H

#include "datatype/datatype.h"
#include "pt2pt/request.h"

#define MPII_SEGS 16

/* A buffer as libo2g wants it. */
struct mpii_xfer {
	unsigned n; /* of segs, or O2G_VIEW */
	struct o2g_seg segs[MPII_SEGS];
};
/*
 * For the message of r: sets r->buf and r->count, the count in bytes where the
 * type is not needed any more, and r->type where it is.
 */
void mpii_xfer_begin(struct mpii_xfer *x, struct mpii_req *r, const void *buf,
		     MPI_Count count, struct mpii_type *t);
/*
 * libo2g refused it with *err. True: it does not take views here, and now it can
 * be asked again: the data goes through a copy, r->pack, which for a send is made
 * now.
 */
bool mpii_xfer_copied(struct mpii_xfer *x, struct mpii_req *r, int *err);

/* Words for, and the code of, what libo2g says about a message of @c with
 * rank @peer (of the remote group, or MPI_ANY_SOURCE). */
int mpii_message_error(struct mpii_comm *c, int peer, int tag,
		       const struct o2g_status *st, MPI_Count room);
/* As above for a call that failed without a status. */
int mpii_call_error(struct mpii_comm *c, int peer, int error);
/* Record the words of a code once more, if it names a rank that was lost. */
void mpii_say_again(struct mpii_comm *c, int code);

/* What came from a rank was to be as long as its buffer. */
int mpii_length_error(int peer, MPI_Count got, MPI_Count want);
static inline int mpii_check_length(int peer, MPI_Count got, MPI_Count want)
{
	return mpii_likely(got == want) ? MPI_SUCCESS :
					  mpii_length_error(peer, got, want);
}

#endif
