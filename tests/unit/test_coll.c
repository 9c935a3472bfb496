/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/coll_fixture.c tests/mock/mpi_stubs.c */
/* The collectives as programs call them: at random, wrongly, and differently. */
#include "coll_fixture.h"

static void random_body(struct rank *r)
{
	run_cases(&r->env, r->arg, r->comm.size > 9 ? 3 : 8);
}

static void collectives__random_calls(void **state)
{
	for (int which = 0; which < COLL_CASES; which++)
		for (int n = 1; n <= 9; n++)
			run_ranks(n, random_body, which, 600);
}

static void collectives__long_messages(void **state)
{
	for (int which = 0; which < COLL_CASES; which++)
		for (int n = 3; n <= 8; n += 5)
			run_ranks(n, random_body, which, 60000);
}

static void collectives__many_ranks(void **state)
{
	for (int which = 0; which < COLL_CASES; which++) {
		run_ranks(33, random_body, which, 1200);
		run_ranks(40, random_body, which, 60);
	}
}

/* --- wrong arguments --- */

static void arguments_body(struct rank *r)
{
	MPI_Comm comm = r->comm.handle;
	int a[4] = { 0 }, b[4], neg[] = { -1 }, zero[] = { 0 };
	struct env *e = &r->env;
	MPI_Datatype h;

	MPI_Type_contiguous(2, MPI_INT, &h);
	e->what = "arguments";
	CHECK(e, MPI_Barrier(MPI_COMM_NULL) == MPI_ERR_COMM);
	CHECK(e, MPI_Bcast(a, -1, MPI_INT, 0, comm) == MPI_ERR_COUNT);
	CHECK(e, MPI_Bcast(a, 1, MPI_INT, 1, comm) == MPI_ERR_ROOT);
	CHECK(e, MPI_Bcast(a, 1, MPI_INT, -1, comm) == MPI_ERR_ROOT);
	CHECK(e, MPI_Bcast(a, 1, MPI_INT, MPI_ROOT, comm) == MPI_ERR_ROOT);
	CHECK(e, MPI_Bcast(NULL, 1, MPI_INT, 0, comm) == MPI_ERR_BUFFER);
	CHECK(e, MPI_Bcast(NULL, 0, MPI_INT, 0, comm) == MPI_SUCCESS);
	CHECK(e, MPI_Bcast(a, 1, h, 0, comm) == MPI_ERR_TYPE);
	CHECK(e, MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, comm) == MPI_ERR_TYPE);
	CHECK(e,
	      MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm) == MPI_ERR_BUFFER);
	CHECK(e,
	      MPI_Reduce(a, a, 1, MPI_INT, MPI_SUM, 0, comm) == MPI_ERR_BUFFER);
	CHECK(e,
	      MPI_Reduce(a, b, 1, MPI_INT, MPI_OP_NULL, 0, comm) == MPI_ERR_OP);
	CHECK(e,
	      MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, comm) == MPI_ERR_OP);
	CHECK(e,
	      MPI_Allreduce(a, b, 1, MPI_WCHAR, MPI_SUM, comm) == MPI_ERR_OP);
	CHECK(e,
	      MPI_Allreduce(a, b, 1, MPI_INT, MPI_REPLACE, comm) == MPI_ERR_OP);
	CHECK(e,
	      MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAXLOC, comm) == MPI_ERR_OP);
	MPI_Type_commit(&h);
	CHECK(e, MPI_Allreduce(a, b, 1, h, MPI_SUM, comm) == MPI_ERR_OP);
	CHECK(e, MPI_Gatherv(a, 0, MPI_INT, b, neg, zero, MPI_INT, 0, comm) ==
			 MPI_ERR_COUNT);
	CHECK(e, MPI_Gatherv(a, 0, MPI_INT, b, NULL, zero, MPI_INT, 0, comm) ==
			 MPI_ERR_ARG);
	CHECK(e, MPI_Allgather(a, 1, MPI_INT, a, 1, MPI_INT, comm) ==
			 MPI_ERR_BUFFER);
	CHECK(e, MPI_Alltoallv(a, zero, zero, MPI_INT, b, neg, zero, MPI_INT,
			       comm) == MPI_ERR_COUNT);
	CHECK(e, MPI_Scan(a, b, 1, MPI_INT, MPI_OP_NULL, comm) == MPI_ERR_OP);
	MPI_Type_free(&h);
}

static void arguments__wrong_ones_are_named(void **state)
{
	run_ranks(1, arguments_body, 0, 0);
}

/* --- ranks that disagree --- */

static atomic_int noticed; /* ranks whose call has failed */

/* Counts of both sides of whatever the collective is. */
static int call_with(int which, int *in, int *out, int count, MPI_Comm c)
{
	switch (which) {
	case 0:
		return PMPI_Bcast(out, count, MPI_INT, 0, c);
	case 1:
		return PMPI_Reduce(in, out, count, MPI_INT, MPI_SUM, 0, c);
	case 2:
		return PMPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, c);
	case 3:
		return PMPI_Gather(in, count, MPI_INT, out, count, MPI_INT, 0,
				   c);
	case 4:
		return PMPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, 0,
				    c);
	case 5:
		return PMPI_Allgather(in, count, MPI_INT, out, count, MPI_INT,
				      c);
	case 6:
		return PMPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT,
				     c);
	case 7:
		return PMPI_Scan(in, out, count, MPI_INT, MPI_SUM, c);
	case 8:
		return PMPI_Exscan(in, out, count, MPI_INT, MPI_SUM, c);
	default:
		return PMPI_Reduce_scatter_block(in, out, count, MPI_INT,
						 MPI_SUM, c);
	}
}
#define DISAGREE_CASES 10

/* One rank has another count than all others: every call ends, one with words. */
static void disagree_body(struct rank *r)
{
	int n = r->comm.size, odd = r->arg % 2 ? n - 1 : 0;
	int count = r->arg / 2 % 2 ? 5000 : 5;
	int *in = calloc(n * (count + 1), sizeof(int));
	int *out = calloc(n * (count + 1), sizeof(int));
	int err;

	if (r->comm.rank == odd)
		count += r->arg / 4 % 2 ? 1 : -1;
	err = call_with(r->arg / 8, in, out, count, r->comm.handle);
	if (err) {
		CHECK(&r->env, err == MPI_ERR_TRUNCATE || err == MPI_ERR_COUNT);
		atomic_fetch_add(&noticed, 1);
	}
	free(in);
	free(out);
}

static void collectives__ranks_that_disagree(void **state)
{
	for (int n = 2; n <= 33; n += n < 5 ? 1 : 14)
		for (int arg = 0; arg < 8 * DISAGREE_CASES; arg++) {
			atomic_store(&noticed, 0);
			run_ranks(n, disagree_body, arg, 0);
			assert_int_not_equal(atomic_load(&noticed), 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(collectives__random_calls),
		T(collectives__long_messages),
		T(collectives__many_ranks),
		T(collectives__ranks_that_disagree),
		T(arguments__wrong_ones_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
