#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# Shared memory served by the module between two namespaces, with MPI from and into it: a
# page is asked for in the middle of sending.
. lab/tests/guest.inc
need_dsm
netns_pair || skip "there are no namespaces"
timeout -k 5 110 "$MPIEXEC" -agent "$PWD/tests/netns-agent" -hosts "$NETNS_A,$NETNS_B" -ppn 2 \
	-timeout 100 -n 3 "$PWD/$BUILD/tests/dsm/basic" || fail "basic with 3 processes"
exit 0
