#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 90
# The kernel engine is chosen by itself when the driver is there, and carries a
# job over tcp and one over two hosts.
. lab/tests/guest.inc
need_driver

unset O2G_ENGINE
"$O2G" info | grep -q '^kernel engine' || fail "it is not chosen"
export O2G_ENGINE=kernel
O2G_CHANNELS=tcp "$MPIEXEC" -n 3 "$MPI_TESTS/init" || fail "a job failed"
netns_pair || fail "no namespaces"
export NETNS_A NETNS_B
tests/nets-mpiexec 3 "$PWD/$BUILD/tests/mpi/init" || fail "a job over two hosts failed"
