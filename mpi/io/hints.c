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

/* BYTES: an MPI_Count. WHEN: enum io_when. HOSTS: "*:2", so many on a host, or all
 * with "*:*". BOTH: the standard's word for both directions. STYLE: words with
 * commas between. FIXED: told, not taken. */
enum kind { BYTES, NUMBER, OCTAL, WHEN, HOSTS, BOTH, STYLE, FIXED };

static const struct hint {
	const char *key;
	enum kind kind;
	size_t at;
	long long low, high;
} hints[] = {
#define HINT(name, kind, field, low, high, preset, meaning) \
	{ #name, kind, offsetof(struct io_hints, field), low, high },
#include "io/hints.def"
#undef HINT
};
#define HINTS (sizeof(hints) / sizeof(*hints))
#define ALL_OF_HOST (1 << 30)

static const char *const when_words[] = { "automatic", "enable", "disable" };

/* Bit i of access_style. */
static const char *const styles[] = {
	"read_once",	      "sequential",  "random",
	"write_once",	      "read_mostly", "write_mostly",
	"reverse_sequential",
};
#define STYLES (sizeof(styles) / sizeof(*styles))
#define STYLE_ROOM 96 /* all of them, with commas */

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

/* "true" or "false", for both directions. */
static void take_both(struct io_hints *h, const char *text)
{
	bool yes = !strcmp(text, "true");

	if (yes || !strcmp(text, "false"))
		h->cb_write = h->cb_read = yes ? IO_ENABLE : IO_DISABLE;
}

/* The words that there are count; others are left out. */
static void take_style(struct io_hints *h, const char *text)
{
	size_t n;
	int bits = 0;

	for (; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		for (size_t i = 0; i < STYLES; i++)
			if (strlen(styles[i]) == n &&
			    !strncmp(text, styles[i], n))
				bits |= 1 << i;
	}
	if (bits)
		h->access_style = bits;
}

static void describe_style(const struct io_hints *h, char *text, size_t room)
{
	int n = 0;

	for (size_t i = 0; i < STYLES; i++)
		if (h->access_style >> i & 1)
			n += snprintf(text + n, room - n, "%s%s", n ? "," : "",
				      styles[i]);
}

static void take_number(struct io_hints *h, const struct hint *hint,
			const char *text)
{
	void *at = (char *)h + hint->at;
	char *end;
	long long v = strtoll(text, &end, hint->kind == OCTAL ? 8 : 10);

	if (end == text || *end || v < hint->low || v > hint->high)
		return;
	if (hint->kind == BYTES)
		*(MPI_Count *)at = v;
	else
		*(int *)at = (int)v;
}

static void take(struct io_hints *h, const struct hint *hint, const char *text)
{
	int v;

	switch (hint->kind) {
	case WHEN:
		v = when_of(text);
		if (v >= 0)
			*(int *)((char *)h + hint->at) = v;
		break;
	case HOSTS:
		if (!strcmp(text, "*:*"))
			h->cb_per_host = ALL_OF_HOST;
		else if (!strncmp(text, "*:", 2))
			take_number(h, hint, text + 2);
		break;
	case BOTH:
		take_both(h, text);
		break;
	case STYLE:
		take_style(h, text);
		break;
	case FIXED:
		break;
	default:
		take_number(h, hint, text);
	}
}

/* Of two names for one thing the later row counts. */
void io_hints_take(struct io_hints *h, const struct mpii_info *info)
{
	for (size_t i = 0; i < HINTS; i++) {
		const char *text = mpii_info_value(info, hints[i].key);

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

static void describe(const struct io_hints *h, const struct hint *hint,
		     char *text, size_t room)
{
	const void *at = (const char *)h + hint->at;

	if (hint->kind == BYTES)
		snprintf(text, room, "%lld", (long long)*(const MPI_Count *)at);
	else if (hint->kind == WHEN)
		snprintf(text, room, "%s", when_words[*(const int *)at]);
	else if (hint->kind == BOTH)
		snprintf(text, room, "%s",
			 h->cb_write == IO_DISABLE ? "false" : "true");
	else if (hint->kind == STYLE)
		describe_style(h, text, room);
	else if (hint->kind == FIXED)
		snprintf(text, room, "disable");
	else if (hint->kind == HOSTS && h->cb_per_host == ALL_OF_HOST)
		snprintf(text, room, "*:*");
	else
		snprintf(text, room,
			 hint->kind == OCTAL ? "%o" :
			 hint->kind == HOSTS ? "*:%d" :
					       "%d",
			 *(const int *)at);
}

bool io_hints_describe(const struct mpii_file *f, struct mpii_info *info)
{
	struct io_hints h = f->hints;
	char text[STYLE_ROOM];

	h.cb_nodes = io_cb_nodes(f);
	h.striping_unit = io_cb_unit(f);
	for (size_t i = 0; i < HINTS; i++) {
		text[0] = '\0';
		describe(&h, &hints[i], text, sizeof(text));
		if (text[0] && !mpii_info_add(info, hints[i].key, text))
			return false;
	}
	return mpii_info_add(info, "filename", f->name);
}
