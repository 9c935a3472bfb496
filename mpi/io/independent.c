/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Accesses of one rank for itself.
 *
 * If both sides are one piece it is a plain read or write. Otherwise each piece
 * of the file is one call, and the pieces of memory that belong to it go along
 * as a vector, or through a buffer if they are small. Nothing is ever written
 * that the program has not given: what lies between two pieces may be somebody
 * else's. Reading what lies between is harmless, so where pieces are close to
 * each other one call reads them all (sieving).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "io/access.h"

#define VECTOR 256	  /* pieces of memory in one call */
#define PIECE_MIN 2048	  /* bytes from which one is worth its place there */
#define STAGE (1 << 20)	  /* bytes of the buffer for smaller ones */
#define GAP_MAX (8 << 10) /* mean gap up to which reading all of it is faster */

static MPI_Count min_count(MPI_Count a, MPI_Count b)
{
	return a < b ? a : b;
}

/* --- one piece of the file --- */

/* True: all of it was moved. */
static bool moved(struct io_access *a, int error, size_t done, MPI_Count len)
{
	a->done += done;
	a->error = error;
	return !error && (MPI_Count)done == len;
}

static bool move_plain(struct io_access *a, MPI_Offset off, char *mem,
		       MPI_Count len)
{
	size_t done;
	int error = a->write ? io_disk_write(a->f, off, mem, len, &done) :
			       io_disk_read(a->f, off, mem, len, &done);

	return moved(a, error, done, len);
}

/* Bytes of memory from a->done on, as a vector. */
static int fill_vector(struct io_walk *mem, struct iovec *iov, MPI_Count max,
		       MPI_Count *len)
{
	MPI_Offset at;
	MPI_Count k;
	int n = 0;

	*len = 0;
	while (n < VECTOR && *len < max &&
	       io_walk_run(mem, &at, &k, max - *len)) {
		iov[n++] = (struct iovec){ (void *)(uintptr_t)at, k };
		*len += k;
	}
	return n;
}

static bool move_vector(struct io_access *a, struct io_walk *mem,
			MPI_Offset off, MPI_Count len)
{
	struct iovec iov[VECTOR];
	MPI_Count part;
	size_t done;
	int n, error;

	for (; len > 0; len -= part, off += part) {
		n = fill_vector(mem, iov, min_count(len, 1 << 30), &part);
		error = a->write ? io_disk_writev(a->f, off, iov, n, &done) :
				   io_disk_readv(a->f, off, iov, n, &done);
		if (!moved(a, error, done, part))
			return false;
	}
	return true;
}

/* Through a buffer, for memory in small pieces. */
static bool move_staged(struct io_access *a, char *stage, MPI_Offset off,
			MPI_Count len)
{
	MPI_Count part, at;
	size_t done;
	int error;

	for (; len > 0; len -= part, off += part) {
		part = min_count(len, STAGE);
		at = a->done;
		if (a->write) {
			io_access_pack(a, at, stage, part);
			error = io_disk_write(a->f, off, stage, part, &done);
		} else {
			error = io_disk_read(a->f, off, stage, part, &done);
			io_access_unpack(a, at, stage, done);
		}
		if (!moved(a, error, done, part))
			return false;
	}
	return true;
}

/* How the memory of an access is met. */
struct meet {
	char *plain; /* one piece, or NULL */
	char *stage; /* small pieces, or NULL */
	struct io_walk walk;
};

static bool meet_begin(struct io_access *a, struct meet *m)
{
	struct io_place mem = io_access_memory(a);

	m->plain = io_access_plain(a);
	m->stage = NULL;
	if (m->plain)
		return true;
	io_walk_start(&m->walk, &mem, 0, a->bytes);
	if (a->t->size / a->t->nsegs >= PIECE_MIN)
		return true;
	m->stage = malloc(min_count(a->bytes, STAGE));
	if (!m->stage)
		a->error = -ENOMEM;
	return m->stage;
}

static bool move(struct io_access *a, struct meet *m, MPI_Offset off,
		 MPI_Count len)
{
	if (m->plain)
		return move_plain(a, off, m->plain + a->done, len);
	if (m->stage)
		return move_staged(a, m->stage, off, len);
	return move_vector(a, &m->walk, off, len);
}

static void piece_by_piece(struct io_access *a, MPI_Count pos, MPI_Count end)
{
	struct io_walk w;
	MPI_Offset off;
	MPI_Count len;
	struct meet m;

	if (!meet_begin(a, &m))
		return;
	io_walk_start(&w, &a->place, pos, end);
	while (io_walk_run(&w, &off, &len, INT64_MAX))
		if (!move(a, &m, off, len))
			break;
	free(m.stage);
}

/* --- sieving --- */

/* The pieces from @pos on that lie within @size bytes of the first: where they
 * begin and end, in the file and in the data. */
