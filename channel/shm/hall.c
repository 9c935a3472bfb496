/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The hall: one file for the segments of all ranks of a job on this host, made
 * by the launcher and mapped once by each. A new peer then costs no system call
 * and no more memory than the pages that its messages touch.
 *
 * The file starts with a table of seats, one for each rank; then come the
 * segments, all of the same size. It is sparse: the size is that of the rings of
 * everybody with everybody, and a bit for guests, which are peers of other jobs.
 *
 * O2G_SHM_HALL=PID:FD:INODE:SEAT:SEATS names it. Whoever does not get in, since
 * there is no launcher of ours, or its rings have another size than those of
 * whoever came first, or its seat is taken (a program that a rank has started has
 * its variables), has a segment of its own, and others find it by its card.
 *
 * A seat is taken once and never given back: what is in it may be in use by
 * others longer than its owner lives.
 */
#define _GNU_SOURCE
#include "shm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GUESTS 1024	      /* places for peers of other jobs */
#define HALL_MAX (1ull << 44) /* bytes: there is room for several */
#define HALL_SEATS_MAX (1u << 16)
#define HASH_START 0xcbf29ce484222325ull

enum { SEAT_EMPTY, SEAT_TAKEN, SEAT_READY, SEAT_LEFT };

struct seat {
	u32 state;
	u32 rank;
	u64 job;
};

struct hall_head {
	u64 shape; /* of every segment; 0: nobody has come yet */
	u64 unused[7];
	struct seat seats[];
};

static struct hall_head *head_of(const struct shm_hall *h)
{
	return (struct hall_head *)h->base;
}

static u64 segments_at(const struct shm_hall *h)
{
	return shm_page_round(sizeof(struct hall_head) +
			      h->seats * sizeof(struct seat));
}

static u64 hash(u64 h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return h;
}

/* The file that the launcher made, or -1. */
static int open_hall(struct shm_hall *h)
{
	const char *text = getenv("O2G_SHM_HALL");
	unsigned long long inode;
	unsigned pid, fd_there;
	struct stat st;
	char path[64];
	int fd;

	if (!text || sscanf(text, "%u:%u:%llu:%u:%u", &pid, &fd_there, &inode,
			    &h->mine, &h->seats) != 5)
		return -1;
	if (h->mine >= h->seats || h->seats > HALL_SEATS_MAX)
		return -1;
	snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid, fd_there);
	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_ino != inode)
		return -1;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* It only ever grows, and everybody makes it the same size. */
static bool map_hall(struct shm *s, struct shm_hall *h)
{
	struct stat st;

	h->max_places = h->seats + GUESTS;
	h->extent = shm_seg_bytes(s->cells, s->data, h->max_places);
	if (h->extent > HALL_MAX / h->seats)
		return false;
	h->bytes = segments_at(h) + h->seats * h->extent;
	if (fstat(h->fd, &st) ||
	    ((u64)st.st_size < h->bytes && ftruncate(h->fd, (off_t)h->bytes)))
		return false;
	h->base = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_NORESERVE, h->fd, 0);
	if (h->base == MAP_FAILED)
		h->base = NULL;
	return h->base;
}

/* The first to come says how large rings are. */
static bool has_my_shape(struct shm *s, struct shm_hall *h)
{
	u64 mine = (u64)s->cells << 32 | s->data, was = 0;

	return __atomic_compare_exchange_n(&head_of(h)->shape, &was, mine,
					   false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST) ||
	       was == mine;
}

static bool take_seat(struct shm_hall *h)
{
	u32 was = SEAT_EMPTY;

	return __atomic_compare_exchange_n(&head_of(h)->seats[h->mine].state,
					   &was, SEAT_TAKEN, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void seg_at(struct shm_hall *h, u32 seat, struct shm_seg *seg)
{
	memset(seg, 0, sizeof(*seg));
	seg->fd = h->fd;
	seg->at = segments_at(h) + seat * h->extent;
	seg->base = h->base + seg->at;
	seg->head = (struct shm_head *)seg->base;
	seg->max_places = h->max_places;
	seg->seat = seat;
	seg->nseats = h->seats;
}

static void leave(struct shm_hall *h)
{
	if (h->base)
		munmap(h->base, h->bytes);
	close(h->fd);
	memset(h, 0, sizeof(*h));
}

bool shm_hall_enter(struct shm *s)
{
	struct shm_hall *h = &s->hall;

	h->fd = open_hall(h);
	if (h->fd < 0)
		return false;
	if (!map_hall(s, h) || !has_my_shape(s, h) || !take_seat(h)) {
		leave(h);
		return false;
	}
	/* Those on another node, as far as we are concerned, are not met here. */
	h->job = hash(hash(HASH_START, chan_ep_job(s->chan.ep)),
		      chan_ep_node(s->chan.ep));
	seg_at(h, h->mine, &s->own);
	return true;
}

void shm_hall_ready(struct shm *s)
{
	struct seat *seat = &head_of(&s->hall)->seats[s->hall.mine];

	seat->rank = s->rank;
	seat->job = s->hall.job;
	__atomic_store_n(&seat->state, SEAT_READY, __ATOMIC_RELEASE);
}

void shm_hall_leave(struct shm *s)
{
	if (!s->hall.base)
		return;
	__atomic_store_n(&head_of(&s->hall)->seats[s->hall.mine].state,
			 SEAT_LEFT, __ATOMIC_RELEASE);
	leave(&s->hall);
}

static bool sits_at(const struct shm_hall *h, u32 seat, u32 rank)
{
	const struct seat *at = &head_of(h)->seats[seat];

	return __atomic_load_n(&at->state, __ATOMIC_ACQUIRE) == SEAT_READY &&
	       at->rank == rank && at->job == h->job;
}

/* Ranks mostly sit in their order. */
static bool find_seat(const struct shm *s, u32 rank, u32 *seat)
{
	const struct shm_hall *h = &s->hall;

	*seat = h->mine + (rank - s->rank);
	if (*seat < h->seats && sits_at(h, *seat, rank))
		return true;
	for (*seat = 0; *seat < h->seats; ++*seat)
		if (sits_at(h, *seat, rank))
			return true;
	return false;
}

int shm_hall_seg(struct shm *s, u32 rank, struct shm_seg *seg)
{
	u32 seat;

	if (!s->hall.base || !find_seat(s, rank, &seat))
		return -ENOENT;
	seg_at(&s->hall, seat, seg);
	return 0;
}
