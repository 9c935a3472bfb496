/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Splitting a communicator by what processes share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "comm/comm_split.h"
#include "comm/hw.h"
#include "env/errors.h"
#include "info/info.h"
#include "process/process.h"

#define KEY_TYPE "mpi_hw_resource_type"
#define KEY_PSET "mpi_pset_name"
#define SHARED_MEMORY "mpi_shared_memory"

/* Where a process is. */
struct place {
	uint64_t host;
	int32_t part[MPII_HW_COUNT]; /* as mpii_hw_instance */
	int32_t rank;		     /* in the job: the process itself */
};

uint64_t mpii_host_id(void)
{
	char text[128] = "";
	uint64_t h = UINT64_C(1469598103934665603);
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = '\0';
		fclose(f);
	}
	if (!text[0])
		gethostname(text, sizeof(text) - 1);
	for (const char *p = text; *p; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
	return h;
}

/* --- what to split by --- */

enum { BY_NOTHING = -1, BY_ALL = MPII_HW_COUNT, BY_PROCESS, BY_HOST };

/* What the info of a guided split names. */
static int by_info(const struct mpii_info *info, bool psets)
{
	const char *type = mpii_info_value(info, KEY_TYPE);
	const char *pset = psets ? mpii_info_value(info, KEY_PSET) : NULL;

	if (type)
		return !strcmp(type, SHARED_MEMORY) ? BY_HOST :
						      mpii_hw_find(type);
	if (!pset)
		return BY_NOTHING;
	if (!strcasecmp(pset, "mpi://WORLD"))
		return BY_ALL;
	if (!strcasecmp(pset, "mpi://SELF"))
		return BY_PROCESS;
	return strcasecmp(pset, "o2g://NODE") ? BY_NOTHING : BY_HOST;
}

/* Are a and b together in a split by @what? Both may be in no part at all. */
static bool together(const struct place *a, const struct place *b, int what)
{
	if (what == BY_ALL)
		return true;
	if (what == BY_PROCESS)
		return a->rank == b->rank;
	if (a->host != b->host)
		return false;
	return what == BY_HOST || a->part[what] == b->part[what];
}

static bool is_placed(const struct place *p, int what)
{
	return what >= MPII_HW_COUNT || p->part[what] >= 0;
}

/* The outermost level at which not all are together, or nothing. */
static int by_level(const struct place *all, int n)
{
	static const int levels[] = { BY_HOST,	   MPII_HW_PACKAGE,
				      MPII_HW_DIE, MPII_HW_NUMA,
				      MPII_HW_L3,  MPII_HW_L2,
				      MPII_HW_L1,  MPII_HW_CORE,
				      MPII_HW_PU };
	bool apart, placed;

	for (size_t k = 0; k < sizeof(levels) / sizeof(*levels); k++) {
		apart = placed = false;
		for (int i = 0; i < n; i++) {
			apart |= !together(&all[0], &all[i], levels[k]);
			placed |= is_placed(&all[i], levels[k]);
		}
		if (apart && placed)
			return levels[k];
	}
	return BY_NOTHING;
}

/* --- doing it --- */

static struct place my_place(void)
{
	struct place mine = { .host = mpii_host_id(), .rank = mpii.rank };

	for (int i = 0; i < MPII_HW_COUNT; i++)
		mine.part[i] = mpii_hw_instance(i);
	return mine;
}

/* Inside one group the first rank that is with us is the color. The sides of an
 * intercommunicator have no rank in common, they take a number for the place. */
static int color_of(const struct mpii_comm *c, const struct place *all,
		    const struct place *me, int what)
{
	uint64_t h = me->host * 31 + (uint64_t)what;

	if (what == BY_NOTHING || !is_placed(me, what))
		return MPI_UNDEFINED;
	for (int i = 0; !c->inter; i++)
		if (together(&all[i], me, what))
			return i;
	if (what == BY_ALL)
		return 0;
	if (what == BY_PROCESS)
		return me->rank;
	if (what < MPII_HW_COUNT)
		h = h * 31 + (uint64_t)me->part[what];
	return (int)(h % INT32_MAX);
}

/* Tell the program what an unguided split went by. */
static void tell(struct mpii_info *info, int what)
{
	if (info && what != BY_NOTHING)
		mpii_info_add(info, KEY_TYPE,
			      what == BY_HOST ? SHARED_MEMORY :
						mpii_hw_name(what));
}

static int choose(struct mpii_comm *c, int split_type, struct mpii_info *info,
		  int *color)
{
	struct mpii_comm *l = c->inter ? c->local : c;
	struct place mine = my_place(), *all;
	int what = BY_NOTHING, err;
	void *heard;

	err = mpii_comm_hear_all(c, &mine, sizeof(mine), &heard);
	if (err)
		return err;
	all = heard;
	switch (split_type) {
	case MPI_COMM_TYPE_SHARED:
		what = BY_HOST;
		break;
	case MPI_COMM_TYPE_HW_UNGUIDED:
		what = by_level(all, l->size);
		if (c->inter && what != BY_NOTHING)
			what = BY_HOST; /* a level that both sides have */
		break;
	case MPI_COMM_TYPE_HW_GUIDED:
	case MPI_COMM_TYPE_RESOURCE_GUIDED:
		what = by_info(info,
			       split_type == MPI_COMM_TYPE_RESOURCE_GUIDED);
		break;
	}
	*color = color_of(c, all, &all[l->rank], what);
	if (split_type == MPI_COMM_TYPE_HW_UNGUIDED)
		tell(info, what);
	free(all);
	return MPI_SUCCESS;
}

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
			 MPI_Comm *newcomm)
{
	static const char func[] = "MPI_Comm_split_type";
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_info *i = NULL;
	int color, err;

	if (!c)
		return mpii_bad_comm(comm, func);
	if (!newcomm)
		return mpii_bad_null(c, func, "newcomm");
	if (info != MPI_INFO_NULL) {
		i = mpii_info_get(info);
		if (!i)
			return mpii_error(c, MPI_ERR_INFO, func,
					  "info is no "
					  "info object or was freed");
	}
	if (split_type != MPI_UNDEFINED &&
	    (split_type < MPI_COMM_TYPE_SHARED ||
	     split_type > MPI_COMM_TYPE_RESOURCE_GUIDED))
		return mpii_error(c, MPI_ERR_ARG, func,
				  "split_type is %d, which is not a split type",
				  split_type);
	err = choose(c, split_type, i, &color);
	if (err)
		return mpii_raise(c, err, func);
	return mpii_comm_split(c, color, key, newcomm, func);
}
MPII_ALIAS(Comm_split_type);
