/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Gather and MPI_Gatherv in all forms. */
#include "coll/rooted.h"

static int linear(const struct coll *k, const struct coll_args *a)
{
	return mpii_gather_linear COLL_ARGS_gather;
}

static const struct coll_rooted equal = { COLL_gather, .gather = true,
					  .equal = true, .linear = linear };
static const struct coll_rooted lists = { COLL_gatherv, .gather = true,
					  .equal = false, .linear = linear };

static int gather(const struct coll_how *how, const void *sendbuf,
		  MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		  MPI_Count recvcount, MPI_Datatype recvtype, int root,
		  MPI_Comm comm)
{
	struct coll_args a = { .s = { .buf = (char *)sendbuf,
				      .count = sendcount },
			       .r = { .buf = recvbuf, .count = recvcount },
			       .root = root,
			       .rooted = &equal };

	return coll_rooted(how, &a, NULL, sendtype, recvtype, comm);
}

static int gatherv(const struct coll_how *how, const void *sendbuf,
		   MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		   struct coll_lists l, MPI_Datatype recvtype, int root,
		   MPI_Comm comm)
{
	struct coll_args a = { .s = { .buf = (char *)sendbuf,
				      .count = sendcount },
			       .r = { .buf = recvbuf },
			       .root = root,
			       .rooted = &lists };

	return coll_rooted(how, &a, &l, sendtype, recvtype, comm);
}

#define PARAMS(count_t)                                                      \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,                  \
		    MPI_Datatype sendtype, void *recvbuf, count_t recvcount, \
		    MPI_Datatype recvtype, int root, MPI_Comm comm)
#define PARAMS_V(count_t, displ_t)                                      \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,             \
		    MPI_Datatype sendtype, void *recvbuf,               \
		    const count_t recvcounts[], const displ_t displs[], \
		    MPI_Datatype recvtype, int root, MPI_Comm comm)

COLL_FORMS(Gather, Igather, Gather_init, PARAMS(int), gather, sendbuf,
	   sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
COLL_FORMS(Gather_c, Igather_c, Gather_init_c, PARAMS(MPI_Count), gather,
	   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
	   comm);
COLL_FORMS(Gatherv, Igatherv, Gatherv_init, PARAMS_V(int, int), gatherv,
	   sendbuf, sendcount, sendtype, recvbuf,
	   COLL_LISTS(recvcounts, displs), recvtype, root, comm);
COLL_FORMS(Gatherv_c, Igatherv_c, Gatherv_init_c, PARAMS_V(MPI_Count, MPI_Aint),
	   gatherv, sendbuf, sendcount, sendtype, recvbuf,
	   COLL_LISTS_C(recvcounts, displs), recvtype, root, comm);
