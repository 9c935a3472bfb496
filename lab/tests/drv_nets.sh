#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 420
# Two hosts, two ranks each: shm inside a host, the driver between them, and
# receives from any source over both.
. lab/tests/guest.inc
need_driver

netns_pair || fail "no namespaces"
export NETNS_A NETNS_B O2G_ENGINE=kernel
for test in match probe win_sync; do
	timeout 200 tests/nets-mpiexec 4 "$PWD/$BUILD/tests/mpi/$test" </dev/null ||
		fail "$test over two hosts failed"
done
