/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What can be asked of a window: its members, and memory that is shared. */
#include "env/errors.h"
#include "win/host.h"

int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
	static const char func[] = "MPI_Win_get_group";
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, func);
	if (!group)
		return win_null_arg(w, func, "group");
	mpii_group_hold(w->comm->group);
	*group = mpii_group_handle(w->comm->group);
	return MPI_SUCCESS;
}
MPII_ALIAS(Win_get_group);

/* The lowest rank whose memory we see and that has some. */
static int first_with_memory(const struct mpii_win *w)
{
	for (int i = 0; i < w->n; i++)
		if (w->peers[i].direct && w->peers[i].size > 0)
			return i;
	return -1;
}

static int check_query(struct mpii_win *w, int rank)
{
	if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
		return mpii_fail(MPI_ERR_RMA_FLAVOR,
				 "win was made by MPI_Win_create_dynamic, "
				 "where no memory is shared");
	return rank == MPI_PROC_NULL ? MPI_SUCCESS :
				       win_check_rank(w, rank, "rank");
}

/* Memory that cannot be seen has size 0, and what has size 0 no address. */
static int query(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
		 void *baseptr, const char *func)
{
	struct mpii_win *w = mpii_win_get(win);
	const struct win_peer *p;
	int err;

	if (!w)
		return mpii_bad_win(win, func);
	err = check_query(w, rank);
	if (err)
		return win_raise(w, err, func);
	if (!size || !disp_unit || !baseptr)
		return win_null_arg(w, func,
				    !size      ? "size" :
				    !disp_unit ? "disp_unit" :
						 "baseptr");
	if (rank == MPI_PROC_NULL)
		rank = first_with_memory(w);
	*size = 0;
	*disp_unit = 1;
	*(void **)baseptr = NULL;
	if (rank < 0)
		return MPI_SUCCESS;
	p = &w->peers[rank];
	*disp_unit = p->disp_unit;
	if (p->direct && p->size) {
		*size = p->size;
		*(void **)baseptr = p->direct;
	}
	return MPI_SUCCESS;
}

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit,
			  void *baseptr)
{
	static const char func[] = "MPI_Win_shared_query";
	MPI_Aint unit = 1;
	int err =
		query(win, rank, size, disp_unit ? &unit : NULL, baseptr, func);

	if (!err)
		*disp_unit = (int)unit;
	return err;
}
MPII_ALIAS(Win_shared_query);

int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size,
			    MPI_Aint *disp_unit, void *baseptr)
{
	return query(win, rank, size, disp_unit, baseptr,
		     "MPI_Win_shared_query_c");
}
MPII_ALIAS(Win_shared_query_c);
