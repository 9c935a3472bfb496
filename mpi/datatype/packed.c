/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Pack and MPI_Unpack. A packed message is the plain sequence of its bytes:
 * all ranks of a job have the same data representation.
 */
#include <limits.h>
#include <stdint.h>

#include "comm/comm.h"
#include "datatype/packed.h"
#include "env/errors.h"

int mpii_packing_type(struct mpii_packing *p, MPI_Datatype datatype)
{
	p->t = mpii_type_get(datatype);
	if (!p->t || !p->t->committed)
		return mpii_bad_type(p->comm, datatype, p->func, "datatype");
	if (p->count < 0)
		return mpii_bad_count(p->comm, p->count, p->func,
				      p->unpack ? "outcount" : "incount");
	return MPI_SUCCESS;
}

int mpii_packing_room(const struct mpii_packing *p, MPI_Count bytes)
{
	MPI_Count at;

	if (!p->position)
		return mpii_bad_null(p->comm, p->func, "position");
	at = *p->position;
	if (p->size < 0 || at < 0)
		return mpii_error(p->comm, MPI_ERR_ARG, p->func,
				  "size %lld or position %lld is negative",
				  (long long)p->size, (long long)at);
	if (bytes > p->size - at)
		return mpii_error(p->comm, MPI_ERR_TRUNCATE, p->func,
				  "%lld instances of %lld bytes do not fit in "
				  "a buffer of %lld bytes from position %lld",
				  (long long)p->count, (long long)p->t->size,
				  (long long)p->size, (long long)at);
	/* as for messages: a type that begins elsewhere may hold addresses */
	if (bytes && (!p->packed || (!p->user && p->t->contiguous)))
		return mpii_error(p->comm, MPI_ERR_BUFFER, p->func,
				  "%s is a null pointer, but %lld bytes are to "
				  "be moved",
				  p->unpack == !p->packed ? "inbuf" : "outbuf",
				  (long long)bytes);
	return MPI_SUCCESS;
}

static int check(struct mpii_packing *p, MPI_Datatype datatype, MPI_Comm comm)
{
	p->comm = mpii_comm_get(comm);
	if (!p->comm)
		return mpii_bad_comm(comm, p->func);
	return mpii_packing_type(p, datatype);
}

/* What @count instances take, more than any buffer has if that is too much. */
static MPI_Count bytes_of(MPI_Count count, const struct mpii_type *t)
{
	MPI_Count n;

	return __builtin_mul_overflow(count, t->size, &n) ? INT64_MAX : n;
}

static int move(struct mpii_packing *p, MPI_Datatype datatype, MPI_Comm comm)
{
	int err = check(p, datatype, comm);
	MPI_Count bytes;

	if (err)
		return err;
	bytes = bytes_of(p->count, p->t);
	err = mpii_packing_room(p, bytes);
	if (err)
		return err;
	if (p->unpack)
		mpii_unpack(p->t, p->user, p->count, 0,
			    p->packed + *p->position, bytes);
	else
		mpii_pack(p->t, p->user, p->count, 0, p->packed + *p->position,
			  bytes);
	*p->position += bytes;
	return MPI_SUCCESS;
}

/* The int forms. */
static int move_narrow(struct mpii_packing *p, int *position,
		       MPI_Datatype datatype, MPI_Comm comm)
{
	MPI_Count at = position ? *position : 0;
	int err;

	p->position = position ? &at : NULL;
	err = move(p, datatype, comm);
	if (!err)
		*position = at;
	return err;
}

int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype,
	      void *outbuf, int outsize, int *position, MPI_Comm comm)
{
	struct mpii_packing p = { .func = "MPI_Pack",
				  .user = (void *)inbuf,
				  .count = incount,
				  .packed = outbuf,
				  .size = outsize };

	return move_narrow(&p, position, datatype, comm);
}
MPII_ALIAS(Pack);

int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype,
		void *outbuf, MPI_Count outsize, MPI_Count *position,
		MPI_Comm comm)
{
	struct mpii_packing p = { .func = "MPI_Pack_c",
				  .user = (void *)inbuf,
				  .count = incount,
				  .packed = outbuf,
				  .size = outsize,
				  .position = position };

	return move(&p, datatype, comm);
}
MPII_ALIAS(Pack_c);

int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf,
		int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
	struct mpii_packing p = { .func = "MPI_Unpack",
				  .unpack = true,
				  .user = outbuf,
				  .count = outcount,
				  .packed = (char *)inbuf,
				  .size = insize };

	return move_narrow(&p, position, datatype, comm);
}
MPII_ALIAS(Unpack);

int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position,
		  void *outbuf, MPI_Count outcount, MPI_Datatype datatype,
		  MPI_Comm comm)
{
	struct mpii_packing p = { .func = "MPI_Unpack_c",
				  .unpack = true,
				  .user = outbuf,
				  .count = outcount,
				  .packed = (char *)inbuf,
				  .size = insize,
				  .position = position };

	return move(&p, datatype, comm);
}
MPII_ALIAS(Unpack_c);

static int size_of(const char *func, MPI_Count incount, MPI_Datatype datatype,
		   MPI_Comm comm, const void *size, MPI_Count *bytes)
{
	struct mpii_packing p = { .func = func, .count = incount };
	int err = check(&p, datatype, comm);

	if (err)
		return err;
	if (!size)
		return mpii_bad_null(p.comm, func, "size");
	*bytes = bytes_of(incount, p.t);
	return MPI_SUCCESS;
}

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
	MPI_Count bytes = 0;
	int err =
		size_of("MPI_Pack_size", incount, datatype, comm, size, &bytes);

	if (!err)
		*size = bytes > INT_MAX ? MPI_UNDEFINED : bytes;
	return err;
}
MPII_ALIAS(Pack_size);

int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm,
		     MPI_Count *size)
{
	MPI_Count bytes = 0;
	int err = size_of("MPI_Pack_size_c", incount, datatype, comm, size,
			  &bytes);

	if (!err)
		*size = bytes;
	return err;
}
MPII_ALIAS(Pack_size_c);
