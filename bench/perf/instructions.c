// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Instructions of a process for half a round trip: MPI_Recv of a message that is
 * there, and MPI_Send of the answer. A child process executes rank 1 step by step
 * meanwhile and counts the steps, so nothing is needed of the processor. What the
 * kernel does in a system call is one step.
 *
 * Waiting is not in it. The ranks take turns without MPI: rank 1 asks for the message
 * once it has been sent, and rank 0 sleeps outside of MPI until the answer was, so
 * that nobody has to be woken by it. Lower quartiles count. A message that was late after
 * all does not change them, nor does reading the clock: so slowly, it often meets the
 * kernel setting its time and starts over. The means have in them what is done only now
 * and then.
 *
 * A call takes some thousand times as long as it should, so threads of a library that
 * look after what has waited for long come in between: O2G_PROGRESS_THREAD=0.
 */
#define _GNU_SOURCE
#include "perf.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer.h"
#include "turns.h"

enum { TAG = 1, MARK = SIGUSR2, MAX_SIZE = 4096 };
enum { RECV, SEND, PARTS };

static long trips = 100, warmup = 1000, met;

static const struct perf_option options[] = {
	{ "trips", &trips, "half round trips that are counted" },
	{ "warmup", &warmup, "round trips before" },
	{ "met", &met, "1: over what a port gives, not MPI_COMM_WORLD" },
	{ 0 },
};

struct counter {
	atomic_long steps; /* between the last two marks */
	atomic_bool go_on; /* with counting, after the next mark */
};

static bool seize(pid_t pid)
{
	return !ptrace(PTRACE_SEIZE, pid, 0, 0) &&
	       !ptrace(PTRACE_INTERRUPT, pid, 0, 0);
}

/* A mark is a signal that is never delivered. */
static void count_steps(pid_t pid, void *shared)
{
	struct counter *c = shared;
	bool stepping = false;
	long steps = 0;
	int status;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		int sig = status >> 16 ? 0 : WSTOPSIG(status);

		if (sig == MARK) {
			atomic_store(&c->steps, steps);
			stepping = atomic_load(&c->go_on);
			steps = 0;
			sig = 0;
		} else if (sig == SIGTRAP) {
			steps++;
			sig = 0;
		}
		ptrace(stepping ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, 0, sig);
	}
}

/* Returns what has been counted since the one before. */
static long mark(struct counter *c, bool go_on)
{
	atomic_store(&c->go_on, go_on);
	raise(MARK);
	return atomic_load(&c->steps);
}

struct trip {
	struct counter *counter;
	MPI_Comm comm;
	int peer;
	int size;
	char in[MAX_SIZE], out[MAX_SIZE];
};

static void count_trip(struct trip *t, long steps[PARTS], bool talk)
{
	mark(t->counter, true);
	if (talk)
		MPI_Recv(t->in, t->size, MPI_BYTE, t->peer, TAG, t->comm,
			 MPI_STATUS_IGNORE);
	steps[RECV] = mark(t->counter, true);
	if (talk)
		MPI_Send(t->out, t->size, MPI_BYTE, t->peer, TAG, t->comm);
	steps[SEND] = mark(t->counter, false);
}

struct found {
	double usual[PARTS], mean[PARTS];
};

static void count_trips(struct trip *t, struct perf_turns *turns,
			struct found *found)
{
	double *steps[PARTS] = { perf_alloc(trips * sizeof(double)),
				 perf_alloc(trips * sizeof(double)) };
	long empty[PARTS], now[PARTS];

	count_trip(t, empty, false); /* symbols are looked up the first time */
	count_trip(t, empty, false);
	for (long i = 0; i < trips; i++) {
		perf_turns_wait(turns, 1);
		count_trip(t, now, true);
		for (int part = 0; part < PARTS; part++) {
			steps[part][i] = now[part] - empty[part];
			found->mean[part] += steps[part][i] / trips;
		}
		perf_turns_give(turns, 0);
	}
	for (int part = 0; part < PARTS; part++) {
		perf_median(steps[part], trips); /* sorts */
		found->usual[part] = perf_percentile(steps[part], trips, 0.25);
		free(steps[part]);
	}
}

static void answer_trips(struct trip *t, struct perf_turns *turns)
{
	for (long i = 0; i < trips; i++) {
		MPI_Send(t->out, t->size, MPI_BYTE, t->peer, TAG, t->comm);
		usleep(200); /* the kernel may deliver it a moment later */
		perf_turns_give(turns, 1);
		perf_turns_wait(turns, 0);
		MPI_Recv(t->in, t->size, MPI_BYTE, t->peer, TAG, t->comm,
			 MPI_STATUS_IGNORE);
	}
}

static void warm_up(struct trip *t, int rank)
{
	for (long i = 0; rank < 2 && i < warmup; i++) {
		if (rank == 0)
			MPI_Send(t->out, t->size, MPI_BYTE, t->peer, TAG,
				 t->comm);
		MPI_Recv(t->in, t->size, MPI_BYTE, t->peer, TAG, t->comm,
			 MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(t->out, t->size, MPI_BYTE, t->peer, TAG,
				 t->comm);
	}
}

static struct found measure(int rank, struct trip *t, struct perf_turns *turns)
{
	struct perf_tracer tracer = { .attach = seize, .follow = count_steps };
	struct found found = { 0 };

	if (rank == 1) {
		t->counter = perf_tracer_memory(sizeof(*t->counter));
		tracer.shared = t->counter;
		perf_tracer_start(&tracer);
	}
	warm_up(t, rank);
	if (rank == 0)
		answer_trips(t, turns);
	if (rank == 1) {
		count_trips(t, turns, &found);
		perf_tracer_stop(&tracer);
	}
	return found;
}

static void choose_comm(struct trip *t, int rank)
{
	t->comm = MPI_COMM_WORLD;
	t->peer = !rank;
	if (!met)
		return;
	if (!perf_meet)
		perf_fail("--met 1: this MPI has no ports");
	t->comm = perf_meet(rank);
	t->peer = 0;
}

static void run(struct perf *p)
{
	struct perf_turns *turns = perf_turns_open(p->rank);
	static struct trip t;

	choose_comm(&t, p->rank);
	for (int i = 0; i < p->n_sizes; i++) {
		double all, recv, send, mean;
		struct found f;

		if (p->sizes[i] > MAX_SIZE || trips < 1)
			perf_fail("sizes go up to %d here, with one trip at "
				  "least",
				  MAX_SIZE);
		t.size = p->sizes[i];
		f = measure(p->rank, &t, turns);
		recv = perf_max_over_ranks(f.usual[RECV]);
		send = perf_max_over_ranks(f.usual[SEND]);
		mean = perf_max_over_ranks(f.mean[RECV] + f.mean[SEND]);
		all = recv + send;
		perf_cell(p, "size", p->sizes[i]);
		perf_cell(p, "instructions", all);
		perf_cell(p, "receive", recv);
		perf_cell(p, "send", send);
		perf_cell(p, "mean", mean);
		perf_row_end(p);
	}
	perf_turns_close(turns);
}

const struct perf_command perf_instructions = {
	.name = "instructions",
	.help = "instructions of a process for half a round trip, without waiting",
	.run = run,
	.options = options,
	.sizes = "8",
	.min_ranks = 2,
};
