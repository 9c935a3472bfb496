// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Values longer than a launcher takes. Such a value starts with "%*COUNT:" and
 * goes on under the keys KEY~1 ... KEY~COUNT-1.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "pmi_int.h"

/* Hydra (MPICH 4.2) promises 1024, and dies of a line that holds so much. */
#define VALUE_MAX_PUT 768
/* "%*COUNT:" in the first part. */
#define COUNT_ROOM 16
/* A sane limit for what others have written: 64 MiB. */
#define PARTS_MAX 65536

static const char *part_key(const char *key, int part, char *out)
{
	if (!part)
		return key;
	snprintf(out, PMI_KEY_SIZE, "%.*s~%u", PMI_KEY_MAX, key,
		 (unsigned)part % PARTS_MAX);
	return out;
}

static int put_encoded(const struct pmi_wire *wire, int value_max,
		       const char *key, const char *text)
{
	char part[VALUE_MAX_PUT], name[PMI_KEY_SIZE];
	int room = (value_max < VALUE_MAX_PUT ? value_max : VALUE_MAX_PUT) - 1;
	int each = room - COUNT_ROOM, len = (int)strlen(text);
	int count = len <= room ? 1 : (len + each - 1) / each, err = 0;

	if (count == 1)
		return wire->put(key, text);
	for (int i = 0; i < count && !err; i++) {
		int n = i ? 0 : sprintf(part, "%%*%d:", count);

		snprintf(part + n, sizeof(part) - n, "%.*s", each,
			 text + (size_t)i * each);
		err = wire->put(part_key(key, i, name), part);
	}
	return err;
}

int pmi_parts_put(const struct pmi_wire *wire, int value_max, const char *key,
		  const char *value)
{
	char *text = pmi_value_encode(value);
	int err;

	if (!text)
		return -ENOMEM;
	err = put_encoded(wire, value_max, key, text);
	free(text);
	return err;
}

/* How many parts, and where the text of the first starts. */
static int count_parts(const char *first, const char **text)
{
	int count, end = 0;

	*text = first;
	if (sscanf(first, "%%*%d:%n", &count, &end) != 1 || !end || count < 1)
		return 1;
	*text = first + end;
	return count;
}

static int ask_part(struct pmi_parts *p)
{
	char name[PMI_KEY_SIZE];

	return p->wire->ask(part_key(p->key, p->part, name));
}

/* The first part says how many there are. */
static int take_first(struct pmi_parts *p, const char *part)
{
	const char *text;

	p->count = count_parts(part, &text);
	if (p->count > PARTS_MAX)
		return pmi_bad_answer(part, "fewer parts");
	p->all = malloc((size_t)p->count * PMI_VALUE_MAX + PMI_LINE_MAX);
	if (!p->all)
		return -ENOMEM;
	p->at = (size_t)sprintf(p->all, "%s", text);
	return 0;
}

static int take_part(struct pmi_parts *p)
{
	char part[PMI_LINE_MAX];
	int err = p->wire->answer(part, p->part ? PMI_VALUE_MAX : sizeof(part));

	if (err)
		return err;
	if (!p->part)
		return take_first(p, part);
	p->at += (size_t)sprintf(p->all + p->at, "%s", part);
	return 0;
}

int pmi_parts_ask(struct pmi_parts *p, const struct pmi_wire *wire,
		  const char *key)
{
	*p = (struct pmi_parts){ .wire = wire };
	snprintf(p->key, sizeof(p->key), "%s", key);
	return ask_part(p);
}

static int take_all(struct pmi_parts *p)
{
	int err = take_part(p);

	while (!err && ++p->part < p->count) {
		err = ask_part(p);
		if (!err)
			err = take_part(p);
	}
	return err;
}

static int decode(struct pmi_parts *p, char **value)
{
	int err = pmi_value_decode(p->all);

	if (err) {
		o2g_error(
			"the key %s holds \"%.200s\", which is not what was put there",
			p->key, p->all);
		return err;
	}
	*value = p->all;
	p->all = NULL;
	return 0;
}

int pmi_parts_answered(struct pmi_parts *p, bool wait, char **value)
{
	int err;

	p->wire->conn->nowait = !wait;
	err = take_all(p);
	p->wire->conn->nowait = false;
	if (!err)
		err = decode(p, value);
	if (err == -EINPROGRESS)
		return err;
	free(p->all);
	p->all = NULL;
	return err;
}

int pmi_copy_out(const char *from, char *value, size_t size)
{
	if (strlen(from) >= size)
		return -ENOSPC;
	strcpy(value, from);
	return 0;
}
