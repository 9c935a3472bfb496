// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * alltoall SIZES: eight processes exchange blocks. They meet by counting in
 * shared memory, and who is early gives its core to another. The blocks go
 * through shared memory, or the others read them (process_vm_readv): the
 * quicker way counts.
 */
#define _GNU_SOURCE
#include "plain.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 8, TURNS = 7, MOST = 64 << 10 };
#define TURN_BYTES (8u << 20) /* copied by a rank in a turn, at most */
#define TURN_CALLS 500

struct common {
	_Alignas(64) atomic_uint arrived;
	_Alignas(64) atomic_uint round;
	struct {
		_Alignas(64) pid_t pid;
		char *out;
	} rank[RANKS];
	/* twice, so that nobody has to wait until it is read */
	_Alignas(64) char blocks[2][RANKS][RANKS * MOST];
};

struct rank {
	struct common *common;
	unsigned int rounds;
	int me;
	char *out; /* a block for each */
	char *in;
};

static void meet(struct rank *r)
{
	struct common *c = r->common;
	unsigned int round = r->rounds++;

	if (atomic_fetch_add(&c->arrived, 1) == RANKS - 1) {
		atomic_store(&c->arrived, 0);
		atomic_store(&c->round, round + 1);
		return;
	}
	while (atomic_load(&c->round) == round)
		sched_yield();
}

static void through_memory(struct rank *r, size_t size, int turn)
{
	char(*blocks)[RANKS * MOST] = r->common->blocks[turn & 1];

	memcpy(blocks[r->me], r->out, RANKS * size);
	meet(r);
	for (int i = 0; i < RANKS; i++) {
		int from = (r->me + i) % RANKS;

		memcpy(r->in + (size_t)from * size,
		       blocks[from] + (size_t)r->me * size, size);
	}
}

/* They meet again, as nobody may change a block that is being read. */
static void by_reading(struct rank *r, size_t size, int turn)
{
	(void)turn;
	meet(r);
	for (int i = 0; i < RANKS; i++) {
		int from = (r->me + i) % RANKS;
		struct iovec here = { r->in + (size_t)from * size, size };
		struct iovec there = {
			r->common->rank[from].out + (size_t)r->me * size, size
		};

		if (from == r->me)
			memcpy(here.iov_base, r->out + (size_t)r->me * size,
			       size);
		else
			plain_check(process_vm_readv(r->common->rank[from].pid,
						     &here, 1, &there, 1,
						     0) == (ssize_t)size,
				    "process_vm_readv");
	}
	meet(r);
}

static double time_of(struct rank *r, size_t size,
		      void (*exchange)(struct rank *r, size_t size, int turn))
{
	size_t calls = TURN_BYTES / RANKS / size;
	double took[TURNS];

	calls = calls > TURN_CALLS ? TURN_CALLS : calls;
	for (int t = 0; t < TURNS; t++) {
		meet(r);
		took[t] = plain_now();
		for (size_t i = 0; i < calls; i++)
			exchange(r, size, (int)i);
		meet(r);
		took[t] = (plain_now() - took[t]) / (double)calls;
	}
	return plain_median(took, TURNS) * 1e6;
}

static void measure(struct rank *r, size_t size)
{
	double memory, reading;

	plain_check(size > 0 && size <= MOST, "64 KiB is the most");
	memory = time_of(r, size, through_memory);
	reading = time_of(r, size, by_reading);
	if (r->me == 0)
		plain_row(size, "usec", memory < reading ? memory : reading);
}

static void start(struct rank *r)
{
	pid_t first = getpid();

	r->common = mmap(NULL, sizeof(*r->common), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	plain_check(r->common != MAP_FAILED, "shared memory");
	for (int i = 1; i < RANKS && r->me == 0; i++)
		if (!fork())
			r->me = i;
	if (r->me)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	plain_check(r->me == 0 || getppid() == first, "the first process");
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	r->out = malloc(RANKS * MOST);
	r->in = malloc(RANKS * MOST);
	plain_check(r->out && r->in, "memory");
	memset(r->out, r->me, RANKS * MOST);
	memset(r->in, 0, RANKS * MOST);
	r->common->rank[r->me].pid = getpid();
	r->common->rank[r->me].out = r->out;
	meet(r);
}

int main(int argc, char **argv)
{
	struct rank r = { .me = 0 };
	size_t sizes[16];
	int n;

	plain_check(argc == 2, "usage: alltoall SIZES");
	n = plain_sizes(argv[1], sizes, 16);
	start(&r);
	for (int i = 0; i < n; i++)
		measure(&r, sizes[i]);
	while (r.me == 0 && wait(NULL) > 0)
		;
	return 0;
}
