/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Memory that is attached to dynamic windows. Only the owner knows what is
 * attached; so it does the operations of all ranks, on addresses of its own.
 */
#include <stdlib.h>

#include "env/errors.h"
#include "win/create.h"
#include "win/dynamic.h"

struct win_region {
	uintptr_t base;
	size_t size;
	struct win_region *next;
};

static bool touch(const struct win_region *r, uintptr_t base, size_t size)
{
	return base < r->base + r->size && r->base < base + size;
}

bool win_region_holds(struct mpii_win *w, uint64_t address, uint64_t bytes)
{
	const struct win_region *r;

	pthread_mutex_lock(&w->owner);
	for (r = w->regions; r; r = r->next)
		if (address >= r->base && bytes <= r->size &&
		    address - r->base <= r->size - bytes)
			break;
	pthread_mutex_unlock(&w->owner);
	return r;
}

void win_regions_free(struct mpii_win *w)
{
	struct win_region *r;

	while ((r = w->regions)) {
		w->regions = r->next;
		free(r);
	}
}

/* False: it overlaps one that is there. */
static bool add(struct mpii_win *w, struct win_region *n)
{
	struct win_region *r;

	pthread_mutex_lock(&w->owner);
	for (r = w->regions; r; r = r->next)
		if (touch(r, n->base, n->size))
			break;
	if (!r) {
		n->next = w->regions;
		w->regions = n;
	}
	pthread_mutex_unlock(&w->owner);
	return !r;
}

static int attach(struct mpii_win *w, void *base, MPI_Aint size)
{
	struct win_region *n;

	if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
		return mpii_fail(MPI_ERR_RMA_FLAVOR,
				 "win was not made by MPI_Win_create_dynamic");
	if (size < 0)
		return mpii_fail(MPI_ERR_SIZE,
				 "size is %lld, but must not be negative",
				 (long long)size);
	if (!base && size > 0)
		return mpii_fail(MPI_ERR_BUFFER, "base is a null pointer");
	n = malloc(sizeof(*n));
	if (!n)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	*n = (struct win_region){ (uintptr_t)base, (size_t)size, NULL };
	if (add(w, n))
		return MPI_SUCCESS;
	free(n);
	return mpii_fail(MPI_ERR_RMA_ATTACH,
			 "the memory at %p overlaps memory that is attached "
			 "already",
			 base);
}

static int detach(struct mpii_win *w, const void *base)
{
	struct win_region **r, *found;

	if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
		return mpii_fail(MPI_ERR_RMA_FLAVOR,
				 "win was not made by MPI_Win_create_dynamic");
	pthread_mutex_lock(&w->owner);
	for (r = &w->regions; *r && (*r)->base != (uintptr_t)base;)
		r = &(*r)->next;
	found = *r;
	if (found)
		*r = found->next;
	pthread_mutex_unlock(&w->owner);
	free(found);
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
