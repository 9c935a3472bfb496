/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/fsd_fixture.c */
/* Every operation of the file server, and what each refuses. */
#define _GNU_SOURCE
#include "fsd_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cred.h"
#include "unit.h"

#define F 10 /* fids that a test uses */
#define G 11
#define H 12
#define NONE 99

#define ok(what) assert_int_equal(what, 0)
#define is(what, value) assert_int_equal(what, value)

static struct world w;
static struct p9c *const c = &w.c;

static int setup(void **state)
{
	world_open(&w, 0);
	return 0;
}

static int teardown(void **state)
{
	world_close(&w);
	return 0;
}

/* A file with some text, made behind the server's back. */
static void write_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(below(&w, name), O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	is(write(fd, text, strlen(text)), strlen(text));
	ok(fchmod(fd, mode));
	close(fd);
}

static void read_back(const char *name, char *text, size_t size)
{
	int fd = open(below(&w, name), O_RDONLY);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, text, size - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
}

/* --- sessions --- */

static void version(void **state)
{
	struct p9c_attr a;

	ok(p9c_getattr(c, ROOT, &a));
	ok(p9c_version(c, 8192, "9P2000.L"));
	is(p9_get32(&c->in), 8192);
	/* All fids are gone with it. */
	is(p9c_getattr(c, ROOT, &a), -EBADF);
	ok(p9c_version(c, 1 << 20, "9P2000.u"));
	p9_get32(&c->in);
	struct p9_str s = p9_get_str(&c->in);
	is(s.len, 7);
	assert_memory_equal(s.text, "unknown", 7);
	is(p9c_version(c, 100, "9P2000.L"), -EMSGSIZE);
}

static void attach(void **state)
{
	ok(p9c_attach(c, F, 0, w.path)); /* by its path */
	ok(p9c_attach(c, G, 0, ""));	 /* the only one */
	ok(p9c_attach(c, H, 0, "/"));
	ok(p9c_attach(c, 21, 0, "/data"));
	is(p9c_attach(c, 22, 0, "//data"), -ENOENT);
	is(p9c_attach(c, F, 0, "data"), -EINVAL); /* in use */
	is(p9c_attach(c, 20, 0, "dat"), -ENOENT);
	is(p9c_attach(c, 20, 0, "data/.."), -ENOENT);
	is(p9c_attach(c, P9_NOFID, 0, "data"), -EINVAL);
	p9c_begin(c, P9_TAUTH);
	p9_put(&c->out, 7, 4);
	p9_put_str(&c->out, "u", 1);
	p9_put_str(&c->out, "data", 4);
	p9_put(&c->out, 0, 4);
	is(p9c_run(c), -EOPNOTSUPP);
}

static void malformed(void **state)
{
	/* no such operation */
	p9c_begin(c, 99);
	is(p9c_run(c), -EOPNOTSUPP);
	p9c_begin(c, 127);
	is(p9c_run(c), -EOPNOTSUPP);
	p9c_begin(c, 255);
	is(p9c_run(c), -EOPNOTSUPP);
	/* too short, too long, and a size that is not the message's */
	p9c_begin(c, P9_TCLUNK);
	p9_put(&c->out, 1, 2);
	is(p9c_run(c), -EBADMSG);
	p9c_begin(c, P9_TCLUNK);
	p9_put(&c->out, 50, 4);
	p9_put(&c->out, 0, 1);
	is(p9c_run(c), -EBADMSG);
	p9c_begin(c, P9_TCLUNK);
	p9_put(&c->out, 50, 4);
	c->msg[0] = 12;
	is(p9c_repeat(c), -EBADMSG);
	/* a string that is longer than what is left */
	p9c_begin(c, P9_TMKDIR);
	p9_put(&c->out, ROOT, 4);
	p9_put(&c->out, 60000, 2);
	is(p9c_run(c), -EBADMSG);
	/* data that is not there */
	p9c_begin(c, P9_TWRITE);
	p9_put(&c->out, ROOT, 4);
	p9_put(&c->out, 0, 8);
	p9_put(&c->out, 0xffffffff, 4);
	is(p9c_run(c), -EBADMSG);
	/* too many names */
	p9c_begin(c, P9_TWALK);
	p9_put(&c->out, ROOT, 4);
	p9_put(&c->out, F, 4);
	p9_put(&c->out, 17, 2);
	is(p9c_run(c), -EINVAL);
	ok(p9c_flush(c, 7)); /* nothing to flush */
}

/* --- walking --- */

