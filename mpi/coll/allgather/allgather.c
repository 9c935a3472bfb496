/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Allgather, MPI_Allgatherv and the choice of their algorithms. */
#include "coll/algorithms.h"

/* All blocks together; above, blocks travel around a ring. */
#define LONG_ALLGATHER (512 << 10)

int mpii_allgather_blocks(const struct coll *k, const struct coll_side *r,
			  MPI_Count bytes)
{
	int n = k->c->size;

	if (n <= COLL_DIRECT_RANKS)
		return mpii_allgather_direct(k, r);
	if (bytes > LONG_ALLGATHER || r->counts)
		return mpii_allgather_ring(k, r);
	if ((n & (n - 1)) == 0)
		return mpii_allgather_doubling(k, r);
	return mpii_allgather_bruck(k, r);
}

struct allgather {
	const char *func;
	struct mpii_comm *c;
	const void *in;
	MPI_Count count;
	struct mpii_type *t;
	struct coll_side r;
};

static int allgather(const struct allgather *a)
{
	struct coll k = coll_begin(a->c);
	const struct coll_side *r = &a->r;
	int n = a->c->remote_size, rank = a->c->rank;
	MPI_Count bytes = 0;

	if (a->c->inter)
		return mpii_allgather_inter(&k, a->in, a->count, a->t, r);
	if (a->in != MPI_IN_PLACE)
		mpii_copy(a->in, a->count, a->t, coll_block(r, rank),
			  coll_count(r, rank), r->t);
	for (int i = 0; i < n; i++)
		bytes += coll_count(r, i) * r->t->size;
	if (n == 1 || bytes == 0)
		return MPI_SUCCESS;
	return mpii_allgather_blocks(&k, r, bytes);
}

int mpii_allgather(const void *in, MPI_Count incount, struct mpii_type *it,
		   void *out, MPI_Count outcount, struct mpii_type *ot,
		   struct mpii_comm *c)
{
	struct allgather a = { .c = c, .in = in, .count = incount, .t = it,
			       .r = coll_side(out, outcount, ot) };

	return allgather(&a);
}

static int run(struct allgather *a, MPI_Datatype sendtype, void *recvbuf,
	       MPI_Datatype recvtype)
{
	const char *func = a->func;
	struct mpii_comm *c = a->c;
	int err;

	err = coll_check_type(func, c, "recvtype", recvtype, &a->r.t);
	if (err)
		return err;
	a->r.buf = recvbuf;
	a->r.unit = a->r.t->extent;
	for (int i = 0; i < c->remote_size; i++) {
		err = coll_check_buf(func, c, "recvbuf", recvbuf,
				     coll_count(&a->r, i), a->r.t);
		if (err)
			return err;
		if (!a->r.counts)
			break;
	}
	if (c->inter || a->in != MPI_IN_PLACE) {
		if ((err = coll_check_type(func, c, "sendtype", sendtype,
					   &a->t)) ||
		    (err = coll_check_buf(func, c, "sendbuf", a->in, a->count,
					  a->t)) ||
		    (!c->inter &&
		     (err = coll_check_alias(func, c, a->in,
					     coll_block(&a->r, c->rank),
					     a->count))))
			return err;
	}
	return coll_end(func, c, allgather(a));
}

static int allgather_equal(const char *func, const void *sendbuf,
			   MPI_Count sendcount, MPI_Datatype sendtype,
			   void *recvbuf, MPI_Count recvcount,
			   MPI_Datatype recvtype, MPI_Comm comm)
{
	struct allgather a = { .func = func, .in = sendbuf, .count = sendcount,
			       .r = { .count = recvcount } };
	int err = coll_check_comm(func, comm, &a.c);

	return err ? err : run(&a, sendtype, recvbuf, recvtype);
}

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		   void *recvbuf, int recvcount, MPI_Datatype recvtype,
		   MPI_Comm comm)
{
	return allgather_equal("MPI_Allgather", sendbuf, sendcount, sendtype,
			       recvbuf, recvcount, recvtype, comm);
}
MPII_ALIAS(Allgather);

int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount,
		     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
		     MPI_Datatype recvtype, MPI_Comm comm)
{
	return allgather_equal("MPI_Allgather_c", sendbuf, sendcount, sendtype,
			       recvbuf, recvcount, recvtype, comm);
}
MPII_ALIAS(Allgather_c);

static int start_v(struct allgather *a, const void *recvcounts,
		   const void *displs, MPI_Comm comm)
{
	int err = coll_check_comm(a->func, comm, &a->c);

	if (err)
		return err;
	if (!recvcounts || !displs)
		return mpii_bad_null(a->c, a->func,
				     recvcounts ? "displs" : "recvcounts");
	return MPI_SUCCESS;
}

int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		    void *recvbuf, const int recvcounts[], const int displs[],
		    MPI_Datatype recvtype, MPI_Comm comm)
{
	struct allgather a = { .func = "MPI_Allgatherv", .in = sendbuf,
			       .count = sendcount };
	struct coll_arrays w;
	int err = start_v(&a, recvcounts, displs, comm);

	if (err)
		return err;
	err = coll_arrays_init(&w, a.c->remote_size);
	if (err)
		return coll_end(a.func, a.c, err);
	coll_arrays_widen(&w, a.c->remote_size, recvcounts, displs);
	a.r.counts = w.counts;
	a.r.displs = w.displs;
	err = run(&a, sendtype, recvbuf, recvtype);
	coll_arrays_free(&w);
	return err;
}
MPII_ALIAS(Allgatherv);

int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount,
		      MPI_Datatype sendtype, void *recvbuf,
		      const MPI_Count recvcounts[], const MPI_Aint displs[],
		      MPI_Datatype recvtype, MPI_Comm comm)
{
	struct allgather a = { .func = "MPI_Allgatherv_c", .in = sendbuf,
			       .count = sendcount,
			       .r = { .counts = recvcounts,
				      .displs = displs } };
	int err = start_v(&a, recvcounts, displs, comm);

	return err ? err : run(&a, sendtype, recvbuf, recvtype);
}
MPII_ALIAS(Allgatherv_c);
