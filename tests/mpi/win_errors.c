/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Wrong use of windows: the class that the standard names, and the window goes on. */
#include "check.h"

static MPI_Win w;
static int mem[16], v, got;
static MPI_Request req;

static void arguments(void)
{
	MPI_Datatype t, mixed;
	MPI_Op op;
	MPI_Datatype parts[2] = { MPI_INT, MPI_FLOAT };
	int lens[2] = { 1, 1 };
	MPI_Aint displs[2] = { 0, 4 };

	OK(MPI_Win_fence(0, w));
	FAILS(MPI_Put(&v, 1, MPI_INT, size, 0, 1, MPI_INT, w), MPI_ERR_RANK);
	FAILS(MPI_Put(&v, 1, MPI_INT, -7, 0, 1, MPI_INT, w), MPI_ERR_RANK);
	FAILS(MPI_Put(&v, -1, MPI_INT, 0, 0, 1, MPI_INT, w), MPI_ERR_COUNT);
	FAILS(MPI_Put(&v, 1, MPI_INT, 0, 0, -1, MPI_INT, w), MPI_ERR_COUNT);
	FAILS(MPI_Put(&v, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, w),
	      MPI_ERR_TYPE);
	FAILS(MPI_Get(&v, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, w),
	      MPI_ERR_TYPE);
	FAILS(MPI_Put(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, w), MPI_ERR_BUFFER);
	FAILS(MPI_Put(&v, 1, MPI_INT, 0, -1, 1, MPI_INT, w), MPI_ERR_DISP);
	FAILS(MPI_Put(&v, 1, MPI_INT, 0, 16, 1, MPI_INT, w), MPI_ERR_RMA_RANGE);
	FAILS(MPI_Get(mem, 4, MPI_INT, 0, 14, 4, MPI_INT, w),
	      MPI_ERR_RMA_RANGE);
	FAILS(MPI_Put(&v, 1, MPI_INT, 0, (MPI_Aint)1 << 62, 1, MPI_INT, w),
	      MPI_ERR_RMA_RANGE);
	FAILS(MPI_Put(mem, 2, MPI_INT, 0, 0, 1, MPI_INT, w), MPI_ERR_TRUNCATE);
	FAILS(MPI_Get(&v, 1, MPI_INT, 0, 0, 2, MPI_INT, w), MPI_ERR_TRUNCATE);
	OK(MPI_Type_vector(2, 1, 2, MPI_INT, &t));
	FAILS(MPI_Put(mem, 1, t, 0, 0, 1, t, w), MPI_ERR_TYPE); /* committed? */
	OK(MPI_Type_commit(&t));
	FAILS(MPI_Put(mem, 1, t, 0, 14, 1, t, w), MPI_ERR_RMA_RANGE);
	OK(MPI_Put(mem, 1, t, 0, 13, 1, t, w));
	OK(MPI_Win_fence(0, w));
	FAILS(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, w),
	      MPI_ERR_OP);
	FAILS(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MINLOC, w),
	      MPI_ERR_OP);
	FAILS(MPI_Accumulate(&v, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, w),
	      MPI_ERR_OP);
	FAILS(MPI_Accumulate(&v, 1, MPI_FLOAT, 0, 0, 1, MPI_INT, MPI_SUM, w),
	      MPI_ERR_TYPE);
	OK(MPI_Op_create((MPI_User_function *)1, 1, &op));
	FAILS(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, op, w),
	      MPI_ERR_OP);
	OK(MPI_Op_free(&op));
	OK(MPI_Type_create_struct(2, lens, displs, parts, &mixed));
	OK(MPI_Type_commit(&mixed));
	FAILS(MPI_Accumulate(mem, 1, mixed, 0, 0, 1, mixed, MPI_SUM, w),
	      MPI_ERR_TYPE);
	FAILS(MPI_Fetch_and_op(&v, &got, t, 0, 0, MPI_SUM, w), MPI_ERR_TYPE);
	FAILS(MPI_Compare_and_swap(&v, &v, &got, MPI_FLOAT, 0, 0, w),
	      MPI_ERR_TYPE);
	FAILS(MPI_Compare_and_swap(&v, NULL, &got, MPI_INT, 0, 0, w),
	      MPI_ERR_BUFFER);
	OK(MPI_Type_free(&mixed));
	OK(MPI_Type_free(&t));
	/* Nobody is there: nothing happens. */
	OK(MPI_Put(&v, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w));
	OK(MPI_Accumulate(&v, 1, MPI_INT, MPI_PROC_NULL, 99, 1, MPI_INT,
			  MPI_SUM, w));
	OK(MPI_Put(mem, 0, MPI_INT, 0, 16, 0, MPI_INT, w));
	FAILS(MPI_Win_fence(1 << 20, w), MPI_ERR_ASSERT);
	FAILS(MPI_Win_fence(MPI_MODE_NOCHECK, w), MPI_ERR_ASSERT);
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
}

