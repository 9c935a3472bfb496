/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Segments. Nothing may be left behind by a process that is killed, so a
 * segment has no name where that is possible: it is a memfd, or a nameless file
 * in O2G_SHM_DIR when the user asks for that directory, and others open it as
 * /proc/PID/fd/N. Where /proc does not allow that it is a named file, locked
 * while its owner lives; whoever opens a segment in that directory later
 * removes the ones whose lock is free.
 *
 * The file is sparse. A ring is allocated before it is mapped, so a full file
 * system is an error here and not a SIGBUS later.
 */
#define _GNU_SOURCE
#include "shm.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_PREFIX "o2g-shm."

static u64 page_round(u64 n)
{
	u64 page = sysconf(_SC_PAGESIZE);

	return (n + page - 1) & ~(page - 1);
}

static u64 head_bytes(u32 size)
{
	return page_round(shm_keys_at(size) +
			  SHM_KEYS * sizeof(struct shm_key));
}

static u64 ring_stride(const struct shm_head *h)
{
	return page_round(shm_ring_bytes(h->cells, h->data));
}

/* fallocate(2) and not posix_fallocate(3), which would write to the file where
 * the file system cannot allocate, perhaps over what a sender put there. */
static int allocate(int fd, u64 off, u64 len)
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
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
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
static const char *shm_dir(void)
{
	const char *dir = o2g_settings()->shm_dir;

	return dir[0] ? dir : "/dev/shm";
}

bool shm_dir_given(void)
{
	const struct o2g_settings *set = o2g_settings();

	return set->shm_dir[0] && o2g_setting_given(&set->shm_dir);
}

static int create_file(struct shm *s, u64 token, u64 bytes)
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

static void fill_head(struct shm *s, struct shm_head *h, u64 token)
{
	h->version = SHM_VERSION;
	h->rank = s->rank;
	h->size = s->size;
	h->cells = s->cells;
	h->data = s->data;
	h->pid = getpid();
	h->token = token;
	h->self = (uintptr_t)h;
	h->no_barrier = !s->can_barrier;
	__atomic_store_n(&h->magic, SHM_MAGIC, __ATOMIC_RELEASE);
}

int shm_seg_create(struct shm *s, char *why, size_t why_size)
{
	const char *dir = shm_dir();
	struct shm_seg *seg = &s->own;
	struct shm_head geometry = { .cells = s->cells, .data = s->data };
	u64 token, bytes;
	int err;

	if (getrandom(&token, sizeof(token), 0) != sizeof(token))
		return -errno;
	seg->head_bytes = head_bytes(s->size);
	bytes = seg->head_bytes + s->size * ring_stride(&geometry);
	seg->fd = create_file(s, token, bytes);
	if (seg->fd < 0) {
		snprintf(why, why_size, "cannot create a file in %s: %s", dir,
			 strerror(-seg->fd));
		return seg->fd;
	}
	err = allocate(seg->fd, 0, seg->head_bytes);
	if (err) {
		snprintf(why, why_size,
			 "no room for %zu bytes in %s: %s; see O2G_SHM_DIR",
			 seg->head_bytes, dir, strerror(-err));
		goto err_close;
	}
	seg->head = mmap(NULL, seg->head_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, seg->fd, 0);
	if (seg->head == MAP_FAILED) {
		err = -errno;
		seg->head = NULL;
		snprintf(why, why_size, "cannot map its memory: %s",
			 strerror(-err));
		goto err_close;
	}
	fill_head(s, seg->head, token);
	return 0;

err_close:
	shm_seg_close(seg);
	return err;
}

/* Only regular files: opening anything else might have an effect. */
static int open_file(const struct shm_where *w)
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
	int fd = open_file(w);

	/* Without descriptors nobody can tell; connecting will say so. */
	if (fd == -EMFILE || fd == -ENFILE)
		return true;
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool is_power(u32 n)
{
	return n && !(n & (n - 1));
}

/* Is this the segment the card speaks of, and as large as it says? */
static bool head_is_good(const struct shm_seg *seg, const struct shm_where *w,
			 u32 rank, u32 size)
{
	const struct shm_head *h = seg->head;
	struct stat st;

	return __atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) == SHM_MAGIC &&
	       h->version == SHM_VERSION && h->token == w->token &&
	       h->pid == w->pid && h->rank == rank && h->size == size &&
	       is_power(h->cells) && h->cells >= SHM_CELLS_MIN &&
	       h->cells <= SHM_CELLS_MAX && is_power(h->data) &&
	       h->data >= SHM_DATA_MIN && h->data <= SHM_DATA_MAX &&
	       !fstat(seg->fd, &st) &&
	       (u64)st.st_size >= seg->head_bytes + size * ring_stride(h);
}

int shm_seg_open(const struct shm_where *w, u32 rank, u32 size,
		 struct shm_seg *seg)
{
	struct stat st;
	int err;

	seg->path[0] = '\0';
	seg->head = NULL;
	seg->head_bytes = head_bytes(size);
	seg->fd = open_file(w);
	if (seg->fd < 0)
		return seg->fd;
	if (fstat(seg->fd, &st) || (u64)st.st_size < seg->head_bytes) {
		shm_seg_close(seg);
		return -EBADMSG;
	}
	seg->head = mmap(NULL, seg->head_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED, seg->fd, 0);
	if (seg->head == MAP_FAILED) {
		err = -errno;
		seg->head = NULL;
		shm_seg_close(seg);
		return err;
	}
	if (!head_is_good(seg, w, rank, size)) {
		shm_seg_close(seg);
		return -EBADMSG;
	}
	return 0;
}

int shm_ring_map(const struct shm_seg *seg, u32 sender, struct shm_end *e)
{
	u32 cells = seg->head->cells, data = seg->head->data;
	u64 stride = ring_stride(seg->head);
	u64 off = seg->head_bytes + sender * stride;
	char *at;
	int err;

	err = allocate(seg->fd, off, stride);
	if (err)
		return err;
	at = mmap(NULL, stride, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_POPULATE, seg->fd, off);
	if (at == MAP_FAILED)
		return -errno;
	memset(e, 0, sizeof(*e));
	e->ring = (struct shm_ring *)at;
	e->cells = (struct shm_cell *)(at + SHM_PAGE);
	e->data = at + SHM_PAGE + (size_t)cells * SHM_LINE;
	e->cell_mask = 2 * cells - 1;
	e->data_mask = data - 1;
	return 0;
}

void shm_ring_unmap(struct shm_end *e)
{
	if (!e->ring)
		return;
	munmap(e->ring, page_round(shm_ring_bytes((e->cell_mask + 1) / 2,
						  e->data_mask + 1)));
	e->ring = NULL;
}

void shm_seg_close(struct shm_seg *seg)
{
	if (seg->head)
		munmap(seg->head, seg->head_bytes);
	if (seg->path[0])
		unlink(seg->path);
	if (seg->fd >= 0)
		close(seg->fd);
	seg->head = NULL;
	seg->path[0] = '\0';
	seg->fd = -1;
}