static void walk(void **state)
{
	struct p9c_attr a;
	struct stat st;

	ok(mkdir(below(&w, "a"), 0755));
	ok(mkdir(below(&w, "a/b"), 0755));
	write_file("a/b/file", "x", 0644);
	is(p9c_walk(c, ROOT, F, "a/b/file"), 3);
	ok(p9c_getattr(c, F, &a));
	ok(stat(below(&w, "a/b/file"), &st));
	is(a.qid.path, st.st_ino);
	is(a.qid.type, P9_QTFILE);
	/* a part of the way: the new fid is not made */
	is(p9c_walk(c, ROOT, G, "a/nothing/b"), 1);
	is(p9c_getattr(c, G, &a), -EBADF);
	is(p9c_walk(c, ROOT, G, "nothing"), -ENOENT);
	is(p9c_walk(c, F, G, "under-a-file"), -ENOTDIR);
	is(p9c_walk(c, NONE, G, "a"), -EBADF);
	is(p9c_walk(c, ROOT, F, "a"), -EINVAL); /* in use */
	/* the same thing again, and in place */
	is(p9c_walk(c, F, G, ""), 0);
	ok(p9c_getattr(c, G, &a));
	is(a.qid.path, st.st_ino);
	is(p9c_walk(c, ROOT, H, ""), 0);
	is(p9c_walk(c, H, H, "a"), 1);
	ok(p9c_getattr(c, H, &a));
	is(a.qid.type, P9_QTDIR);
	ok(p9c_clunk(c, F));
	is(p9c_clunk(c, F), -EBADF);
}

/* Whatever names a client finds, it stays inside. */
static void walk__stays_inside(void **state)
{
	struct p9c_attr root, a;

	ok(p9c_getattr(c, ROOT, &root));
	ok(mkdir(below(&w, "d"), 0755));
	ok(symlink("/etc", below(&w, "absolute")));
	ok(symlink("../..", below(&w, "up")));
	is(p9c_walk(c, ROOT, F, ".."), 1);
	ok(p9c_getattr(c, F, &a));
	is(a.qid.path, root.qid.path);
	is(p9c_walk(c, ROOT, G, "d/../../../.."), 5);
	ok(p9c_getattr(c, G, &a));
	is(a.qid.path, root.qid.path);
	/* a link is a link, and no way on */
	is(p9c_walk(c, ROOT, H, "absolute/passwd"), 1);
	is(p9c_walk(c, ROOT, H, "up/x"), 1);
	is(p9c_walk(c, ROOT, H, "absolute"), 1);
	ok(p9c_getattr(c, H, &a));
	is(a.qid.type, P9_QTSYMLINK);
	is(p9c_lopen(c, H, O_RDONLY), -ELOOP);
	is(p9c_lcreate(c, G, "absolute", O_WRONLY, 0644, 0), -ELOOP);
	/* names that are ways */
	p9c_begin(c, P9_TWALK);
	p9_put(&c->out, ROOT, 4);
	p9_put(&c->out, 50, 4);
	p9_put(&c->out, 1, 2);
	p9_put_str(&c->out, "d/..", 4);
	is(p9c_run(c), -ENOENT);
	is(p9c_mkdir(c, ROOT, "d/e", 0755), -EINVAL);
	is(p9c_mkdir(c, ROOT, "..", 0755), -EINVAL);
	is(p9c_mkdir(c, ROOT, ".", 0755), -EINVAL);
	is(p9c_mkdir(c, ROOT, "", 0755), -EINVAL);
	is(p9c_unlinkat(c, ROOT, "..", P9_REMOVEDIR), -EINVAL);
	is(p9c_renameat(c, ROOT, "d", ROOT, "../d"), -EINVAL);
}

/* A folder that is moved out of the export by somebody else takes nobody along. */
static void walk__moved_out(void **state)
{
	char out[100];

	snprintf(out, sizeof(out), "%s/out", w.dir);
	ok(mkdir(below(&w, "d"), 0755));
	is(p9c_walk(c, ROOT, F, "d"), 1);
	ok(rename(below(&w, "d"), out));
	is(p9c_walk(c, F, G, ".."), -ESTALE);
	is(p9c_remove(c, F), -ESTALE);
}

static void limits(void **state)
{
	u32 i;

	for (i = 100; i < 2000; i++)
		if (p9c_walk(c, ROOT, i, "") < 0)
			break;
	is(i, 100 + 1000 - 1); /* ROOT is one of them */
	is(p9c_walk(c, ROOT, i, ""), -ENFILE);
	ok(p9c_clunk(c, 100));
	is(p9c_walk(c, ROOT, i, ""), 0);
}

