/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "process/rooted.h"

#include <stdlib.h>

#include "env/errors.h"

int mpii_check_rooted(struct mpii_comm **c, MPI_Comm comm, int root,
		      const void *result, const char *name, const char *func)
{
	*c = mpii_comm_get(comm);
	if (!*c)
		return mpii_bad_comm(comm, func);
	if ((*c)->inter)
		return mpii_error(*c, MPI_ERR_COMM, func,
				  "%s is an intercommunicator",
				  mpii_comm_words(*c));
	if (root < 0 || root >= (*c)->size)
		return mpii_error(*c, MPI_ERR_ROOT, func,
				  "root is %d, but %s has %d process%s", root,
				  mpii_comm_words(*c), (*c)->size,
				  (*c)->size == 1 ? "" : "es");
	if (!result)
		return mpii_bad_null(*c, func, name);
	return MPI_SUCCESS;
}

/* All members, the root first. NULL: out of memory. */
static int *root_first(const struct mpii_comm *c, int root, int *me)
{
	int *ranks = malloc(c->size * sizeof(*ranks));

	if (!ranks)
		return NULL;
	for (int i = 0; i < c->size; i++)
		ranks[i] = i;
	ranks[0] = root;
	ranks[root] = 0;
	*me = c->rank == root ? 0 : c->rank == 0 ? root : c->rank;
	return ranks;
}

int mpii_meet_from(struct mpii_comm *c, int root, struct mpii_way *way,
		   struct mpii_comm **out)
{
	struct mpii_set s = mpii_set_all(c);
	int err, *ranks = root_first(c, root, &s.me);

	if (!ranks)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	s.ranks = ranks;
	err = mpii_meet(&s, c->group, way, NULL, out);
	free(ranks);
	return err;
}

int mpii_tell_all(struct mpii_comm *c, int root, void *buf, int bytes)
{
	struct mpii_set s = mpii_set_all(c);
	int err, *ranks = root_first(c, root, &s.me);

	if (!ranks)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	s.ranks = ranks;
	err = mpii_set_bcast(&s, buf, bytes);
	free(ranks);
	return err;
}
