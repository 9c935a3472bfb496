/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#define _GNU_SOURCE
#include "conf.h"

#include <ctype.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fsd_log.h"
#include "o2g.h"

#define DEFAULT_CONF "/etc/o2gfsd.conf"
#define NOBODY 65534
#define BLANKS " \t\r\n"

void fsd_conf_init(struct fsd_conf *c)
{
	memset(c, 0, sizeof(*c));
	snprintf(c->listen, sizeof(c->listen), ":%d", FS_PORT);
	strcpy(c->key_file, "/etc/o2gfs.key");
	strcpy(c->state_dir, "/var/lib/o2gfsd");
	strcpy(c->socket, "/run/o2gfsd.sock");
	c->threads = 16;
	c->limits = (struct fsd_limits){ .fids = 1 << 18,
					 .sessions = 1024,
					 .msize = FS_MSIZE_DEFAULT,
					 .keep_s = 24 * 3600,
					 .grace_s = 90 };
}

void fsd_conf_cleanup(struct fsd_conf *c)
{
	while (c->exports) {
		struct fsd_export *e = c->exports;

		c->exports = e->next;
		free(e);
	}
}

/* --- words --- */

static int bad(const char *where, const char *what, const char *word)
{
	fsd_error("%s: %s: \"%s\"", where, what, word ? word : "");
	return -EINVAL;
}

static int set_text(char *to, size_t size, const char *word, const char *where)
{
	if (!word)
		return bad(where, "a word is missing at the end", NULL);
	if (strlen(word) >= size)
		return bad(where, "this is too long", word);
	strcpy(to, word);
	return 0;
}

static int set_number(u32 *to, const char *word, u32 low, u32 high,
		      const char *where)
{
	char *end;
	unsigned long v;

	if (!word || !isdigit((unsigned char)*word))
		return bad(where, "a number is expected", word);
	v = strtoul(word, &end, 10);
	if (*end == 'k' || *end == 'M') {
		v <<= *end == 'k' ? 10 : 20;
		end++;
	}
	if (*end || v < low || v > high) {
		fsd_error("%s: \"%s\" is not a number from %u to %u", where,
			  word, low, high);
		return -EINVAL;
	}
	*to = (u32)v;
	return 0;
}

static int set_squash(struct fsd_export *e, const char *word, const char *where)
{
	if (!strcmp(word, "root"))
		e->squash = FSD_SQUASH_ROOT;
	else if (!strcmp(word, "none"))
		e->squash = FSD_SQUASH_NONE;
	else if (!strcmp(word, "all"))
		e->squash = FSD_SQUASH_ALL;
	else
		return bad(where, "squash is root, none or all, not", word);
	return 0;
}

static int set_anon(struct fsd_export *e, const char *word, const char *where)
{
	unsigned uid, gid;
	char end;

	if (sscanf(word, "%u:%u%c", &uid, &gid, &end) != 2)
		return bad(where, "anon is UID:GID, not", word);
	e->anon_uid = uid;
	e->anon_gid = gid;
	return 0;
}

static int export_option(struct fsd_export *e, const char *word,
			 const char *where)
{
	const char *value = strchr(word, '=');

	value = value ? value + 1 : "";
	if (!strcmp(word, "ro"))
		e->read_only = true;
	else if (!strcmp(word, "rw"))
		e->read_only = false;
	else if (!strcmp(word, "one-fs"))
		e->one_fs = true;
	else if (!strncmp(word, "squash=", 7))
		return set_squash(e, value, where);
	else if (!strncmp(word, "anon=", 5))
		return set_anon(e, value, where);
	else if (!strncmp(word, "key=", 4))
		return set_text(e->key_file, sizeof(e->key_file), value, where);
	else if (!strncmp(word, "listen=", 7))
		return set_text(e->listen, sizeof(e->listen), value, where);
	else
		return bad(where, "an export has no such option", word);
	return 0;
}

static int fill_export(struct fsd_export *e, char **rest, const char *where)
{
	const char *word;
	int err = set_text(e->name, sizeof(e->name),
			   strtok_r(NULL, BLANKS, rest), where);

	if (!err)
		err = set_text(e->path, sizeof(e->path),
			       strtok_r(NULL, BLANKS, rest), where);
	if (!err && (e->path[0] != '/' || strchr(e->name, '/')))
		err = bad(
			where,
			"an export has a name without / and a path that begins with it, not",
			e->path);
	while (!err && (word = strtok_r(NULL, BLANKS, rest)))
		err = export_option(e, word, where);
	if (!err && !e->key_file[0] != !e->listen[0])
		err = bad(
			where,
			"an export with a key of its own also has a listen= of its own, and the other way round",
			e->name);
	return err;
}