/* More fids than the process may have descriptors. */
static void descriptors(void **state)
{
	struct rlimit was, few = { 200, 200 };
	struct p9c_attr a, b;
	char name[20];

	getrlimit(RLIMIT_NOFILE, &was);
	few.rlim_max = was.rlim_max;
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "%d", i);
		write_file(name, name, 0644);
	}
	is(p9c_walk(c, ROOT, F, "0"), 1);
	if (!w.s->fids.n || !fsd_fids_find(&w.s->fids, F)->record->handle_len)
		skip(); /* no handles here, or no rights */
	ok(p9c_lopen(c, F, O_RDWR));
	ok(unlink(below(&w, "0"))); /* this one has to stay open */
	ok(setrlimit(RLIMIT_NOFILE, &few));
	for (u32 i = 1; i < 500; i++) {
		snprintf(name, sizeof(name), "%u", i);
		is(p9c_walk(c, ROOT, 100 + i, name), 1);
	}
	for (u32 i = 1; i < 500; i += 7) {
		struct stat st;

		snprintf(name, sizeof(name), "%u", i);
		ok(stat(below(&w, name), &st));
		ok(p9c_getattr(c, 100 + i, &a));
		is(a.qid.path, st.st_ino);
	}
	ok(p9c_getattr(c, F, &b));
	is(b.nlink, 0);
	is(p9c_read(c, F, 0, name, 10), 1);
	ok(setrlimit(RLIMIT_NOFILE, &was));
}

/* --- files --- */

static void lopen(void **state)
{
	char buf[20];

	write_file("f", "hello", 0644);
	is(p9c_walk(c, ROOT, F, "f"), 1);
	is(p9c_read(c, F, 0, buf, 5), -EBADF); /* not open */
	is(p9c_lopen(c, F, O_RDONLY | P9_DIRECTORY), -ENOTDIR);
	is(p9c_lopen(c, F, 3), -EINVAL);
	ok(p9c_lopen(c, F, O_RDONLY));
	is(p9c_lopen(c, F, O_RDONLY), -EINVAL);
	is(p9c_read(c, F, 1, buf, 20), 4);
	assert_memory_equal(buf, "ello", 4);
	is(p9c_read(c, F, 5, buf, 20), 0);
	is(p9c_read(c, F, 1ull << 63, buf, 20), -EINVAL);
	is(p9c_write(c, F, 0, "x", 1), -EBADF);
	is(p9c_walk(c, ROOT, G, "f"), 1);
	ok(p9c_lopen(c, G, O_RDWR | P9_TRUNC));
	is(p9c_read(c, F, 0, buf, 20), 0);
	is(p9c_write(c, G, 3, "abc", 3), 3);
	is(p9c_read(c, F, 0, buf, 20), 6);
	assert_memory_equal(buf, "\0\0\0abc", 6);
	/* to the end, whatever is said */
	is(p9c_walk(c, ROOT, H, "f"), 1);
	ok(p9c_lopen(c, H, O_WRONLY | P9_APPEND));
	is(p9c_write(c, H, 0, "end", 3), 3);
	is(p9c_read(c, F, 0, buf, 20), 9);
	assert_memory_equal(buf + 6, "end", 3);
	ok(p9c_fsync(c, H));
	is(p9c_fsync(c, ROOT), -EBADF);
	/* A copy of an open fid is not open. */
	is(p9c_walk(c, H, 20, ""), 0);
	is(p9c_read(c, 20, 0, buf, 1), -EBADF);
	ok(p9c_lopen(c, 20, O_RDONLY));
	is(p9c_read(c, 20, 0, buf, 20), 9);
}

/* The server opens files and folders, and nothing that does something when opened. */
static void lopen__special(void **state)
{
	ok(mkfifo(below(&w, "pipe"), 0666));
	is(p9c_walk(c, ROOT, F, "pipe"), 1);
	is(p9c_lopen(c, F, O_RDONLY), -ENXIO);
	is(p9c_walk(c, ROOT, G, ""), 0);
	is(p9c_lcreate(c, G, "pipe", O_RDONLY, 0644, 0), -ENXIO);
	is(p9c_lopen(c, G, O_RDWR), -EISDIR);
}