static void epochs(void)
{
	MPI_Group all, none = MPI_GROUP_EMPTY;
	int flag;

	FAILS(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Get(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w),
	      MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_unlock(0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_unlock_all(w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_flush(0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_flush_all(w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_flush_local(0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_complete(w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_wait(w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_test(w, &flag), MPI_ERR_RMA_SYNC);

	FAILS(MPI_Win_lock(77, 0, 0, w), MPI_ERR_LOCKTYPE);
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, w), MPI_ERR_RANK);
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, w),
	      MPI_ERR_ASSERT);
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_lock_all(0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_fence(0, w), MPI_ERR_RMA_SYNC);
	if (size > 1)
		FAILS(MPI_Put(&v, 1, MPI_INT, 1, 0, 1, MPI_INT, w),
		      MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_free(&w), MPI_ERR_RMA_SYNC);
	OK(MPI_Win_unlock(0, w));

	OK(MPI_Win_lock_all(0, w));
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_lock_all(0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_unlock(0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_start(none, 0, w), MPI_ERR_RMA_SYNC);
	OK(MPI_Win_unlock_all(w));

	OK(MPI_Win_get_group(w, &all));
	FAILS(MPI_Win_post(MPI_GROUP_NULL, 0, w), MPI_ERR_GROUP);
	FAILS(MPI_Win_start(MPI_GROUP_NULL, 0, w), MPI_ERR_GROUP);
	OK(MPI_Win_post(none, 0, w));
	FAILS(MPI_Win_post(none, 0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_fence(0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_free(&w), MPI_ERR_RMA_SYNC);
	OK(MPI_Win_wait(w));
	OK(MPI_Win_start(none, 0, w));
	FAILS(MPI_Win_start(none, 0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, w), MPI_ERR_RMA_SYNC);
	OK(MPI_Win_complete(w));
	OK(MPI_Group_free(&all));

	/* Requests are for passive targets. */
	OK(MPI_Win_fence(0, w));
	FAILS(MPI_Rput(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, w, &req),
	      MPI_ERR_RMA_SYNC);
	OK(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_fence(MPI_MODE_NOPRECEDE, w), MPI_ERR_RMA_SYNC);
	OK(MPI_Win_fence(0, w));
	/* What was done with locks is nothing that a fence would complete. */
	OK(MPI_Win_lock_all(0, w));
	OK(MPI_Put(&v, 1, MPI_INT, rank, 0, 1, MPI_INT, w));
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w));
	/* Nothing was done since: a lock may follow a fence. */
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
	OK(MPI_Win_unlock(0, w));
	OK(MPI_Barrier(WORLD));
}

static int raised;

static void note_error(MPI_Win *win, int *code, ...)
{
	raised += *win == w;
}

/* A request's error is its window's, wherever it is waited for. */
static void requests(void)
{
	int right = (rank + 1) % size, err;
	MPI_Errhandler h;
	MPI_Aint at, all[64];
	MPI_Request q[2];
	MPI_Win all_along = w;

	if (size == 1)
		return; /* one's own memory is looked at before */
	OK(MPI_Win_create_errhandler(note_error, &h));
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &w));
	OK(MPI_Win_attach(w, mem, 4 * sizeof(int)));
	OK(MPI_Get_address(mem, &at));
	OK(MPI_Allgather(&at, 1, MPI_AINT, all, 1, MPI_AINT, WORLD));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	OK(MPI_Win_lock_all(0, w));
	OK(MPI_Rget(&v, 1, MPI_INT, right, all[right] + 16, 1, MPI_INT, w, q));
	FAILS(MPI_Wait(q, IGNORE), MPI_ERR_RMA_RANGE);
	OK(MPI_Rget(&v, 1, MPI_INT, right, all[right] + 12, 1, MPI_INT, w, q));
	OK(MPI_Wait(q, IGNORE));
	OK(MPI_Win_flush_all(w)); /* it was told */
	/* what goes with it is told by the flush */
	OK(MPI_Put(&v, 1, MPI_INT, right, all[right] + 20, 1, MPI_INT, w));
	OK(MPI_Rget(&v, 1, MPI_INT, right, all[right] + 8, 1, MPI_INT, w, q));
	MPI_Wait(q, IGNORE);
	FAILS(MPI_Win_flush(right, w), MPI_ERR_RMA_RANGE);
	OK(MPI_Win_flush(right, w));
	OK(MPI_Win_set_errhandler(w, h));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Rget(&v, 1, MPI_INT, right, all[right] + 16, 1, MPI_INT, w, q));
	raised = 0;
	err = MPI_Wait(q, IGNORE);
	FAILS(err, MPI_ERR_RMA_RANGE);
	EQUAL(raised, 1);
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Barrier(WORLD));
	OK(MPI_Win_detach(w, mem));
	OK(MPI_Win_free(&w));
	w = all_along;
}

