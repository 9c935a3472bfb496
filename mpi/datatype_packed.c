/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Pack and MPI_Unpack. A packed message is the plain sequence of its bytes:
 * all ranks of a job have the same data representation.
 */
#include <limits.h>

#include "datatype.h"

static int check(const char *func, MPI_Count count, MPI_Datatype datatype,
		 MPI_Comm comm, struct mpii_comm **c, struct mpii_type **t)
{
	*c = mpii_comm_get(comm);
	if (!*c)
		return mpii_error(NULL, MPI_ERR_COMM, func,
				  "comm %p is not a communicator",
				  (void *)comm);
	*t = mpii_type_get(datatype);
	if (!*t)
		return mpii_error(*c, MPI_ERR_TYPE, func,
				  "datatype %p is not a datatype",
				  (void *)datatype);
	if (!(*t)->committed)
		return mpii_error(*c, MPI_ERR_TYPE, func,
				  "the datatype is not committed: call "
				  "MPI_Type_commit first");
	if (count < 0)
		return mpii_error(*c, MPI_ERR_COUNT, func,
				  "count %lld is negative", (long long)count);
	return MPI_SUCCESS;
}

/* Does the packed form of count instances fit between position and size? */
static int check_room(const char *func, struct mpii_comm *c, MPI_Count position,
		      MPI_Count size, MPI_Count count,
		      const struct mpii_type *t)
{
	MPI_Count n;

	if (size < 0 || position < 0)
		return mpii_error(c, MPI_ERR_ARG, func,
				  "size %lld or position %lld is negative",
				  (long long)size, (long long)position);
	if (__builtin_mul_overflow(count, t->size, &n) || n > size - position)
		return mpii_error(c, MPI_ERR_TRUNCATE, func,
				  "%lld instances of %lld bytes do not fit in "
				  "a buffer of %lld bytes from position %lld",
				  (long long)count, (long long)t->size,
				  (long long)size, (long long)position);
	return MPI_SUCCESS;
}

static int pack(const char *func, const void *inbuf, MPI_Count incount,
		MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
		MPI_Count *position, MPI_Comm comm)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	int err = check(func, incount, datatype, comm, &c, &t);

	if (!err)
		err = check_room(func, c, *position, outsize, incount, t);
	if (err)
		return err;
	mpii_pack(t, inbuf, incount, 0, (char *)outbuf + *position,
		  incount * t->size);
	*position += incount * t->size;
	return MPI_SUCCESS;
}

int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype,
	      void *outbuf, int outsize, int *position, MPI_Comm comm)
{
	MPI_Count at = *position;
	int err = pack("MPI_Pack", inbuf, incount, datatype, outbuf, outsize,
		       &at, comm);

	*position = at;
	return err;
}
MPII_ALIAS(Pack);

int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype,
		void *outbuf, MPI_Count outsize, MPI_Count *position,
		MPI_Comm comm)
{
	return pack("MPI_Pack_c", inbuf, incount, datatype, outbuf, outsize,
		    position, comm);
}
MPII_ALIAS(Pack_c);

static int unpack(const char *func, const void *inbuf, MPI_Count insize,
		  MPI_Count *position, void *outbuf, MPI_Count outcount,
		  MPI_Datatype datatype, MPI_Comm comm)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	int err = check(func, outcount, datatype, comm, &c, &t);

	if (!err)
		err = check_room(func, c, *position, insize, outcount, t);
	if (err)
		return err;
	mpii_unpack(t, outbuf, outcount, 0, (const char *)inbuf + *position,
		    outcount * t->size);
	*position += outcount * t->size;
	return MPI_SUCCESS;
}

int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf,
		int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
	MPI_Count at = *position;
	int err = unpack("MPI_Unpack", inbuf, insize, &at, outbuf, outcount,
			 datatype, comm);

	*position = at;
	return err;
}
MPII_ALIAS(Unpack);

int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position,
		  void *outbuf, MPI_Count outcount, MPI_Datatype datatype,
		  MPI_Comm comm)
{
	return unpack("MPI_Unpack_c", inbuf, insize, position, outbuf, outcount,
		      datatype, comm);
}
MPII_ALIAS(Unpack_c);

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	int err = check("MPI_Pack_size", incount, datatype, comm, &c, &t);
	MPI_Count n;

	if (err)
		return err;
	n = incount * t->size;
	*size = n > INT_MAX ? MPI_UNDEFINED : n;
	return MPI_SUCCESS;
}
MPII_ALIAS(Pack_size);

int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm,
		     MPI_Count *size)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	int err = check("MPI_Pack_size_c", incount, datatype, comm, &c, &t);

	if (!err)
		*size = incount * t->size;
	return err;
}
MPII_ALIAS(Pack_size_c);