static void lcreate(void **state)
{
	struct stat st;
	char text[20];

	is(p9c_walk(c, ROOT, F, ""), 0);
	ok(p9c_lcreate(c, F, "new", O_RDWR, 0640, 0));
	is(p9c_write(c, F, 0, "text", 4), 4);
	read_back("new", text, sizeof(text));
	assert_string_equal(text, "text");
	ok(stat(below(&w, "new"), &st));
	is(st.st_mode, S_IFREG | 0640);
	is(p9c_lcreate(c, F, "again", O_RDWR, 0640, 0), -EINVAL); /* a file */
	is(p9c_walk(c, ROOT, G, ""), 0);
	is(p9c_lcreate(c, G, "new", O_RDWR | P9_EXCL, 0600, 0), -EEXIST);
	ok(p9c_lcreate(c, G, "new", O_RDWR | P9_TRUNC, 0600, 0));
	ok(stat(below(&w, "new"), &st));
	is(st.st_size, 0);
	is(st.st_mode, S_IFREG | 0640); /* it was there */
	is(p9c_walk(c, ROOT, H, ""), 0);
	ok(mkdir(below(&w, "d"), 0755));
	is(p9c_lcreate(c, H, "d", O_RDONLY, 0600, 0), -EISDIR);
	is(p9c_lcreate(c, H, "a/b", O_RDONLY, 0600, 0), -EINVAL);
	char name[300];
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	is(p9c_lcreate(c, H, name, O_RDONLY, 0600, 0), -ENAMETOOLONG);
	name[255] = '\0';
	ok(p9c_lcreate(c, H, name, O_RDONLY, 0600, 0));
}

static void large(void **state)
{
	u32 n = 1 << 20;
	u8 *out = malloc(n), *in = malloc(n);

	for (u32 i = 0; i < n; i++)
		out[i] = (u8)(i * 7 + i / 251);
	is(p9c_walk(c, ROOT, F, ""), 0);
	ok(p9c_lcreate(c, F, "big", O_RDWR, 0644, 0));
	is(p9c_write(c, F, 12345, out, n), n);
	is(p9c_read(c, F, 12345, in, n), n);
	assert_memory_equal(in, out, n);
	/* more than fits is cut, not refused */
	is(p9c_read(c, F, 0, in, n), n);
	p9c_begin(c, P9_TREAD);
	p9_put(&c->out, F, 4);
	p9_put(&c->out, 0, 8);
	p9_put(&c->out, 0xffffffff, 4);
	ok(p9c_run(c));
	assert_true(p9_get32(&c->in) <= FS_MSIZE_DEFAULT - FS_RREAD_HDR);
	free(in);
	free(out);
}

/* --- folders --- */

static void readdir_some(void **state)
{
	char text[20000] = "", name[20];
	u64 off = 0;
	ssize_t n, sum = 0;

	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "entry-%d", i);
		write_file(name, "", 0644);
	}
	is(p9c_walk(c, ROOT, F, ""), 0);
	is(p9c_readdir(c, F, &off, 8192, text, sizeof(text)), -ENOTDIR);
	ok(p9c_lopen(c, F, O_RDONLY | P9_DIRECTORY));
	while ((n = p9c_readdir(c, F, &off, 1000, text, sizeof(text))) > 0)
		sum += n;
	is(n, 0);
	is(sum, 502); /* with . and .. */
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "entry-%d ", i);
		assert_non_null(strstr(text, name));
	}
	/* from the start again, and too little for any */
	off = 0;
	assert_true(p9c_readdir(c, F, &off, 60000, text, sizeof(text)) > 100);
	off = 0;
	is(p9c_readdir(c, F, &off, 10, text, sizeof(text)), -EINVAL);
	is(p9c_read(c, F, 0, text, 10), -EISDIR);
}

