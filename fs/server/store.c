/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The file: a header of a page, then an answer for each tag, then records of fids. It is
 * sparse; a part that is written to for the first time is allocated before, since a
 * full disk would otherwise end the server with a signal. All calls are made with the
 * session's lock.
 */
#define _GNU_SOURCE
#include "store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cred.h"
#include "fsd_log.h"

#define MAGIC 0x003173662d67326full /* "o2g-fs1" */
#define PAGE 4096
#define PART (64u << 10) /* allocated at once */
#define MARK_S 600

struct header {
	u64 magic;
	u8 uuid[FS_UUID_SIZE];
	u32 fids_max;
	u32 fresh; /* records from here on were never used */
};

struct answer {
	u64 seq; /* written last */
	u32 len;
	u32 pad;
	u8 data[FSD_KEPT];
};
_Static_assert(sizeof(struct answer) == 64, "answer");

struct fsd_store {
	int fd;
	size_t size;
	u8 *map;
	struct answer *answers;
	struct fsd_record *records;
	u32 fids_max;
	u32 *free;	  /* numbers of records, a stack */
	u32 nfree, fresh; /* as in the header */
	u8 *allocated;	  /* a byte for each part */
	bool dirty, full_said;
	time_t marked;	 /* as being in use */
	char path[1200]; /* "" without a name */
};

static void name_of(const u8 *uuid, char *text)
{
	for (int i = 0; i < FS_UUID_SIZE; i++)
		sprintf(text + 2 * i, "%02x", uuid[i]);
}

/* Before it is written to: a full disk is an error, not a signal. */
static bool allocate(struct fsd_store *st, const void *at, size_t len)
{
	size_t first = (size_t)((const u8 *)at - st->map) / PART;
	size_t last = (size_t)((const u8 *)at + len - 1 - st->map) / PART;

	for (size_t i = first; i <= last; i++) {
		size_t off = i * PART;
		size_t n = st->size - off < PART ? st->size - off : PART;
		int err;

		if (st->allocated[i])
			continue;
		err = posix_fallocate(st->fd, (off_t)off, (off_t)n);
		if (err) {
			if (!st->full_said)
				fsd_error(
					"cannot keep state in %s: %s; its client will not outlive a restart",
					st->path, strerror(err));
			st->full_said = true;
			return false;
		}
		st->allocated[i] = 1;
	}
	st->dirty = true;
	return true;
}