static void objects(void)
{
	MPI_Win n = MPI_WIN_NULL, dynamic;
	MPI_Comm inter;
	MPI_Aint bytes;
	void *base;
	int unit, half = rank < size / 2;

	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	FAILS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
	FAILS(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL),
	      MPI_ERR_WIN);
	FAILS(MPI_Win_free(&n), MPI_ERR_WIN);
	FAILS(MPI_Win_create(mem, -1, 1, MPI_INFO_NULL, WORLD, &n),
	      MPI_ERR_SIZE);
	FAILS(MPI_Win_create(mem, 8, 0, MPI_INFO_NULL, WORLD, &n),
	      MPI_ERR_DISP);
	FAILS(MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, WORLD, &n),
	      MPI_ERR_BUFFER);
	FAILS(MPI_Win_create(mem, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &n),
	      MPI_ERR_COMM);
	FAILS(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, WORLD, &base, &n),
	      MPI_ERR_SIZE);
	FAILS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, WORLD, NULL, &n),
	      MPI_ERR_ARG);
	FAILS(MPI_Win_attach(w, mem, 4), MPI_ERR_RMA_FLAVOR);
	FAILS(MPI_Win_detach(w, mem), MPI_ERR_RMA_FLAVOR);
	FAILS(MPI_Win_shared_query(w, size, &bytes, &unit, &base),
	      MPI_ERR_RANK);
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &dynamic));
	MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
	FAILS(MPI_Win_shared_query(dynamic, 0, &bytes, &unit, &base),
	      MPI_ERR_RMA_FLAVOR);
	FAILS(MPI_Win_attach(dynamic, mem, -1), MPI_ERR_SIZE);
	FAILS(MPI_Win_attach(dynamic, NULL, 8), MPI_ERR_BUFFER);
	OK(MPI_Win_free(&dynamic));
	if (size > 1) {
		MPI_Comm part;

		OK(MPI_Comm_split(WORLD, half, 0, &part));
		OK(MPI_Intercomm_create(part, 0, WORLD, half ? size / 2 : 0, 0,
					&inter));
		MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
		FAILS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, inter, &base, &n),
		      MPI_ERR_COMM);
		OK(MPI_Comm_free(&inter));
		OK(MPI_Comm_free(&part));
	}
}

int main(int argc, char **argv)
{
	int *base;

	start(&argc, &argv);
	OK(MPI_Win_create(mem, sizeof(mem), 4, MPI_INFO_NULL, WORLD, &w));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	arguments();
	epochs();
	requests();
	objects();
	OK(MPI_Win_free(&w));
	OK(MPI_Win_allocate(64, 4, MPI_INFO_NULL, WORLD, &base, &w));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	arguments();
	epochs();
	OK(MPI_Win_free(&w));
	return finish();
}
