/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Hints of files: the reserved ones that mean something here, and those that
 * programs know from ROMIO. A value that makes no sense is ignored, as the standard
 * wants it; what is in use can be read back.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info/info.h"
#include "io/cb.h"
#include "io/file.h"
#include "settings.h"

enum kind { BYTES, NUMBER, WHEN, OCTAL };

/* One row for each: how it is read, where it is kept, what it may be. */
static const struct hint {
	const char *key;
	enum kind kind;
	size_t at;
	long long low, high;
} hints[] = {
#define HINT(kind, field, low, high)                                      \
	{                                                                 \
#field, kind, offsetof(struct io_hints, field), low, high \
	}
	HINT(BYTES, cb_buffer_size, 4096, (long long)1 << 40),
	HINT(BYTES, ind_rd_buffer_size, 4096, (long long)1 << 40),
	HINT(BYTES, striping_unit, 1, (long long)1 << 40),
	HINT(NUMBER, cb_nodes, 1, 1 << 30),
	{ "romio_cb_write", WHEN, offsetof(struct io_hints, cb_write), 0, 0 },
	{ "romio_cb_read", WHEN, offsetof(struct io_hints, cb_read), 0, 0 },
	{ "romio_ds_read", WHEN, offsetof(struct io_hints, ds_read), 0, 0 },
	HINT(OCTAL, file_perm, 1, 07777),
#undef HINT
};
#define HINTS (sizeof(hints) / sizeof(*hints))

static const char *const when_words[] = { "automatic", "enable", "disable" };

void io_hints_default(struct io_hints *h)
{
	const struct o2g_settings *s = o2g_settings();
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*h = (struct io_hints){
		.cb_buffer_size = s->io_cb_buffer,
		.ind_rd_buffer_size = 4 << 20,
		.cb_nodes = s->io_cb_nodes,
		.cb_per_host = cpus < 1 ? 1 :
			       cpus > 8 ? 8 :
					  (int)cpus,
		.file_perm = 0666,
	};
}

static int when_of(const char *word)
{
	for (int i = 0; i < 3; i++)
		if (!strcmp(word, when_words[i]))
			return i;
	return -1;
}

static void take(struct io_hints *h, const struct hint *hint, const char *text)
{
	void *at = (char *)h + hint->at;
	char *end;
	long long v;

	if (hint->kind == WHEN) {
		v = when_of(text);
		if (v >= 0)
			*(int *)at = (int)v;
		return;
	}
	v = strtoll(text, &end, hint->kind == OCTAL ? 8 : 10);
	if (end == text || *end || v < hint->low || v > hint->high)
		return;
	if (hint->kind == BYTES)
		*(MPI_Count *)at = v;
	else
		*(int *)at = (int)v;
}

/* "*:2" of cb_config_list: so many aggregators on a host, or all with "*:*". */
static void take_config(struct io_hints *h, const char *text)
{
	char *end;
	long n;

	if (strncmp(text, "*:", 2) != 0)
		return;
	n = strtol(text + 2, &end, 10);
	if (!strcmp(text + 2, "*"))
		h->cb_per_host = 1 << 30;
	else if (end != text + 2 && !*end && n > 0 && n <= 1 << 30)
		h->cb_per_host = (int)n;
}

/* "collective_buffering" of the standard. */
static void take_buffering(struct io_hints *h, const char *text)
{
	bool yes = !strcmp(text, "true");

	if (yes || !strcmp(text, "false"))
		h->cb_write = h->cb_read = yes ? IO_ENABLE : IO_DISABLE;
}

void io_hints_take(struct io_hints *h, const struct mpii_info *info)
{
	const char *text = mpii_info_value(info, "collective_buffering");

	if (text)
		take_buffering(h, text);
	text = mpii_info_value(info, "cb_config_list");
	if (text)
		take_config(h, text);
	text = mpii_info_value(info, "cb_block_size");
	if (text)
		take(h, &hints[2], text);
	for (size_t i = 0; i < HINTS; i++) {
		text = mpii_info_value(info, hints[i].key);
		if (text)
			take(h, &hints[i], text);
	}
}

int io_hints_set(struct mpii_file *f, const struct mpii_info *info)
{
	struct io_hints h = f->hints;
	int err;

	if (info)
		io_hints_take(&h, info);
	err = io_spread(f, &h, sizeof(h));
	if (!err && memcmp(&h, &f->hints, sizeof(h)))
		io_cb_hints(f, &h);
	return err;
}

static bool describe(const struct io_hints *h, const struct hint *hint,
		     struct mpii_info *info)
{
	const void *at = (const char *)h + hint->at;
	char text[32];

	if (hint->kind == BYTES)
		snprintf(text, sizeof(text), "%lld",
			 (long long)*(const MPI_Count *)at);
	else if (hint->kind == WHEN)
		snprintf(text, sizeof(text), "%s", when_words[*(int *)at]);
	else
		snprintf(text, sizeof(text), hint->kind == OCTAL ? "%o" : "%d",
			 *(int *)at);
	return mpii_info_add(info, hint->key, text);
}

bool io_hints_describe(const struct mpii_file *f, struct mpii_info *info)
{
	struct io_hints h = f->hints;
	char text[32];

	h.cb_nodes = io_cb_nodes(f);
	h.striping_unit = io_cb_unit(f);
	for (size_t i = 0; i < HINTS; i++)
		if (!describe(&h, &hints[i], info))
			return false;
	snprintf(text, sizeof(text), "%lld", (long long)h.striping_unit);
	if (!mpii_info_add(info, "cb_block_size", text))
		return false;
	if (h.cb_per_host == 1 << 30)
		strcpy(text, "*:*");
	else
		snprintf(text, sizeof(text), "*:%d", h.cb_per_host);
	return mpii_info_add(info, "cb_config_list", text) &&
	       mpii_info_add(info, "collective_buffering",
			     h.cb_write == IO_DISABLE ? "false" : "true") &&
	       mpii_info_add(info, "romio_ds_write", "disable") &&
	       mpii_info_add(info, "filename", f->name);
}
