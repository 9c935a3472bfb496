/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/coll_fixture.c tests/mock/mpi_stubs.c */
/* Every algorithm, also those that small jobs never choose. */
#include "coll_fixture.h"

static void check_gathered(struct rank *r, const int *got, int per_rank)
{
	for (int i = 0; i < r->comm.size * per_rank; i++)
		CHECK(&r->env, got[i] == i / per_rank * 100 + i % per_rank);
}

static void allgather_body(struct rank *r)
{
	static int (*const algs[])(const struct coll *,
				   const struct coll_side *) = {
		mpii_allgather_ring,
		mpii_allgather_bruck,
		mpii_allgather_doubling,
		mpii_allgather_direct,
	};
	int n = r->comm.size, got[MAX_RANKS * 3] = { 0 };
	struct coll_side s = coll_side(got, 3, mpii_type_get(MPI_INT));

	for (int a = 0; a < 4; a++) {
		struct coll k = coll_begin(&r->comm);

		if (algs[a] == mpii_allgather_doubling && n & (n - 1))
			continue;
		memset(got, 0, sizeof(got));
		for (int i = 0; i < 3; i++)
			got[r->comm.rank * 3 + i] = r->comm.rank * 100 + i;
		CHECK(&r->env, algs[a](&k, &s) == MPI_SUCCESS);
		check_gathered(r, got, 3);
	}
}

static void allgather__every_algorithm(void **state)
{
	for (int n = 1; n <= 17; n++)
		run_ranks(n, allgather_body, 0, 0);
}

static void alltoall_body(struct rank *r)
{
	static int (*const algs[])(const struct coll *,
				   const struct coll_side *,
				   const struct coll_side *) = {
		mpii_alltoall_bruck,
		mpii_alltoall_pairwise,
		mpii_alltoall_direct,
		mpii_alltoall_central,
	};
	int n = r->comm.size, me = r->comm.rank, in[MAX_RANKS], out[MAX_RANKS];
	struct coll_side s = coll_side(in, 1, mpii_type_get(MPI_INT));
	struct coll_side d = coll_side(out, 1, mpii_type_get(MPI_INT));

	for (int a = 0; a < 4; a++) {
		struct coll k = coll_begin(&r->comm);

		for (int i = 0; i < n; i++) {
			in[i] = me * 100 + i;
			out[i] = -1;
		}
		CHECK(&r->env, algs[a](&k, &s, &d) == MPI_SUCCESS);
		for (int i = 0; i < n; i++)
			CHECK(&r->env, out[i] == i * 100 + me);
	}
}

static void alltoall__every_algorithm(void **state)
{
	for (int n = 1; n <= 17; n++)
		run_ranks(n, alltoall_body, 0, 0);
}

static void tree_body(struct rank *r)
{
	int n = r->comm.size, me = r->comm.rank, all[MAX_RANKS * 2], two[2];
	struct mpii_type *t = mpii_type_get(MPI_INT);
	struct coll_side s = coll_side(all, 2, t);

	for (int root = 0; root < n; root++) {
		struct coll k = coll_begin(&r->comm);

		two[0] = me * 100;
		two[1] = me * 100 + 1;
		CHECK(&r->env, !mpii_gather_binomial(&k, two, 2, t, &s, root));
		if (me == root)
			check_gathered(r, all, 2);
		two[0] = two[1] = -1;
		k = coll_begin(&r->comm);
		CHECK(&r->env, !mpii_scatter_binomial(&k, &s, two, 2, t, root));
		CHECK(&r->env, two[0] == me * 100 && two[1] == me * 100 + 1);
		two[0] = me == root ? 77 : 0;
		k = coll_begin(&r->comm);
		CHECK(&r->env, !mpii_bcast_linear(&k, two, 1, t, root));
		CHECK(&r->env, two[0] == 77);
	}
}

static void gather_scatter__trees(void **state)
{
	for (int n = 1; n <= 9; n++)
		run_ranks(n, tree_body, 0, 0);
}

