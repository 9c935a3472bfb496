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
	snprintf(out, PMI_KEY_SIZE, "%s~%d", key, part);
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

/* The whole value, still encoded, allocated. */
static int get_encoded(const struct pmi_wire *wire, const char *key,
		       char **value)
{
	char part[PMI_LINE_MAX], name[PMI_KEY_SIZE], *all;
	const char *text;
	size_t at;
	int count, err;

	err = wire->get(key, part, sizeof(part));
	if (err)
		return err;
	count = count_parts(part, &text);
	if (count > PARTS_MAX)
		return pmi_bad_answer(part, "fewer parts");
	all = malloc((size_t)count * PMI_VALUE_MAX + sizeof(part));
	if (!all)
		return -ENOMEM;
	at = (size_t)sprintf(all, "%s", text);
	for (int i = 1; i < count && !err; i++) {
		err = wire->get(part_key(key, i, name), part, PMI_VALUE_MAX);
		if (!err)
			at += (size_t)sprintf(all + at, "%s", part);
	}
	if (err)
		free(all);
	else
		*value = all;
	return err;
}

int pmi_copy_out(const char *from, char *value, size_t size)
{
	if (strlen(from) >= size)
		return -ENOSPC;
	strcpy(value, from);
	return 0;
}

int pmi_parts_get(const struct pmi_wire *wire, const char *key, char *value,
		  size_t size)
{
	char *text;
	int err;

	err = get_encoded(wire, key, &text);
	if (err)
		return err;
	err = pmi_value_decode(text);
	if (err)
		o2g_error(
			"the key %s holds \"%.200s\", which is not what was put there",
			key, text);
	else
		err = pmi_copy_out(text, value, size);
	free(text);
	return err;
}
