/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#define _GNU_SOURCE
#include "lock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cred.h"
#include "place.h"

#define OWNERS_MAX 4096 /* of a session */
#define CLIENT_MAX 64

struct fsd_locks {
	struct fsd_locks *next;
	dev_t dev;
	ino_t ino;
	u32 pid, fid;
	u16 client_len;
	char client[CLIENT_MAX];
	int fd;
};

/* For all sessions: locks are rare. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_owner(const struct fsd_locks *l, const struct stat *st,
		     const struct fsd_lock_args *a)
{
	return l->dev == st->st_dev && l->ino == st->st_ino &&
	       l->pid == a->pid && l->client_len == a->client.len &&
	       !memcmp(l->client, a->client.text, a->client.len);
}

static struct fsd_locks **find(struct fsd_session *s, const struct stat *st,
			       const struct fsd_lock_args *a, u32 *n)
{
	struct fsd_locks **at = &s->locks;

	for (*n = 0; *at && !is_owner(*at, st, a); at = &(*at)->next)
		(*n)++;
	return at;
}

/* For locks of both kinds, whichever comes first. */
static int open_for_locks(const struct fsd_fid *f)
{
	int acc = f->open_flags & O_ACCMODE, fd;

	fsd_cred_own();
	fd = fsd_place_open(f, O_RDWR);
	return fd < 0 ? fsd_place_open(f, acc) : fd;
}

static struct fsd_locks *new_owner(const struct fsd_fid *f,
				   const struct stat *st,
				   const struct fsd_lock_args *a, int *err)
{
	struct fsd_locks *l = calloc(1, sizeof(*l));

	*err = -ENOLCK;
	if (!l)
		return NULL;
	l->fd = open_for_locks(f);
	if (l->fd < 0) {
		*err = l->fd;
		free(l);
		return NULL;
	}
	l->dev = st->st_dev;
	l->ino = st->st_ino;
	l->pid = a->pid;
	l->fid = f->fid;
	l->client_len = a->client.len;
	memcpy(l->client, a->client.text, a->client.len);
	return l;
}

static int to_flock(const struct fsd_lock_args *a, struct flock *fl)
{
	static const short types[] = { F_RDLCK, F_WRLCK, F_UNLCK };

	if (a->type > P9_UNLCK || a->client.len > CLIENT_MAX)
		return -EINVAL;
	if (a->start > INT64_MAX || a->length > INT64_MAX)
		return -EOVERFLOW;
	*fl = (struct flock){ .l_type = types[a->type],
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)a->start,
			      .l_len = (off_t)a->length };
	return 0;
}

static void remove_owner(struct fsd_locks **at)
{
	struct fsd_locks *l = *at;

	*at = l->next;
	close(l->fd);
	free(l);
}

static bool is_all(const struct fsd_lock_args *a)
{
	return !a->start && (!a->length || a->length >= INT64_MAX - 1);
}

/* With the lock of all locks. */
static int set(struct fsd_session *s, struct fsd_fid *f, const struct stat *st,
	       const struct fsd_lock_args *a, struct flock *fl)
{
	u32 n;
	struct fsd_locks **at = find(s, st, a, &n);
	int err = 0;

	if (!*at && a->type == P9_UNLCK)
		return 0;
	if (!*at && n >= OWNERS_MAX)
		return -ENOLCK;
	if (!*at)
		*at = new_owner(f, st, a, &err);
	if (!*at)
		return err;
	err = fcntl((*at)->fd, F_OFD_SETLK, fl) ? -errno : 0;
	if (!err && a->type == P9_UNLCK && is_all(a))
		remove_owner(at);
	return err == -EACCES ? -EAGAIN : err;
}

/* As on any file system: a lock to write takes a file that is open to write. */
static bool may_lock(const struct fsd_fid *f, const struct fsd_lock_args *a)
{
	int acc = f->open_flags & O_ACCMODE;

	return !(a->type == P9_WRLCK && acc == O_RDONLY) &&
	       !(a->type == P9_RDLCK && acc == O_WRONLY);
}

static bool has_locks(struct fsd_session *s, const struct fsd_fid *f)
{
	const struct fsd_locks *l = s->locks;

	while (l && l->fid != f->fid)
		l = l->next;
	return l != NULL;
}

int fsd_lock_set(struct fsd_session *s, struct fsd_fid *f,
		 const struct fsd_lock_args *a)
{
	struct flock fl;
	struct stat st;
	int err = to_flock(a, &fl);
	bool any;

	if (err)
		return err;
	if (f->kind != FSD_FID_OPEN || !may_lock(f, a))
		return -EBADF;
	if (fstat(f->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	pthread_mutex_lock(&lock);
	err = set(s, f, &st, a, &fl);
	any = has_locks(s, f);
	pthread_mutex_unlock(&lock);
	fsd_fid_locked(s, f, any);
	return err;
}

/* Whoever is in the way has a descriptor too, so the kernel cannot say who it is. */
int fsd_lock_test(struct fsd_session *s, struct fsd_fid *f,
		  struct fsd_lock_args *a)
{
	struct flock fl;
	struct stat st;
	struct fsd_locks **at;
	int err = to_flock(a, &fl), fd;
	u32 n;

	if (err)
		return err;
	if (f->kind != FSD_FID_OPEN || fstat(f->fd, &st))
		return -EBADF;
	pthread_mutex_lock(&lock);
	at = find(s, &st, a, &n);
	fd = *at ? (*at)->fd : f->fd;
	if (fl.l_type == F_UNLCK)
		fl.l_type = F_WRLCK;
	err = fcntl(fd, F_OFD_GETLK, &fl) ? -errno : 0;
	pthread_mutex_unlock(&lock);
	if (err)
		return err;
	a->type = fl.l_type == F_UNLCK ? P9_UNLCK :
		  fl.l_type == F_RDLCK ? P9_RDLCK :
					 P9_WRLCK;
	if (a->type != P9_UNLCK) {
		a->start = (u64)fl.l_start;
		a->length = (u64)fl.l_len;
		a->pid = fl.l_pid > 0 ? (u32)fl.l_pid : 0;
	}
	return 0;
}

void fsd_locks_drop(struct fsd_session *s, const struct fsd_fid *f)
{
	struct fsd_locks **at = &s->locks;

	pthread_mutex_lock(&lock);
	while (*at) {
		if (!f || (*at)->fid == f->fid)
			remove_owner(at);
		else
			at = &(*at)->next;
	}
	pthread_mutex_unlock(&lock);
}