static int add_export(struct fsd_conf *c, char **rest, const char *where)
{
	struct fsd_export *e = calloc(1, sizeof(*e)), **at = &c->exports;
	int err = -ENOMEM;

	if (e) {
		e->root = -1;
		e->anon_uid = NOBODY;
		e->anon_gid = NOBODY;
		err = fill_export(e, rest, where);
	}
	for (; !err && *at; at = &(*at)->next)
		if (!strcmp((*at)->name, e->name))
			err = bad(where, "there are two exports of this name",
				  e->name);
	if (err)
		free(e);
	else
		*at = e;
	return err;
}

static int set_log(const char *word, const char *where)
{
	static const char *const words[] = { "error", "warn", "info", "debug" };

	for (int i = 0; word && i < 4; i++)
		if (!strcmp(word, words[i])) {
			fsd_log_level = (enum fsd_level)i;
			return 0;
		}
	return bad(where, "log is error, warn, info or debug, not", word);
}

/* --- lines --- */

static int setting(struct fsd_conf *c, const char *name, const char *value,
		   const char *where)
{
	const struct {
		const char *name;
		u32 *to, low, high;
	} numbers[] = {
		{ "threads", &c->threads, 1, 256 },
		{ "fids", &c->limits.fids, 16, 1 << 20 },
		{ "clients", &c->limits.sessions, 1, 65536 },
		{ "msize", &c->limits.msize, FS_MSIZE_MIN, FS_MSIZE_MAX },
		{ "keep", &c->limits.keep_s, 1, 365 * 24 * 3600 },
		{ "grace", &c->limits.grace_s, 1, 24 * 3600 },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(name, numbers[i].name))
			return set_number(numbers[i].to, value, numbers[i].low,
					  numbers[i].high, where);
	if (!strcmp(name, "listen"))
		return set_text(c->listen, sizeof(c->listen), value, where);
	if (!strcmp(name, "key"))
		return set_text(c->key_file, sizeof(c->key_file), value, where);
	if (!strcmp(name, "state"))
		return set_text(c->state_dir, sizeof(c->state_dir),
				value && !strcmp(value, "none") ? "" : value,
				where);
	if (!strcmp(name, "socket"))
		return set_text(c->socket, sizeof(c->socket),
				value && !strcmp(value, "none") ? "" : value,
				where);
	if (!strcmp(name, "log"))
		return set_log(value, where);
	return bad(where, "there is no such setting", name);
}

int fsd_conf_line(struct fsd_conf *c, char *line, const char *where)
{
	char *hash = strchr(line, '#'), *rest = NULL, *name, *value;
	int err;

	if (hash && (hash == line || isspace((unsigned char)hash[-1])))
		*hash = '\0';
	name = strtok_r(line, BLANKS, &rest);
	if (!name)
		return 0;
	if (!strcmp(name, "export"))
		return add_export(c, &rest, where);
	value = strtok_r(NULL, BLANKS, &rest);
	err = setting(c, name, value, where);
	if (!err && (value = strtok_r(NULL, BLANKS, &rest)))
		err = bad(where, "what is this doing at the end of the line",
			  value);
	return err;
}

int fsd_conf_file(struct fsd_conf *c, const char *path)
{
	char line[4096], where[600];
	FILE *f = fopen(path, "re");
	int err = 0;

	if (!f) {
		fsd_error("cannot read %s: %s", path, strerror(errno));
		return -errno;
	}
	for (int n = 1; !err && fgets(line, sizeof(line), f); n++) {
		snprintf(where, sizeof(where), "%s, line %d", path, n);
		if (!strchr(line, '\n') && !feof(f))
			err = bad(where, "this line is too long", "");
		else
			err = fsd_conf_line(c, line, where);
	}
	fclose(f);
	return err;
}

/* --- options --- */

