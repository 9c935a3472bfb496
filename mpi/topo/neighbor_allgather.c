/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Neighbor_allgather and MPI_Neighbor_allgatherv. */
#include "topo/neighbor.h"

#define SEND_NAMES                                                \
	.buf_name = "sendbuf", .type_name = "sendtype",           \
	.counts_name = "sendcount", .displs_name = "sdispls",       \
	.buf = sendbuf
#define RECV_NAMES                                                \
	.buf_name = "recvbuf", .type_name = "recvtype",           \
	.counts_name = "recvcounts", .displs_name = "displs",       \
	.buf = recvbuf

int PMPI_Neighbor_allgather(const void *sendbuf, int sendcount,
			    MPI_Datatype sendtype, void *recvbuf, int recvcount,
			    MPI_Datatype recvtype, MPI_Comm comm)
{
	struct nbr_arg s = { SEND_NAMES, .one = true, .count = sendcount,
			     .type = sendtype };
	struct nbr_arg r = { RECV_NAMES, .count = recvcount, .type = recvtype };

	return mpii_neighbor("MPI_Neighbor_allgather", &s, &r, comm);
}
MPII_ALIAS(Neighbor_allgather);

int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount,
			      MPI_Datatype sendtype, void *recvbuf,
			      MPI_Count recvcount, MPI_Datatype recvtype,
			      MPI_Comm comm)
{
	struct nbr_arg s = { SEND_NAMES, .one = true, .count = sendcount,
			     .type = sendtype };
	struct nbr_arg r = { RECV_NAMES, .count = recvcount, .type = recvtype };

	return mpii_neighbor("MPI_Neighbor_allgather_c", &s, &r, comm);
}
MPII_ALIAS(Neighbor_allgather_c);

int PMPI_Neighbor_allgatherv(const void *sendbuf, int sendcount,
			     MPI_Datatype sendtype, void *recvbuf,
			     const int recvcounts[], const int displs[],
			     MPI_Datatype recvtype, MPI_Comm comm)
{
	struct nbr_arg s = { SEND_NAMES, .one = true, .count = sendcount,
			     .type = sendtype };
	struct nbr_arg r = { RECV_NAMES, .vector = true, .counts = recvcounts,
			     .displs = displs, .type = recvtype };

	return mpii_neighbor("MPI_Neighbor_allgatherv", &s, &r, comm);
}
MPII_ALIAS(Neighbor_allgatherv);

int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount,
			       MPI_Datatype sendtype, void *recvbuf,
			       const MPI_Count recvcounts[],
			       const MPI_Aint displs[], MPI_Datatype recvtype,
			       MPI_Comm comm)
{
	struct nbr_arg s = { SEND_NAMES, .one = true, .count = sendcount,
			     .type = sendtype };
	struct nbr_arg r = { RECV_NAMES, .vector = true, .counts_c = recvcounts,
			     .displs_c = displs, .type = recvtype };

	return mpii_neighbor("MPI_Neighbor_allgatherv_c", &s, &r, comm);
}
MPII_ALIAS(Neighbor_allgatherv_c);
