/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * dyn_pool [POOLS [WORKERS [TASKS]]]: a pool of workers that is spawned, fed and ended,
 * again and again, as mpi4py.futures does. What a pool held is given back.
 */
#include <limits.h>
#include <unistd.h>

#include "check.h"
#include "held.h"

enum { TASK = 1, STOP };

static void work(MPI_Comm parent)
{
	MPI_Status st;
	long v;

	for (;;) {
		OK(MPI_Recv(&v, 1, MPI_LONG, 0, MPI_ANY_TAG, parent, &st));
		if (st.MPI_TAG == STOP)
			break;
		v *= v;
		OK(MPI_Send(&v, 1, MPI_LONG, 0, TASK, parent));
	}
	OK(MPI_Comm_disconnect(&parent));
}

/* Whoever is done gets the next. */
static void feed(MPI_Comm workers, int tasks)
{
	long sum = 0, want = 0, v;
	MPI_Status st;
	int n, next = 0, done = 0;

	OK(MPI_Comm_remote_size(workers, &n));
	for (int i = 0; i < n && next < tasks; i++) {
		v = next++;
		OK(MPI_Send(&v, 1, MPI_LONG, i, TASK, workers));
	}
	while (done < tasks) {
		OK(MPI_Recv(&v, 1, MPI_LONG, MPI_ANY_SOURCE, TASK, workers,
			    &st));
		sum += v;
		done++;
		if (next == tasks)
			continue;
		v = next++;
		OK(MPI_Send(&v, 1, MPI_LONG, st.MPI_SOURCE, TASK, workers));
	}
	for (int i = 0; i < n; i++)
		OK(MPI_Send(&v, 1, MPI_LONG, i, STOP, workers));
	for (long i = 0; i < tasks; i++)
		want += i * i;
	EQUAL(sum, want);
	OK(MPI_Comm_disconnect(&workers));
}

int main(int argc, char **argv)
{
	int pools = argc > 1 ? atoi(argv[1]) : 2;
	int workers = argc > 2 ? atoi(argv[2]) : 2;
	int tasks = argc > 3 ? atoi(argv[3]) : 500;
	struct held then = { 0 }, now;
	char self[PATH_MAX];
	MPI_Comm inter;

	start(&argc, &argv);
	OK(MPI_Comm_get_parent(&inter));
	if (inter != MPI_COMM_NULL) {
		work(inter);
		return finish();
	}
	CHECK(realpath("/proc/self/exe", self));
	for (int i = 0; i < pools; i++) {
		OK(MPI_Comm_spawn(self, MPI_ARGV_NULL, workers, MPI_INFO_NULL,
				  0, MPI_COMM_SELF, &inter,
				  MPI_ERRCODES_IGNORE));
		feed(inter, tasks);
		if (i == 4)
			then = held_now();
	}
	now = held_now();
	/* the last few mpiexecs may be about to end */
	if (pools > 10 && (now.fds > then.fds + 4 || now.maps > then.maps + 8 ||
			   now.bytes > then.bytes + 16384)) {
		fprintf(stderr,
			"%d fds, %d maps, %zu bytes; then %d, %d, %zu\n",
			then.fds, then.maps, then.bytes, now.fds, now.maps,
			now.bytes);
		MPI_Abort(WORLD, 1);
	}
	return finish();
}
