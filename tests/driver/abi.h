/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The structs of the driver's ABI are the same for 32-bit programs as for 64-bit ones. */
#ifndef TEST_DRIVER_ABI_H
#define TEST_DRIVER_ABI_H

#include "uapi/o2g.h"

_Static_assert(sizeof(struct o2gd_setup) == 72, "32 bits or 64");
_Static_assert(sizeof(struct o2gd_sqe) == 64, "likewise");
_Static_assert(sizeof(struct o2gd_cqe) == 64, "likewise");
_Static_assert(sizeof(struct o2gd_probe) == 56, "likewise");
_Static_assert(sizeof(struct o2gd_mem) == 32, "likewise");
_Static_assert(sizeof(struct o2gd_counter) == 32, "likewise");
_Static_assert(sizeof(struct o2gd_counters) == 32, "likewise");
_Static_assert(sizeof(struct o2gd_peer_info) == 48, "likewise");
_Static_assert(sizeof(struct o2gd_list_entry) == 32, "likewise");
_Static_assert(sizeof(struct o2gd_list) == 24, "likewise");
_Static_assert(sizeof(struct o2gd_queue_entry) == 48, "likewise");
_Static_assert(sizeof(struct o2gd_look) == 32, "likewise");
_Static_assert(sizeof(struct o2gd_paper_entry) == 64, "likewise");
_Static_assert(sizeof(struct o2gd_paper_sock) == 64, "likewise");

#endif
