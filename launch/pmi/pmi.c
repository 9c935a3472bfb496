// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The front: which client serves this process, one call at a time. Each
 * protocol is a table of functions in a file of its own; a new one is added by
 * writing that file and a line below.
 */
#include "pmi.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "pmi_int.h"

/* In this order: Slurm's PMI-2 looks like PMI-1 with something added, and
 * programs that PMI-1 launchers start may have a PMIx launcher further up. */
static const struct pmi_client *const clients[] = { &pmi2_client, &pmi1_client,
						    &pmix_client,
						    &pmi_local_client };

/* So long an answer waits for whoever has asked. */
#define FETCH_NS 20000000

#define CLIENTS (sizeof(clients) / sizeof(*clients))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Set by pmi_init, cleared by pmi_finalize; pmi_abort reads it unlocked. */
static const struct pmi_client *_Atomic client;
static int job_size;

/* What was asked for without waiting, and has been answered or not. With the lock. */
static struct {
	enum { NOT_ASKED, ASKED, ANSWERED } state;
	char key[PMI_KEY_MAX + 1];
	int err;
	char *value;
	uint64_t since; /* when the answer was seen */
} question;

static const struct pmi_client *client_named(const char *name)
{
	for (size_t i = 0; i < CLIENTS; i++)
		if (!strcmp(clients[i]->name, name))
			return clients[i];
	return NULL;
}

static const struct pmi_client *client_offered(void)
{
	for (size_t i = 0; i < CLIENTS; i++)
		if (clients[i]->offered())
			return clients[i];
	return NULL;
}

static int choose(const struct pmi_client **chosen)
{
	const char *name = getenv("O2G_LAUNCHER");

	*chosen = name ? client_named(name) : NULL;
	if (name && name[0] && !*chosen && !pmi_launched_by_us())
		o2g_warn(
			"O2G_LAUNCHER is \"%s\", but pmi1, pmi2, pmix or none is possible; ignored",
			name);
	if (!*chosen)
		*chosen = client_offered();
	if (*chosen)
		return 0;
	*chosen = &pmi_local_client;
	return pmi_detect_foreign();
}

static int check_place(const struct pmi_job *job)
{
	if (job->size >= 1 && job->rank >= 0 && job->rank < job->size)
		return 0;
	o2g_error(
		"the launcher says rank %d of %d; PMI_RANK and PMI_SIZE must say which of how many processes this is",
		job->rank, job->size);
	return -EINVAL;
}

static int init_locked(struct pmi_job *job)
{
	const struct pmi_client *c;
	int err;

	*job = (struct pmi_job){ .rank = -1,
				 .size = -1,
				 .appnum = -1,
				 .universe_size = -1 };
	err = choose(&c);
	if (!err)
		err = c->init(job);
	if (err)
		return err;
	err = check_place(job);
	if (err) {
		c->finalize();
		return err;
	}
	job_size = job->size;
	client = c;
	return 0;
}

int pmi_init(struct pmi_job *job)
{
	struct pmi_job j;
	int err;

	pthread_mutex_lock(&lock);
	err = client ? -EALREADY : init_locked(&j);
	pthread_mutex_unlock(&lock);
	if (!err)
		*job = j;
	else if (err == -EALREADY)
		o2g_error("pmi_init was called twice");
	return err;
}

/* What every protocol takes, with room for what pmi_parts.c appends. */
static int check_key(const char *key)
{
	if (key[0] && strlen(key) <= PMI_KEY_MAX &&
	    !key[strcspn(key, " \t\n=;~")])
		return 0;
	o2g_error(
		"\"%s\" cannot be a PMI key: it must be 1 to %d characters without space, =, ; and ~",
		key, PMI_KEY_MAX);
	return -EINVAL;
}

static void see_answer(const struct pmi_client *c, bool wait)
{
	int err;

	if (question.state != ASKED)
		return;
	err = c->answered(wait, &question.value);
	if (err == -EINPROGRESS)
		return;
	question.err = err;
	question.state = ANSWERED;
	question.since = o2g_now_ns();
}

static void forget_question(void)
{
	free(question.value);
	question.value = NULL;
	question.state = NOT_ASKED;
}

/* Around each call: who serves it, or NULL, and what came of it. The answer to an
 * earlier question comes first. */
static const struct pmi_client *locked(void)
{
	pthread_mutex_lock(&lock);
	if (client)
		see_answer(client, true);
	return client;
}

static int unlocked(int err)
{
	pthread_mutex_unlock(&lock);
	return err;
}

int pmi_put(const char *key, const char *value)
{
	const struct pmi_client *c;
	int err = check_key(key);

	if (err)
		return err;
	c = locked();
	return unlocked(c ? c->put(key, value) : -EPIPE);
}

int pmi_barrier(void)
{
	const struct pmi_client *c = locked();

	return unlocked(c ? c->barrier() : -EPIPE);
}

static int get(const struct pmi_client *c, int owner, const char *key,
	       char *value, size_t size)
{
	char *text = NULL;
	int err = c->ask(owner, key);

	if (!err)
		err = c->answered(true, &text);
	if (!err)
		err = pmi_copy_out(text, value, size);
	free(text);
	return err;
}

