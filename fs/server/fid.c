/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "fid.h"

#include <stdlib.h>
#include <unistd.h>

#define FIRST_BUCKETS 64

static struct fsd_fid **bucket(const struct fsd_fids *t, u32 fid)
{
	return &t->table[(fid * 2654435761u >> 7) & (t->buckets - 1)];
}

struct fsd_fid *fsd_fids_find(const struct fsd_fids *t, u32 fid)
{
	struct fsd_fid *f = t->buckets ? *bucket(t, fid) : NULL;

	while (f && f->fid != fid)
		f = f->next;
	return f;
}

static void insert(struct fsd_fids *t, struct fsd_fid *f)
{
	struct fsd_fid **b = bucket(t, f->fid);

	f->next = *b;
	*b = f;
}

static int grow(struct fsd_fids *t)
{
	struct fsd_fids more = { .buckets = t->buckets ? 2 * t->buckets :
							 FIRST_BUCKETS };

	more.table = calloc(more.buckets, sizeof(*more.table));
	if (!more.table)
		return -ENOMEM;
	for (u32 i = 0; i < t->buckets; i++)
		for (struct fsd_fid *f = t->table[i], *next; f; f = next) {
			next = f->next;
			insert(&more, f);
		}
	free(t->table);
	t->table = more.table;
	t->buckets = more.buckets;
	return 0;
}

int fsd_fids_add(struct fsd_fids *t, struct fsd_fid *f)
{
	/* More in a bucket are slower, and no harm. */
	if (t->n >= t->buckets && grow(t) && !t->buckets)
		return -ENOMEM;
	insert(t, f);
	t->n++;
	return 0;
}

void fsd_fids_del(struct fsd_fids *t, struct fsd_fid *f)
{
	struct fsd_fid **at = bucket(t, f->fid);

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	t->n--;
}

struct fsd_fid *fsd_fids_pop(struct fsd_fids *t, u32 *from)
{
	struct fsd_fid *f;

	while (*from < t->buckets && !t->table[*from])
		(*from)++;
	if (*from == t->buckets)
		return NULL;
	f = t->table[*from];
	t->table[*from] = f->next;
	t->n--;
	return f;
}

void fsd_fids_cleanup(struct fsd_fids *t)
{
	free(t->table);
	memset(t, 0, sizeof(*t));
}

struct fsd_fid *fsd_fid_alloc(u32 fid, struct fsd_export *ex,
			      struct fsd_user user, int fd)
{
	struct fsd_fid *f = calloc(1, sizeof(*f));

	if (!f) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	f->fid = fid;
	f->refs = 1;
	f->ex = ex;
	f->user = user;
	f->fd = fd;
	pthread_rwlock_init(&f->lock, NULL);
	pthread_mutex_init(&f->dir_lock, NULL);
	return f;
}

void fsd_fid_free(struct fsd_fid *f)
{
	if (f->fd >= 0)
		close(f->fd);
	pthread_rwlock_destroy(&f->lock);
	pthread_mutex_destroy(&f->dir_lock);
	free(f->xattr);
	free(f);
}
