// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#define _GNU_SOURCE
#include "turns.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf.h"

#define LIMIT_S 60 /* for one turn */

struct perf_turns {
	atomic_uint whose;
};

static struct perf_turns *map(const char *path, int fd)
{
	struct perf_turns *t = MAP_FAILED;

	if (fd >= 0)
		t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, 0);
	if (t == MAP_FAILED)
		perf_fail("%s cannot be shared: ranks 0 and 1 must be on one "
			  "machine",
			  path);
	close(fd);
	return t;
}

struct perf_turns *perf_turns_open(int rank)
{
	char path[] = "/dev/shm/perf-turns-XXXXXX";
	struct perf_turns *t = NULL;
	int fd;

	if (rank == 0) {
		fd = mkstemp(path);
		if (fd >= 0 && ftruncate(fd, sizeof(*t)))
			perf_fail("no room for %s", path);
		t = map(path, fd);
	}
	MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
	if (rank == 1)
		t = map(path, open(path, O_RDWR | O_CLOEXEC));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		unlink(path);
	return t;
}

void perf_turns_close(struct perf_turns *t)
{
	if (t)
		munmap(t, sizeof(*t));
}

void perf_turns_give(struct perf_turns *t, int rank)
{
	atomic_store(&t->whose, rank);
	syscall(SYS_futex, &t->whose, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void perf_turns_wait(struct perf_turns *t, int rank)
{
	const struct timespec second = { 1, 0 };
	double start = perf_now();

	while (atomic_load(&t->whose) != (unsigned)rank) {
		if (perf_now() - start > LIMIT_S)
			perf_fail("the other rank does not answer");
		syscall(SYS_futex, &t->whose, FUTEX_WAIT, !rank, &second, NULL,
			0);
	}
}
