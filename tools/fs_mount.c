/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Mounting. The kernel looks no names up and opens no files: we find the address, and put
 * the key into a keyring, from where 9pnet_o2g.ko takes it.
 */
#define _GNU_SOURCE
#include "fs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/keyctl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

struct mounting {
	const char *key_file, *dir;
	char host[256], name[1024];
	char ours[256]; /* options of the transport: in the source, */
	char *theirs;	/* ... and of 9p */
	unsigned long flags;
};

static int fail(const char *what, const char *which)
{
	fprintf(stderr, "o2g fs: %s: \"%s\"\n", what, which);
	return -1;
}

/* SERVER[:NAME]; an IPv6 address is in brackets. */
static int split_server(struct mounting *m, const char *text)
{
	const char *end, *host = text;

	if (*text == '[') {
		host++;
		end = strchr(text, ']');
		text = end ? end + 1 : NULL;
	} else {
		end = text + strcspn(text, ":");
		text = end;
	}
	if (!text || (*text && *text != ':') || end == host)
		return fail("SERVER or SERVER:NAME is expected", host);
	if ((size_t)(end - host) >= sizeof(m->host) ||
	    strlen(text) >= sizeof(m->name))
		return fail("this is too long", host);
	memcpy(m->host, host, (size_t)(end - host));
	m->host[end - host] = '\0';
	strcpy(m->name, *text ? text + 1 : "");
	return strchr(m->name, ',') ? fail("a name has no comma", m->name) : 0;
}

static int find_address(const char *host, char *text, size_t size)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	int err = getaddrinfo(host, NULL, &hints, &found);

	if (!err)
		err = getnameinfo(found->ai_addr, found->ai_addrlen, text,
				  (socklen_t)size, NULL, 0, NI_NUMERICHOST);
	if (!err)
		freeaddrinfo(found);
	if (!err)
		return 0;
	fprintf(stderr, "o2g fs: there is no host %s: %s\n", host,
		gai_strerror(err));
	return -1;
}

/* --- options --- */

static const struct {
	const char *name;
	unsigned long set, clear;
} flag_words[] = {
	{ "ro", MS_RDONLY, 0 },	      { "rw", 0, MS_RDONLY },
	{ "nosuid", MS_NOSUID, 0 },   { "suid", 0, MS_NOSUID },
	{ "nodev", MS_NODEV, 0 },     { "dev", 0, MS_NODEV },
	{ "noexec", MS_NOEXEC, 0 },   { "exec", 0, MS_NOEXEC },
	{ "noatime", MS_NOATIME, 0 }, { "sync", MS_SYNCHRONOUS, 0 },
};

static int is_ours(const char *word)
{
	return !strcmp(word, "hard") || !strcmp(word, "soft") ||
	       !strncmp(word, "soft=", 5) || !strncmp(word, "port=", 5);
}

static int add_option(struct mounting *m, const char *word)
{
	size_t n;

	for (size_t i = 0; i < sizeof(flag_words) / sizeof(flag_words[0]); i++)
		if (!strcmp(word, flag_words[i].name)) {
			m->flags |= flag_words[i].set;
			m->flags &= ~flag_words[i].clear;
			return 0;
		}
	if (!is_ours(word)) {
		strcat(m->theirs, ",");
		strcat(m->theirs, word);
		return 0;
	}
	n = strlen(m->ours);
	if (strchr(word, ';') || n + strlen(word) + 2 > sizeof(m->ours))
		return fail("no such option", word);
	sprintf(m->ours + n, ";%s", word);
	return 0;
}

static int add_options(struct mounting *m, char *words)
{
	char *rest = NULL;
	int err = 0;

	for (char *w = strtok_r(words, ",", &rest); w && !err;
	     w = strtok_r(NULL, ",", &rest))
		err = add_option(m, w);
	return err;
}

/* --- the key --- */

/* Its name in the keyring is the server's, so that several mounts do not meet. */
static int add_key(const struct mounting *m, const char *name)
{
	unsigned char key[FS_KEY_SIZE];
	char what[300];
	long id;

	if (fs_key_read(m->key_file, key))
		return -1;
	snprintf(what, sizeof(what), "o2gfs:%s", name);
	id = syscall(SYS_add_key, "logon", what, key, sizeof(key),
		     KEY_SPEC_SESSION_KEYRING);
	explicit_bzero(key, sizeof(key));
	if (id >= 0)
		return (int)id;
	fprintf(stderr, "o2g fs: cannot give the key to the kernel: %s\n",
		strerror(errno));
	return -1;
}

/* The mount has its own copy by now. */
static void drop_key(int id)
{
	syscall(SYS_keyctl, KEYCTL_UNLINK, id, KEY_SPEC_SESSION_KEYRING);
}

static void explain(const struct mounting *m, int err)
{
	fprintf(stderr, "o2g fs: cannot mount %s at %s: %s%s\n", m->host,
		m->dir, strerror(err),
		err == ENODEV || err == EPROTONOSUPPORT ?
			"; load 9p and 9pnet_o2g.ko" :
		err == EPERM ? "; it takes root" :
			       "; dmesg may say more");
}

static int mount_it(struct mounting *m)
{
	char address[INET6_ADDRSTRLEN + 20], source[1024], data[4096];
	int id, err = 0;

	if (find_address(m->host, address, sizeof(address)))
		return 1;
	id = add_key(m, address);
	if (id < 0)
		return 1;
	snprintf(source, sizeof(source), "%s;key=%s%s", address, address,
		 m->ours);
	snprintf(data, sizeof(data), "trans=o2g,version=9p2000.L%s%s%s",
		 *m->name ? ",aname=" : "", m->name, m->theirs);
	if (mount(source, m->dir, "9p", m->flags, data))
		err = errno;
	drop_key(id);
	if (err)
		explain(m, err);
	return err ? 1 : 0;
}

static int read_arguments(struct mounting *m, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+k:o:")) >= 0)
		if (c == 'k')
			m->key_file = optarg;
		else if (c != 'o' || add_options(m, optarg))
			return 2;
	if (argc - optind != 2) {
		fputs("usage: o2g fs mount [-k KEY] [-o OPTIONS] SERVER[:NAME] DIR\n",
		      stderr);
		return 2;
	}
	m->dir = argv[optind + 1];
	return split_server(m, argv[optind]) ? 2 : 0;
}

int fs_mount(int argc, char **argv)
{
	struct mounting m = { .key_file = FS_TOOL_KEY,
			      .flags = MS_NODEV | MS_NOSUID };
	size_t room = 1;
	int rc;

	for (int i = 0; i < argc; i++)
		room += strlen(argv[i]) + 2;
	m.theirs = calloc(1, 2 * room);
	if (!m.theirs)
		return 1;
	rc = read_arguments(&m, argc, argv);
	if (!rc && strlen(m.theirs) > 2000)
		rc = fail("so many options", m.theirs) ? 2 : 0;
	if (!rc)
		rc = mount_it(&m);
	free(m.theirs);
	return rc;
}

int fs_umount(int argc, char **argv)
{
	int force = argc > 1 && !strcmp(argv[1], "-f");

	if (argc != 2 + force) {
		fputs("usage: o2g fs umount [-f] DIR\n", stderr);
		return 2;
	}
	if (!umount2(argv[1 + force], force ? MNT_FORCE | MNT_DETACH : 0))
		return 0;
	fprintf(stderr, "o2g fs: cannot unmount %s: %s%s\n", argv[1 + force],
		strerror(errno),
		errno == EBUSY ? "; `fuser -vm` says by whom it is used" : "");
	return 1;
}
