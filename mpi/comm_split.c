/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Splitting a communicator by color and key, or by what processes share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm.h"

struct entry {
	int color, key, rank;
};

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank - y->rank;
}

/* The members of @color among @all, in order of key, then of rank. */
static struct mpii_group *choose(struct entry *all, int n, int color,
				 const struct mpii_group *from)
{
	int *world = malloc((n + 1) * sizeof(*world)), k = 0;

	if (!world)
		return NULL;
	qsort(all, n, sizeof(*all), by_key);
	for (int i = 0; i < n; i++)
		if (all[i].color == color)
			world[k++] = from->world[all[i].rank];
	return mpii_group_create(k, world);
}

/* Everybody's entry of the local side. */
static int gather(struct mpii_comm *c, int color, int key, struct entry **all)
{
	struct mpii_comm *l = c->inter ? c->local : c;
	struct entry mine = { color, key, c->rank };
	struct mpii_type *byte = mpii_type_get(MPI_BYTE);
	int err;

	*all = malloc(l->size * sizeof(**all));
	if (!*all)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = mpii_allgather(&mine, sizeof(mine), byte, *all, sizeof(mine),
			     byte, l);
	if (err)
		free(*all);
	return err;
}

static int split_intra(struct mpii_comm *c, struct entry *all, int color,
		       struct mpii_comm **out)
{
	struct mpii_group *g;
	uint32_t context;
	int err;

	/* One number does for all colors: they have no members in common. */
	err = mpii_context_agree(c, &context);
	if (err)
		return err;
	if (color == MPI_UNDEFINED) {
		mpii_context_free(context);
		return MPI_SUCCESS;
	}
	g = choose(all, c->size, color, c->group);
	if (g)
		*out = mpii_comm_create(g, context);
	return *out ? MPI_SUCCESS : mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

static int split_inter(struct mpii_comm *c, struct entry *all, int color,
		       struct mpii_comm **out)
{
	struct mpii_set s = mpii_set_all(c);
	struct mpii_group *g, *remote;
	uint32_t context, send_context;
	void *in;
	int len, err;

	err = mpii_intercomm_contexts(c, &s, &context, &send_context);
	if (err)
		return err;
	err = mpii_intercomm_exchange(c, &s, all,
				      c->size * (int)sizeof(*all), &in, &len);
	if (err)
		return err;
	if (color == MPI_UNDEFINED) {
		free(in);
		mpii_context_free(context);
		return MPI_SUCCESS;
	}
	g = choose(all, c->size, color, c->group);
	remote = choose(in, c->remote_size, color, c->remote);
	free(in);
	if (g && remote && remote->size == 0) { /* nobody to talk to */
		mpii_group_put(g);
		mpii_context_free(context);
		return MPI_SUCCESS;
	}
	if (g && remote)
		*out = mpii_intercomm_create(g, remote, context, send_context);
	return *out ? MPI_SUCCESS : mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

static int split(struct mpii_comm *c, int color, int key, MPI_Comm *newcomm,
		 const char *func)
{
	struct mpii_comm *n = NULL;
	struct entry *all;
	int err;

	err = gather(c, color, key, &all);
	if (err)
		return mpii_raise(c, err, func);
	err = c->inter ? split_inter(c, all, color, &n) :
			 split_intra(c, all, color, &n);
	free(all);
	if (err)
		return mpii_raise(c, err, func);
	*newcomm = MPI_COMM_NULL;
	return n ? mpii_comm_deliver(n, c, newcomm, func) : MPI_SUCCESS;
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
	static const char func[] = "MPI_Comm_split";
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, func);
	if (!newcomm)
		return mpii_bad_null(c, func, "newcomm");
	if (color < 0 && color != MPI_UNDEFINED)
		return mpii_error(c, MPI_ERR_ARG, func, "color is %d, but must "
				  "be MPI_UNDEFINED or not negative", color);
	return split(c, color, key, newcomm, func);
}
MPII_ALIAS(Comm_split);

/* --- by what is shared --- */

/* A number for the running kernel: processes that see the same one can share
 * memory, whatever their host is called. */
static uint64_t host_id(void)
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

/* The first rank on our host, as a color; do we span several? The sides of an
 * intercommunicator have no such rank in common, they take the number. */
static int host_color(struct mpii_comm *c, int *color, bool *several)
{
	struct mpii_comm *l = c->inter ? c->local : c;
	struct mpii_type *byte = mpii_type_get(MPI_BYTE);
	uint64_t mine = host_id(), *all = malloc(l->size * sizeof(*all));
	int err;

	if (!all)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = mpii_allgather(&mine, sizeof(mine), byte, all, sizeof(mine),
			     byte, l);
	*color = -1;
	*several = false;
	for (int i = 0; !err && i < l->size; i++) {
		if (all[i] != mine)
			*several = true;
		else if (*color < 0)
			*color = i;
	}
	if (c->inter)
		*color = (int)(mine & 0x7fffffff);
	free(all);
	return err;
}

/* Does the info ask for a resource that we can split by? */
static bool wants_shared(MPI_Info info)
{
	const char *v;

	if (info == MPI_INFO_NULL)
		return false;
	v = mpii_info_value(mpii_info_get(info), "mpi_hw_resource_type");
	return v && !strcmp(v, "mpi_shared_memory");
}

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
			 MPI_Comm *newcomm)
{
	static const char func[] = "MPI_Comm_split_type";
	struct mpii_comm *c = mpii_comm_get(comm);
	bool several = false;
	int color = MPI_UNDEFINED, err;

	if (!c)
		return mpii_bad_comm(comm, func);
	if (!newcomm)
		return mpii_bad_null(c, func, "newcomm");
	if (info != MPI_INFO_NULL && !mpii_info_get(info))
		return mpii_error(c, MPI_ERR_INFO, func,
				  "info is no info object or was freed");
	if (split_type != MPI_UNDEFINED &&
	    (split_type < MPI_COMM_TYPE_SHARED ||
	     split_type > MPI_COMM_TYPE_RESOURCE_GUIDED))
		return mpii_error(c, MPI_ERR_ARG, func,
				  "split_type is %d, which is no split type",
				  split_type);
	err = host_color(c, &color, &several);
	if (err)
		return mpii_raise(c, err, func);
	/* The others give a communicator only where they make it smaller or
	 * name what we know, and MPI_COMM_NULL otherwise. */
	if (split_type == MPI_COMM_TYPE_HW_UNGUIDED && !several)
		color = MPI_UNDEFINED;
	if ((split_type == MPI_COMM_TYPE_HW_GUIDED ||
	     split_type == MPI_COMM_TYPE_RESOURCE_GUIDED) &&
	    !wants_shared(info))
		color = MPI_UNDEFINED;
	if (split_type == MPI_UNDEFINED)
		color = MPI_UNDEFINED;
	return split(c, color, key, newcomm, func);
}
MPII_ALIAS(Comm_split_type);
