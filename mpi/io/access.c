/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What accesses have in common: the memory of one, and its data's form. */
#include <stdlib.h>

#include "env/errors.h"
#include "io/access.h"
#include "io/rep.h"

void io_access_pack(const struct io_access *a, MPI_Count off, void *to,
		    size_t n)
{
	if (a->staged)
		mpii_pack(mpii_type_get(MPI_BYTE), a->staged, a->bytes, off, to,
			  n);
	else
		mpii_pack(a->t, a->buf, a->count, off, to, n);
}

void io_access_unpack(const struct io_access *a, MPI_Count off,
		      const void *from, size_t n)
{
	if (a->staged)
		mpii_unpack(mpii_type_get(MPI_BYTE), a->staged, a->bytes, off,
			    from, n);
	else
		mpii_unpack(a->t, a->buf, a->count, off, from, n);
}

int io_access_from(struct io_access *a, MPI_Offset at)
{
	MPI_Count end;

	if (!__builtin_mul_overflow(at, a->v->esize, &a->pos) &&
	    !__builtin_add_overflow(a->pos, a->bytes, &end) &&
	    io_place_reaches(&a->place, end))
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_ARG,
			 "%s \"%s\": %lld bytes at offset %lld of the view are "
			 "beyond what a file can have",
			 io_access_verb(a), a->f->name, (long long)a->bytes,
			 (long long)at);
}

/* Views whose filetype can be used once only. */
static int check_once(const struct io_access *a)
{
	if (!(a->write ? a->v->write_once : a->v->read_once) ||
	    a->pos + a->bytes <= a->place.t->size)
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_TYPE,
			 "%s \"%s\": instances of filetype interleave or "
			 "overlap, so no more than the first can be used",
			 io_access_verb(a), a->f->name);
}

int io_access_begin(struct io_access *a)
{
	int err = check_once(a);

	if (err)
		return err;
	if (!io_rep_converts(a->v->rep) || a->bytes == 0)
		return MPI_SUCCESS;
	a->staged = malloc(a->bytes);
	if (!a->staged)
		return mpii_fail(MPI_ERR_NO_MEM,
				 "no memory to convert %lld bytes",
				 (long long)a->bytes);
	if (!a->write)
		return MPI_SUCCESS;
	return io_rep_out(a->v->rep, a->t, a->buf, a->count, a->staged);
}

int io_access_end(struct io_access *a)
{
	int err = MPI_SUCCESS;

	a->native = a->done;
	if (!a->staged)
		return MPI_SUCCESS;
	if (a->write)
		a->native =
			a->done == a->bytes ?
				a->count * a->t->size :
				a->done * (a->count * a->t->size) / a->bytes;
	else
		err = io_rep_in(a->v->rep, a->t, a->buf, a->count, a->staged,
				a->done, &a->native);
	free(a->staged);
	a->staged = NULL;
	return err;
}

void io_access_free(struct io_access *a)
{
	free(a->staged);
	a->staged = NULL;
	if (a->t)
		mpii_type_put(a->t);
	if (a->v)
		io_view_put(a->v);
	if (a->f)
		io_file_put(a->f);
}
