/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Agreement on contexts: a number that is free at every member of a set.
 *
 * Each process has a bit mask of contexts in use. Members AND what is free and
 * take the first bit that is left. With threads, a bit may be lost between
 * looking and taking because another thread was faster; so members take it and
 * then AND whether they got it. Nothing is held while others are waited for:
 * a thread may wait long for a rank that will only come after another thread's
 * agreement. The place to look starts somewhere else in every attempt, so two
 * agreements that collide do not do so again and again.
 *
 * Also the way back, from the context of a message to its communicator.
 */
#include <stdlib.h>

#include "comm/comm_set.h"
#include "comm/context.h"
#include "env/errors.h"

#define WORDS 8 /* of 64 contexts each, that are looked at in one attempt */
#define WINDOWS 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t used[WINDOWS][WORDS];	   /* 1: taken */
static struct mpii_comm **owners[WINDOWS]; /* of 64 * WORDS each, or NULL */
static atomic_bool threads;

void mpii_context_start(void)
{
	used[0][0] |= 3; /* MPI_COMM_WORLD and MPI_COMM_SELF */
}

void mpii_context_threads(void)
{
	threads = true;
}

static bool take(int window, int bit)
{
	uint64_t *word = &used[window][bit / 64], one = UINT64_C(1) << bit % 64;
	bool got;

	pthread_mutex_lock(&lock);
	got = !(*word & one);
	*word |= one;
	pthread_mutex_unlock(&lock);
	return got;
}

static void give_back(int window, int bit)
{
	pthread_mutex_lock(&lock);
	used[window][bit / 64] &= ~(UINT64_C(1) << bit % 64);
	pthread_mutex_unlock(&lock);
}

/* Why no bit can be taken. */
#define FULL (-1)     /* nothing in this window is free */
#define TOO_LATE (-2) /* some member was: all must try again */

/* The first bit set from @start on, round; FULL: none. */
static int pick(const uint64_t *words, unsigned start)
{
	unsigned bit;

	for (unsigned i = 0; i < 64 * WORDS; i++) {
		bit = (start + i) % (64 * WORDS);
		if (words[bit / 64] >> bit % 64 & 1)
			return (int)bit;
	}
	return FULL;
}

/* One attempt. *bit is what was taken, or why nothing was. */
static int attempt(const struct mpii_set *s, int window, unsigned start,
		   int *bit)
{
	uint64_t words[WORDS + 1], got;
	int err;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < WORDS; i++)
		words[i] = ~used[window][i];
	pthread_mutex_unlock(&lock);
	words[WORDS] = threads ? 0 : ~UINT64_C(0);
	err = mpii_set_and(s, words, WORDS + 1);
	if (err)
		return err;
	*bit = pick(words, start);
	if (*bit < 0)
		return MPI_SUCCESS;
	got = take(window, *bit);
	if (words[WORDS])
		return MPI_SUCCESS; /* no threads anywhere: nobody was faster */
	words[0] = got;
	err = mpii_set_and(s, words, 1);
	if (got && (err || !words[0]))
		give_back(window, *bit);
	if (!words[0])
		*bit = TOO_LATE;
	return err;
}

/* Scattered, and the same at all members, on both sides. */
static uint32_t elsewhere(const struct mpii_set *s, uint32_t start)
{
	uint32_t seed = s->c->context;

	if (s->inter)
		seed = s->inter->context + s->inter->send_context;
	return (start + seed + 1) * 2654435761u >> 7;
}

int mpii_set_context(const struct mpii_set *s, uint32_t *context)
{
	uint32_t start = 0;
	int window = 0, bit, err;

	while (window < WINDOWS) {
		err = attempt(s, window, start, &bit);
		if (err)
			return err;
		if (bit >= 0) {
			*context = (window * 64 * WORDS + bit) * MPII_CTX_COUNT;
			return MPI_SUCCESS;
		}
		if (bit == FULL)
			window++;
		else
			start = elsewhere(s, start);
	}
	return mpii_fail(MPI_ERR_OTHER,
			 "more than %d communicators exist; "
			 "free those that are not needed",
			 WINDOWS * WORDS * 64);
}

int mpii_context_agree(struct mpii_comm *c, uint32_t *context)
{
	struct mpii_set s = mpii_set_all(c);

	return mpii_set_context(&s, context);
}

void mpii_context_free(uint32_t context)
{
	unsigned n = context / MPII_CTX_COUNT;

	give_back((int)(n / (64 * WORDS)), (int)(n % (64 * WORDS)));
}

/* --- whose it is --- */

static struct mpii_comm **owner_of(uint32_t context)
{
	unsigned n = context / MPII_CTX_COUNT, window = n / (64 * WORDS);

	if (window >= WINDOWS || !owners[window])
		return NULL;
	return &owners[window][n % (64 * WORDS)];
}

/* Without memory it is nobody's, nor are those that did not come from here
 * (session_comm.c). */
void mpii_context_own(struct mpii_comm *c)
{
	unsigned window = c->context / MPII_CTX_COUNT / (64 * WORDS);

	pthread_mutex_lock(&lock);
	if (!owners[window])
		owners[window] = calloc(64 * WORDS, sizeof(**owners));
	if (owners[window])
		*owner_of(c->context) = c;
	mpii_state_is_new();
	pthread_mutex_unlock(&lock);
}

void mpii_context_disown(struct mpii_comm *c)
{
	struct mpii_comm **at;

	pthread_mutex_lock(&lock);
	at = owner_of(c->context);
	if (at && *at == c)
		*at = NULL;
	pthread_mutex_unlock(&lock);
}

struct mpii_comm *mpii_context_lock(uint32_t context)
{
	struct mpii_comm **at;

	pthread_mutex_lock(&lock);
	at = owner_of(context);
	return at ? *at : NULL;
}

void mpii_context_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void mpii_context_each(void (*fn)(struct mpii_comm *c, void *arg), void *arg)
{
	pthread_mutex_lock(&lock);
	for (int w = 0; w < WINDOWS; w++)
		for (int i = 0; owners[w] && i < 64 * WORDS; i++)
			if (owners[w][i])
				fn(owners[w][i], arg);
	pthread_mutex_unlock(&lock);
}