int pmi_get(int owner, const char *key, char *value, size_t size)
{
	const struct pmi_client *c;
	int err = check_key(key);

	if (err)
		return err;
	c = locked();
	return unlocked(c ? get(c, owner, key, value, size) : -EPIPE);
}

/* The last question is not answered, or its answer may still be fetched. */
static bool question_is_open(void)
{
	return question.state == ASKED ||
	       (question.state == ANSWERED &&
		o2g_now_ns() - question.since < FETCH_NS);
}

static int ask(const struct pmi_client *c, int owner, const char *key)
{
	int err;

	see_answer(c, false);
	if (question_is_open())
		return -EBUSY;
	forget_question();
	err = c->ask(owner, key);
	if (err)
		return err;
	question.state = ASKED;
	snprintf(question.key, sizeof(question.key), "%s", key);
	return 0;
}

int pmi_ask(int owner, const char *key)
{
	int err = check_key(key);

	if (err)
		return err;
	if (pthread_mutex_trylock(&lock))
		return -EBUSY;
	return unlocked(client ? ask(client, owner, key) : -EPIPE);
}

static int take_answer(char *value, size_t size)
{
	int err = question.err;

	if (question.state == ASKED)
		return -EINPROGRESS;
	if (!err)
		err = pmi_copy_out(question.value, value, size);
	forget_question();
	return err;
}

int pmi_answered(const char *key, char *value, size_t size)
{
	if (pthread_mutex_trylock(&lock))
		return -EINPROGRESS;
	if (!client)
		return unlocked(-EPIPE);
	see_answer(client, false);
	if (question.state == NOT_ASKED || strcmp(question.key, key))
		return unlocked(-EINVAL);
	return unlocked(take_answer(value, size));
}

bool pmi_shares(void)
{
	const struct pmi_client *c = client;

	return c && c->shares && c->shares();
}

int pmi_share(void)
{
	const struct pmi_client *c = locked();

	return unlocked(c ? c->share() : -EPIPE);
}

int pmi_await(int owner)
{
	const struct pmi_client *c = locked();

	return unlocked(c ? c->await(owner) : -EPIPE);
}

int pmi_leave(void)
{
	const struct pmi_client *c = locked();

	return unlocked(c ? c->leave() : -EPIPE);
}

int pmi_nodes(int *node)
{
	const struct pmi_client *c = locked();

	return unlocked(c ? c->nodes(node, job_size) : -EPIPE);
}

int pmi_spawn(const struct pmi_program *programs, int count, const char *port,
	      int *child, char *why, size_t size)
{
	const struct pmi_client *c = client;
	char *text;
	int err;

	*why = '\0';
	if (!c || !c->spawn)
		return -ENOTSUP;
	if (!c->shares() && !pmi_spawn_is_possible(programs, count, why, size))
		return -EIO;
	text = pmi_spawn_text(programs, count, port, c->shares());
	if (!text)
		return -errno;
	c = locked();
	err = unlocked(c ? c->spawn(text, child, why, size) : -EPIPE);
	free(text);
	return err;
}

bool pmi_child_known(int child)
{
	return child > 0;
}

int pmi_child_runs(int child)
{
	const struct pmi_client *c;

	if (!pmi_child_known(child))
		return 1;
	c = locked();
	return unlocked(c && c->child_runs ? c->child_runs(child) : 1);
}

bool pmi_spawned(void)
{
	const char *text = getenv("PMI_SPAWNED");

	return text && strcmp(text, "0");
}

int pmi_finalize(void)
{
	const struct pmi_client *c = locked();
	int err = c ? c->finalize() : -EPIPE;

	forget_question();
	client = NULL;
	return unlocked(err);
}

bool pmi_launched_by_us(void)
{
	const char *name = getenv("O2G_LAUNCHER");

	return name && !strcmp(name, "mpiexec");
}

void pmi_abort(int code, enum pmi_why why)
{
	const struct pmi_client *c = client;

	if (!c || c == &pmi_local_client)
		return;
	/* Hydra throws away what its ranks have written and it has not read. */
	if (!pmi_launched_by_us())
		usleep(50000);
	/* Without the lock: its holder may be waiting for a barrier that will
	 * never come, and no answer is expected. */
	c->abort(code, why == PMI_ERROR);
}

/* "0-3,7" from numbers that ascend. False: it does not fit. */
static bool list_ranks(const int *ranks, int n, char *text, size_t size)
{
	size_t at = 0;

	for (int i = 0; i < n; i++) {
		int first = ranks[i];

		while (i + 1 < n && ranks[i + 1] == ranks[i] + 1)
			i++;
		at += snprintf(text + at, size - at,
			       first < ranks[i] ? "%s%d-%d" : "%s%d",
			       at ? "," : "", first, ranks[i]);
		if (at >= size)
			return false;
	}
	return true;
}

void pmi_abort_some(int code, enum pmi_why why, const int *ranks, int n)
{
	const struct pmi_client *c = client;
	char text[PMI_LINE_MAX - 128];

	if (n < job_size && pmi_shares() &&
	    list_ranks(ranks, n, text, sizeof(text)))
		c->abort_some(code, why == PMI_ERROR,
			      text); /* without the lock: see above */
	else
		pmi_abort(code, why);
}
