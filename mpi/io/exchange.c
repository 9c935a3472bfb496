/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Collective access in two phases: data is brought together at aggregators,
 * which read and write long pieces.
 *
 * The bytes between the first and the last that anybody accesses are divided
 * into domains, one for each aggregator, and each domain into windows. In one
 * round every aggregator handles one window, and every rank sends it, or gets
 * from it, what it has there: since views never go back, that is one range of
 * its data, and one message. The aggregator receives it right into its place in
 * the window, with the blocks of the rank's view there as datatype.
 *
 * There are two windows, and the disk is used by other threads: while one is
 * written, the next is received, and while one is sent, the next is read.
 *
 * What lies between the pieces is not read, nor written again.
 *
 * Cost: each byte is sent once and copied once more by the system; a message for
 * each rank and aggregator in each round.
 */
#include <errno.h>
#include <stdlib.h>

#include "coll/coll.h"
#include "comm/comm.h"
#include "env/errors.h"
#include "io/exchange.h"
#include "io/part.h"
#include "pt2pt/status.h"

#define DOMAIN_MIN (256 << 10) /* bytes for which an aggregator is worth it */

struct list;
struct coming;

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
	bool own_windows; /* of the file's cb */
	/* messages of one round */
	struct mpii_req **reqs;
	int nreqs;
	struct coming *come; /* for each aggregator, when reading */
	char **packed;	     /* for each aggregator: memory in many pieces */
	int err;	     /* of messages, MPI code */
};

static MPI_Count min_count(MPI_Count a, MPI_Count b)
{
	return a < b ? a : b;
}

static bool is_agg(const struct io_exchange *x)
{
	return x->cb->me >= 0 && x->cb->me < x->naggs;
}

/* The window of aggregator @agg in round @r; lo >= hi: it has none. */
static void window_of(const struct io_exchange *x, int agg, MPI_Count r,
		      MPI_Offset *lo, MPI_Offset *hi)
{
	MPI_Offset begin = x->base + agg * x->domain;
	MPI_Offset end = min_count(begin + x->domain, x->plan->hi);

	*lo = begin + r * x->window;
	*hi = min_count(*lo + x->window, end);
}

/* --- messages of a round --- */

static void posted(struct io_exchange *x, int err)
{
	if (err && !x->err)
		x->err = err;
	if (!err)
		x->nreqs++;
}

static void post_send(struct io_exchange *x, const void *buf, MPI_Count count,
		      struct mpii_type *t, int rank)
{
	posted(x, mpii_isend(buf, count, t, rank, x->k->tag, x->k->c,
			     x->k->context, MPII_STANDARD, &x->reqs[x->nreqs]));
}

static int post_recv(struct io_exchange *x, void *buf, MPI_Count count,
		     struct mpii_type *t, int rank)
{
	int n = x->nreqs;

	posted(x, mpii_irecv(buf, count, t, rank, x->k->tag, x->k->c,
			     x->k->context, &x->reqs[n]));
	return x->nreqs > n ? n : -1;
}

static void wait_for(struct io_exchange *x, struct mpii_req **reqs, int n)
{
	int err;

	if (x->k->task)
		coll_task_wait(x->k, reqs, n);
	/* What an aggregator gets is as long as it has to be; what it sends may
	 * be shorter, at the end of the file. */
	err = x->a->write ? mpii_wait_exact(reqs, n) : mpii_wait_all(reqs, n);
	if (err && !x->err)
		x->err = err;
}

static void wait_round(struct io_exchange *x)
{
	wait_for(x, x->reqs, x->nreqs);
	x->nreqs = 0;
}

/* --- lists, of views that others do not know --- */

struct list_head {
	int64_t nblocks, bytes;
};

static bool meets(const struct io_told *t, MPI_Offset lo, MPI_Offset hi)
{
	return lo < hi && t->bytes && t->lo < hi && t->hi > lo;
}

/* One for each aggregator, until the round is over. */
struct list {
	struct list_head head;
	struct io_part part;
	MPI_Count told; /* how far of our data was told about */
};

