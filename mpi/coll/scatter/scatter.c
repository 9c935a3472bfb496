/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Scatter and MPI_Scatterv in all forms. */
#include "coll/rooted.h"

static int linear(const struct coll *k, const struct coll_args *a)
{
	return mpii_scatter_linear COLL_ARGS_scatter;
}

static const struct coll_rooted equal = { COLL_scatter, .gather = false,
					  .equal = true, .linear = linear };
static const struct coll_rooted lists = { COLL_scatterv, .gather = false,
					  .equal = false, .linear = linear };

static int scatter(const struct coll_how *how, const void *sendbuf,
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

static int scatterv(const struct coll_how *how, const void *sendbuf,
		    struct coll_lists l, MPI_Datatype sendtype, void *recvbuf,
		    MPI_Count recvcount, MPI_Datatype recvtype, int root,
		    MPI_Comm comm)
{
	struct coll_args a = { .s = { .buf = (char *)sendbuf },
			       .r = { .buf = recvbuf, .count = recvcount },
			       .root = root,
			       .rooted = &lists };

	return coll_rooted(how, &a, &l, sendtype, recvtype, comm);
}

#define PARAMS(count_t)                                                      \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,                  \
		    MPI_Datatype sendtype, void *recvbuf, count_t recvcount, \
		    MPI_Datatype recvtype, int root, MPI_Comm comm)
#define PARAMS_V(count_t, displ_t)                                           \
	COLL_PARAMS(const void *sendbuf, const count_t sendcounts[],         \
		    const displ_t displs[], MPI_Datatype sendtype,           \
		    void *recvbuf, count_t recvcount, MPI_Datatype recvtype, \
		    int root, MPI_Comm comm)

COLL_FORMS(Scatter, Iscatter, Scatter_init, PARAMS(int), scatter, sendbuf,
	   sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
COLL_FORMS(Scatter_c, Iscatter_c, Scatter_init_c, PARAMS(MPI_Count), scatter,
	   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
	   comm);
COLL_FORMS(Scatterv, Iscatterv, Scatterv_init, PARAMS_V(int, int), scatterv,
	   sendbuf, COLL_LISTS(sendcounts, displs), sendtype, recvbuf,
	   recvcount, recvtype, root, comm);
COLL_FORMS(Scatterv_c, Iscatterv_c, Scatterv_init_c,
	   PARAMS_V(MPI_Count, MPI_Aint), scatterv, sendbuf,
	   COLL_LISTS_C(sendcounts, displs), sendtype, recvbuf, recvcount,
	   recvtype, root, comm);
