/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#define _GNU_SOURCE
#include "place.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cred.h"
#include "fsd_log.h"

static int proc_fds = -1; /* /proc/self/fd */

static int open2(int dir, const char *name, u64 flags, mode_t mode, u64 resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC,
				.mode = mode,
				.resolve = RESOLVE_BENEATH |
					   RESOLVE_NO_MAGICLINKS |
					   RESOLVE_NO_SYMLINKS | resolve };
	long fd;

	/* EAGAIN: something was renamed meanwhile. */
	for (int i = 0; i < 10; i++) {
		fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

int fsd_place_init(void)
{
	int fd = open2(AT_FDCWD, ".", O_PATH, 0, 0);

	if (fd < 0) {
		fsd_error(
			"openat2() does not work here: %s; Linux 5.6 is needed",
			strerror(-fd));
		return fd;
	}
	close(fd);
	if (proc_fds < 0)
		proc_fds =
			open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc_fds >= 0)
		return 0;
	fsd_error("cannot open /proc/self/fd: %s; mount /proc",
		  strerror(errno));
	return -errno;
}

int fsd_place_name(struct p9_str s, char name[P9_NAME_MAX + 1])
{
	if (s.len > P9_NAME_MAX)
		return -ENAMETOOLONG;
	if (!s.len || memchr(s.text, '/', s.len) || memchr(s.text, 0, s.len))
		return -EINVAL;
	memcpy(name, s.text, s.len);
	name[s.len] = '\0';
	return 0;
}

const char *fsd_place_proc(int fd, char buf[FSD_PROC_MAX])
{
	snprintf(buf, FSD_PROC_MAX, "/proc/self/fd/%d", fd);
	return buf;
}

int fsd_place_open(const struct fsd_fid *f, int flags)
{
	char name[12];
	int fd;

	snprintf(name, sizeof(name), "%d", f->fd);
	fd = openat(proc_fds, name, flags | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	return fd;
}

/* --- ways --- */

/* Where it is now, below the export's root: "" for that itself. */
static int path_of(const struct fsd_export *ex, int fd, char *path, size_t size)
{
	char root[PATH_MAX], whole[PATH_MAX], buf[FSD_PROC_MAX];
	ssize_t n = readlink(fsd_place_proc(ex->root, buf), root, sizeof(root));
	ssize_t m = readlink(fsd_place_proc(fd, buf), whole, sizeof(whole));

	if (n < 0 || m < 0)
		return -errno;
	if (n == 1) /* "/" itself */
		n = 0;
	if (n == PATH_MAX || m == PATH_MAX)
		return -ENAMETOOLONG;
	if (m < n || memcmp(root, whole, (size_t)n) ||
	    (m > n && whole[n] != '/'))
		return -ESTALE; /* it was moved out of the export */
	if (m > n)
		n++;
	if ((size_t)(m - n) >= size)
		return -ENAMETOOLONG;
	memcpy(path, whole + n, (size_t)(m - n));
	path[m - n] = '\0';
	return 0;
}

static u64 crossing(const struct fsd_export *ex)
{
	return ex->one_fs ? RESOLVE_NO_XDEV : 0;
}

/* What is at a way below the root. */
static int open_below(const struct fsd_export *ex, const char *path)
{
	return open2(ex->root, *path ? path : ".", O_PATH | O_NOFOLLOW, 0,
		     crossing(ex));
}

static bool is_same(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* Splits off the last name; false at the root. */
static bool split(char *path, const char **last)
{
	char *slash = strrchr(path, '/');

	if (!*path)
		return false;
	*last = slash ? slash + 1 : path;
	if (slash)
		*slash = '\0';
	return true;
}

int fsd_place_above(const struct fsd_fid *f, char name[P9_NAME_MAX + 1])
{
	char path[PATH_MAX];
	const char *last;
	int err = path_of(f->ex, f->fd, path, sizeof(path)), dir, fd;
	bool same;

	if (err)
		return err;
	if (!split(path, &last))
		return -EBUSY;
	if (strlen(last) > P9_NAME_MAX)
		return -ESTALE; /* "name (deleted)" */
	strcpy(name, last);
	dir = open_below(f->ex, last == path ? "" : path);
	if (dir < 0)
		return dir;
	/* Is that really it, and not another of its name? */
	fd = open2(dir, name, O_PATH | O_NOFOLLOW, 0, 0);
	same = fd >= 0 && is_same(fd, f->fd);
	if (fd >= 0)
		close(fd);
	if (same)
		return dir;
	close(dir);
	return -ESTALE;
}

static int parent(const struct fsd_fid *dir)
{
	char path[PATH_MAX];
	const char *last;
	int err = path_of(dir->ex, dir->fd, path, sizeof(path));

	if (err)
		return err;
	if (!split(path, &last))
		return open_below(dir->ex, "");
	return open_below(dir->ex, last == path ? "" : path);
}

int fsd_place_child(const struct fsd_fid *dir, const char *name)
{
	if (!strcmp(name, ".."))
		return parent(dir);
	return open2(dir->fd, name, O_PATH | O_NOFOLLOW, 0, crossing(dir->ex));
}

int fsd_place_create(const struct fsd_fid *dir, const char *name, int flags,
		     mode_t mode)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return -EISDIR;
	return open2(dir->fd, name,
		     (u64)(flags | O_CREAT | O_NOFOLLOW | O_NOCTTY), mode,
		     crossing(dir->ex));
}

/* --- what it is --- */

static u8 qid_type(mode_t mode)
{
	return S_ISDIR(mode) ? P9_QTDIR :
	       S_ISLNK(mode) ? P9_QTSYMLINK :
			       P9_QTFILE;
}

/* Numbers of another file system may be the same as ours. */
static u64 salt_of(const struct fsd_export *ex, const struct stat *st)
{
	return st->st_dev == ex->dev ? 0 :
				       (u64)st->st_dev * 0x9e3779b97f4a7c15ull;
}

void fsd_place_qid(const struct fsd_export *ex, const struct stat *st,
		   struct p9_qid *qid)
{
	qid->type = qid_type(st->st_mode);
	qid->version = (u32)st->st_mtim.tv_nsec ^ (u32)st->st_mtim.tv_sec << 8 ^
		       (u32)st->st_size;
	qid->path = st->st_ino;
	qid->path ^= salt_of(ex, st);
}

int fsd_place_stat(struct fsd_fid *f, struct stat *st)
{
	if (fstat(f->fd, st))
		return -errno;
	fsd_place_qid(f->ex, st, &f->qid);
	f->salt = salt_of(f->ex, st);
	return 0;
}

/* --- found again --- */

static bool by_handle(const struct fsd_fid *f, struct fsd_record *r)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u;
	int mount;

	u.h.handle_bytes = MAX_HANDLE_SZ;
	if (!fsd_cred_privileged() || r->dev != f->ex->dev ||
	    name_to_handle_at(f->fd, "", &u.h, &mount, AT_EMPTY_PATH))
		return false;
	r->handle_type = (u32)u.h.handle_type;
	r->handle_len = (u16)u.h.handle_bytes;
	memcpy(r->data, u.h.f_handle, u.h.handle_bytes);
	return true;
}

