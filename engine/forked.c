/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The child of a fork has a copy of its parent's endpoints, but the connections
 * and rings stay the parent's, and so do its threads: a call that used them would
 * hang, or take what is meant for the parent. In a child, therefore, no endpoint of
 * the parent lets a call in: its lock says so (ep_enter).
 */
#include "forked.h"

#include <unistd.h>

#include "log.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct o2g_ep *all;

/* Where nothing can be answered that the caller would look at. */
_Noreturn void eng_forked_exit(void)
{
	o2g_error("%s", o2g_strerror(-O2G_ERR_FORKED));
	_exit(1);
}

static void in_child(void)
{
	for (struct o2g_ep *ep = all; ep; ep = ep->next_open)
		eng_lock_shut(&ep->lock);
	all = NULL; /* what the child opens is its own */
	pthread_mutex_init(&lock, NULL);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

void eng_forked_add(struct o2g_ep *ep)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&lock);
	ep->next_open = all;
	all = ep;
	pthread_mutex_unlock(&lock);
}

void eng_forked_del(struct o2g_ep *ep)
{
	struct o2g_ep **at = &all;

	pthread_mutex_lock(&lock);
	while (*at && *at != ep)
		at = &(*at)->next_open;
	if (*at)
		*at = ep->next_open;
	pthread_mutex_unlock(&lock);
}