static void names(void **state)
{
	struct p9c_attr a, b;
	struct stat st;
	char text[100];

	ok(p9c_mkdir(c, ROOT, "d", 0750));
	is(p9c_mkdir(c, ROOT, "d", 0750), -EEXIST);
	ok(stat(below(&w, "d"), &st));
	is(st.st_mode, S_IFDIR | 0750);
	write_file("f", "x", 0644);
	is(p9c_walk(c, ROOT, F, "f"), 1);
	is(p9c_walk(c, ROOT, G, "d"), 1);
	ok(p9c_link(c, G, F, "g"));
	is(p9c_link(c, G, F, "g"), -EEXIST);
	is(p9c_link(c, G, NONE, "h"), -EBADF);
	is(p9c_link(c, F, F, "h"), -ENOTDIR);
	ok(p9c_getattr(c, F, &a));
	is(a.nlink, 2);
	is(p9c_walk(c, G, H, "g"), 1);
	ok(p9c_getattr(c, H, &b));
	is(b.qid.path, a.qid.path);
	ok(p9c_renameat(c, G, "g", ROOT, "moved"));
	is(p9c_renameat(c, G, "g", ROOT, "moved"), -ENOENT);
	ok(p9c_rename(c, F, G, "renamed"));
	ok(stat(below(&w, "d/renamed"), &st));
	is(p9c_unlinkat(c, ROOT, "d", P9_REMOVEDIR), -ENOTEMPTY);
	is(p9c_unlinkat(c, ROOT, "d", 0), -EISDIR);
	is(p9c_unlinkat(c, ROOT, "moved", 1), -EINVAL);
	ok(p9c_unlinkat(c, ROOT, "moved", 0));
	is(p9c_unlinkat(c, ROOT, "moved", 0), -ENOENT);
	ok(p9c_symlink(c, ROOT, "link", "some/where"));
	is(p9c_symlink(c, ROOT, "link", "some/where"), -EEXIST);
	is(p9c_symlink(c, ROOT, "link2", ""), -EINVAL);
	is(readlink(below(&w, "link"), text, sizeof(text)), 10);
	is(p9c_walk(c, ROOT, 20, "link"), 1);
	ok(p9c_readlink(c, 20, text, sizeof(text)));
	assert_string_equal(text, "some/where");
	is(p9c_readlink(c, G, text, sizeof(text)), -EINVAL);
	/* A hard link to the link, not to where it leads. */
	ok(p9c_link(c, ROOT, 20, "link3"));
	ok(lstat(below(&w, "link3"), &st));
	assert_true(S_ISLNK(st.st_mode));
}

static void remove_fid(void **state)
{
	struct stat st;

	ok(p9c_mkdir(c, ROOT, "d", 0755));
	write_file("d/f", "x", 0644);
	is(p9c_walk(c, ROOT, F, "d/f"), 2);
	is(p9c_walk(c, ROOT, G, "d"), 1);
	is(p9c_remove(c, G), -ENOTEMPTY);
	is(p9c_clunk(c, G), -EBADF); /* it was given back all the same */
	ok(p9c_remove(c, F));
	is(stat(below(&w, "d/f"), &st), -1);
	is(p9c_walk(c, ROOT, G, "d"), 1);
	ok(p9c_remove(c, G));
	is(p9c_remove(c, ROOT), -EBUSY);
}

static void special(void **state)
{
	struct p9c_attr a;

	if (geteuid())
		skip();
	if (p9c_mknod(c, ROOT, "null", S_IFCHR | 0666, 1, 3) == -EPERM)
		skip(); /* a container */
	is(p9c_walk(c, ROOT, F, "null"), 1);
	ok(p9c_getattr(c, F, &a));
	is(a.mode, S_IFCHR | 0666);
	is(a.rdev, makedev(1, 3));
	is(p9c_lopen(c, F, O_RDONLY), -ENXIO);
	ok(p9c_mknod(c, ROOT, "socket", S_IFSOCK | 0600, 0, 0));
	ok(p9c_mknod(c, ROOT, "pipe", S_IFIFO | 0600, 0, 0));
	is(p9c_mknod(c, ROOT, "pipe", S_IFIFO | 0600, 0, 0), -EEXIST);
	is(p9c_mknod(c, ROOT, "dir", S_IFDIR | 0600, 0, 0), -EPERM);
}

/* --- attributes --- */

static void setattr(void **state)
{
	struct p9c_change ch = { .valid = P9_SET_MODE, .mode = 04711 };
	struct p9c_attr a;

	write_file("f", "hello", 0644);
	is(p9c_walk(c, ROOT, F, "f"), 1);
	ok(p9c_setattr(c, F, &ch));
	ok(p9c_getattr(c, F, &a));
	is(a.mode, S_IFREG | 04711);
	ch = (struct p9c_change){ .valid = P9_SET_SIZE, .size = 2 };
	ok(p9c_setattr(c, F, &ch));
	ch.size = 1ull << 63;
	is(p9c_setattr(c, F, &ch), -EFBIG);
	ch = (struct p9c_change){ .valid = P9_SET_MTIME | P9_SET_MTIME_TO,
				  .mtime = 1000 };
	ok(p9c_setattr(c, F, &ch));
	ok(p9c_getattr(c, F, &a));
	is(a.size, 2);
	is(a.mtime, 1000);
	ch = (struct p9c_change){ .valid = P9_SET_ATIME | P9_SET_ATIME_TO,
				  .atime = 2000 };
	ok(p9c_setattr(c, F, &ch));
	ok(p9c_getattr(c, F, &a));
	is(a.atime, 2000);
	is(a.mtime, 1000);
	ch = (struct p9c_change){ .valid = P9_SET_MTIME };
	ok(p9c_setattr(c, F, &ch));
	ok(p9c_getattr(c, F, &a));
	assert_true(a.mtime > 1000000000); /* now */
	ch = (struct p9c_change){ .valid = P9_SET_CTIME };
	ok(p9c_setattr(c, F, &ch));
	is(p9c_setattr(c, NONE, &ch), -EBADF);
	if (!geteuid()) {
		ch = (struct p9c_change){ .valid = P9_SET_UID | P9_SET_GID |
						   P9_SET_MODE,
					  .mode = 06755,
					  .uid = 1234,
					  .gid = 4321 };
		ok(p9c_setattr(c, F, &ch));
		ok(p9c_getattr(c, F, &a));
		is(a.uid, 1234);
		is(a.gid, 4321);
		is(a.mode, S_IFREG | 06755);
	}
	/* times of a link are its own */
	ok(symlink("f", below(&w, "link")));
	is(p9c_walk(c, ROOT, G, "link"), 1);
	ch = (struct p9c_change){ .valid = P9_SET_MTIME | P9_SET_MTIME_TO,
				  .mtime = 3000 };
	ok(p9c_setattr(c, G, &ch));
	ok(p9c_getattr(c, G, &a));
	is(a.mtime, 3000);
	ch = (struct p9c_change){ .valid = P9_SET_MODE, .mode = 0600 };
	is(p9c_setattr(c, G, &ch), -EOPNOTSUPP);
}

