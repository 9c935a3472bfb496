/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Segments: the memory where others leave their messages for us. A segment is a
 * file of its own (file.c), of which heads and rings are mapped one by one as they
 * are needed, or a part of the hall (hall.c), which is mapped as a whole.
 *
 * A file of its own grows with the rings in it. Whatever is mapped was allocated
 * before, so a full file system is an error here and not a SIGBUS later. The hall
 * is plain memory: there is no limit to its size but the machine's.
 */
#define _GNU_SOURCE
#include "shm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

u64 shm_page_round(u64 n)
{
	u64 page = sysconf(_SC_PAGESIZE);

	return (n + page - 1) & ~(page - 1);
}

static u64 head_bytes(void)
{
	return shm_page_round(SHM_KEYS_AT + SHM_KEYS * sizeof(struct shm_key));
}

/* The places of a group lie before its rings, those of the first in the head. */
static u64 group_bytes(void)
{
	return shm_page_round(SHM_GROUP * sizeof(u64));
}

u64 shm_seg_bytes(u32 cells, u32 data, u32 places)
{
	return head_bytes() +
	       places * shm_page_round(shm_ring_bytes(cells, data)) +
	       places / SHM_GROUP * group_bytes();
}

static u64 ring_stride(const struct shm_head *h)
{
	return shm_page_round(shm_ring_bytes(h->cells, h->data));
}

static u64 ring_offset(const struct shm_head *h, u32 place)
{
	return shm_seg_bytes(h->cells, h->data, place);
}

static void fill_head(struct shm *s, u64 token, u64 bell_key)
{
	struct shm_head *h = s->own.head;

	h->version = SHM_VERSION;
	h->rank = s->rank;
	h->cells = s->cells;
	h->data = s->data;
	h->max_places = s->own.max_places;
	h->nseats = s->own.nseats;
	h->pid = getpid();
	h->token = token;
	h->bell_key = bell_key;
	h->self = (uintptr_t)h;
	h->no_barrier = !s->can_barrier;
	__atomic_store_n(&h->magic, SHM_MAGIC, __ATOMIC_RELEASE);
}

/* A part of a segment that is a file of its own. NULL, and errno. */
static void *map_part(const struct shm_seg *seg, u64 off, u64 len, int flags)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | flags,
			seg->fd, (off_t)(seg->at + off));

	return at == MAP_FAILED ? NULL : at;
}

static int map_head(struct shm_seg *seg)
{
	seg->head = map_part(seg, 0, head_bytes(), 0);
	return seg->head ? 0 : -errno;
}

static int make_number(u64 *number)
{
	return getrandom(number, sizeof(*number), 0) == sizeof(*number) ?
		       0 :
		       -errno;
}

/* Never 0, which is what a free place holds. */
static int make_token(u64 *token)
{
	int err;

	do
		err = make_number(token);
	while (!err && !shm_name(*token));
	return err;
}

static int create_alone(struct shm *s, u64 token, char *why, size_t why_size)
{
	struct shm_seg *seg = &s->own;
	int err;

	seg->max_places = SHM_PLACES_MAX;
	seg->fd = shm_file_create(s, token, SHM_PAGE);
	if (seg->fd < 0) {
		snprintf(why, why_size, "cannot create a file in %s: %s",
			 shm_dir(), strerror(-seg->fd));
		return seg->fd;
	}
	err = shm_file_allocate(seg->fd, 0, SHM_PAGE);
	if (err) {
		snprintf(why, why_size,
			 "no room for %d bytes in %s: %s; see O2G_SHM_DIR",
			 SHM_PAGE, shm_dir(), strerror(-err));
		return err;
	}
	err = map_head(seg);
	if (err)
		snprintf(why, why_size, "cannot map its memory: %s",
			 strerror(-err));
	return err;
}

int shm_seg_create(struct shm *s, char *why, size_t why_size)
{
	u64 token, bell_key;
	int err = make_token(&token);

	if (!err)
		err = make_number(&bell_key);
	if (err)
		return err;
	if (!shm_dir_given() && shm_hall_enter(s)) {
		fill_head(s, token, bell_key);
		shm_hall_ready(s);
		return 0;
	}
	err = create_alone(s, token, why, why_size);
	if (err)
		shm_seg_close(&s->own);
	else
		fill_head(s, token, bell_key);
	return err;
}

