// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * System calls to receive in a ping-pong of small messages. A child process
 * traces rank 1 and counts; the counter is in memory they share, so looking at
 * it costs no call. Answers are sent outside what is counted. "own" are those of
 * the thread that receives; threads of a library may make others meanwhile.
 */
#define _GNU_SOURCE
#include "perf.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer.h"

enum { TAG = 1 };

static long messages = 2000, late, poll;

static const struct perf_option options[] = {
	{ "messages", &messages, "messages received" },
	{ "late", &late, "1: each is there before it is asked for" },
	{ "poll", &poll, "1: receives are posted before, and polled for" },
	{ 0 },
};

struct counter {
	atomic_long calls, own;
};

/* Every thread of @pid. */
static bool seize_all(pid_t pid)
{
	char path[40];
	struct dirent *e;
	int count = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		pid_t tid = atoi(e->d_name);

		if (tid &&
		    !ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD) &&
		    !ptrace(PTRACE_INTERRUPT, tid, 0, 0))
			count++;
	}
	if (d)
		closedir(d);
	return count > 0;
}

/* A call stops its thread twice, at its beginning and at its end. */
static void count_calls(pid_t pid, void *shared)
{
	struct counter *c = shared;
	long stops = 0, own = 0;
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		int sig = 0;

		if (!WIFSTOPPED(status))
			continue;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			own += tid == pid;
			atomic_store(&c->own, own / 2);
			atomic_store(&c->calls, ++stops / 2);
		} else if (status >> 16 == 0) {
			sig = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, tid, 0, sig);
	}
}

static void post(char *byte, MPI_Request *req)
{
	MPI_Irecv(byte, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, req);
}

/* Polling, the next receive is posted before the answer makes a message come. */
static void receive(char *byte, MPI_Request *req, bool last)
{
	int done = 0;

	if (!poll) {
		MPI_Recv(byte, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		return;
	}
	while (!done)
		MPI_Test(req, &done, MPI_STATUS_IGNORE);
	if (!last)
		post(byte, req);
}

struct found {
	double calls, own; /* a message */
};

static struct found receive_all(struct counter *c)
{
	long calls = 0, own = 0;
	char in[8], out[8] = "";
	MPI_Request req;

	if (poll)
		post(in, &req);
	for (long i = 0; i < messages; i++) {
		if (late)
			usleep(200);
		calls -= atomic_load(&c->calls);
		own -= atomic_load(&c->own);
		receive(in, &req, i == messages - 1);
		calls += atomic_load(&c->calls);
		own += atomic_load(&c->own);
		MPI_Send(out, sizeof(out), MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
	}
	return (struct found){ (double)calls / messages,
			       (double)own / messages };
}

static void send_all(void)
{
	char byte[8] = "";

	for (long i = 0; i < messages; i++) {
		MPI_Send(byte, sizeof(byte), MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
		MPI_Recv(byte, sizeof(byte), MPI_BYTE, 1, TAG, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	}
}

static struct found count(void)
{
	struct counter *c = perf_tracer_memory(sizeof(*c));
	struct perf_tracer tracer = { .attach = seize_all,
				      .follow = count_calls,
				      .shared = c };
	struct found found;

	perf_tracer_start(&tracer);
	found = receive_all(c);
	perf_tracer_stop(&tracer);
	return found;
}

static void run(struct perf *p)
{
	struct found found = { 0 };

	MPI_Barrier(MPI_COMM_WORLD);
	if (p->rank == 0)
		send_all();
	else if (p->rank == 1)
		found = count();
	perf_cell(p, "messages", messages);
	perf_cell(p, "calls", perf_max_over_ranks(found.calls));
	perf_cell(p, "own", perf_max_over_ranks(found.own));
	perf_row_end(p);
}

const struct perf_command perf_calls = {
	.name = "calls",
	.help = "system calls to receive a message",
	.run = run,
	.options = options,
	.min_ranks = 2,
};