static void allreduce_body(struct rank *r)
{
	static int (*const algs[])(const struct coll *, const void *, void *,
				   MPI_Count, struct mpii_type *,
				   struct mpii_op *) = {
		mpii_allreduce_rabenseifner,
		mpii_allreduce_doubling,
		mpii_allreduce_scatter_allgather,
		mpii_allreduce_central,
	};
	int n = r->comm.size, in[50], out[50];
	struct mpii_type *t = mpii_type_get(MPI_INT);
	struct mpii_op *op = mpii_op_get(MPI_SUM);

	for (int a = 0; a < (n > 1 ? 8 : 6); a++) {
		bool place = a % 2;
		struct coll k = coll_begin(&r->comm);

		for (int i = 0; i < 50; i++)
			in[i] = out[i] = r->comm.rank * 10 + i;
		CHECK(&r->env,
		      !algs[a / 2](&k, place ? out : in, out, 50, t, op));
		for (int i = 0; i < 50; i++)
			CHECK(&r->env, out[i] == 5 * n * (n - 1) + n * i);
	}
}

static void allreduce__every_algorithm(void **state)
{
	for (int n = 1; n <= 17; n++)
		run_ranks(n, allreduce_body, 0, 0);
}

static void reduce_scatter_body(struct rank *r)
{
	static int (*const algs[])(const struct coll *, const void *, void *,
				   const MPI_Count *, struct mpii_type *,
				   struct mpii_op *) = {
		mpii_reduce_scatter_pairwise,
		mpii_reduce_scatter_reduce,
		mpii_reduce_scatter_direct,
	};
	int n = r->comm.size, me = r->comm.rank;
	int in[MAX_RANKS * MAX_RANKS], out[MAX_RANKS];
	MPI_Count counts[MAX_RANKS];

	for (int a = 0; a < 3; a++) {
		struct coll k = coll_begin(&r->comm);
		int at = 0;

		for (int i = 0; i < n; i++)
			for (counts[i] = 0; counts[i] < i; counts[i]++)
				in[at++] = me * 10 + i;
		CHECK(&r->env,
		      !algs[a](&k, in, out, counts, mpii_type_get(MPI_INT),
			       mpii_op_get(MPI_SUM)));
		for (int i = 0; i < me; i++)
			CHECK(&r->env, out[i] == 5 * n * (n - 1) + n * me);
	}
}

static void reduce_scatter__every_algorithm(void **state)
{
	for (int n = 1; n <= 9; n++)
		run_ranks(n, reduce_scatter_body, 0, 0);
}

/* Matrices do not commute: 2x2, as in coll_cases.h. */
static void scan_body(struct rank *r)
{
	static int (*const algs[])(const struct coll *, const void *, void *,
				   MPI_Count, struct mpii_type *,
				   struct mpii_op *, bool) = {
		mpii_scan_linear,
		mpii_scan_doubling,
		mpii_scan_pipeline,
	};
	int me = r->comm.rank, in[4], out[4], want[4];
	MPI_Datatype h;
	MPI_Op op;

	MPI_Type_contiguous(4, MPI_INT, &h);
	MPI_Op_create(matrix_fn, 0, &op);
	for (int a = 0; a < 6; a++) {
		bool ex = a % 2;
		struct coll k = coll_begin(&r->comm);
		struct reduction red = { .op = op,
					 .user = 1,
					 .t = { h, 4, 0, 16, 0, 16 } };
		int *v = operand(&red, me, 1, 3);
		int *w = ex && me == 0 ? calloc(4, sizeof(int)) :
					 reduced(&red, 0, me - ex, 1, 3);

		memcpy(in, v, sizeof(in));
		memcpy(want, w, sizeof(want));
		memset(out, 0, sizeof(out));
		CHECK(&r->env, !algs[a / 2](&k, in, out, 1, mpii_type_get(h),
					    mpii_op_get(op), ex));
		CHECK(&r->env, memcmp(out, want, sizeof(out)) == 0);
		free(v);
		free(w);
	}
	MPI_Op_free(&op);
	MPI_Type_free(&h);
}

static void scan__every_algorithm(void **state)
{
	for (int n = 1; n <= 17; n++)
		run_ranks(n, scan_body, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(allgather__every_algorithm),
		T(alltoall__every_algorithm),
		T(gather_scatter__trees),
		T(allreduce__every_algorithm),
		T(reduce_scatter__every_algorithm),
		T(scan__every_algorithm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
