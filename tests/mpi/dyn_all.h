/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What two groups of processes do with one communicator of both: windows of every
 * kind, files, topologies, persistent and partitioned calls, and more meetings.
 */
#ifndef DYN_ALL_H
#define DYN_ALL_H

#include <unistd.h>

#include "check.h"

static void all_window(MPI_Comm all, MPI_Win win, long *mine)
{
	int me, n;
	long one = 1, old, got[2];

	OK(MPI_Comm_rank(all, &me));
	OK(MPI_Comm_size(all, &n));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(&(long){ me + 100 }, 1, MPI_LONG, (me + 1) % n, 0, 1,
		   MPI_LONG, win));
	OK(MPI_Win_fence(0, win));
	EQUAL(mine[0], (me + n - 1) % n + 100);
	OK(MPI_Win_lock_all(0, win));
	for (int i = 0; i < n; i++)
		OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, i, 1, MPI_SUM, win));
	OK(MPI_Win_flush_all(win));
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Barrier(all));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, (me + 1) % n, 0, win));
	OK(MPI_Get(got, 2, MPI_LONG, (me + 1) % n, 0, 2, MPI_LONG, win));
	OK(MPI_Win_unlock((me + 1) % n, win));
	EQUAL(got[0], me + 100);
	EQUAL(got[1], n);
}

static void all_windows(MPI_Comm all)
{
	long own[2] = { 0, 0 }, *mine;
	MPI_Win win;

	OK(MPI_Win_create(own, sizeof(own), sizeof(long), MPI_INFO_NULL, all,
			  &win));
	all_window(all, win, own);
	OK(MPI_Win_free(&win));
	OK(MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, all,
			    &mine, &win));
	mine[0] = mine[1] = 0;
	all_window(all, win, mine);
	OK(MPI_Win_free(&win));
}

/* Those of one host share memory, whichever job they are of. */
static void all_shared(MPI_Comm all)
{
	MPI_Comm host;
	MPI_Win win;
	MPI_Aint bytes;
	int me, n, unit;
	long *mine, *next;

	OK(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			       &host));
	OK(MPI_Comm_rank(host, &me));
	OK(MPI_Comm_size(host, &n));
	OK(MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL,
				   host, &mine, &win));
	OK(MPI_Win_lock_all(0, win));
	*mine = me + 7;
	OK(MPI_Win_sync(win));
	OK(MPI_Barrier(host));
	OK(MPI_Win_sync(win));
	OK(MPI_Win_shared_query(win, (me + 1) % n, &bytes, &unit, &next));
	EQUAL(*next, (me + 1) % n + 7);
	OK(MPI_Barrier(host));
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Win_free(&win));
	OK(MPI_Comm_free(&host));
}

/* @path is the root's, which is rank 0. */
static void all_file(MPI_Comm all, const char *path)
{
	int me, n, v, *got;
	char name[1024] = "";
	MPI_File f;

	OK(MPI_Comm_rank(all, &me));
	OK(MPI_Comm_size(all, &n));
	got = calloc(n, sizeof(*got));
	snprintf(name, sizeof(name), "%s", path);
	OK(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, all));
	OK(MPI_File_open(all, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
			 MPI_INFO_NULL, &f));
	v = me + 1;
	OK(MPI_File_write_at_all(f, me * sizeof(int), &v, 1, MPI_INT, IGNORE));
	OK(MPI_File_sync(f));
	OK(MPI_Barrier(all));
	OK(MPI_File_read_at_all(f, 0, got, n, MPI_INT, IGNORE));
	for (int i = 0; i < n; i++)
		EQUAL(got[i], i + 1);
	OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	OK(MPI_File_read_shared(f, &v, 1, MPI_INT, IGNORE));
	CHECK(v >= 1 && v <= n);
	OK(MPI_File_close(&f));
	if (me == 0)
		unlink(name);
	free(got);
}

static void all_topologies(MPI_Comm all)
{
	int n, me, dims[1], period[1] = { 1 }, left, right, got = -1;
	int in[2] = { -1, -1 }, weight = 1;
	MPI_Comm ring, graph;

	OK(MPI_Comm_size(all, &n));
	dims[0] = n;
	OK(MPI_Cart_create(all, 1, dims, period, 1, &ring));
	OK(MPI_Comm_rank(ring, &me));
	OK(MPI_Cart_shift(ring, 0, 1, &left, &right));
	OK(MPI_Sendrecv(&me, 1, MPI_INT, right, 3, &got, 1, MPI_INT, left, 3,
			ring, IGNORE));
	EQUAL(got, left);
	OK(MPI_Neighbor_allgather(&me, 1, MPI_INT, in, 1, MPI_INT, ring));
	EQUAL(in[0], left);
	EQUAL(in[1], right);
	OK(MPI_Dist_graph_create_adjacent(ring, 1, &left, &weight, 1, &right,
					  &weight, MPI_INFO_NULL, 0, &graph));
	OK(MPI_Neighbor_alltoall(&me, 1, MPI_INT, in, 1, MPI_INT, graph));
	EQUAL(in[0], left);
	OK(MPI_Comm_free(&graph));
	OK(MPI_Comm_free(&ring));
}

static void all_started(MPI_Comm all)
{
	enum { PARTS = 4, N = 1000 };
	int me, n, out[PARTS * N], in[PARTS * N], sum, v;
	MPI_Request req[2];

	OK(MPI_Comm_rank(all, &me));
	OK(MPI_Comm_size(all, &n));
	v = me;
	OK(MPI_Allreduce_init(&v, &sum, 1, MPI_INT, MPI_SUM, all, MPI_INFO_NULL,
			      &req[0]));
	for (int i = 0; i < 3; i++) {
		OK(MPI_Start(&req[0]));
		OK(MPI_Wait(&req[0], IGNORE));
		EQUAL(sum, n * (n - 1) / 2);
	}
	OK(MPI_Request_free(&req[0]));
	OK(MPI_Psend_init(out, PARTS, N, MPI_INT, (me + 1) % n, 5, all,
			  MPI_INFO_NULL, &req[0]));
	OK(MPI_Precv_init(in, PARTS, N, MPI_INT, (me + n - 1) % n, 5, all,
			  MPI_INFO_NULL, &req[1]));
	OK(MPI_Startall(2, req));
	for (int i = 0; i < PARTS * N; i++)
		out[i] = me + i;
	for (int i = 0; i < PARTS; i++)
		OK(MPI_Pready(i, req[0]));
	OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
	EQUAL(in[PARTS * N - 1], (me + n - 1) % n + PARTS * N - 1);
	OK(MPI_Request_free(&req[0]));
	OK(MPI_Request_free(&req[1]));
}

/* All of it, over what MPI_Intercomm_merge makes of @inter. */
static void all_of_it(MPI_Comm inter, int server, const char *path)
{
	MPI_Comm all;

	OK(MPI_Intercomm_merge(inter, !server, &all));
	all_windows(all);
	all_shared(all);
	all_file(all, path);
	all_topologies(all);
	all_started(all);
	OK(MPI_Comm_disconnect(&all));
}

#endif
