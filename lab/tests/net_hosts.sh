#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 60
# Network namespaces are hosts: an MPI job over two of them.
. lab/tests/guest.inc

trap netns_cleanup EXIT
netns_pair || fail "no namespaces"
export NETNS_A NETNS_B
tests/nets-mpiexec 3 "$PWD/$BUILD/tests/mpi/init" ||
	fail "an MPI job over two hosts failed"