static void bad_times(void **state)
{
	p9c_begin(c, P9_TSETATTR);
	p9_put(&c->out, ROOT, 4);
	p9_put(&c->out, P9_SET_MTIME | P9_SET_MTIME_TO, 4);
	for (int i = 0; i < 3; i++)
		p9_put(&c->out, 0, 4);
	for (int i = 0; i < 4; i++)
		p9_put(&c->out, 0, 8);
	p9_put(&c->out, 1000000000, 8); /* nanoseconds */
	is(p9c_run(c), -EINVAL);
}

static void statfs_root(void **state)
{
	struct statfs s;
	u64 blocks;
	u32 type;

	ok(p9c_statfs(c, ROOT, &type, &blocks));
	ok(statfs(w.path, &s));
	is(type, (u32)s.f_type);
	is(blocks, s.f_blocks);
	is(p9c_statfs(c, NONE, &type, &blocks), -EBADF);
}

static void xattr(void **state)
{
	char text[100];

	write_file("f", "x", 0644);
	if (setxattr(below(&w, "f"), "user.try", "1", 1, 0))
		skip(); /* this file system has none */
	is(p9c_walk(c, ROOT, F, "f"), 1);
	is(p9c_walk(c, F, G, ""), 0);
	ok(p9c_xattrcreate(c, G, "user.color", 4, XATTR_CREATE));
	is(p9c_write(c, G, 0, "bl", 2), 2);
	is(p9c_write(c, G, 2, "uex", 3), -ENOSPC);
	is(p9c_write(c, G, 2, "ue", 2), 2);
	is(p9c_lopen(c, G, O_RDONLY), -EINVAL);
	is(p9c_walk(c, G, H, ""), -EINVAL);
	ok(p9c_clunk(c, G));
	is(getxattr(below(&w, "f"), "user.color", text, sizeof(text)), 4);
	is(p9c_xattrwalk(c, F, G, "user.color"), 4);
	is(p9c_read(c, G, 1, text, 10), 3);
	assert_memory_equal(text, "lue", 3);
	is(p9c_read(c, G, 9, text, 10), 0);
	is(p9c_write(c, G, 0, "x", 1), -EBADF);
	ok(p9c_clunk(c, G));
	is(p9c_xattrwalk(c, F, G, "user.none"), -ENODATA);
	/* the list */
	is(p9c_xattrwalk(c, F, G, ""),
	   strlen("user.try") + strlen("user.color") + 2);
	ok(p9c_clunk(c, G));
	/* there already; half of a value; and none, which takes it away */
	is(p9c_walk(c, F, G, ""), 0);
	ok(p9c_xattrcreate(c, G, "user.color", 1, XATTR_CREATE));
	is(p9c_write(c, G, 0, "x", 1), 1);
	is(p9c_clunk(c, G), -EEXIST);
	is(p9c_walk(c, F, G, ""), 0);
	ok(p9c_xattrcreate(c, G, "user.color", 2, 0));
	is(p9c_clunk(c, G), -EIO);
	is(p9c_walk(c, F, G, ""), 0);
	ok(p9c_xattrcreate(c, G, "user.color", 0, 0));
	ok(p9c_clunk(c, G));
	is(p9c_xattrwalk(c, F, G, "user.color"), -ENODATA);
	is(p9c_walk(c, F, G, ""), 0);
	is(p9c_xattrcreate(c, G, "user.big", 1 << 20, 0), -E2BIG);
	is(p9c_xattrcreate(c, G, "", 1, 0), -EINVAL);
	is(p9c_xattrcreate(c, G, "user.x", 1, 4), -EINVAL);
}

