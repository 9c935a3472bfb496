/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* An exchange: what the files that do it share, and nobody else needs. */
#ifndef MPII_IO_EXCHANGE_IN_H
#define MPII_IO_EXCHANGE_IN_H

#include "coll/coll.h"
#include "comm/comm.h"
#include "io/aside.h"
#include "io/exchange.h"
#include "io/near.h"
#include "io/part.h"

/* A window, at its aggregator. */
struct window {
	struct io_exchange *x;
	MPI_Offset lo; /* of the file */
	char *buf;
	struct io_part *parts; /* of all ranks */
	struct io_cover cover;
	size_t got; /* bytes that were read */
	int error;  /* of the disk */
	struct io_aside aside;
};

/* A list, of a view that others do not know: its blocks in one window. */
struct list_head {
	int64_t nblocks, bytes;
};

/* One for each aggregator, until the round is over. */
struct list {
	struct list_head head;
	struct io_part part;
	MPI_Count told; /* how far of our data was told about */
};

/* What we have in the window of an aggregator in one round, and the message that
 * brings it, or says that the window is free. */
struct coming {
	MPI_Count at, n;
	int req; /* -1: our own window, or failed, or none */
	/* of an aggregator whose window we have: */
	char *near;    /* NULL: data goes as a message */
	MPI_Offset lo; /* of the window */
	size_t got;    /* bytes of it that are there */
};

struct io_exchange {
	const struct coll *k;
	struct io_access *a;
	const struct io_plan *plan;
	struct io_cb *cb;
	int naggs;
	MPI_Offset base;  /* where the first domain begins */
	MPI_Count domain; /* bytes of each */
	MPI_Count window; /* bytes of one at most */
	MPI_Count rounds;
	struct list *lists; /* our view is not known to the others, or NULL */
	MPI_Count *sent;    /* for each aggregator: how far our data has gone */
	MPI_Count *taken;   /* for each rank: how far its data has come */
	struct window win[2];
	bool own_windows;      /* of the file's cb */
	struct io_where where; /* they are there for ranks of this host */
	struct io_part mine;   /* what we have in a window of another */
	/* messages of one round */
	struct mpii_req **reqs;
	int nreqs;
	struct coming *come; /* for each aggregator */
	char **packed;	     /* for each aggregator: memory in many pieces */
	int err;	     /* of messages, MPI code */
};

static inline MPI_Count min_count(MPI_Count a, MPI_Count b)
{
	return a < b ? a : b;
}

static inline bool is_agg(const struct io_exchange *x)
{
	return x->cb->me >= 0 && x->cb->me < x->naggs;
}

/* The window of aggregator @agg in round @r; lo >= hi: it has none. */
static inline void window_of(const struct io_exchange *x, int agg, MPI_Count r,
			     MPI_Offset *lo, MPI_Offset *hi)
{
	MPI_Offset begin = x->base + agg * x->domain;
	MPI_Offset end = min_count(begin + x->domain, x->plan->hi);

	*lo = begin + r * x->window;
	*hi = min_count(*lo + x->window, end);
}

/* Has a rank anything between these bytes of the file? */
static inline bool meets(const struct io_told *t, MPI_Offset lo, MPI_Offset hi)
{
	return lo < hi && t->bytes && t->lo < hi && t->hi > lo;
}

/* --- messages, and our own data (exchange_post.c) --- */

void io_post_send(struct io_exchange *x, const void *buf, MPI_Count count,
		  struct mpii_type *t, int rank);
/* Its place among the messages of the round, or -1: failed. */
int io_post_recv(struct io_exchange *x, void *buf, MPI_Count count,
		 struct mpii_type *t, int rank);
/* One message at once: those that were sent are left alone, since others may wait
 * for us before they take them. */
void io_post_recv_now(struct io_exchange *x, void *buf, MPI_Count bytes,
		      int rank);
void io_post_wait_one(struct io_exchange *x, int req);
void io_post_wait(struct io_exchange *x);

/* Our bytes for a window of round @r: where they are in the data. */
MPI_Count io_own_range(struct io_exchange *x, int agg, MPI_Count r,
		       MPI_Count *from);
/* The memory of these bytes as one piece: itself, or a buffer. NULL: no memory. */
char *io_own_memory(struct io_exchange *x, int agg, MPI_Count at, MPI_Count n);
/* Our bytes [from, from + n) as blocks of a window of the file: x->mine. */
bool io_own_part(struct io_exchange *x, MPI_Count from, MPI_Count n,
		 MPI_Offset window);
void io_own_drop(struct io_exchange *x);

/* --- what everyone has in a window (exchange_parts.c) --- */

/* Where everyone's data begins in each domain. */
void io_parts_begin(struct io_exchange *x);
/* Tell aggregators what we have in their windows of round @r, unless they know. */
void io_parts_tell(struct io_exchange *x, MPI_Count r);
/* At an aggregator: the parts of all ranks in its window of round @r. */
void io_parts_find(struct io_exchange *x, struct window *w, MPI_Count r);

/* --- the two directions (exchange_write.c, exchange_read.c) --- */

/* What is done aside, to a window. */
void io_window_write(void *window);
void io_window_read(void *window);
void io_exchange_write(struct io_exchange *x);
void io_exchange_read(struct io_exchange *x);

#endif
