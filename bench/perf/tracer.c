// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#define _GNU_SOURCE
#include "tracer.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf.h"

enum state { STARTING, ALLOWED, TRACING, IMPOSSIBLE };

void *perf_tracer_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		perf_fail("no memory");
	return p;
}

static void trace(const struct perf_tracer *t, pid_t parent,
		  _Atomic enum state *state)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (atomic_load(state) == STARTING)
		usleep(1000); /* until it is allowed to */
	if (!t->attach(parent)) {
		atomic_store(state, IMPOSSIBLE);
		_exit(1);
	}
	atomic_store(state, TRACING);
	t->follow(parent, t->shared);
	_exit(0);
}

void perf_tracer_start(struct perf_tracer *t)
{
	_Atomic enum state *state = perf_tracer_memory(sizeof(*state));
	pid_t parent = getpid();

	t->child = fork();
	if (!t->child)
		trace(t, parent, state);
	if (t->child > 0) {
		prctl(PR_SET_PTRACER, t->child);
		atomic_store(state, ALLOWED);
		while (atomic_load(state) == ALLOWED)
			usleep(1000);
	}
	if (t->child < 0 || atomic_load(state) == IMPOSSIBLE)
		perf_fail("a process cannot be traced here (ptrace)");
	munmap(state, sizeof(*state));
	usleep(100000); /* all threads have been stopped and go on */
}

void perf_tracer_stop(struct perf_tracer *t)
{
	kill(t->child, SIGKILL);
	waitpid(t->child, NULL, 0);
}
