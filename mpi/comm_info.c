/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What MPI_Comm_get_info adds to the hints that the program has set: under
 * o2g_channel_RANK, the channel to each rank of the communicator (of the remote
 * group) that this process has talked to.
 */
#include <stdio.h>

#include "comm.h"

bool mpii_comm_describe(const struct mpii_comm *c, struct mpii_info *info)
{
	struct o2g_peer_info peer;
	char key[MPI_MAX_INFO_KEY];

	for (int rank = 0; rank < c->remote_size; rank++) {
		if (o2g_peer_info(mpii.ep, c->world[rank], &peer) ||
		    !peer.channel[0])
			continue;
		snprintf(key, sizeof(key), "o2g_channel_%d", rank);
		if (!mpii_info_add(info, key, peer.channel))
			return false;
	}
	return true;
}
