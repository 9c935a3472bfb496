/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Keys, and the list of exports. */
#define _GNU_SOURCE
#include "fs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int complain(const char *what, const char *path)
{
	fprintf(stderr, "o2g fs: cannot %s %s: %s\n", what, path,
		strerror(errno));
	return -1;
}

static int write_key(int fd)
{
	unsigned char key[FS_KEY_SIZE];
	char text[2 * FS_KEY_SIZE + 2];

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return -1;
	for (int i = 0; i < FS_KEY_SIZE; i++)
		sprintf(text + 2 * i, "%02x", key[i]);
	strcat(text, "\n");
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
			       !fsync(fd) ?
		       0 :
		       -1;
}

int fs_key(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : FS_TOOL_KEY;
	int fd;

	if (argc > 2 || *path == '-') {
		fputs("usage: o2g fs key [FILE]\n", stderr);
		return 2;
	}
	/* Never over another: whoever has that one would be locked out. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		complain("make", path);
		return 1;
	}
	if (write_key(fd)) {
		complain("write", path);
		close(fd);
		unlink(path);
		return 1;
	}
	close(fd);
	printf("%s is the key; clients need a copy, and nobody else\n", path);
	return 0;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       isxdigit((unsigned char)c) ?
				      tolower((unsigned char)c) - 'a' + 10 :
				      -1;
}

static int decode(const char *text, ssize_t n, unsigned char *key)
{
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	if (n != 2 * FS_KEY_SIZE)
		return -1;
	for (int i = 0; i < FS_KEY_SIZE; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -1;
		key[i] = (unsigned char)(high << 4 | low);
	}
	return 0;
}

int fs_key_read(const char *path, unsigned char key[FS_KEY_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[256];
	struct stat st;
	ssize_t n = 0;

	if (fd < 0 || fstat(fd, &st) ||
	    (n = read(fd, text, sizeof(text))) < 0) {
		complain("read the key", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	close(fd);
	if (st.st_mode & 077) {
		fprintf(stderr,
			"o2g fs: others can read the key %s: chmod 600 %s\n",
			path, path);
		return -1;
	}
	if (!decode(text, n, key))
		return 0;
	fprintf(stderr,
		"o2g fs: %s is no key: 64 hexadecimal digits are expected\n",
		path);
	return -1;
}

/* --- exports --- */

static int list(const char *conf)
{
	char line[4096], name[64], path[1024];
	FILE *f = fopen(conf, "re");
	int at;

	if (!f) {
		complain("read", conf);
		return 1;
	}
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " export %63s %1023s %n", name, path, &at) >=
		    2)
			printf("%-16s %-40s %s", name, path, line + at);
	fclose(f);
	return 0;
}

/* The server reads it as a whole, and is asked whether it likes it. */
static int check(const char *conf)
{
	char command[4200];
	int rc;

	if (strchr(conf, '\''))
		return 0;
	snprintf(command, sizeof(command), "o2gfsd -t -f '%s'", conf);
	rc = system(command);
	return WIFEXITED(rc) && WEXITSTATUS(rc) == 127 ? 0 : rc;
}

static int append(const char *conf, int n, char **words)
{
	struct stat st;
	int fd = open(conf, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	FILE *f = fd < 0 || fstat(fd, &st) ? NULL : fdopen(fd, "a");

	if (!f) {
		complain("write", conf);
		return 1;
	}
	fputs("export", f);
	for (int i = 0; i < n; i++)
		fprintf(f, " %s", words[i]);
	fputs("\n", f);
	if (fclose(f)) {
		complain("write", conf);
		return 1;
	}
	if (!check(conf)) {
		puts("systemctl restart o2gfsd makes it so; clients that are there stay");
		return 0;
	}
	if (truncate(conf, st.st_size))
		complain("restore", conf);
	return 1;
}

static int words_are_clean(int n, char **words)
{
	for (int i = 0; i < n; i++)
		if (!*words[i] || strpbrk(words[i], " \t\n#")) {
			fprintf(stderr,
				"o2g fs: a name or path of an export has no blanks and no #: \"%s\"\n",
				words[i]);
			return 0;
		}
	return 1;
}

int fs_export(int argc, char **argv)
{
	const char *conf = FS_TOOL_CONF;
	int c;

	while ((c = getopt(argc, argv, "+f:")) >= 0) {
		if (c != 'f') {
			fputs("usage: o2g fs export [-f CONF] [NAME PATH [OPTION...]]\n",
			      stderr);
			return 2;
		}
		conf = optarg;
	}
	argc -= optind;
	argv += optind;
	if (!argc)
		return list(conf);
	if (argc < 2) {
		fputs("o2g fs: an export has a name and a path\n", stderr);
		return 2;
	}
	if (!words_are_clean(argc, argv))
		return 2;
	return append(conf, argc, argv);
}
