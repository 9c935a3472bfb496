/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The O2G_ variables. settings.def lists them; everything else is made from
 * that list: the struct, its reading, `o2g info`, the check for unknown names.
 */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seen by libmpi, which shares the one copy inside libo2g. */
#pragma GCC visibility push(default)

struct o2g_settings {
#define SETTING_TYPE_STR const char *
#define SETTING_TYPE_LIST const char *
#define SETTING_TYPE_INT int64_t
#define SETTING_TYPE_SIZE uint64_t
#define SETTING_TYPE_BOOL bool
#define SETTING(kind, field, name, def, range, help) SETTING_TYPE_##kind field;
#include "settings.def"
#undef SETTING
};

/* Read from the environment on first use; warns about what it cannot read and
 * about unknown O2G_ names, naming the nearest real one. */
const struct o2g_settings *o2g_settings(void);

/* Has the user set it? @value is its address in o2g_settings(). */
bool o2g_setting_given(const void *value);

/* For `o2g info`: calls fn for every setting. source is "default" or
 * "environment". */
void o2g_settings_each(void (*fn)(const char *name, const char *value,
				  const char *source, const char *help,
				  void *arg),
		       void *arg);

/* The same one by one, with the value as it is stored: SIZE as uint64_t, INT as
 * int64_t, BOOL as bool, the others as const char *. */
enum o2g_setting_kind {
	O2G_SETTING_STR,
	O2G_SETTING_LIST,
	O2G_SETTING_INT,
	O2G_SETTING_SIZE,
	O2G_SETTING_BOOL
};
struct o2g_setting {
	enum o2g_setting_kind kind;
	const char *name; /* without O2G_ */
	const char *help;
	const void *value;
};
/* False: there are no more. */
bool o2g_setting(size_t index, struct o2g_setting *s);
/* Give it another value, as text. Only before anything was opened: what has
 * been read by then stays as it is. 0 or -EINVAL. */
int o2g_setting_set(size_t index, const char *text);

/* Is @word in the comma-separated @list? */
bool o2g_list_has(const char *list, const char *word);

/* "64k", "4M", "1g", "123". 0 or -EINVAL. */
int o2g_parse_size(const char *text, uint64_t *value);

#pragma GCC visibility pop

#endif
