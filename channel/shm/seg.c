/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Segments. Nothing may be left behind by a process that is killed, so a
 * segment has no name where that is possible: it is a memfd, or a nameless file
 * in O2G_SHM_DIR when the user asks for that directory, and others open it as
 * /proc/PID/fd/N. Where /proc does not allow that it is a named file, locked
 * while its owner lives; whoever opens a segment in that directory later
 * removes the ones whose lock is free.
 *
 * The file grows with the rings in it. Whatever is mapped was allocated before,
 * so a full file system is an error here and not a SIGBUS later.
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

static u64 head_bytes(void)
{
	return page_round(SHM_KEYS_AT + SHM_KEYS * sizeof(struct shm_key));
}

static u64 ring_stride(const struct shm_head *h)
{
	return page_round(shm_ring_bytes(h->cells, h->data));
}

/* The places of a group lie before its rings, those of the first in the head. */
static u64 group_bytes(void)
{
	return page_round(SHM_GROUP * sizeof(u64));
}

static u64 ring_offset(const struct shm_head *h, u32 place)
{
	return head_bytes() + place * ring_stride(h) +
	       place / SHM_GROUP * group_bytes();
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
	h->cells = s->cells;
	h->data = s->data;
	h->pid = getpid();
	h->token = token;
	h->self = (uintptr_t)h;
	h->no_barrier = !s->can_barrier;
	__atomic_store_n(&h->magic, SHM_MAGIC, __ATOMIC_RELEASE);
}

static int map_head(struct shm_seg *seg)
{
	seg->head = mmap(NULL, head_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
			 seg->fd, 0);
	if (seg->head != MAP_FAILED)
		return 0;
	seg->head = NULL;
	return -errno;
}

/* Never 0, which is what a free place holds. */
static int make_token(u64 *token)
{
	do {
		if (getrandom(token, sizeof(*token), 0) != sizeof(*token))
			return -errno;
	} while (!shm_name(*token));
	return 0;
}

int shm_seg_create(struct shm *s, char *why, size_t why_size)
{
	const char *dir = shm_dir();
	struct shm_seg *seg = &s->own;
	u64 token;
	int err = make_token(&token);

	if (err)
		return err;
	seg->fd = create_file(s, token, SHM_PAGE);
	if (seg->fd < 0) {
		snprintf(why, why_size, "cannot create a file in %s: %s", dir,
			 strerror(-seg->fd));
		return seg->fd;
	}
	err = allocate(seg->fd, 0, SHM_PAGE);
	if (err) {
		snprintf(why, why_size,
			 "no room for %d bytes in %s: %s; see O2G_SHM_DIR",
			 SHM_PAGE, dir, strerror(-err));
		goto err_close;
	}
	err = map_head(seg);
	if (err) {
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

int shm_keys_allocate(const struct shm_seg *seg)
{
	return allocate(seg->fd, SHM_KEYS_AT,
			SHM_KEYS * sizeof(struct shm_key));
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

/* Is this the segment the card speaks of? */
static bool head_is_good(const struct shm_head *h, const struct shm_where *w,
			 u32 rank)
{
	return __atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) == SHM_MAGIC &&
	       h->version == SHM_VERSION && h->token == w->token &&
	       h->pid == w->pid && h->rank == rank && is_power(h->cells) &&
	       h->cells >= SHM_CELLS_MIN && h->cells <= SHM_CELLS_MAX &&
	       is_power(h->data) && h->data >= SHM_DATA_MIN &&
	       h->data <= SHM_DATA_MAX;
}

int shm_seg_open(const struct shm_where *w, u32 rank, struct shm_seg *seg)
{
	struct stat st;
	int err;

	memset(seg, 0, sizeof(*seg));
	seg->fd = open_file(w);
	if (seg->fd < 0)
		return seg->fd;
	err = fstat(seg->fd, &st) || st.st_size < SHM_PAGE ? -EBADMSG :
							     map_head(seg);
	if (!err && !head_is_good(seg->head, w, rank))
		err = -EBADMSG;
	if (err)
		shm_seg_close(seg);
	return err;
}

int shm_ring_map(const struct shm_seg *seg, u32 place, struct shm_end *e)
{
	u32 cells = seg->head->cells, data = seg->head->data;
	u64 stride = ring_stride(seg->head);
	u64 off = ring_offset(seg->head, place);
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

/* With zeros where the file system cannot take memory back. */
int shm_ring_wipe(const struct shm_seg *seg, u32 place)
{
	u64 stride = ring_stride(seg->head);
	struct shm_end e;
	int err;

	if (!fallocate(seg->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		       ring_offset(seg->head, place), stride))
		return 0;
	err = shm_ring_map(seg, place, &e);
	if (err)
		return err;
	memset(e.ring, 0, stride);
	shm_ring_unmap(&e);
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

/* The @group-th table of places, which is not the one in the head. */
u64 *shm_group_map(const struct shm_seg *seg, u32 group)
{
	u64 off = ring_offset(seg->head, group * SHM_GROUP) - group_bytes();
	u64 *at;

	if (allocate(seg->fd, off, group_bytes()))
		return NULL;
	at = mmap(NULL, group_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
		  seg->fd, off);
	return at == MAP_FAILED ? NULL : at;
}

void shm_seg_close(struct shm_seg *seg)
{
	for (u32 i = 0; i < seg->ngroups; i++)
		if (seg->groups[i])
			munmap(seg->groups[i], group_bytes());
	free(seg->groups);
	if (seg->head)
		munmap(seg->head, head_bytes());
	if (seg->path[0])
		unlink(seg->path);
	if (seg->fd >= 0)
		close(seg->fd);
	memset(seg, 0, sizeof(*seg));
	seg->fd = -1;
}
