/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Hints of communicators: the standard's are taken, others are ignored, and
 * MPI_Comm_get_info does not show them. It adds, under o2g_channel_RANK, the
 * channel to each rank of the communicator (of the remote group) that this
 * process has talked to.
 */
#include <stdio.h>

#include "comm/comm_info.h"
#include "info/info.h"
#include "process/process.h"

static const char *const hints[] = {
	"mpi_assert_no_any_tag",
	"mpi_assert_no_any_source",
	"mpi_assert_exact_length",
	"mpi_assert_allow_overtaking",
	"mpi_assert_strict_start_ordering",
	"mpi_assert_strict_persistent_collective_ordering",
	"mpi_assert_memory_alloc_kinds",
};

bool mpii_comm_take_hints(struct mpii_comm *c, const struct mpii_info *from)
{
	const char *value;

	if (!c->info)
		c->info = mpii_info_copy(NULL);
	if (!c->info)
		return false;
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++) {
		value = mpii_info_value(from, hints[i]);
		if (value && !mpii_info_add(c->info, hints[i], value))
			return false;
	}
	return true;
}

bool mpii_comm_describe(const struct mpii_comm *c, struct mpii_info *info)
{
	struct o2g_peer_info peer;
	char key[MPI_MAX_INFO_KEY];

	for (int rank = 0; rank < c->remote_size; rank++) {
		if (o2g_peer_info(mpii.ep, mpii_comm_peer(c, rank), &peer) ||
		    !peer.channel[0])
			continue;
		snprintf(key, sizeof(key), "o2g_channel_%d", rank);
		if (!mpii_info_add(info, key, peer.channel))
			return false;
	}
	return true;
}