static void send_list(struct io_exchange *x, struct list *l, int agg,
		      MPI_Offset lo, MPI_Count end)
{
	if (!io_part_fill(&l->part, &x->a->place, l->told, end, lo)) {
		io_part_measure(&l->part, 0);
		x->a->error = -ENOMEM;
	}
	l->told = end;
	l->head.nblocks = l->part.type.nblocks;
	l->head.bytes = l->part.type.size;
	post_send(x, &l->head, sizeof(l->head), coll_bytes(), agg);
	post_send(x, l->part.type.blocks,
		  l->head.nblocks * sizeof(struct mpii_block), coll_bytes(),
		  agg);
}

/* Tell aggregators what we have in their windows of round @r. */
static void send_lists(struct io_exchange *x, MPI_Count r)
{
	const struct io_told *mine = &x->plan->told[x->k->c->rank];
	MPI_Offset lo, hi;

	for (int i = 0; x->lists && i < x->naggs; i++) {
		window_of(x, i, r, &lo, &hi);
		if (meets(mine, lo, hi) && x->cb->aggs[i] != x->k->c->rank)
			send_list(x, &x->lists[i], x->cb->aggs[i], lo,
				  io_place_find(&x->a->place, hi,
						x->lists[i].told,
						mine->pos + mine->bytes));
	}
}

/* One message at once: those that were sent are left alone, since others may wait
 * for us before they take them. */
static void recv_now(struct io_exchange *x, void *buf, MPI_Count bytes,
		     int rank)
{
	struct mpii_req *r;
	int err = mpii_irecv(buf, bytes, coll_bytes(), rank, x->k->tag, x->k->c,
			     x->k->context, &r);

	if (!err)
		wait_for(x, &r, 1);
	else if (!x->err)
		x->err = err;
}

/* The list of rank @rank for a window; without memory it is as if it had
 * nothing, which is an error in the end. */
static void recv_list(struct io_exchange *x, struct window *w, int rank)
{
	struct io_part *p = &w->parts[rank];
	struct list_head head = { 0, 0 };

	recv_now(x, &head, sizeof(head), rank);
	if (!io_part_room(p, head.nblocks + 1)) {
		x->err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
		head.nblocks = 0;
	}
	recv_now(x, p->type.blocks, head.nblocks * sizeof(struct mpii_block),
		 rank);
	io_part_measure(p, x->err ? 0 : head.nblocks);
}

/* --- what everyone has in a window --- */

static struct io_place place_of(const struct io_exchange *x, int rank)
{
	return rank == x->k->c->rank ? x->a->place :
				       io_cb_theirs(x->a->v, rank).place;
}