static const char usage[] =
	"usage: o2gfsd [options]\n\n"
	"  -f, --config FILE     settings and exports (/etc/o2gfsd.conf); none: no file\n"
	"  -e, --export \"NAME PATH [OPTIONS]\"   another export\n"
	"  -l, --listen [ADDRESS]:PORT   where clients come in (:5640)\n"
	"  -k, --key FILE        the key that clients need; `o2g fs key` makes one\n"
	"  -s, --state DIR       what outlives a restart; none: nothing\n"
	"  -S, --socket PATH     for `o2g fs status`; none: no socket\n"
	"  -o, --option \"NAME VALUE\"   any other setting of the file\n"
	"  -t, --check           read the configuration, say what is wrong, and end\n"
	"  -v, --verbose         say more\n"
	"  -V, --version, -h, --help\n\n"
	"See o2gfsd(8).\n";

static const struct option options[] = {
	{ "config", 1, NULL, 'f' },  { "export", 1, NULL, 'e' },
	{ "listen", 1, NULL, 'l' },  { "key", 1, NULL, 'k' },
	{ "state", 1, NULL, 's' },   { "socket", 1, NULL, 'S' },
	{ "option", 1, NULL, 'o' },  { "check", 0, NULL, 't' },
	{ "verbose", 0, NULL, 'v' }, { "version", 0, NULL, 'V' },
	{ "help", 0, NULL, 'h' },    { NULL, 0, NULL, 0 }
};
static const char letters[] = "f:e:l:k:s:S:o:tvVh";

/* An option is a line of the file in other words. */
static int as_line(struct fsd_conf *c, const char *name, const char *value)
{
	char line[4096];

	if (snprintf(line, sizeof(line), "%s %s", name, value) >=
	    (int)sizeof(line))
		return bad("command line", "this is too long", name);
	return fsd_conf_line(c, line, "command line");
}

static int option(struct fsd_conf *c, int letter, const char *value)
{
	switch (letter) {
	case 'e':
		return as_line(c, "export", value);
	case 'l':
		return as_line(c, "listen", value);
	case 'k':
		return as_line(c, "key", value);
	case 's':
		return as_line(c, "state", value);
	case 'S':
		return as_line(c, "socket", value);
	case 'o':
		return as_line(c, value, "");
	case 't':
		c->check_only = true;
		return 0;
	case 'v':
		fsd_log_level = FSD_DEBUG;
		return 0;
	case 'f':
		return 0;
	case 'V':
		puts("o2gfsd " O2G_VERSION);
		return 1;
	case 'h':
		fputs(usage, stdout);
		return 1;
	default:
		fputs("o2gfsd: `o2gfsd --help` lists the options\n", stderr);
		return -EINVAL;
	}
}

/* The file comes first, wherever it is named. */
static int read_file(struct fsd_conf *c, int argc, char **argv)
{
	const char *path = NULL;
	int letter;

	opterr = 0;
	optind = 1;
	while ((letter = getopt_long(argc, argv, letters, options, NULL)) >= 0)
		if (letter == 'f')
			path = optarg;
	opterr = 1;
	optind = 1;
	if (path && !strcmp(path, "none"))
		return 0;
	if (!path && access(DEFAULT_CONF, F_OK))
		return 0;
	return fsd_conf_file(c, path ? path : DEFAULT_CONF);
}

int fsd_conf_args(struct fsd_conf *c, int argc, char **argv)
{
	int letter, err = read_file(c, argc, argv);

	while (!err &&
	       (letter = getopt_long(argc, argv, letters, options, NULL)) >= 0)
		err = option(c, letter, optarg);
	if (!err && optind < argc)
		err = bad("command line", "this is no option", argv[optind]);
	if (!err && !c->exports) {
		fsd_error(
			"nothing is exported: write \"export NAME PATH\" to %s, or give -e",
			DEFAULT_CONF);
		err = -EINVAL;
	}
	return err;
}

/* --- keys --- */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

static int decode(const char *text, ssize_t n, unsigned char *key)
{
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	if (n != 2 * O2G_SECRET_SIZE)
		return -EINVAL;
	for (int i = 0; i < O2G_SECRET_SIZE; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		key[i] = (unsigned char)(high << 4 | low);
	}
	return 0;
}

int fsd_key_read(const char *path, unsigned char *key)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[256];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) ||
	    (n = read(fd, text, sizeof(text))) < 0) {
		int err = -errno;

		fsd_error(
			"cannot read the key %s: %s; `o2g fs key %s` makes one",
			path, strerror(-err), path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	close(fd);
	if (st.st_mode & 077) {
		fsd_error("others can read the key %s: chmod 600 %s", path,
			  path);
		return -EACCES;
	}
	if (!decode(text, n, key))
		return 0;
	fsd_error("%s is no key: 64 hexadecimal digits are expected", path);
	return -EINVAL;
}
