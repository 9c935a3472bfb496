/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Alltoall and the choice of its algorithm. */
#include "coll/algorithms.h"

/* Up to so many ranks, and such blocks, one rank can sort all. */
#define CENTRAL_RANKS 8
#define CENTRAL_BLOCK 256
/* With many ranks: up to here a block may travel with others … */
#define TINY_BLOCK 256
/* … and from here on one exchange at a time fills the wire. */
#define LONG_BLOCK (64 << 10)

static int alltoall(struct mpii_comm *c, const void *in,
		    const struct coll_side *s, const struct coll_side *r)
{
	struct coll k = coll_begin(c);
	MPI_Count bytes = r->count * r->t->size;

	if (c->inter)
		return mpii_alltoall_direct(&k, s, r);
	if (bytes == 0)
		return MPI_SUCCESS;
	if (in == MPI_IN_PLACE)
		return mpii_alltoall_in_place(&k, r);
	if (c->size > 2 && c->size <= CENTRAL_RANKS && bytes <= CENTRAL_BLOCK)
		return mpii_alltoall_central(&k, s, r);
	if (c->size > COLL_DIRECT_RANKS && bytes <= TINY_BLOCK)
		return mpii_alltoall_bruck(&k, s, r);
	if (c->size > COLL_DIRECT_RANKS && bytes >= LONG_BLOCK)
		return mpii_alltoall_pairwise(&k, s, r);
	return mpii_alltoall_direct(&k, s, r);
}

static int run(const char *func, const void *sendbuf, MPI_Count sendcount,
	       MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
	       MPI_Datatype recvtype, MPI_Comm comm)
{
	struct coll_side s = { .buf = (char *)sendbuf, .count = sendcount };
	struct coll_side r = { .buf = recvbuf, .count = recvcount };
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(func, comm, &c)) ||
	    (err = coll_check_type(func, c, "recvtype", recvtype, &r.t)) ||
	    (err = coll_check_buf(func, c, "recvbuf", recvbuf, recvcount,
				  r.t)))
		return err;
	if (c->inter || sendbuf != MPI_IN_PLACE) {
		if ((err = coll_check_type(func, c, "sendtype", sendtype,
					   &s.t)) ||
		    (err = coll_check_buf(func, c, "sendbuf", sendbuf,
					  sendcount, s.t)) ||
		    (err = coll_check_alias(func, c, sendbuf, recvbuf,
					    sendcount)))
			return err;
	}
	return coll_end(func, c, alltoall(c, sendbuf, &s, &r));
}

int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		  void *recvbuf, int recvcount, MPI_Datatype recvtype,
		  MPI_Comm comm)
{
	return run("MPI_Alltoall", sendbuf, sendcount, sendtype, recvbuf,
		   recvcount, recvtype, comm);
}
MPII_ALIAS(Alltoall);

int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount,
		    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
		    MPI_Datatype recvtype, MPI_Comm comm)
{
	return run("MPI_Alltoall_c", sendbuf, sendcount, sendtype, recvbuf,
		   recvcount, recvtype, comm);
}
MPII_ALIAS(Alltoall_c);
