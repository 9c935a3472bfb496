/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The memory that the ranks of a communicator share: made once, and mapped. */
#define _GNU_SOURCE
#include "coll/shared_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coll/algorithms.h"
#include "coll/boxes.h"
#include "coll/levels.h"
#include "coll/state.h"
#include "process/gone.h"

#define SEGMENTS_MAX 64 /* communicators that have one, at a time */

static atomic_int segments;

static size_t slots_and_areas(int n)
{
	size_t bytes = sizeof(struct start) + SLOTS * slot_bytes(n);

	for (int i = 1; i < KINDS; i++)
		bytes += kinds[i].areas * area_bytes(&kinds[i], n);
	return bytes;
}

/* --- counting --- */

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct coll_shared *everyone;
static uint64_t gone_calls; /* of those that were there */

static void add_to_all(struct coll_shared *s)
{
	pthread_mutex_lock(&all_lock);
	s->next = everyone;
	s->link = &everyone;
	if (everyone)
		everyone->link = &s->next;
	everyone = s;
	pthread_mutex_unlock(&all_lock);
}

static void take_from_all(struct coll_shared *s)
{
	if (!s->link)
		return;
	pthread_mutex_lock(&all_lock);
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	gone_calls += s->calls;
	pthread_mutex_unlock(&all_lock);
}

uint64_t coll_shared_count(void)
{
	uint64_t n;

	pthread_mutex_lock(&all_lock);
	n = gone_calls;
	for (const struct coll_shared *s = everyone; s; s = s->next)
		n += s->calls;
	pthread_mutex_unlock(&all_lock);
	return n;
}

static void destroy(struct coll_shared *s)
{
	take_from_all(s);
	if (s->memory) {
		munmap(s->memory, s->bytes);
		atomic_fetch_sub(&segments, 1);
	}
	free(s->others);
	free(s->turns);
	free(s);
}

/* How others find rank 0's file: through its process. */
struct where {
	int pid, fd;
};

static bool map(struct coll_shared *s, int fd)
{
	void *p;

	if (fd < 0)
		return false;
	p = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	s->memory = p;
	atomic_fetch_add(&segments, 1);
	return true;
}

static struct where make_memory(struct coll_shared *s)
{
	struct where w = { getpid(), memfd_create("o2g-coll", MFD_CLOEXEC) };

	if (w.fd >= 0 && (ftruncate(w.fd, (off_t)s->bytes) || !map(s, w.fd))) {
		close(w.fd);
		w.fd = -1;
	}
	return w;
}

static void open_memory(struct coll_shared *s, const struct where *w)
{
	char path[64];
	int fd;

	if (w->fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", w->pid, w->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	map(s, fd);
	if (fd >= 0)
		close(fd);
}

/* Each needs the means to wake the others and to notice that one dies. */
static bool reach_all(const struct coll_shared *s)
{
	struct o2g_peer_info info;

	if (o2g_nudge(mpii.ep, s->others, (size_t)s->n - 1))
		return false;
	for (int i = 0; i < s->n - 1; i++)
		if (o2g_peer_info(mpii.ep, s->others[i], &info) || !info.alive)
			return false;
	return true;
}

int coll_shared_set_up(const struct coll *k, struct coll_shared *s)
{
	struct mpii_type *bytes = coll_bytes(), *t = mpii_type_get(MPI_INT);
	struct where w = { 0, -1 };
	int mine, all = 0, err;

	if (k->c->rank == 0)
		w = make_memory(s);
	err = mpii_bcast_binomial(k, &w, sizeof(w), bytes, 0);
	if (!err && k->c->rank)
		open_memory(s, &w);
	/* where one has died already, waiting in memory is not told of it */
	mine = s->memory && reach_all(s) && mpii_gone_latest(k->c) < 0 &&
	       atomic_load(&segments) <= SEGMENTS_MAX;
	if (!err)
		err = mpii_allreduce_doubling(k, &mine, &all, 1, t,
					      mpii_op_get(MPI_MIN));
	if (k->c->rank == 0 && w.fd >= 0)
		close(w.fd);
	s->losses = o2g_losses(mpii.ep);
	s->state = !err && all ? USED : UNUSABLE;
	if (s->state == UNUSABLE && s->memory) {
		munmap(s->memory, s->bytes);
		s->memory = NULL;
		atomic_fetch_sub(&segments, 1);
	}
	return err;
}

/* What is needed to meet: NULL pointers where that cannot be. */
static bool prepare(struct coll_shared *s, const struct mpii_comm *c)
{
	s->boxes = slots_and_areas(s->n);
	s->bytes = s->boxes + coll_boxes_bytes(s->n);
	s->others = malloc(c->size * sizeof(int));
	s->turns = calloc(c->size, sizeof(*s->turns));
	for (int i = 0, k = 0; s->others && i < c->size; i++)
		if (i != c->rank)
			s->others[k++] = mpii_comm_peer(c, i);
	return s->others && s->turns;
}

struct coll_shared *coll_shared_create(struct mpii_comm *c)
{
	struct coll_state *state = coll_state(c);
	struct coll_shared *s = state ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->n = c->size;
	s->state = c->size > 1 && c->size <= COLL_SHARED_RANKS &&
				   coll_place(c) == COLL_TOGETHER ?
			   UNKNOWN :
			   UNUSABLE;
	if (s->state == UNKNOWN && !prepare(s, c)) {
		destroy(s);
		return NULL;
	}
	add_to_all(s);
	state->shared = s;
	state->shared_free = destroy;
	return s;
}