static void part_of(struct io_exchange *x, struct window *w, int rank,
		    MPI_Offset hi)
{
	const struct io_told *t = &x->plan->told[rank];
	struct io_place place = place_of(x, rank);
	MPI_Count end;

	end = io_place_find(&place, hi, x->taken[rank], t->pos + t->bytes);
	if (!io_part_fill(&w->parts[rank], &place, x->taken[rank], end,
			  w->lo)) {
		io_part_measure(&w->parts[rank], 0);
		w->error = -ENOMEM;
		x->err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	x->taken[rank] = end;
}

static bool is_listed(const struct io_exchange *x, int rank)
{
	return x->a->v->theirs && x->a->v->theirs[rank].listed &&
	       rank != x->k->c->rank;
}

/* At an aggregator: the parts of all ranks in its window of round @r. */
static void find_parts(struct io_exchange *x, struct window *w, MPI_Count r)
{
	MPI_Offset hi;

	window_of(x, x->cb->me, r, &w->lo, &hi);
	w->error = 0;
	for (int i = 0; i < x->plan->n; i++) {
		const struct io_told *t = &x->plan->told[i];

		if (w->lo >= hi || !meets(t, w->lo, hi))
			io_part_measure(&w->parts[i], 0);
		else if (is_listed(x, i))
			recv_list(x, w, i);
		else
			part_of(x, w, i, hi);
	}
	if (!io_cover_make(&w->cover, w->parts, x->plan->n, x->a->write))
		w->error = -ENOMEM;
}

/* --- our data --- */

/* Our bytes for a window of round @r: where they are in the data. */
static MPI_Count own_range(struct io_exchange *x, int agg, MPI_Count r,
			   MPI_Count *from)
{
	const struct io_told *mine = &x->plan->told[x->k->c->rank];
	MPI_Count end = mine->pos + mine->bytes, to;
	MPI_Offset lo, hi;

	window_of(x, agg, r, &lo, &hi);
	*from = x->sent[agg];
	if (lo >= hi || !meets(mine, lo, hi))
		return 0;
	to = io_place_find(&x->a->place, hi, *from, end);
	x->sent[agg] = to;
	return to - *from;
}

/* The memory of these bytes as one piece: itself, or a buffer. */
static char *own_memory(struct io_exchange *x, int agg, MPI_Count at,
			MPI_Count n)
{
	char *plain = io_access_plain(x->a);

	if (plain)
		return plain + at;
	x->packed[agg] = malloc(n);
	if (!x->packed[agg]) {
		x->a->error = -ENOMEM;
		return NULL;
	}
	if (x->a->write)
		io_access_pack(x->a, at, x->packed[agg], n);
	return x->packed[agg];
}

static void drop_packed(struct io_exchange *x)
{
	for (int i = 0; i < x->naggs; i++) {
		free(x->packed[i]);
		x->packed[i] = NULL;
	}
}

/* --- writing --- */

static void write_window(void *arg)
{
	struct window *w = arg;
	struct mpii_file *f = w->x->a->f;
	MPI_Offset lo = 0, hi;
	size_t done;

	for (; !w->error && io_cover_next(&w->cover, &lo, &hi); lo = hi)
		w->error = io_disk_write(f, w->lo + lo, w->buf + lo, hi - lo,
					 &done);
}

static void recv_parts(struct io_exchange *x, struct window *w)
{
	for (int i = 0; i < x->plan->n; i++) {
		struct io_part *p = &w->parts[i];

		if (i == x->k->c->rank || !p->type.size)
			continue;
		if (p->type.nsegs == 1)
			post_recv(x, w->buf + p->lo, p->type.size, coll_bytes(),
				  i);
		else
			post_recv(x, w->buf, 1, &p->type, i);
	}
}

/* What we have in our own window. */
static void keep_own(struct io_exchange *x, struct window *w, MPI_Count at,
		     MPI_Count n)
{
	struct io_part *p = &w->parts[x->k->c->rank];
	char *mem = own_memory(x, x->cb->me, at, n);

	if (mem && p->type.size == n)
		mpii_unpack(&p->type, w->buf, 1, 0, mem, n);
}

static void send_own(struct io_exchange *x, struct window *w, MPI_Count r)
{
	MPI_Count from, n;
	char *mem;

	for (int i = 0; i < x->naggs; i++) {
		n = own_range(x, i, r, &from);
		from -= x->a->pos;
		if (n == 0)
			continue;
		if (i == x->cb->me) {
			keep_own(x, w, from, n);
			continue;
		}
		mem = own_memory(x, i, from, n);
		/* Without memory something is sent even so. */
		post_send(x, mem ? mem : x->a->buf, mem ? n : 0, coll_bytes(),
			  x->cb->aggs[i]);
	}
}

static void write_rounds(struct io_exchange *x)
{
	struct window *w;

	for (MPI_Count r = 0; r < x->rounds; r++) {
		w = &x->win[r % 2];
		send_lists(x, r);
		if (is_agg(x)) {
			io_aside_wait(x->k, &w->aside);
			if (w->error && !x->a->error)
				x->a->error = w->error;
			find_parts(x, w, r);
			recv_parts(x, w);
		}
		send_own(x, w, r);
		wait_round(x);
		drop_packed(x);
		if (!is_agg(x) || x->err || x->a->error)
			continue;
		if (x->rounds > 1)
			io_aside_start(x->k, &w->aside);
		else
			io_aside(x->k, x->a->f, write_window, w);
	}
}

/* --- reading --- */

static void read_window(void *arg)
{
	struct window *w = arg;
	const struct io_cover *c = &w->cover;
	size_t got;

	w->got = 0;
	if (w->error || c->lo >= c->hi)
		return;
	w->error = io_disk_read(w->x->a->f, w->lo + c->lo, w->buf + c->lo,
				c->hi - c->lo, &got);
	w->got = c->lo + got;
}

static void prepare_read(struct io_exchange *x, MPI_Count r)
{
	struct window *w = &x->win[r % 2];

	if (r >= x->rounds)
		return;
	send_lists(x, r);
	if (!is_agg(x))
		return;
	find_parts(x, w, r);
	if (x->rounds > 1)
		io_aside_start(x->k, &w->aside);
	else
		io_aside(x->k, x->a->f, read_window, w);
}

static void send_parts(struct io_exchange *x, struct window *w)
{
	for (int i = 0; i < x->plan->n; i++) {
		struct io_part *p = &w->parts[i];
		bool any = p->type.size;

		if (!any)
			continue;
		io_part_cut(p, (MPI_Offset)w->got);
		if (i == x->k->c->rank)
			continue;
		if (p->type.nsegs <= 1)
			post_send(x, w->buf + p->lo, p->type.size, coll_bytes(),
				  i);
		else
			post_send(x, w->buf, 1, &p->type, i);
	}
}

/* A piece of our data is shorter than asked for: the file ended. */
static void short_piece(struct io_exchange *x, MPI_Count at, MPI_Count n,
			MPI_Count got)
{
	if (got < n)
		x->a->done = min_count(x->a->done, at + got);
}

/* One message of a round: where it goes. */
struct coming {
	MPI_Count at, n;
	int req; /* -1: our own window, or failed */
};

static void recv_own(struct io_exchange *x, struct window *w, MPI_Count r,
		     struct coming *come)
{
	MPI_Count from;
	char *mem;

	for (int i = 0; i < x->naggs; i++) {
		struct coming *c = &come[i];

		c->n = own_range(x, i, r, &from);
		c->at = from - x->a->pos;
		c->req = -1;
		if (c->n == 0)
			continue;
		mem = own_memory(x, i, c->at, c->n);
		if (i == x->cb->me && mem) {
			struct io_part *p = &w->parts[x->k->c->rank];

			mpii_pack(&p->type, w->buf, 1, 0, mem, p->type.size);
			short_piece(x, c->at, c->n, p->type.size);
			c->n = p->type.size;
		} else if (i != x->cb->me) {
			c->req = post_recv(x, mem, mem ? c->n : 0, coll_bytes(),
					   x->cb->aggs[i]);
		}
	}
}

/* After the round: lengths, and memory in many pieces. */
static void finish_own(struct io_exchange *x, const struct coming *come)
{
	for (int i = 0; i < x->naggs; i++) {
		if (come[i].n && x->packed[i])
			io_access_unpack(x->a, come[i].at, x->packed[i],
					 come[i].n);
	}
	drop_packed(x);
}

static void wait_reading(struct io_exchange *x, struct coming *come)
{
	MPI_Count got;

	if (x->k->task)
		coll_task_wait(x->k, x->reqs, x->nreqs);
	for (int i = 0; i < x->naggs; i++) {
		if (come[i].req < 0)
			continue;
		mpii_req_wait(x->reqs[come[i].req]);
		got = mpii_status_bytes(&x->reqs[come[i].req]->status);
		short_piece(x, come[i].at, come[i].n, got);
		come[i].n = got;
	}
	wait_round(x);
}

static void read_rounds(struct io_exchange *x, struct coming *come)
{
	struct window *w;

	x->a->done = x->a->bytes;
	prepare_read(x, 0);
	wait_round(x); /* lists: the next ones need their memory */
	for (MPI_Count r = 0; r < x->rounds; r++) {
		w = &x->win[r % 2];
		if (is_agg(x)) {
			io_aside_wait(x->k, &w->aside);
			if (w->error && !x->a->error)
				x->a->error = w->error;
		}
		prepare_read(x, r + 1);
		if (is_agg(x))
			send_parts(x, w);
		recv_own(x, w, r, come);
		wait_reading(x, come);
		finish_own(x, come);
	}
}

/* --- beginning and end --- */

static void divide(struct io_exchange *x)
{
	const struct io_plan *p = x->plan;
	MPI_Count unit = io_cb_unit(x->a->f), range;

	x->base = p->lo / unit * unit;
	range = p->hi - x->base;
	x->naggs = (int)min_count(x->cb->naggs,
				  (range + DOMAIN_MIN - 1) / DOMAIN_MIN);
	x->domain = (range + x->naggs - 1) / x->naggs;
	x->domain = (x->domain + unit - 1) / unit * unit;
	x->window = min_count(io_cb_window(x->a->f), x->domain);
	x->rounds = (x->domain + x->window - 1) / x->window;
}

static bool get_windows(struct io_exchange *x)
{
	struct io_cb *cb = x->cb;
	MPI_Count bytes = io_cb_window(x->a->f);

	x->own_windows = !atomic_flag_test_and_set(&cb->busy);
	for (int i = 0; i < 2; i++) {
		struct window *w = &x->win[i];

		if (x->own_windows && !cb->window[i])
			cb->window[i] = aligned_alloc(
				4096, (bytes + 4095) / 4096 * 4096);
		w->buf = x->own_windows ? cb->window[i] : malloc(bytes);
		w->parts = calloc(x->a->f->comm->size, sizeof(*w->parts));
		w->x = x;
		w->aside = (struct io_aside){ x->a->f,
					      x->a->write ? write_window :
							    read_window,
					      w, NULL };
		if (!w->buf || !w->parts)
			return false;
	}
	return true;
}

struct io_exchange *io_exchange_create(struct io_access *a)
{
	struct io_exchange *x = calloc(1, sizeof(*x));
	int n = a->f->comm->size, naggs = a->f->cb->naggs;
	bool listed = a->v->theirs && a->v->theirs[a->f->comm->rank].listed;

	if (!x)
		return NULL;
	x->a = a;
	x->cb = a->f->cb;
	if (listed)
		x->lists = calloc(naggs, sizeof(*x->lists));
	x->sent = calloc(naggs, sizeof(*x->sent));
	x->packed = calloc(naggs, sizeof(*x->packed));
	x->come = calloc(naggs, sizeof(*x->come));
	x->reqs = calloc(n + 3 * (size_t)naggs, sizeof(*x->reqs));
	x->taken = calloc(n, sizeof(*x->taken));
	if (x->sent && x->packed && x->come && x->reqs && x->taken &&
	    (!listed || x->lists) && (x->cb->me < 0 || get_windows(x)))
		return x;
	io_exchange_destroy(x);
	return NULL;
}

void io_exchange_destroy(struct io_exchange *x)
{
	for (int i = 0; i < 2; i++) {
		struct window *w = &x->win[i];

		for (int k = 0; w->parts && k < x->a->f->comm->size; k++)
			io_part_free(&w->parts[k]);
		free(w->parts);
		io_cover_free(&w->cover);
		if (!x->own_windows)
			free(w->buf);
	}
	if (x->own_windows)
		atomic_flag_clear(&x->cb->busy);
	for (int i = 0; x->lists && i < x->cb->naggs; i++)
		io_part_free(&x->lists[i].part);
	free(x->lists);
	free(x->sent);
	free(x->packed);
	free(x->come);
	free(x->reqs);
	free(x->taken);
	free(x);
}

/* Where everyone's data begins in each domain. */
static void begin(struct io_exchange *x)
{
	const struct io_plan *p = x->plan;
	const struct io_told *mine = &p->told[x->k->c->rank];
	MPI_Offset lo, hi;

	for (int i = 0; i < x->naggs; i++) {
		window_of(x, i, 0, &lo, &hi);
		x->sent[i] = mine->pos;
		if (mine->bytes)
			x->sent[i] = io_place_find(&x->a->place, lo, mine->pos,
						   mine->pos + mine->bytes);
		if (x->lists)
			x->lists[i].told = x->sent[i];
	}
	if (!is_agg(x))
		return;
	window_of(x, x->cb->me, 0, &lo, &hi);
	for (int i = 0; i < p->n; i++) {
		const struct io_told *t = &p->told[i];
		struct io_place place = place_of(x, i);

		if (t->bytes && !is_listed(x, i))
			x->taken[i] = io_place_find(&place, lo, t->pos,
						    t->pos + t->bytes);
	}
}

int io_exchange(struct io_exchange *x, const struct coll *k,
		const struct io_plan *plan)
{
	struct io_access *a = x->a;

	x->k = k;
	x->plan = plan;
	divide(x);
	begin(x);
	if (a->write)
		write_rounds(x);
	else
		read_rounds(x, x->come);
	for (int i = 0; i < 2; i++) {
		io_aside_wait(k, &x->win[i].aside);
		if (x->win[i].error && !a->error)
			a->error = x->win[i].error;
	}
	if (a->write && !x->err && !a->error)
		a->done = a->bytes;
	return x->err;
}
