/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Memory that is attached to dynamic windows. Only the owner knows what is
 * attached; so it does the operations of all ranks, on addresses of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "win/create.h"
#include "win/dynamic.h"

struct win_region {
	uintptr_t base;
	size_t size;
};

/* Index of the first region that begins beyond @address. They are sorted, and those
 * that begin at one address have no bytes, but the last. */
static size_t first_beyond(const struct mpii_win *w, uintptr_t address)
{
	size_t from = 0, to = w->nregions;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (w->regions[mid].base > address)
			to = mid;
		else
			from = mid + 1;
	}
	return from;
}

/* With the lock. Regions that lie end to end are as good as one. */
static bool holds(const struct mpii_win *w, uintptr_t address, size_t bytes)
{
	size_t i = first_beyond(w, address);
	uintptr_t last, end;

	if (i == 0 || __builtin_add_overflow(address, bytes, &last))
		return false;
	end = w->regions[i - 1].base + w->regions[i - 1].size;
	for (; end < last && i < w->nregions; i++) {
		if (w->regions[i].base != end)
			return false;
		end += w->regions[i].size;
	}
	return address <= end && last <= end;
}

bool win_region_holds(struct mpii_win *w, uint64_t address, uint64_t bytes)
{
	bool yes;

	pthread_mutex_lock(&w->owner);
	yes = holds(w, address, bytes);
	pthread_mutex_unlock(&w->owner);
	return yes;
}

struct look {
	const struct mpii_win *w;
	bool all;
};

static void look_at(void *arg, char *piece, MPI_Count len)
{
	struct look *l = arg;

	l->all = l->all && holds(l->w, (uintptr_t)piece, (size_t)len);
}

bool win_regions_hold(struct mpii_win *w, uint64_t address,
		      const struct mpii_type *t, MPI_Count off, MPI_Count n)
{
	struct look l = { w, true };

	pthread_mutex_lock(&w->owner);
	mpii_type_each(t, (const void *)(uintptr_t)address, off, n, look_at,
		       &l);
	pthread_mutex_unlock(&w->owner);
	return l.all;
}

void win_regions_free(struct mpii_win *w)
{
	free(w->regions);
}

static bool touch(const struct win_region *a, const struct win_region *b)
{
	return a->base < b->base + b->size && b->base < a->base + a->size;
}

static int make_room(struct mpii_win *w)
{
	size_t room = w->region_room ? 2 * w->region_room : 8;
	struct win_region *r;

	if (w->nregions < w->region_room)
		return 0;
	r = realloc(w->regions, room * sizeof(*r));
	if (!r)
		return -ENOMEM;
	w->regions = r;
	w->region_room = room;
	return 0;
}

/* With the lock. 0, -ENOMEM, or -EEXIST: it overlaps one that is there. */
static int add(struct mpii_win *w, const struct win_region *n)
{
	size_t i = first_beyond(w, n->base);

	if (i > 0 && touch(&w->regions[i - 1], n))
		return -EEXIST;
	if (i < w->nregions && touch(&w->regions[i], n))
		return -EEXIST;
	if (make_room(w))
		return -ENOMEM;
	while (n->size == 0 && i > 0 && w->regions[i - 1].base == n->base)
		i--;
	memmove(&w->regions[i + 1], &w->regions[i],
		(w->nregions - i) * sizeof(*n));
	w->regions[i] = *n;
	w->nregions++;
	return 0;
}

static int attach(struct mpii_win *w, void *base, MPI_Aint size)
{
	struct win_region n = { (uintptr_t)base, (size_t)size };
	int err;

	if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
		return mpii_fail(MPI_ERR_RMA_FLAVOR,
				 "win was not made by MPI_Win_create_dynamic");
	if (size < 0)
		return mpii_fail(MPI_ERR_SIZE,
				 "size is %lld, but must not be negative",
				 (long long)size);
	if (!base && size > 0)
		return mpii_fail(MPI_ERR_BUFFER, "base is a null pointer");
	pthread_mutex_lock(&w->owner);
	err = add(w, &n);
	pthread_mutex_unlock(&w->owner);
	if (err == -ENOMEM)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	if (err)
		return mpii_fail(MPI_ERR_RMA_ATTACH,
				 "the memory at %p overlaps memory that is "
				 "attached already",
				 base);
	return MPI_SUCCESS;
}

/* With the lock. False: there is none that begins here. */
static bool take_out(struct mpii_win *w, uintptr_t base)
{
	size_t i = first_beyond(w, base);

	if (i == 0 || w->regions[i - 1].base != base)
		return false;
	memmove(&w->regions[i - 1], &w->regions[i],
		(w->nregions - i) * sizeof(w->regions[0]));
	w->nregions--;
	return true;
}

static int detach(struct mpii_win *w, const void *base)
{
	bool found;

	if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
		return mpii_fail(MPI_ERR_RMA_FLAVOR,
				 "win was not made by MPI_Win_create_dynamic");
	pthread_mutex_lock(&w->owner);
	found = take_out(w, (uintptr_t)base);
	pthread_mutex_unlock(&w->owner);
	return found ? MPI_SUCCESS :
		       mpii_fail(MPI_ERR_BASE,
				 "no memory that begins at %p is attached",
				 base);
}

int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, "MPI_Win_attach");
	return win_raise(w, attach(w, base, size), "MPI_Win_attach");
}
MPII_ALIAS(Win_attach);

int PMPI_Win_detach(MPI_Win win, const void *base)
{
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, "MPI_Win_detach");
	return win_raise(w, detach(w, base), "MPI_Win_detach");
}
MPII_ALIAS(Win_detach);
