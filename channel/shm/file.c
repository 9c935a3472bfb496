/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Files of segments. Nothing may be left behind by a process that is killed, so a
 * segment has no name where that is possible: it is a memfd, or a nameless file
 * in O2G_SHM_DIR when the user asks for that directory, and others open it as
 * /proc/PID/fd/N. Where /proc does not allow that it is a named file, locked
 * while its owner lives; whoever opens a segment in that directory later
 * removes the ones whose lock is free.
 */
#define _GNU_SOURCE
#include "shm.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_PREFIX "o2g-shm."

/* fallocate(2) and not posix_fallocate(3), which would write to the file where
 * the file system cannot allocate, perhaps over what a sender put there. */
int shm_file_allocate(int fd, u64 off, u64 len)
{
	while (fallocate(fd, 0, off, len))
		if (errno != EINTR)
			return -errno;
	return 0;
}

static bool proc_works(int fd)
{
	char path[64];
	struct stat a, b;

	if (prctl(PR_GET_DUMPABLE) != 1)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int create_memfd(u64 bytes)
{
	int fd = memfd_create("o2g-shm", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (!proc_works(fd) || ftruncate(fd, bytes)) {
		close(fd);
		return -ENOTSUP;
	}
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
	return fd;
}

static int create_nameless(const char *dir, u64 bytes)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (!proc_works(fd) || ftruncate(fd, bytes)) {
		close(fd);
		return -ENOTSUP;
	}
	return fd;
}

/* Remove what killed processes of this user have left. */
static void sweep(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		struct stat st;
		int fd;

		if (strncmp(e->d_name, NAME_PREFIX, strlen(NAME_PREFIX)))
			continue;
		fd = openat(dirfd(d), e->d_name,
			    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && st.st_uid == geteuid() &&
		    S_ISREG(st.st_mode) && !flock(fd, LOCK_EX | LOCK_NB))
			unlinkat(dirfd(d), e->d_name, 0);
		close(fd);
	}
	if (d)
		closedir(d);
}

/*
 * The lock is taken under another name, so that no sweep finds the file before
 * it is locked.
 */
static int create_named(const char *dir, u64 token, u64 bytes, char *path,
			size_t path_size)
{
	char tmp[320];
	int fd, err;

	sweep(dir);
	if (snprintf(path, path_size, "%s/" NAME_PREFIX "%016llx", dir,
		     (unsigned long long)token) >= (int)path_size)
		return -ENAMETOOLONG;
	snprintf(tmp, sizeof(tmp), "%s/.o2g-shm-new.%016llx", dir,
		 (unsigned long long)token);
	fd = open(tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) || ftruncate(fd, bytes) ||
	    rename(tmp, path)) {
		err = -errno;
		unlink(tmp);
		close(fd);
		return err;
	}
	return fd;
}

/* Set to nothing it is as good as not set. */
const char *shm_dir(void)
{
	const char *dir = o2g_settings()->shm_dir;

	return dir[0] ? dir : "/dev/shm";
}

bool shm_dir_given(void)
{
	const struct o2g_settings *set = o2g_settings();

	return set->shm_dir[0] && o2g_setting_given(&set->shm_dir);
}

int shm_file_create(struct shm *s, u64 token, u64 bytes)
{
	const char *dir = shm_dir();
	int fd;

	/* The directory is only used when it was asked for by name. */
	fd = shm_dir_given() ? create_nameless(dir, bytes) :
			       create_memfd(bytes);
	if (fd < 0)
		fd = create_named(dir, token, bytes, s->own.path,
				  sizeof(s->own.path));
	if (fd < 0)
		s->own.path[0] = '\0';
	return fd;
}

/* Only regular files: opening anything else might have an effect. */
int shm_file_open(const struct shm_where *w)
{
	char proc[64];
	const char *path = w->path;
	struct stat st;
	int fd;

	if (!path[0]) {
		snprintf(proc, sizeof(proc), "/proc/%u/fd/%d", w->pid, w->fd);
		path = proc;
	}
	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	/* A named file that nobody locks was left by a process that died. */
	if (w->path[0] && !flock(fd, LOCK_SH | LOCK_NB)) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

bool shm_seg_openable(const struct shm_where *w)
{
	int fd = shm_file_open(w);

	/* Without descriptors nobody can tell; connecting will say so. */
	if (fd == -EMFILE || fd == -ENFILE)
		return true;
	if (fd < 0)
		return false;
	close(fd);
	return true;
}
