/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Threads that wait for the disk. */
#include <signal.h>

#include "io/pool.h"
#include "settings.h"

#define THREADS_MAX 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static struct io_job *first, **last = &first;
static pthread_t threads[THREADS_MAX];
static int nthreads, idle;
static bool ending;

static struct io_job *take(void)
{
	struct io_job *j;

	pthread_mutex_lock(&lock);
	idle++;
	while (!first && !ending)
		pthread_cond_wait(&news, &lock);
	idle--;
	j = first;
	if (j) {
		first = j->next;
		if (!first)
			last = &first;
	}
	pthread_mutex_unlock(&lock);
	return j;
}

static void *work(void *arg)
{
	struct io_job *j;

	while ((j = take()))
		j->fn(j);
	return NULL;
}

/* With the lock held. The program's signals are not for this thread. */
static void start_one(void)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&threads[nthreads], NULL, work, NULL))
		nthreads++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void io_pool_submit(struct io_job *j)
{
	int max = o2g_settings()->io_threads;
	bool queued;

	j->next = NULL;
	pthread_mutex_lock(&lock);
	if (!idle && nthreads < max && nthreads < THREADS_MAX && !ending)
		start_one();
	queued = nthreads > 0;
	if (queued) {
		*last = j;
		last = &j->next;
		pthread_cond_signal(&news);
	}
	pthread_mutex_unlock(&lock);
	if (!queued)
		j->fn(j);
}

void io_pool_stop(void)
{
	int n;

	pthread_mutex_lock(&lock);
	ending = true;
	pthread_cond_broadcast(&news);
	n = nthreads;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_lock(&lock);
	nthreads = 0;
	ending = false;
	pthread_mutex_unlock(&lock);
}
