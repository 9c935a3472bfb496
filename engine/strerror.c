/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "env.h"

const char *o2g_strerror(int error)
{
	switch (-error) {
	case 0:
		return "success";
	case O2G_ERR_PEER:
		return "the peer is gone";
	case O2G_ERR_TRUNCATED:
		return "the message is longer than the receive buffer";
	case O2G_ERR_CANCELLED:
		return "cancelled";
	case O2G_ERR_FORKED:
		return "the child of a fork has no MPI: use MPI in the parent only, or exec";
	default:
		return strerror(error < 0 ? -error : error);
	}
}