void fsd_place_describe(const struct fsd_fid *f, struct fsd_record *r)
{
	struct stat st;
	char *path;

	memset(r, 0, sizeof(*r));
	path = (char *)r->data;
	r->fid = f->fid;
	r->uid = f->user.uid;
	r->gid = f->user.gid;
	r->export = f->ex->id;
	r->open_flags = (u32)f->open_flags;
	r->flags = f->kind == FSD_FID_OPEN ? FSD_REC_OPEN :
		   f->kind == FSD_FID_PATH ? 0 :
					     FSD_REC_LOST;
	if (f->kind > FSD_FID_OPEN || f->fd < 0 || fstat(f->fd, &st)) {
		r->flags |= FSD_REC_LOST;
		return;
	}
	r->dev = st.st_dev;
	r->ino = st.st_ino;
	if (by_handle(f, r))
		return;
	if (path_of(f->ex, f->fd, path, sizeof(r->data)))
		r->flags |= FSD_REC_LOST;
	else
		r->path_len = (u16)strlen(path);
}

static int open_handle(const struct fsd_fid *f, const struct fsd_record *r)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u;
	int fd;

	if (r->handle_len > MAX_HANDLE_SZ)
		return -ESTALE;
	u.h.handle_type = (int)r->handle_type;
	u.h.handle_bytes = r->handle_len;
	memcpy(u.h.f_handle, r->data, r->handle_len);
	fd = open_by_handle_at(f->ex->root, &u.h, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_path(const struct fsd_fid *f, const struct fsd_record *r)
{
	char path[sizeof(r->data) + 1];

	if (r->path_len >= sizeof(r->data))
		return -ESTALE;
	memcpy(path, r->data, r->path_len);
	path[r->path_len] = '\0';
	return open_below(f->ex, path);
}

/* As it was when it was open; what it was asked for then was allowed. */
static int reopen(struct fsd_fid *f)
{
	int fd = fsd_place_open(f, f->open_flags);

	if (fd < 0)
		return fd;
	close(f->fd);
	f->fd = fd;
	return 0;
}

/* Out of descriptors or memory it can be tried again; else it is not there. */
static int stale(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM ? err :
								    -ESTALE;
}

/* Is what was found what it was? */
static int check_found(struct fsd_fid *f, const struct fsd_record *r)
{
	struct stat st;
	int err = fsd_place_stat(f, &st);

	if (err || st.st_dev != r->dev || st.st_ino != r->ino)
		return -ESTALE;
	f->dir_pos = 0;
	if (f->kind == FSD_FID_OPEN)
		err = reopen(f);
	return err ? stale(err) : 0;
}

int fsd_place_revive(struct fsd_fid *f)
{
	const struct fsd_record *r = f->record;
	int err;

	if (f->uncertain || !r || r->flags & (FSD_REC_LOST | FSD_REC_LOCKED))
		return -ESTALE;
	fsd_cred_own();
	f->fd = r->handle_len ? open_handle(f, r) : open_path(f, r);
	if (f->fd < 0) {
		err = stale(f->fd);
		f->fd = -1;
		return err;
	}
	err = check_found(f, r);
	if (err) {
		close(f->fd);
		f->fd = -1;
	}
	return err;
}
