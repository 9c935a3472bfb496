// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* No launcher: a job of one, and a board that nobody else sees. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmi.h"
#include "pmi_int.h"

struct entry {
	struct entry *next;
	char *value;
	char key[];
};

static struct entry *board;

static struct entry *find(const char *key)
{
	struct entry *e = board;

	while (e && strcmp(e->key, key))
		e = e->next;
	return e;
}

static int local_put(const char *key, const char *value)
{
	struct entry *e = find(key);
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	if (e) {
		free(e->value);
		e->value = copy;
		return 0;
	}
	e = malloc(sizeof(*e) + strlen(key) + 1);
	if (!e) {
		free(copy);
		return -ENOMEM;
	}
	strcpy(e->key, key);
	e->value = copy;
	e->next = board;
	board = e;
	return 0;
}

static struct entry *asked;

static int local_ask(int owner, const char *key)
{
	asked = find(key);
	return 0;
}

static int local_answered(bool wait, char **value)
{
	if (!asked)
		return -ENOENT;
	*value = strdup(asked->value);
	return *value ? 0 : -ENOMEM;
}

static int local_finalize(void)
{
	while (board) {
		struct entry *e = board;

		board = e->next;
		free(e->value);
		free(e);
	}
	return 0;
}

static bool local_offered(void)
{
	return false;
}

static int local_init(struct pmi_job *job)
{
	*job = (struct pmi_job){ .size = 1,
				 .local_size = 1,
				 .universe_size = 1,
				 .singleton = true };
	snprintf(job->kvsname, sizeof(job->kvsname), "singleton_%ld",
		 (long)getpid());
	return 0;
}

static int local_barrier(void)
{
	return 0;
}

static int local_nodes(int *node, int size)
{
	node[0] = 0;
	return 0;
}

static void local_abort(int code, bool error)
{
}

const struct pmi_client pmi_local_client = {
	.name = "none",
	.offered = local_offered,
	.init = local_init,
	.put = local_put,
	.barrier = local_barrier,
	.ask = local_ask,
	.answered = local_answered,
	.nodes = local_nodes,
	.finalize = local_finalize,
	.abort = local_abort,
};
