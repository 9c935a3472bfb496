/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Reduce_scatter, MPI_Reduce_scatter_block and the choice of their
 * algorithms. The block form is the other one with equal counts.
 */
#include "coll/algorithms.h"

/* With many ranks: below it is cheaper to reduce at one of them. */
#define SHORT_TOTAL (16 << 10)

static int choose(const struct coll *k, const void *in, void *out,
		  const MPI_Count *counts, MPI_Count total, struct mpii_type *t,
		  struct mpii_op *op)
{
	int n = k->c->size;

	if (k->c->inter)
		return mpii_reduce_scatter_inter(k, in, out, counts, t, op);
	if (total == 0)
		return MPI_SUCCESS;
	if (n <= COLL_DIRECT_RANKS)
		return mpii_reduce_scatter_direct(k, in, out, counts, t, op);
	if (op->commutes && total * t->size > SHORT_TOTAL)
		return mpii_reduce_scatter_pairwise(k, in, out, counts, t, op);
	return mpii_reduce_scatter_reduce(k, in, out, counts, t, op);
}

/* In place the whole input is in the buffer whose beginning is the output. */
static int in_place(const struct coll *k, void *buf, const MPI_Count *counts,
		    MPI_Count total, struct mpii_type *t, struct mpii_op *op)
{
	MPI_Count mine = counts[k->c->rank];
	struct coll_memory mem;
	void *out = coll_memory_typed(&mem, mine, t);
	int err;

	if (!out)
		return MPI_ERR_NO_MEM;
	err = choose(k, buf, out, counts, total, t, op);
	if (!err && total)
		mpii_copy(out, mine, t, buf, mine, t);
	coll_memory_put(&mem);
	return err;
}

struct args {
	const char *func;
	const void *in;
	void *out;
	MPI_Datatype type;
	MPI_Op op;
	struct mpii_comm *c;
};

static int check(const struct args *a, const MPI_Count *counts,
		 MPI_Count *total, struct mpii_type **t, struct mpii_op **op)
{
	int err;

	if ((err = coll_check_place(a->func, a->c, a->in)) ||
	    (err = coll_check_type(a->func, a->c, "datatype", a->type, t)) ||
	    (err = coll_check_op(a->func, a->c, a->op, *t, op)))
		return err;
	*total = 0;
	for (int i = 0; i < a->c->size && !err; i++) {
		err = coll_check_buf(a->func, a->c, "recvbuf", a->out,
				     counts[i], *t);
		*total += counts[i];
	}
	if (!err && a->in != MPI_IN_PLACE)
		err = coll_check_buf(a->func, a->c, "sendbuf", a->in, *total,
				     *t);
	return err ? err : coll_check_alias(a->func, a->c, a->in, a->out,
					    *total);
}

static int run(const struct args *a, const MPI_Count *counts)
{
	MPI_Count total;
	struct mpii_type *t;
	struct mpii_op *op;
	int err = check(a, counts, &total, &t, &op);
	struct coll k;

	if (err)
		return err;
	k = coll_begin(a->c);
	if (a->in == MPI_IN_PLACE)
		err = in_place(&k, a->out, counts, total, t, op);
	else
		err = choose(&k, a->in, a->out, counts, total, t, op);
	return coll_end(a->func, a->c, err);
}

/* Counts per rank from ints, or count for each when counts is NULL. */
static int run_with(struct args *a, const int *counts, MPI_Count count)
{
	struct coll_arrays w;
	int err = coll_arrays_init(&w, a->c->size);

	if (err)
		return coll_end(a->func, a->c, err);
	for (int i = 0; i < a->c->size; i++)
		w.counts[i] = counts ? counts[i] : count;
	err = run(a, w.counts);
	coll_arrays_free(&w);
	return err;
}

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf,
			const int recvcounts[], MPI_Datatype datatype,
			MPI_Op op, MPI_Comm comm)
{
	struct args a = { "MPI_Reduce_scatter", sendbuf, recvbuf, datatype, op,
			  NULL };
	int err = coll_check_comm(a.func, comm, &a.c);

	if (!err && !recvcounts)
		err = mpii_bad_null(a.c, a.func, "recvcounts");
	return err ? err : run_with(&a, recvcounts, 0);
}
MPII_ALIAS(Reduce_scatter);

int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf,
			  const MPI_Count recvcounts[], MPI_Datatype datatype,
			  MPI_Op op, MPI_Comm comm)
{
	struct args a = { "MPI_Reduce_scatter_c", sendbuf, recvbuf, datatype,
			  op, NULL };
	int err = coll_check_comm(a.func, comm, &a.c);

	if (!err && !recvcounts)
		err = mpii_bad_null(a.c, a.func, "recvcounts");
	return err ? err : run(&a, recvcounts);
}
MPII_ALIAS(Reduce_scatter_c);

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
			      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct args a = { "MPI_Reduce_scatter_block", sendbuf, recvbuf,
			  datatype, op, NULL };
	int err = coll_check_comm(a.func, comm, &a.c);

	return err ? err : run_with(&a, NULL, recvcount);
}
MPII_ALIAS(Reduce_scatter_block);

int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf,
				MPI_Count recvcount, MPI_Datatype datatype,
				MPI_Op op, MPI_Comm comm)
{
	struct args a = { "MPI_Reduce_scatter_block_c", sendbuf, recvbuf,
			  datatype, op, NULL };
	int err = coll_check_comm(a.func, comm, &a.c);

	return err ? err : run_with(&a, NULL, recvcount);
}
MPII_ALIAS(Reduce_scatter_block_c);