/* However many are begun, they do not fill the server's memory. */
static void xattr__many(void **state)
{
	u32 i;

	for (i = 0; i < 900; i++) {
		is(p9c_walk(c, ROOT, 100 + i, ""), 0);
		ok(p9c_xattrcreate(c, 100 + i, "user.x", 1 << 16, 0));
	}
	ok(p9c_version(c, FS_MSIZE_DEFAULT, "9P2000.L"));
	is(w.s->nxattrs, 0);
	w.server.limits.fids = 3000;
	ok(p9c_attach(c, ROOT, 0, "data"));
	for (i = 0; i < 1024; i++) {
		is(p9c_walk(c, ROOT, 100, ""), 0);
		ok(p9c_xattrcreate(c, 100, "user.x", 0, 0));
		p9c_clunk(c, 100);
		is(p9c_xattrwalk(c, ROOT, 2000 + i, ""), 0);
	}
	is(p9c_walk(c, ROOT, 100, ""), 0);
	is(p9c_xattrcreate(c, 100, "user.x", 1, 0), -ENOMEM);
	is(p9c_xattrwalk(c, ROOT, 5000, ""), -ENOMEM);
	ok(p9c_clunk(c, 2000));
	is(p9c_xattrwalk(c, ROOT, 5000, ""), 0);
}

/* --- users --- */

