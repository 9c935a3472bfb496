/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Names that are files, in a directory of the user, which nobody else can read, or in the
 * one that O2G_NAMES names: one that hosts share makes names known on all of them. Whoever
 * has published it holds a lock on the file, so that a name whose process was killed is
 * seen to be nobody's, and is removed by whoever comes across it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/errors.h"
#include "process/names_in.h"
#include "settings.h"

#define PATH_SIZE 4096
#define PLAIN_MAX 100 /* characters of a name that fit into a file's, in hex */
#define TEXT_MAX (64 << 10)

/* --- where --- */

/* A directory that is ours alone. */
static int check_own(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
			       !(st.st_mode & 077) ?
		       0 :
		       -EPERM;
}

static int find_directory(char *dir, size_t size)
{
	const char *given = o2g_settings()->names;
	const char *run = getenv("XDG_RUNTIME_DIR");
	int err;

	if (given[0]) {
		snprintf(dir, size, "%s", given);
		return access(dir, R_OK | X_OK) ? -errno : 0;
	}
	if (run && run[0] == '/' && !access(run, W_OK | X_OK))
		snprintf(dir, size, "%s/o2g-names", run);
	else
		snprintf(dir, size, "/tmp/o2g-names-%u", (unsigned)geteuid());
	err = check_own(dir);
	return err;
}

static uint64_t hash(const char *s, uint64_t h)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
	return h;
}

/* Any bytes may be in a name, and any number of them. */
static void file_of(const char *dir, const char *service, char *path)
{
	int n = snprintf(path, PATH_SIZE - 256, "%s/", dir);

	if (strlen(service) > PLAIN_MAX) {
		sprintf(path + n, "long-%016llx%016llx",
			(unsigned long long)hash(service, 0xcbf29ce484222325),
			(unsigned long long)hash(service, 0x9e3779b97f4a7c15));
		return;
	}
	n += sprintf(path + n, "name-");
	for (; *service; service++)
		n += sprintf(path + n, "%02x", (unsigned char)*service);
}

static int where(const char *service, char *path)
{
	char dir[PATH_SIZE / 2];
	int err = find_directory(dir, sizeof(dir));

	if (err)
		return mpii_fail(
			MPI_ERR_OTHER,
			"the directory for names, %s, cannot be used: "
			"%s; O2G_NAMES names another",
			dir,
			err == -EPERM ?
				"it must be yours and closed to others" :
				strerror(-err));
	file_of(dir, service, path);
	return MPI_SUCCESS;
}

/* --- files --- */

/* Is nobody there who has published it? */
static bool is_stale(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB))
		return false;
	flock(fd, LOCK_UN);
	return true;
}

static void remove_if_stale(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return;
	if (is_stale(fd))
		unlink(path);
	close(fd);
}

/* A file with its content and lock, under a name that nobody looks for. */
static int write_file(const char *tmp, const char *service, const char *port)
{
	int fd = open(tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) ||
	    dprintf(fd, "%s%c%s%c", service, 0, port, 0) < 0) {
		err = -errno;
		close(fd);
	}
	return err ? err : fd;
}

/* A descriptor, or negative errno: -EEXIST. */
static int put(const char *path, const char *service, const char *port)
{
	char tmp[PATH_SIZE + 32];
	int fd, err = 0;

	snprintf(tmp, sizeof(tmp), "%s.%d", path, (int)getpid());
	unlink(tmp);
	fd = write_file(tmp, service, port);
	if (fd >= 0 && link(tmp, path)) {
		remove_if_stale(path);
		err = link(tmp, path) ? -errno : 0;
	}
	unlink(tmp);
	if (fd >= 0 && err)
		close(fd);
	return err ? err : fd;
}

/* The port of that service, malloc'ed; NULL: there is none. */
static char *read_port(const char *path, const char *service)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *text, *port = NULL;
	ssize_t n;

	if (fd < 0)
		return NULL;
	text = calloc(1, TEXT_MAX + 2);
	n = text ? read(fd, text, TEXT_MAX) : -1;
	if (n > 0 && !strcmp(text, service) && !is_stale(fd))
		port = strdup(text + strlen(text) + 1);
	free(text);
	close(fd);
	if (!port)
		remove_if_stale(path);
	return port;
}

static int publish(struct mpii_name *n)
{
	char file[PATH_SIZE];
	int err = where(n->service, file);

	if (err)
		return err;
	n->path = strdup(file);
	if (!n->path)
		return -ENOMEM;
	n->fd = put(file, n->service, n->port);
	return n->fd < 0 ? n->fd : 0;
}

static void forget(const struct mpii_name *n)
{
	unlink(n->path);
	close(n->fd);
}

static int lookup(const char *service, char **port)
{
	char file[PATH_SIZE];
	int err = where(service, file);

	if (err)
		return err;
	*port = read_port(file, service);
	return *port ? 0 : -ENOENT;
}

const struct mpii_names_place mpii_names_files = { publish, forget, lookup };
