/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Work for the disk that is done aside. Its end is a message of this rank to
 * itself, so it is waited for like all else in a collective: a call sleeps, a
 * fiber stops and is continued by whoever makes progress.
 */
#include <limits.h>
#include <sched.h>
#include <stdlib.h>

#include "coll/coll.h"
#include "comm/comm.h"
#include "io/aside.h"
#include "io/pool.h"

struct io_aside_job {
	struct io_job job;
	void (*fn)(void *arg);
	void *arg;
	struct mpii_comm *c;
	int tag;
	struct mpii_req *req;
	atomic_int users; /* the one who waits, and the one who works */
	atomic_bool done;
};

static void let_go(struct io_aside_job *j)
{
	if (atomic_fetch_sub(&j->users, 1) == 1)
		free(j);
}

static void run(struct io_job *job)
{
	struct io_aside_job *j = (struct io_aside_job *)job;

	j->fn(j->arg);
	atomic_store_explicit(&j->done, true, memory_order_release);
	mpii_send(NULL, 0, coll_bytes(), j->c->rank, j->tag, j->c,
		  j->c->context + MPII_CTX_PT2PT);
	mpii_comm_put(j->c);
	let_go(j);
}

void io_aside_start(const struct coll *k, struct io_aside *s)
{
	struct mpii_comm *c = s->f->comm;
	struct io_aside_job *j = calloc(1, sizeof(*j));

	if (j) {
		j->job.fn = run;
		j->fn = s->fn;
		j->arg = s->arg;
		j->c = c;
		j->tag = atomic_fetch_add(&s->f->jobs, 1) & INT_MAX;
		j->users = 2;
		if (mpii_irecv(NULL, 0, coll_bytes(), c->rank, j->tag, c,
			       c->context + MPII_CTX_PT2PT, &j->req)) {
			free(j);
			j = NULL;
		}
	}
	s->job = j;
	if (!j) {
		s->fn(s->arg);
		return;
	}
	mpii_comm_hold(c);
	io_pool_submit(&j->job);
}

void io_aside_wait(const struct coll *k, struct io_aside *s)
{
	struct io_aside_job *j = s->job;

	if (!j)
		return;
	if (k->task)
		coll_task_wait(k, &j->req, 1);
	mpii_wait_all(&j->req, 1);
	/* However the message ended: the memory is in use until then. */
	while (!atomic_load_explicit(&j->done, memory_order_acquire))
		sched_yield();
	s->job = NULL;
	let_go(j);
}

void io_aside(const struct coll *k, struct mpii_file *f, void (*fn)(void *arg),
	      void *arg)
{
	struct io_aside s = { .f = f, .fn = fn, .arg = arg };

	if (!k->task) {
		fn(arg);
		return;
	}
	io_aside_start(k, &s);
	io_aside_wait(k, &s);
}
