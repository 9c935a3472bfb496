/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "log.h"
#include "nearest.h"

struct range {
	int64_t low, high;
	bool zero; /* 0 is possible as well */
};

struct setting {
	enum o2g_setting_kind kind;
	const char *name; /* without O2G_ */
	const char *def;
	struct range range;
	const char *help;
	size_t offset;
};

/* What stands in the column of ranges. */
#define ANY INT64_MIN, INT64_MAX, false
#define RANGE(low, high) low, high, false
#define ZERO_OR(low, high) low, high, true

static const struct setting table[] = {
#define SETTING(kind_, field_, name_, def_, range_, help_) \
	{ .kind = O2G_SETTING_##kind_,                     \
	  .name = name_,                                   \
	  .def = def_,                                     \
	  .range = { range_ },                             \
	  .help = help_,                                   \
	  .offset = offsetof(struct o2g_settings, field_) },
#include "settings.def"
#undef SETTING
};

#define NSETTINGS (sizeof(table) / sizeof(table[0]))

/* Variables that are ours but are not settings: set by the launcher, or for the
 * compiler wrappers. */
static const char *const not_settings[] = { "O2G_JOB",	    "O2G_SPAWN_KEYS",
					    "O2G_LAUNCHER", "O2G_SHM_HALL",
					    "O2G_STATE_FD", "O2G_STATE_PIECE",
					    "O2G_CC",	    "O2G_CXX",
					    "O2G_FC" };

static struct o2g_settings values;
/* The text of each in the environment, where it was taken. */
static const char *given[NSETTINGS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

int o2g_parse_size(const char *text, uint64_t *value)
{
	char *end;
	uint64_t v;
	unsigned shift = 0;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno)
		return -EINVAL;
	switch (tolower((unsigned char)*end)) {
	case 'k':
		shift = 10;
		break;
	case 'm':
		shift = 20;
		break;
	case 'g':
		shift = 30;
		break;
	case '\0':
		break;
	default:
		return -EINVAL;
	}
	if (shift && end[1] && strcasecmp(end + 1, "b") &&
	    strcasecmp(end + 1, "ib"))
		return -EINVAL;
	if (v > UINT64_MAX >> shift)
		return -EINVAL;
	*value = v << shift;
	return 0;
}

static int parse_int(const char *text, int64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	return errno || end == text || *end ? -EINVAL : 0;
}

static int parse_bool(const char *text, bool *value)
{
	static const char *const yes[] = { "1", "yes", "true", "on" };
	static const char *const no[] = { "0", "no", "false", "off" };

	for (int i = 0; i < 4; i++) {
		if (!strcasecmp(text, yes[i]) || !strcasecmp(text, no[i])) {
			*value = !strcasecmp(text, yes[i]);
			return 0;
		}
	}
	return -EINVAL;
}

static void *field_of(const struct setting *s)
{
	return (char *)&values + s->offset;
}

static bool is_number(const struct setting *s)
{
	return s->kind == O2G_SETTING_INT || s->kind == O2G_SETTING_SIZE;
}

static int assign(const struct setting *s, const char *text)
{
	void *field = field_of(s);

	switch (s->kind) {
	case O2G_SETTING_STR:
	case O2G_SETTING_LIST:
		*(const char **)field = text;
		return 0;
	case O2G_SETTING_INT:
		return parse_int(text, field);
	case O2G_SETTING_SIZE:
		return o2g_parse_size(text, field);
	case O2G_SETTING_BOOL:
		return parse_bool(text, field);
	}
	return -EINVAL;
}

/* Into the range, and say so. Sizes above INT64_MAX count as that. */
static void limit(const struct setting *s, int64_t *value)
{
	int64_t v = s->kind == O2G_SETTING_SIZE && *value < 0 ? INT64_MAX :
								*value;
	const struct range *r = &s->range;

	if ((!v && r->zero) || (v >= r->low && v <= r->high))
		return;
	*value = v < r->low ? r->low : r->high;
	o2g_warn("O2G_%s is %lld, but %s%lld to %lld is possible; using %lld",
		 s->name, (long long)v, r->zero ? "0 or " : "",
		 (long long)r->low, (long long)r->high, (long long)*value);
}

/* Take @text, which stays, for a value. */
static int give(size_t index, const char *text)
{
	const struct setting *s = &table[index];

	if (assign(s, text))
		return -EINVAL;
	given[index] = text;
	if (is_number(s))
		limit(s, field_of(s));
	return 0;
}