static void set_xattr(u32 fid, const char *name, int result)
{
	is(p9c_walk(c, fid, H, ""), 0);
	ok(p9c_xattrcreate(c, H, name, 20, 0));
	/* a header of capabilities of version 2, with a bit */
	is(p9c_write(c, H, 0, "\0\0\0\2\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20),
	   20);
	is(p9c_clunk(c, H), result);
}

/* A user has none of the rights that the server has. */
static void rights(void **state)
{
	struct p9c_change ch = { .valid = P9_SET_MODE, .mode = 0700 };
	struct stat st;

	if (!fsd_cred_privileged())
		skip();
	write_file("theirs", "x", 0755);
	ok(chown(below(&w, "theirs"), 1000, 1000));
	write_file("ours", "x", 0755);
	ok(p9c_attach(c, 20, 1000, "data"));
	is(p9c_walk(c, 20, F, "theirs"), 1);
	is(p9c_walk(c, 20, G, "ours"), 1);
	set_xattr(F, "security.capability", -EPERM);
	set_xattr(G, "security.capability", -EPERM);
	set_xattr(F, "trusted.x", -EPERM);
	is(p9c_mknod(c, 20, "device", S_IFCHR | 0600, 1, 3), -EPERM);
	/* and root has them again */
	ok(p9c_setattr(c, ROOT, &ch));
	is(p9c_walk(c, 20, 21, "ours"), -EACCES);
	is(p9c_walk(c, ROOT, 21, "ours"), 1);
	/* What is written as a user takes away bits, whoever acted before. */
	ok(chmod(below(&w, "theirs"), 04755));
	ok(p9c_lopen(c, F, O_RDWR));
	ok(p9c_setattr(c, ROOT, &ch));
	is(p9c_write(c, F, 0, "y", 1), 1);
	fsd_cred_own();
	ok(stat(below(&w, "theirs"), &st));
	is(st.st_mode & 07777, 0755);
}

/* --- state --- */

/* Those whose clients have gone make room for others. */
static void sessions(void **state)
{
	u8 uuid[FS_UUID_SIZE] = { 0 };
	struct fsd_session *s[8];
	bool known;

	w.server.limits.grace_s = 0;
	for (u8 i = 0; i < 8; i++) {
		uuid[0] = i;
		ok(fsd_session_open(&w.server, uuid, &w.export, &s[i], &known));
		assert_false(known);
		if (i < 6)
			fsd_session_unref(s[i]);
		usleep(10);
	}
	is(w.server.nsessions, 4);
	uuid[0] = 5; /* the latest of those that were left is still there */
	ok(fsd_session_open(&w.server, uuid, &w.export, &s[0], &known));
	assert_true(known);
	uuid[0] = 8;
	is(fsd_session_open(&w.server, uuid, &w.export, &s[1], &known),
	   -EUSERS);
	fsd_session_unref(s[0]);
	fsd_session_unref(s[6]);
	fsd_session_unref(s[7]);
}

static void sweep(void **state)
{
	struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	static const char *const names[] = {
		"00112233445566778899aabbccddeeff.session",
		"00112233445566778899aabbccddeef0.session",
		"00112233445566778899aabbccddeeff.sessions",
		"lock",
	};
	char path[4][200];

	for (int i = 0; i < 4; i++) {
		int fd;

		snprintf(path[i], sizeof(path[i]), "%s/%s", w.state, names[i]);
		fd = open(path[i], O_WRONLY | O_CREAT, 0600);
		assert_true(fd >= 0);
		close(fd);
		if (i != 1)
			ok(utimensat(AT_FDCWD, path[i], old, 0));
	}
	is(fsd_store_sweep(w.state, 3600), 1);
	is(access(path[0], F_OK), -1);
	for (int i = 1; i < 4; i++)
		ok(access(path[i], F_OK));
	is(fsd_store_sweep("/nowhere", 3600), 0);
	/* the session that is there */
	world_restart(&w);
}

/* --- locks --- */

static void locks(void **state)
{
	struct world other;
	struct p9c_lock a = { P9_WRLCK, 0, 10, 100 }, b = a, t;

	world_join(&other, &w, 0);
	write_file("f", "x", 0644);
	is(p9c_walk(c, ROOT, F, "f"), 1);
	is(p9c_lock(c, F, &a), -EBADF); /* not open */
	ok(p9c_lopen(c, F, O_RDWR));
	is(p9c_walk(c, ROOT, G, "f"), 1);
	ok(p9c_lopen(c, G, O_RDWR));
	is(p9c_walk(&other.c, ROOT, F, "f"), 1);
	ok(p9c_lopen(&other.c, F, O_RDWR));
	is(p9c_lock(c, F, &a), P9_LOCKED);
	is(p9c_lock(c, G, &a), P9_LOCKED); /* the same process */
	b.pid = 101;
	is(p9c_lock(c, G, &b), P9_BLOCKED);
	is(p9c_lock(&other.c, F, &b), P9_BLOCKED);
	b.start = 10;
	is(p9c_lock(&other.c, F, &b), P9_LOCKED);
	t = (struct p9c_lock){ P9_RDLCK, 0, 100, 101 };
	ok(p9c_getlock(&other.c, F, &t));
	is(t.type, P9_WRLCK);
	is(t.start, 0);
	is(t.length, 10);
	t = (struct p9c_lock){ P9_RDLCK, 50, 100, 101 };
	ok(p9c_getlock(&other.c, F, &t));
	is(t.type, P9_UNLCK);
	/* A program on this host is kept out as well. */
	int fd = open(below(&w, "f"), O_RDWR);
	struct flock fl = { .l_type = F_WRLCK, .l_len = 5 };
	is(fcntl(fd, F_OFD_SETLK, &fl), -1);
	a = (struct p9c_lock){ P9_UNLCK, 0, 0, 100 };
	is(p9c_lock(c, F, &a), P9_LOCKED);
	ok(fcntl(fd, F_OFD_SETLK, &fl));
	close(fd);
	/* What is given back has no locks. */
	ok(p9c_clunk(&other.c, F));
	a = (struct p9c_lock){ P9_WRLCK, 0, 0, 100 };
	is(p9c_lock(c, F, &a), P9_LOCKED);
	a.type = 7;
	is(p9c_lock(c, F, &a), -EINVAL);
	a = (struct p9c_lock){ P9_WRLCK, 1ull << 63, 0, 100 };
	is(p9c_lock(c, F, &a), -EOVERFLOW);
	/* Whoever may only read keeps no reader out. */
	is(p9c_walk(c, ROOT, H, "f"), 1);
	ok(p9c_lopen(c, H, O_RDONLY));
	a = (struct p9c_lock){ P9_WRLCK, 0, 0, 102 };
	is(p9c_lock(c, H, &a), -EBADF);
	a.type = P9_RDLCK;
	is(p9c_lock(c, H, &a), P9_BLOCKED);
	world_close(&other);
}

#undef T
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(version),
		T(attach),
		T(malformed),
		T(walk),
		T(walk__stays_inside),
		T(walk__moved_out),
		T(limits),
		T(descriptors),
		T(lopen),
		T(lopen__special),
		T(lcreate),
		T(large),
		T(readdir_some),
		T(names),
		T(remove_fid),
		T(special),
		T(setattr),
		T(bad_times),
		T(statfs_root),
		T(xattr),
		T(xattr__many),
		T(rights),
		T(sessions),
		T(sweep),
		T(locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
