/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Neighbor_alltoall, MPI_Neighbor_alltoallv and MPI_Neighbor_alltoallw. */
#include "topo/neighbor.h"

#define SEND_NAMES                                                \
	.buf_name = "sendbuf", .type_name = "sendtype",           \
	.counts_name = "sendcounts", .displs_name = "sdispls",       \
	.buf = sendbuf
#define RECV_NAMES                                                \
	.buf_name = "recvbuf", .type_name = "recvtype",           \
	.counts_name = "recvcounts", .displs_name = "rdispls",       \
	.buf = recvbuf

int PMPI_Neighbor_alltoall(const void *sendbuf, int sendcount,
			   MPI_Datatype sendtype, void *recvbuf, int recvcount,
			   MPI_Datatype recvtype, MPI_Comm comm)
{
	struct nbr_arg s = { SEND_NAMES, .count = sendcount, .type = sendtype };
	struct nbr_arg r = { RECV_NAMES, .count = recvcount, .type = recvtype };

	return mpii_neighbor("MPI_Neighbor_alltoall", &s, &r, comm);
}
MPII_ALIAS(Neighbor_alltoall);

int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount,
			     MPI_Datatype sendtype, void *recvbuf,
			     MPI_Count recvcount, MPI_Datatype recvtype,
			     MPI_Comm comm)
{
	struct nbr_arg s = { SEND_NAMES, .count = sendcount, .type = sendtype };
	struct nbr_arg r = { RECV_NAMES, .count = recvcount, .type = recvtype };

	return mpii_neighbor("MPI_Neighbor_alltoall_c", &s, &r, comm);
}
MPII_ALIAS(Neighbor_alltoall_c);

int PMPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[],
			    const int sdispls[], MPI_Datatype sendtype,
			    void *recvbuf, const int recvcounts[],
			    const int rdispls[], MPI_Datatype recvtype,
			    MPI_Comm comm)
{
	struct nbr_arg s = { SEND_NAMES, .vector = true, .counts = sendcounts,
			     .displs = sdispls, .type = sendtype };
	struct nbr_arg r = { RECV_NAMES, .vector = true, .counts = recvcounts,
			     .displs = rdispls, .type = recvtype };

	return mpii_neighbor("MPI_Neighbor_alltoallv", &s, &r, comm);
}
MPII_ALIAS(Neighbor_alltoallv);

int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
			      const MPI_Aint sdispls[], MPI_Datatype sendtype,
			      void *recvbuf, const MPI_Count recvcounts[],
			      const MPI_Aint rdispls[], MPI_Datatype recvtype,
			      MPI_Comm comm)
{
	struct nbr_arg s = { SEND_NAMES, .vector = true, .counts_c = sendcounts,
			     .displs_c = sdispls, .type = sendtype };
	struct nbr_arg r = { RECV_NAMES, .vector = true, .counts_c = recvcounts,
			     .displs_c = rdispls, .type = recvtype };

	return mpii_neighbor("MPI_Neighbor_alltoallv_c", &s, &r, comm);
}
MPII_ALIAS(Neighbor_alltoallv_c);

int PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[],
			    const MPI_Aint sdispls[],
			    const MPI_Datatype sendtypes[], void *recvbuf,
			    const int recvcounts[], const MPI_Aint rdispls[],
			    const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct nbr_arg s = { SEND_NAMES, .vector = true, .counts = sendcounts,
			     .displs_c = sdispls, .types_given = true,
			     .types = sendtypes };
	struct nbr_arg r = { RECV_NAMES, .vector = true, .counts = recvcounts,
			     .displs_c = rdispls, .types_given = true,
			     .types = recvtypes };

	return mpii_neighbor("MPI_Neighbor_alltoallw", &s, &r, comm);
}
MPII_ALIAS(Neighbor_alltoallw);

int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
			      const MPI_Aint sdispls[],
			      const MPI_Datatype sendtypes[], void *recvbuf,
			      const MPI_Count recvcounts[],
			      const MPI_Aint rdispls[],
			      const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct nbr_arg s = { SEND_NAMES, .vector = true, .counts_c = sendcounts,
			     .displs_c = sdispls, .types_given = true,
			     .types = sendtypes };
	struct nbr_arg r = { RECV_NAMES, .vector = true, .counts_c = recvcounts,
			     .displs_c = rdispls, .types_given = true,
			     .types = recvtypes };

	return mpii_neighbor("MPI_Neighbor_alltoallw_c", &s, &r, comm);
}
MPII_ALIAS(Neighbor_alltoallw_c);
