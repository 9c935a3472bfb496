/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Reduce_scatter and MPI_Reduce_scatter_block in all forms. The block form is
 * the other one with equal counts.
 */
#include "coll/choose.h"

/* In place the whole input is in the buffer whose beginning is the output. */
static int in_place(enum coll_id id, const struct coll *k,
		    const struct coll_args *a, MPI_Count bytes)
{
	MPI_Count mine = a->r.counts[k->c->rank];
	struct coll_args there = *a;
	struct coll_memory mem;
	int err;

	there.s.buf = a->r.buf;
	there.r.buf = coll_memory_typed(&mem, mine, a->r.t);
	if (!there.r.buf)
		return MPI_ERR_NO_MEM;
	err = coll_choose(id, k, &there, bytes);
	if (!err)
		mpii_copy(there.r.buf, mine, a->r.t, a->r.buf, mine, a->r.t);
	coll_memory_put(&mem);
	return err;
}

static int run(enum coll_id id, const struct coll *k, const struct coll_args *a)
{
	MPI_Count total = 0;

	if (k->c->inter)
		return mpii_reduce_scatter_inter(k, a->s.buf, a->r.buf,
						 a->r.counts, a->r.t, a->op);
	for (int i = 0; i < k->c->size; i++)
		total += a->r.counts[i];
	if (total == 0)
		return MPI_SUCCESS;
	total *= a->r.t->size;
	return a->s.buf == MPI_IN_PLACE ? in_place(id, k, a, total) :
					  coll_choose(id, k, a, total);
}

static int coll_reduce_scatter(const struct coll *k, const struct coll_args *a)
{
	return run(COLL_reduce_scatter, k, a);
}

static int coll_reduce_scatter_block(const struct coll *k,
				     const struct coll_args *a)
{
	return run(COLL_reduce_scatter_block, k, a);
}

static int check(const char *func, struct mpii_comm *c, struct coll_args *a,
		 MPI_Datatype type, MPI_Op op)
{
	MPI_Count total = 0;
	int err;

	if ((err = coll_check_place(func, c, a->s.buf)) ||
	    (err = coll_check_side(func, c, "datatype", type, "recvbuf",
				   c->size, &a->r)) ||
	    (err = coll_check_op(func, c, op, a->r.t, &a->op)))
		return err;
	for (int i = 0; i < c->size; i++)
		total += a->r.counts[i];
	if (a->s.buf != MPI_IN_PLACE &&
	    (err = coll_check_buf(func, c, "sendbuf", a->s.buf, total, a->r.t)))
		return err;
	return coll_check_alias(func, c, a->s.buf, a->r.buf, total);
}

static int call(const struct coll_how *how, struct mpii_comm *c, coll_fn *fn,
		struct coll_args *a, MPI_Datatype datatype, MPI_Op op)
{
	int err = check(how->func, c, a, datatype, op);

	return err ? err : coll_call(how, c, fn, a);
}

static int reduce_scatter(const struct coll_how *how, const void *sendbuf,
			  void *recvbuf, struct coll_lists l,
			  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct coll_args a = { .s.buf = (char *)sendbuf, .r.buf = recvbuf };
	struct coll_arrays w;
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(how->func, comm, &c)) ||
	    (err = coll_check_lists(how->func, c, &l, "recvcounts", NULL)))
		return err;
	err = coll_arrays_take(&w, &l, c->size, &a.r);
	if (err)
		return coll_end(how->func, c, err);
	err = call(how, c, coll_reduce_scatter, &a, datatype, op);
	coll_arrays_free(&w);
	return err;
}

static int reduce_scatter_block(const struct coll_how *how, const void *sendbuf,
				void *recvbuf, MPI_Count recvcount,
				MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct coll_args a = { .s.buf = (char *)sendbuf, .r.buf = recvbuf };
	struct coll_arrays w;
	struct mpii_comm *c;
	int err = coll_check_comm(how->func, comm, &c);

	if (err)
		return err;
	err = coll_arrays_init(&w, c->size);
	if (err)
		return coll_end(how->func, c, err);
	for (int i = 0; i < c->size; i++)
		w.counts[i] = recvcount;
	a.r.n = c->size;
	a.r.counts = w.counts;
	err = call(how, c, coll_reduce_scatter_block, &a, datatype, op);
	coll_arrays_free(&w);
	return err;
}

#define PARAMS(what)                                          \
	COLL_PARAMS(const void *sendbuf, void *recvbuf, what, \
		    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)

COLL_FORMS(Reduce_scatter, Ireduce_scatter, Reduce_scatter_init,
	   PARAMS(const int recvcounts[]), reduce_scatter, sendbuf, recvbuf,
	   COLL_LISTS(recvcounts, NULL), datatype, op, comm);
COLL_FORMS(Reduce_scatter_c, Ireduce_scatter_c, Reduce_scatter_init_c,
	   PARAMS(const MPI_Count recvcounts[]), reduce_scatter, sendbuf,
	   recvbuf, COLL_LISTS_C(recvcounts, NULL), datatype, op, comm);
COLL_FORMS(Reduce_scatter_block, Ireduce_scatter_block,
	   Reduce_scatter_block_init, PARAMS(int recvcount),
	   reduce_scatter_block, sendbuf, recvbuf, recvcount, datatype, op,
	   comm);
COLL_FORMS(Reduce_scatter_block_c, Ireduce_scatter_block_c,
	   Reduce_scatter_block_init_c, PARAMS(MPI_Count recvcount),
	   reduce_scatter_block, sendbuf, recvbuf, recvcount, datatype, op,
	   comm);
