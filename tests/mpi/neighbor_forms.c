/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The neighborhood collectives again, each call in its next form. */
#include "coll_forms.h"

#define NEIGHBOR(name, large, ...)                                        \
	FORM_OF(PMPI_Neighbor_##name##large, MPI_Ineighbor_##name##large, \
		MPI_Neighbor_##name##_init##large, __VA_ARGS__)

#define MPI_Neighbor_allgather(...) NEIGHBOR(allgather, , __VA_ARGS__)
#define MPI_Neighbor_allgather_c(...) NEIGHBOR(allgather, _c, __VA_ARGS__)
#define MPI_Neighbor_allgatherv(...) NEIGHBOR(allgatherv, , __VA_ARGS__)
#define MPI_Neighbor_allgatherv_c(...) NEIGHBOR(allgatherv, _c, __VA_ARGS__)
#define MPI_Neighbor_alltoall(...) NEIGHBOR(alltoall, , __VA_ARGS__)
#define MPI_Neighbor_alltoall_c(...) NEIGHBOR(alltoall, _c, __VA_ARGS__)
#define MPI_Neighbor_alltoallv(...) NEIGHBOR(alltoallv, , __VA_ARGS__)
#define MPI_Neighbor_alltoallv_c(...) NEIGHBOR(alltoallv, _c, __VA_ARGS__)
#define MPI_Neighbor_alltoallw(...) NEIGHBOR(alltoallw, , __VA_ARGS__)
#define MPI_Neighbor_alltoallw_c(...) NEIGHBOR(alltoallw, _c, __VA_ARGS__)

#include "neighbor_cases.h"