struct window {
	MPI_Offset lo, hi;
	MPI_Count pos, end;
	MPI_Count pieces;
};

static bool sieve_window(const struct io_access *a, MPI_Count pos,
			 MPI_Count size, struct window *win)
{
	struct io_walk w;
	MPI_Offset off;
	MPI_Count len;

	io_walk_start(&w, &a->place, pos, a->pos + a->bytes);
	*win = (struct window){ .pos = pos, .end = pos };
	while (io_walk_run(&w, &off, &len, size)) {
		if (!win->pieces)
			win->lo = off;
		if (off + len - win->lo > size && win->pieces)
			break;
		win->pieces++;
		win->hi = off + len;
		win->end = w.pos;
	}
	return win->pieces > 0;
}

/* Take the pieces of a window out of what was read of it. */
static bool sieve_take(struct io_access *a, const struct window *win,
		       const char *buf, size_t got)
{
	struct io_walk w;
	MPI_Offset off;
	MPI_Count len, there;

	io_walk_start(&w, &a->place, win->pos, win->end);
	while (io_walk_run(&w, &off, &len, INT64_MAX)) {
		there = min_count(len, win->lo + (MPI_Offset)got - off);
		if (there > 0) {
			io_access_unpack(a, a->done, buf + (off - win->lo),
					 there);
			a->done += there;
		}
		if (there < len)
			return false;
	}
	return true;
}

static bool worth_it(const struct io_access *a, const struct window *win)
{
	MPI_Count gaps = win->hi - win->lo - (win->end - win->pos);

	if (win->pieces < 2)
		return false;
	if (a->f->hints.ds_read != IO_AUTOMATIC)
		return a->f->hints.ds_read == IO_ENABLE;
	return gaps / (win->pieces - 1) <= GAP_MAX;
}

static bool sieve_one(struct io_access *a, const struct window *win, char *buf)
{
	size_t got;

	a->error = io_disk_read(a->f, win->lo, buf, win->hi - win->lo, &got);
	return sieve_take(a, win, buf, got) && !a->error;
}

/* The pieces of a window one by one. */
static bool window_pieces(struct io_access *a, const struct window *win)
{
	struct io_access part = *a;

	part.done = 0;
	if (io_access_plain(a)) {
		part.staged = io_access_plain(a) + a->done;
	} else {
		part.staged = malloc(win->end - win->pos);
		if (!part.staged) {
			a->error = -ENOMEM;
			return false;
		}
	}
	piece_by_piece(&part, win->pos, win->end);
	if (!io_access_plain(a)) {
		io_access_unpack(a, a->done, part.staged, part.done);
		free(part.staged);
	}
	a->done += part.done;
	a->error = part.error;
	return !a->error && part.done == win->end - win->pos;
}

/* Memory of that size is expensive to get: no more than is used. */
static char *sieve_buffer(const struct io_access *a, MPI_Count *size)
{
	MPI_Offset lo = io_place_byte(&a->place, a->pos);
	MPI_Offset hi = io_place_byte(&a->place, a->pos + a->bytes - 1) + 1;

	*size = min_count(a->f->hints.ind_rd_buffer_size, hi - lo);
	return malloc(*size);
}

static void sieve(struct io_access *a)
{
	MPI_Count size;
	char *buf = sieve_buffer(a, &size);
	struct window win;

	if (!buf) {
		a->error = -ENOMEM;
		return;
	}
	for (win.end = a->pos; sieve_window(a, win.end, size, &win);)
		if (!(worth_it(a, &win) ? sieve_one(a, &win, buf) :
					  window_pieces(a, &win)))
			break;
	free(buf);
}

/* --- the access --- */

static void access(struct io_access *a)
{
	char *plain = io_access_plain(a);

	if (a->place.contiguous && plain)
		move_plain(a, a->place.disp + a->pos, plain, a->bytes);
	else if (a->write || a->place.contiguous ||
		 a->f->hints.ds_read == IO_DISABLE)
		piece_by_piece(a, a->pos, a->pos + a->bytes);
	else
		sieve(a);
}

/* In atomic mode nobody sees a part of it. */
static void access_alone(struct io_access *a)
{
	MPI_Offset lo = io_place_byte(&a->place, a->pos);
	MPI_Offset hi = io_place_byte(&a->place, a->pos + a->bytes - 1) + 1;

	pthread_mutex_lock(&a->f->threads);
	a->error = io_disk_lock(a->f, a->write, lo, hi);
	if (!a->error) {
		access(a);
		io_disk_unlock(a->f, lo, hi);
	}
	pthread_mutex_unlock(&a->f->threads);
}

void io_independent(struct io_access *a)
{
	a->done = 0;
	a->error = 0;
	if (a->bytes == 0)
		return;
	if (mpii_unlikely(
		    atomic_load_explicit(&a->f->atomic, memory_order_relaxed)))
		access_alone(a);
	else
		access(a);
}
