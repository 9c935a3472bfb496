/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Questions to the process that keeps something, and their answers, which may take
 * until somebody else has done something: given back a lock, come to a barrier.
 */
#include "dsm.h"

#include <string.h>

/*
 * It sleeps on a condition of its own and not in the endpoint, where every page that
 * arrives would wake it.
 */
struct dsm_caller {
	struct dsm_caller *next;
	u64 id;
	const struct o2g_dsm *region;
	pthread_cond_t wake;
	bool done;
	struct dsm_answer answer;
};

static bool is_lost(const struct dsm_caller *c)
{
	return c->region ? atomic_load(&c->region->lost) :
			   atomic_load(&dsm.noted) != 0;
}

/* With dsm.lock. */
static void enlist(struct dsm_caller *c)
{
	c->id = ++dsm.next_id;
	c->next = dsm.callers;
	dsm.callers = c;
}

static void strike(const struct dsm_caller *c)
{
	struct dsm_caller **at = &dsm.callers;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
}

static void serve(int from, const struct dsm_call *call)
{
	if (call->op <= DSM_NAME_CLOSE)
		dsm_names_serve(from, call);
	else if (call->op <= DSM_OBJ_ADD)
		dsm_objects_serve(from, call);
	else if (call->op <= DSM_HEAP_FREE)
		dsm_heap_serve(from, call);
	else
		dsm_answer_with(from, call->id, -EPROTO);
}

int dsm_ask(struct o2g_dsm *r, int rank, struct dsm_call *call,
	    struct dsm_answer *answer)
{
	struct dsm_caller c = { .region = r, .wake = PTHREAD_COND_INITIALIZER };
	struct o2g_seg seg = { call, sizeof(*call) };
	int err = 0;

	pthread_mutex_lock(&dsm.lock);
	enlist(&c);
	call->id = c.id;
	call->region = r ? r->id : 0;
	if (rank == dsm.rank)
		serve(rank, call);
	else
		err = o2g_call(dsm.ep, rank, DSM_TAG_CALL, &seg, 1);
	while (!err && !c.done && !is_lost(&c))
		pthread_cond_wait(&c.wake, &dsm.lock);
	strike(&c);
	pthread_mutex_unlock(&dsm.lock);
	pthread_cond_destroy(&c.wake);
	if (err || !c.done)
		return err ? err : -O2G_ERR_PEER;
	if (answer)
		*answer = c.answer;
	return (int)c.answer.result;
}

void dsm_callers_lost(void)
{
	pthread_mutex_lock(&dsm.lock);
	for (struct dsm_caller *c = dsm.callers; c; c = c->next)
		pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&dsm.lock);
}

void dsm_call_arrived(int from, const struct dsm_call *call)
{
	pthread_mutex_lock(&dsm.lock);
	serve(from, call);
	pthread_mutex_unlock(&dsm.lock);
}

/* With dsm.lock. */
static void deliver(const struct dsm_answer *a)
{
	struct dsm_caller *c = dsm.callers;

	while (c && c->id != a->id)
		c = c->next;
	if (!c)
		return; /* it has given up */
	c->answer = *a;
	c->done = true;
	pthread_cond_signal(&c->wake);
}

void dsm_answer_arrived(const struct dsm_answer *a)
{
	pthread_mutex_lock(&dsm.lock);
	deliver(a);
	pthread_mutex_unlock(&dsm.lock);
}

void dsm_answer(int rank, const struct dsm_answer *answer)
{
	struct o2g_seg seg = { (void *)answer, sizeof(*answer) };

	if (rank != dsm.rank)
		o2g_call(dsm.ep, rank, DSM_TAG_ANSWER, &seg, 1);
	else
		deliver(answer);
}

void dsm_answer_with(int rank, u64 id, int result)
{
	dsm_answer(rank, &(struct dsm_answer){ .id = id, .result = result });
}