static void variable(size_t index, char var[64])
{
	snprintf(var, 64, "O2G_%s", table[index].name);
}

static const char *expected(enum o2g_setting_kind kind)
{
	switch (kind) {
	case O2G_SETTING_INT:
		return "a whole number";
	case O2G_SETTING_SIZE:
		return "a size such as 65536, 64k or 4M";
	case O2G_SETTING_BOOL:
		return "0 or 1";
	default:
		return "text";
	}
}

static bool is_known(const char *var, size_t len)
{
	for (size_t i = 0; i < NSETTINGS; i++)
		if (strlen(table[i].name) == len - 4 &&
		    !strncmp(table[i].name, var + 4, len - 4))
			return true;
	for (size_t i = 0; i < sizeof(not_settings) / sizeof(char *); i++)
		if (strlen(not_settings[i]) == len &&
		    !strncmp(not_settings[i], var, len))
			return true;
	return false;
}

static void warn_unknown(const char *var, size_t len)
{
	char name[64];
	const char *best = NULL;
	unsigned best_distance = 99;

	if (len - 4 >= sizeof(name))
		len = sizeof(name) + 3;
	memcpy(name, var + 4, len - 4);
	name[len - 4] = '\0';
	for (size_t i = 0; i < NSETTINGS; i++) {
		unsigned d = o2g_distance(name, table[i].name);

		if (d < best_distance) {
			best_distance = d;
			best = table[i].name;
		}
	}
	o2g_warn(
		"O2G_%s is not a setting and is ignored; did you mean O2G_%s? `o2g info` lists all",
		name, best);
}

static void check_names(void)
{
	extern char **environ;

	for (char **e = environ; e && *e; e++) {
		const char *eq = strchr(*e, '=');

		if (!eq || strncmp(*e, "O2G_", 4))
			continue;
		if (!is_known(*e, eq - *e))
			warn_unknown(*e, eq - *e);
	}
}

/* What stands in for a value that is not understood: of a setting that protects,
 * the protection. */
static const char *fallback(const struct setting *s)
{
	return field_of(s) == (void *)&values.encrypt ? "1" : s->def;
}

static void read_one(size_t index)
{
	const struct setting *s = &table[index];
	const char *text;
	char var[64];

	assign(s, s->def);
	variable(index, var);
	text = getenv(var);
	if (!text || give(index, text) == 0)
		return;
	assign(s, fallback(s));
	o2g_warn("%s is \"%s\", but %s is expected; using %s", var, text,
		 expected(s->kind), fallback(s));
}

static void read_all(void)
{
	for (size_t i = 0; i < NSETTINGS; i++)
		read_one(i);
	o2g_log_set_level(values.log);
	check_names();
}

const struct o2g_settings *o2g_settings(void)
{
	pthread_once(&once, read_all);
	return &values;
}

bool o2g_setting_given(const void *value)
{
	size_t offset = (const char *)value - (const char *)o2g_settings();

	for (size_t i = 0; i < NSETTINGS; i++)
		if (table[i].offset == offset)
			return given[i];
	return false;
}

void o2g_settings_each(void (*fn)(const char *, const char *, const char *,
				  const char *, void *),
		       void *arg)
{
	char var[64];

	o2g_settings();
	for (size_t i = 0; i < NSETTINGS; i++) {
		variable(i, var);
		fn(var, given[i] ? given[i] : table[i].def,
		   given[i] ? "environment" : "default", table[i].help, arg);
	}
}

bool o2g_setting(size_t index, struct o2g_setting *s)
{
	const struct o2g_settings *all = o2g_settings();

	if (index >= NSETTINGS)
		return false;
	s->kind = table[index].kind;
	s->name = table[index].name;
	s->help = table[index].help;
	s->value = (const char *)all + table[index].offset;
	return true;
}

int o2g_setting_set(size_t index, const char *text)
{
	char var[64];

	o2g_settings();
	if (index >= NSETTINGS || assign(&table[index], text))
		return -EINVAL;
	/* The environment keeps the text, for others who ask and for children. */
	variable(index, var);
	if (setenv(var, text, 1))
		return -EINVAL;
	return give(index, getenv(var));
}

bool o2g_list_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	while (*list) {
		size_t len = strcspn(list, ",");

		if (len == n && !strncmp(list, word, n))
			return true;
		list += len;
		list += *list == ',';
	}
	return false;
}
