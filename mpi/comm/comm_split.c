/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Splitting a communicator by color and key. */
#include <stdlib.h>

#include "coll/calls.h"
#include "comm/comm_split.h"
#include "comm/intercomm.h"
#include "env/errors.h"

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
	int *peers = malloc((n + 1) * sizeof(*peers)), k = 0;

	if (!peers)
		return NULL;
	qsort(all, n, sizeof(*all), by_key);
	for (int i = 0; i < n; i++)
		if (all[i].color == color)
			peers[k++] = mpii_group_peer(from, all[i].rank);
	return mpii_group_create(k, peers);
}

int mpii_comm_hear_all(struct mpii_comm *c, const void *mine, int bytes,
		       void **all)
{
	struct mpii_comm *l = c->inter ? c->local : c;
	struct mpii_type *byte = mpii_type_get(MPI_BYTE);
	int err;

	*all = malloc((size_t)l->size * bytes);
	if (!*all)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = mpii_allgather(mine, bytes, byte, *all, bytes, byte, l);
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
	else
		mpii_context_free(context);
	return *out ? MPI_SUCCESS : mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

/* Both sides' members of a color; there may be none. MPI code. */
static int choose_both(struct mpii_comm *c, struct entry *all, void *in,
		       int color, struct mpii_group **g,
		       struct mpii_group **remote)
{
	*g = choose(all, c->size, color, c->group);
	*remote = *g ? choose(in, c->remote_size, color, c->remote) : NULL;
	if (*remote)
		return MPI_SUCCESS;
	if (*g)
		mpii_group_put(*g);
	return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

static int split_inter(struct mpii_comm *c, struct entry *all, int color,
		       struct mpii_comm **out)
{
	struct mpii_set s = mpii_set_all(c);
	struct mpii_group *g = NULL, *remote = &mpii_group_empty;
	uint32_t context, send_context;
	void *in = NULL;
	int len, err;

	err = mpii_intercomm_contexts(c, &s, &context, &send_context);
	if (err)
		return err;
	err = mpii_intercomm_exchange(c, &s, all, c->size * (int)sizeof(*all),
				      &in, &len);
	if (!err && color != MPI_UNDEFINED)
		err = choose_both(c, all, in, color, &g, &remote);
	free(in);
	if (err || remote->size == 0) { /* nobody to talk to */
		if (g && !err)
			mpii_group_put(g);
		mpii_context_free(context);
		return err;
	}
	*out = mpii_intercomm_create(g, remote, context, send_context);
	return *out ? MPI_SUCCESS : mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

int mpii_comm_split(struct mpii_comm *c, int color, int key, MPI_Comm *newcomm,
		    const char *func)
{
	struct entry mine = { color, key, c->rank };
	struct mpii_comm *n = NULL;
	void *all;
	int err;

	err = mpii_comm_hear_all(c, &mine, sizeof(mine), &all);
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
		return mpii_error(c, MPI_ERR_ARG, func,
				  "color is %d, but must "
				  "be MPI_UNDEFINED or not negative",
				  color);
	return mpii_comm_split(c, color, key, newcomm, func);
}
MPII_ALIAS(Comm_split);
