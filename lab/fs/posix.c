// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * posix DIR: what a file system does, in a directory of it, as root: names, links,
 * renaming, permissions, times, holes, truncation, appending, locks, attributes, files that
 * are unlinked while they are open. Run on the exported file system as well it shows that a
 * test is right.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int failures;

#define OK(cond)                                                              \
	do {                                                                  \
		errno = 0;                                                    \
		if (!(cond)) {                                                \
			printf("%s:%d: %s (%s)\n", __func__, __LINE__, #cond, \
			       strerror(errno));                              \
			failures++;                                           \
		}                                                             \
	} while (0)

#define FAILS(call, error) OK((call) == -1 && errno == (error))

static int make(const char *name, const char *text)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	OK(fd >= 0);
	OK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

static int has(const char *name, const char *text)
{
	char buf[256] = "";
	int fd = open(name, O_RDONLY);
	ssize_t n = read(fd, buf, sizeof(buf) - 1);

	close(fd);
	return n == (ssize_t)strlen(text) && !memcmp(buf, text, n);
}

/* How many names a directory has. */
static int count(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	if (!d)
		return -1;
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void names(void)
{
	char name[300], many[40];
	int i, fd;

	memset(name, 'n', sizeof(name));
	name[255] = '\0';
	close(make(name, "x"));
	OK(has(name, "x"));
	OK(!unlink(name));
	name[255] = 'n';
	name[256] = '\0';
	FAILS(open(name, O_CREAT | O_RDWR, 0600), ENAMETOOLONG);
	close(make("a b\tc\n\xff\"'$", "odd"));
	OK(has("a b\tc\n\xff\"'$", "odd"));
	OK(!unlink("a b\tc\n\xff\"'$"));
	FAILS(open("none", O_RDONLY), ENOENT);
	FAILS(unlink("none"), ENOENT);
	close(make("there", ""));
	FAILS(open("there", O_CREAT | O_EXCL | O_RDWR, 0600), EEXIST);
	FAILS(open("there/below", O_RDONLY), ENOTDIR);
	FAILS(mkdir("there", 0700), EEXIST);
	OK(!unlink("there"));
	OK(!mkdir("many", 0755));
	for (i = 0; i < 300; i++) {
		snprintf(many, sizeof(many), "many/a-rather-long-name-%d", i);
		fd = open(many, O_CREAT | O_EXCL | O_WRONLY, 0600);
		OK(fd >= 0);
		close(fd);
	}
	OK(count("many") == 300);
	FAILS(rmdir("many"), ENOTEMPTY);
	for (i = 0; i < 300; i++) {
		snprintf(many, sizeof(many), "many/a-rather-long-name-%d", i);
		OK(!unlink(many));
	}
	OK(count("many") == 0);
	OK(!rmdir("many"));
}

static void links(void)
{
	char to[64] = "";
	struct stat st;

	close(make("file", "one"));
	OK(!link("file", "hard"));
	OK(!stat("file", &st) && st.st_nlink == 2);
	FAILS(link("file", "hard"), EEXIST);
	OK(has("hard", "one"));
	OK(!unlink("file"));
	OK(has("hard", "one"));
	OK(!stat("hard", &st) && st.st_nlink == 1);
	OK(!symlink("hard", "soft"));
	OK(has("soft", "one"));
	OK(readlink("soft", to, sizeof(to)) == 4 && !strcmp(to, "hard"));
	OK(!lstat("soft", &st) && S_ISLNK(st.st_mode));
	OK(!symlink("nowhere", "dangling"));
	FAILS(open("dangling", O_RDONLY), ENOENT);
	FAILS(open("soft", O_RDONLY | O_NOFOLLOW), ELOOP);
	OK(!unlink("soft") && !unlink("dangling") && !unlink("hard"));
	OK(!mkfifo("fifo", 0600));
	OK(!lstat("fifo", &st) && S_ISFIFO(st.st_mode));
	OK(!mknod("null", S_IFCHR | 0600, makedev(1, 3)));
	OK(!lstat("null", &st) && S_ISCHR(st.st_mode) &&
	   st.st_rdev == makedev(1, 3));
	OK(!unlink("fifo") && !unlink("null"));
}

static void renames(void)
{
	close(make("a", "a"));
	close(make("b", "b"));
	OK(!rename("a", "b"));
	OK(has("b", "a"));
	FAILS(access("a", F_OK), ENOENT);
	OK(!mkdir("d", 0755) && !mkdir("e", 0755));
	OK(!rename("b", "d/c"));
	OK(has("d/c", "a"));
	FAILS(rename("e", "d"), ENOTEMPTY);
	FAILS(rename("d", "d/in"), EINVAL);
	FAILS(rename("d/c", "e"), EISDIR);
	OK(!rename("d", "e"));
	OK(has("e/c", "a"));
	OK(!unlink("e/c") && !rmdir("e"));
}

/* In a process without rights. */
static int as_user(int (*fn)(void))
{
	int status;
	pid_t p = fork();

	if (!p) {
		if (setgid(1234) || setuid(1234))
			_exit(99);
		_exit(fn());
	}
	waitpid(p, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static int reads_secret(void)
{
	return open("secret", O_RDONLY) < 0 && errno == EACCES ? 0 : 1;
}

static int makes_own(void)
{
	struct stat st;
	int fd = open("open/own", O_CREAT | O_RDWR, 0666);

	return fd >= 0 && !fstat(fd, &st) && st.st_uid == 1234 &&
			       st.st_gid == 1234 && unlink("secret") &&
			       chmod("secret", 0777) ?
		       0 :
		       1;
}

static void permissions(void)
{
	struct stat st;

	close(make("secret", "s"));
	OK(!chmod("secret", 0600));
	OK(!stat("secret", &st) && (st.st_mode & 07777) == 0600);
	OK(!as_user(reads_secret));
	OK(!chown("secret", 55, 66));
	OK(!stat("secret", &st) && st.st_uid == 55 && st.st_gid == 66);
	OK(!mkdir("open", 0777) && !chmod("open", 01777));
	OK(!stat("open", &st) && (st.st_mode & 07777) == 01777);
	OK(!as_user(makes_own));
	OK(!unlink("open/own") && !rmdir("open") && !unlink("secret"));
}

/* In seconds: the kernel's 9P client cuts what it sets to that. */
static void times(void)
{
	struct timespec ts[2] = { { 1000000000, 0 }, { 1100000000, 0 } };
	struct stat st, later;
	int fd = make("t", "t");

	OK(!futimens(fd, ts));
	OK(!fstat(fd, &st) && st.st_mtim.tv_sec == 1100000000 &&
	   st.st_mtim.tv_nsec == 0 && st.st_atim.tv_sec == 1000000000);
	OK(write(fd, "u", 1) == 1);
	OK(!fsync(fd));
	close(fd);
	OK(!stat("t", &later) && later.st_mtim.tv_sec > 1100000000);
	OK(!unlink("t"));
}

static void holes(void)
{
	char buf[8192], zero[8192] = { 0 };
	struct stat st;
	int fd = make("h", "start");

	OK(pwrite(fd, "end", 3, 5 << 20) == 3);
	OK(!fstat(fd, &st) && st.st_size == (5 << 20) + 3);
	OK(pread(fd, buf, 8192, 1 << 20) == 8192 && !memcmp(buf, zero, 8192));
	OK(!ftruncate(fd, 3));
	OK(!ftruncate(fd, 100));
	OK(pread(fd, buf, 200, 0) == 100 && !memcmp(buf, "sta", 3) &&
	   !memcmp(buf + 3, zero, 97));
	OK(pread(fd, buf, 10, 100) == 0);
	OK(!truncate("h", 0));
	OK(!stat("h", &st) && st.st_size == 0);
	close(fd);
	OK(!unlink("h"));
}

static void appends(void)
{
	int a, b;

	close(make("log", "0"));
	a = open("log", O_WRONLY | O_APPEND);
	b = open("log", O_WRONLY | O_APPEND);
	OK(write(a, "1", 1) == 1);
	OK(write(b, "2", 1) == 1);
	OK(write(a, "3", 1) == 1);
	close(a);
	close(b);
	OK(has("log", "0123"));
	OK(!unlink("log"));
}

static int takes_lock(void)
{
	struct flock l = { .l_type = F_WRLCK, .l_len = 10 };
	int fd = open("l", O_RDWR);

	return fcntl(fd, F_SETLK, &l) ? errno : 0;
}

/* As another process of the same user. */
static int other(int (*fn)(void))
{
	int status;
	pid_t p = fork();

	if (!p)
		_exit(fn());
	waitpid(p, &status, 0);
	return WEXITSTATUS(status);
}

static void locks(void)
{
	struct flock l = { .l_type = F_WRLCK, .l_len = 10 };
	int fd = make("l", "lock");

	OK(!fcntl(fd, F_SETLK, &l));
	OK(other(takes_lock) == EAGAIN);
	l.l_type = F_UNLCK;
	OK(!fcntl(fd, F_SETLK, &l));
	OK(other(takes_lock) == 0);
	OK(!flock(fd, LOCK_EX | LOCK_NB));
	OK(!flock(fd, LOCK_UN));
	close(fd);
	OK(!unlink("l"));
}

static void attributes(void)
{
	char buf[64], list[256];

	close(make("x", ""));
	OK(!setxattr("x", "user.one", "first", 5, XATTR_CREATE));
	FAILS(setxattr("x", "user.one", "f", 1, XATTR_CREATE), EEXIST);
	OK(getxattr("x", "user.one", buf, sizeof(buf)) == 5 &&
	   !memcmp(buf, "first", 5));
	OK(!setxattr("x", "user.one", "2nd", 3, XATTR_REPLACE));
	OK(getxattr("x", "user.one", NULL, 0) == 3);
	FAILS(getxattr("x", "user.one", buf, 1), ERANGE);
	OK(listxattr("x", list, sizeof(list)) >= 9);
	OK(!removexattr("x", "user.one"));
	FAILS(getxattr("x", "user.one", buf, sizeof(buf)), ENODATA);
	OK(!unlink("x"));
}

static void unlinked(void)
{
	char buf[8];
	struct stat st;
	int fd = make("u", "still");

	OK(!unlink("u"));
	FAILS(access("u", F_OK), ENOENT);
	OK(pread(fd, buf, 8, 0) == 5 && !memcmp(buf, "still", 5));
	OK(pwrite(fd, "S", 1, 0) == 1);
	OK(!fstat(fd, &st) && st.st_size == 5 && st.st_nlink == 0);
	OK(!ftruncate(fd, 2));
	OK(pread(fd, buf, 8, 0) == 2 && !memcmp(buf, "St", 2));
	close(fd);
}

static void space(void)
{
	struct statvfs v;

	OK(!statvfs(".", &v) && v.f_blocks > 0 && v.f_namemax == 255);
}

/* Read-only: without a cache that writes back, 9P has no other shared mappings. */
static void mapped(void)
{
	int fd = make("m", "mapped");
	char *p;

	close(fd);
	fd = open("m", O_RDONLY);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	OK(p != MAP_FAILED && !memcmp(p, "mapped", 6));
	if (p != MAP_FAILED)
		munmap(p, 4096);
	close(fd);
	OK(!unlink("m"));
}

int main(int argc, char **argv)
{
	bool no_xattr = argc == 3 && !strcmp(argv[2], "noxattr");

	if (argc != 2 + no_xattr || chdir(argv[1]) || mkdir("posix", 0777) ||
	    chdir("posix") || chmod(".", 01777)) {
		perror("posix DIR [noxattr]");
		return 2;
	}
	umask(022);
	names();
	links();
	renames();
	permissions();
	times();
	holes();
	appends();
	locks();
	if (!no_xattr)
		attributes();
	unlinked();
	space();
	mapped();
	OK(count(".") == 0);
	if (chdir("..") || rmdir("posix"))
		failures++;
	printf("%d failures\n", failures);
	return failures != 0;
}
