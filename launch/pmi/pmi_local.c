// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "pmi_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int pmi_local_put(const char *key, const char *value)
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

const char *pmi_local_get(const char *key)
{
	struct entry *e = find(key);

	return e ? e->value : NULL;
}

void pmi_local_clear(void)
{
	while (board) {
		struct entry *e = board;

		board = e->next;
		free(e->value);
		free(e);
	}
}
