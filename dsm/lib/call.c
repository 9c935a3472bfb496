/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Questions to the process that keeps something, and their answers, which may take
 * until somebody else has done something: given back a lock, come to a barrier.
 */
#include "dsm.h"

#include <string.h>

struct dsm_caller {
	struct dsm_caller *next;
	u64 id;
	const struct o2g_dsm *region;
	atomic_bool done;
	struct dsm_answer answer;
};

#define LOOK_AGAIN_US 100000 /* whoever was told of a death looks at once */

static int is_over(void *arg)
{
	struct dsm_caller *c = arg;

	return atomic_load(&c->done) ||
	       (c->region ? atomic_load(&c->region->lost) :
			    atomic_load(&dsm.noted) != 0);
}

static void enlist(struct dsm_caller *c)
{
	pthread_mutex_lock(&dsm.lock);
	c->id = ++dsm.next_id;
	c->next = dsm.callers;
	dsm.callers = c;
	pthread_mutex_unlock(&dsm.lock);
}

static void strike(const struct dsm_caller *c)
{
	struct dsm_caller **at = &dsm.callers;

	pthread_mutex_lock(&dsm.lock);
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	pthread_mutex_unlock(&dsm.lock);
}

int dsm_ask(struct o2g_dsm *r, int rank, struct dsm_call *call,
	    struct dsm_answer *answer)
{
	struct dsm_caller c = { .region = r };
	struct o2g_seg seg = { call, sizeof(*call) };
	int err = 0;

	enlist(&c);
	call->id = c.id;
	call->region = r ? r->id : 0;
	if (rank == dsm.rank)
		dsm_call_arrived(rank, call);
	else
		err = o2g_call(dsm.ep, rank, DSM_TAG_CALL, &seg, 1);
	while (!err && !is_over(&c))
		o2g_wait_until(dsm.ep, is_over, &c, LOOK_AGAIN_US);
	strike(&c);
	if (err || !atomic_load(&c.done))
		return err ? err : -O2G_ERR_PEER;
	if (answer)
		*answer = c.answer;
	return (int)c.answer.result;
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
	atomic_store(&c->done, true);
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

	if (rank != dsm.rank) {
		o2g_call(dsm.ep, rank, DSM_TAG_ANSWER, &seg, 1);
		return;
	}
	deliver(answer);
	/* Another thread of ours may sleep for it. */
	o2g_call(dsm.ep, rank, DSM_TAG_HELLO, NULL, 0);
}

void dsm_answer_with(int rank, u64 id, int result)
{
	dsm_answer(rank, &(struct dsm_answer){ .id = id, .result = result });
}