static int open_file(struct fsd_store *st, const char *dir, const u8 *uuid)
{
	char name[2 * FS_UUID_SIZE + 1];

	if (!dir) {
		st->fd = memfd_create("o2gfsd-session", MFD_CLOEXEC);
		return st->fd < 0 ? -errno : 0;
	}
	name_of(uuid, name);
	snprintf(st->path, sizeof(st->path), "%s/%s.session", dir, name);
	st->fd =
		open(st->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (st->fd >= 0)
		return 0;
	fsd_error("cannot keep state in %s: %s", st->path, strerror(errno));
	return -errno;
}

static int map_file(struct fsd_store *st)
{
	size_t nparts;

	st->size = PAGE + sizeof(struct answer) * FSD_TAGS +
		   sizeof(struct fsd_record) * (size_t)st->fids_max;
	nparts = st->size / PART + 1;
	if (ftruncate(st->fd, (off_t)st->size))
		return -errno;
	st->map = mmap(NULL, st->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       st->fd, 0);
	if (st->map == MAP_FAILED) {
		st->map = NULL;
		return -errno;
	}
	st->answers = (struct answer *)(st->map + PAGE);
	st->records = (struct fsd_record *)(st->answers + FSD_TAGS);
	st->allocated = calloc(nparts, 1);
	st->free = malloc(sizeof(u32) * st->fids_max);
	return st->allocated && st->free ? 0 : -ENOMEM;
}

/* What is there may be of another version, or half of a file. */
static bool is_ours(const struct fsd_store *st, const u8 *uuid, off_t size)
{
	const struct header *h = (const struct header *)st->map;

	return (size_t)size == st->size && h->magic == MAGIC &&
	       h->fids_max == st->fids_max &&
	       !memcmp(h->uuid, uuid, FS_UUID_SIZE);
}

static int begin(struct fsd_store *st, const u8 *uuid)
{
	struct header *h = (struct header *)st->map;

	if (!allocate(st, h, sizeof(*h)))
		return -ENOSPC;
	memcpy(h->uuid, uuid, FS_UUID_SIZE);
	h->fids_max = st->fids_max;
	h->magic = MAGIC;
	return 0;
}

static void find_free(struct fsd_store *st)
{
	const struct header *h = (const struct header *)st->map;

	st->fresh = h->fresh < st->fids_max ? h->fresh : st->fids_max;
	for (u32 i = st->fresh; i-- > 0;)
		if (!st->records[i].used)
			st->free[st->nfree++] = i;
}

static int prepare(struct fsd_store *st, const char *dir, const u8 *uuid,
		   bool *found)
{
	struct stat sb;
	int err = open_file(st, dir, uuid);

	if (err)
		return err;
	if (fstat(st->fd, &sb))
		return -errno;
	err = map_file(st);
	if (err)
		return err;
	*found = is_ours(st, uuid, sb.st_size);
	if (*found) {
		find_free(st);
		return 0;
	}
	/* Holes again, all of it. */
	if (ftruncate(st->fd, 0) || ftruncate(st->fd, (off_t)st->size))
		return -errno;
	return begin(st, uuid);
}

int fsd_store_open(const char *dir, const u8 *uuid, u32 fids_max,
		   struct fsd_store **store, bool *found)
{
	struct fsd_store *st = calloc(1, sizeof(*st));
	int err;

	if (!st)
		return -ENOMEM;
	st->fd = -1;
	st->fids_max = fids_max;
	fsd_cred_own();
	err = prepare(st, dir, uuid, found);
	if (err) {
		fsd_store_close(st, !*found);
		return err;
	}
	*store = st;
	return 0;
}

void fsd_store_close(struct fsd_store *st, bool remove)
{
	if (remove && st->path[0]) {
		fsd_cred_own();
		unlink(st->path);
	}
	if (st->map)
		munmap(st->map, st->size);
	if (st->fd >= 0)
		close(st->fd);
	free(st->allocated);
	free(st->free);
	free(st);
}

void fsd_store_sync(struct fsd_store *st)
{
	time_t now = time(NULL);

	if (!st->path[0])
		return;
	if (st->dirty)
		sync_file_range(st->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	st->dirty = false;
	if (now - st->marked >= MARK_S && !futimens(st->fd, NULL))
		st->marked = now;
}

static bool is_session(const char *name)
{
	return strspn(name, "0123456789abcdef") == 2 * FS_UUID_SIZE &&
	       !strcmp(name + 2 * FS_UUID_SIZE, ".session");
}

unsigned fsd_store_sweep(const char *dir, u32 seconds)
{
	time_t now = time(NULL);
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat sb;
	unsigned n = 0;

	while (d && (e = readdir(d)))
		if (is_session(e->d_name) &&
		    !fstatat(dirfd(d), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) &&
		    now - sb.st_mtime > (time_t)seconds)
			n += !unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	return n;
}

/* --- fids --- */

void fsd_store_each(struct fsd_store *st,
		    void (*fn)(void *arg, struct fsd_record *r), void *arg)
{
	for (u32 i = 0; i < st->fresh; i++)
		if (st->records[i].used)
			fn(arg, &st->records[i]);
}

struct fsd_record *fsd_store_new(struct fsd_store *st)
{
	struct fsd_record *r;

	if (st->nfree)
		return &st->records[st->free[--st->nfree]];
	if (st->fresh == st->fids_max)
		return NULL;
	r = &st->records[st->fresh];
	if (!allocate(st, r, sizeof(*r)))
		return NULL;
	st->fresh++;
	((struct header *)st->map)->fresh = st->fresh;
	return r;
}

void fsd_store_put(struct fsd_store *st, struct fsd_record *r)
{
	__atomic_store_n(&r->used, 1, __ATOMIC_RELEASE);
	st->dirty = true;
}

void fsd_store_drop(struct fsd_store *st, struct fsd_record *r)
{
	__atomic_store_n(&r->used, 0, __ATOMIC_RELEASE);
	st->free[st->nfree++] = (u32)(r - st->records);
	st->dirty = true;
}

/* --- answers --- */

enum fsd_kept fsd_store_answer(struct fsd_store *st, u16 tag, u64 seq,
			       const u8 **data, u32 *len)
{
	const struct answer *a = &st->answers[tag];

	if (a->seq != seq + 1)
		return FSD_NEW;
	*data = a->data;
	*len = a->len;
	return a->len <= FSD_KEPT ? FSD_ANSWER : FSD_DONE;
}

void fsd_store_keep(struct fsd_store *st, u16 tag, u64 seq, const void *data,
		    u32 len)
{
	struct answer *a = &st->answers[tag];

	if (!allocate(st, a, sizeof(*a)))
		return;
	__atomic_store_n(&a->seq, 0, __ATOMIC_RELEASE);
	if (len <= FSD_KEPT)
		memcpy(a->data, data, len);
	a->len = len;
	/* 0 is none */
	__atomic_store_n(&a->seq, seq + 1, __ATOMIC_RELEASE);
}