int shm_keys_allocate(const struct shm_seg *seg)
{
	return shm_file_allocate(seg->fd, seg->at + SHM_KEYS_AT,
				 SHM_KEYS * sizeof(struct shm_key));
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
	       h->data <= SHM_DATA_MAX && h->max_places &&
	       h->max_places <= SHM_PLACES_MAX;
}

int shm_seg_open(const struct shm_where *w, u32 rank, struct shm_seg *seg)
{
	struct stat st;
	int err;

	memset(seg, 0, sizeof(*seg));
	seg->at = w->at;
	seg->fd = shm_file_open(w);
	if (seg->fd < 0)
		return seg->fd;
	if (fstat(seg->fd, &st) || w->at > (u64)st.st_size ||
	    (u64)st.st_size - w->at < SHM_PAGE)
		err = -EBADMSG;
	else
		err = map_head(seg);
	if (!err && !head_is_good(seg->head, w, rank))
		err = -EBADMSG;
	if (err) {
		shm_seg_close(seg);
		return err;
	}
	seg->max_places = seg->head->max_places;
	seg->nseats = seg->head->nseats;
	return 0;
}

/* Allocated and mapped, or mapped already. NULL, and errno. */
static char *ring_at(const struct shm_seg *seg, u32 place)
{
	u64 stride = ring_stride(seg->head);
	u64 off = ring_offset(seg->head, place);
	int err;

	if (seg->base)
		return seg->base + off;
	err = shm_file_allocate(seg->fd, seg->at + off, stride);
	if (!err)
		return map_part(seg, off, stride, MAP_POPULATE);
	errno = -err;
	return NULL;
}

int shm_ring_map(const struct shm_seg *seg, u32 place, struct shm_end *e)
{
	u32 cells = seg->head->cells, data = seg->head->data;
	char *at;

	if (place >= seg->max_places)
		return -ENOSPC;
	at = ring_at(seg, place);
	if (!at)
		return -errno;
	memset(e, 0, sizeof(*e));
	e->ring = (struct shm_ring *)at;
	e->cells = (struct shm_cell *)(at + SHM_RING_HEAD);
	e->data = at + SHM_RING_HEAD + (size_t)cells * SHM_LINE;
	e->cell_mask = 2 * cells - 1;
	e->data_mask = data - 1;
	e->stays = seg->base;
	return 0;
}

/* With zeros where the file system cannot take memory back. */
int shm_ring_wipe(const struct shm_seg *seg, u32 place)
{
	u64 stride = ring_stride(seg->head);
	struct shm_end e;
	int err;

	if (!fallocate(seg->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		       (off_t)(seg->at + ring_offset(seg->head, place)),
		       (off_t)stride))
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
	if (e->ring && !e->stays)
		munmap(e->ring,
		       shm_page_round(shm_ring_bytes((e->cell_mask + 1) / 2,
						     e->data_mask + 1)));
	e->ring = NULL;
}

/* The @group-th table of places, which is not the one in the head. */
u64 *shm_group_map(const struct shm_seg *seg, u32 group)
{
	u64 off = ring_offset(seg->head, group * SHM_GROUP) - group_bytes();

	if (seg->base)
		return (u64 *)(seg->base + off);
	if (shm_file_allocate(seg->fd, seg->at + off, group_bytes()))
		return NULL;
	return map_part(seg, off, group_bytes(), 0);
}

static void unmap(struct shm_seg *seg)
{
	for (u32 i = 0; i < seg->ngroups; i++)
		if (seg->groups[i])
			munmap(seg->groups[i], group_bytes());
	if (seg->head)
		munmap(seg->head, head_bytes());
	if (seg->fd >= 0)
		close(seg->fd);
}

/* One in the hall is a part of it. */
void shm_seg_close(struct shm_seg *seg)
{
	if (!seg->base)
		unmap(seg);
	free(seg->groups);
	if (seg->path[0])
		unlink(seg->path);
	memset(seg, 0, sizeof(*seg));
	seg->fd = -1;
}
