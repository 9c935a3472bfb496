#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# slow: many frames are lost, and late
# The driver in two machines: what arrives is in pieces, late, twice, damaged and
# out of order, and a cable is out for a while. The job does not notice.
. lab/tests/guest.inc
need_pair_driver

tracing=/sys/kernel/tracing
watch="echo 1 >$tracing/events/o2g/o2g_take/enable"
eval "$watch" && "$REMOTE" b "$watch" || fail "no tracepoints"
lab/wire loss 1 && lab/wire delay 1 2 && lab/wire dup 1 && lab/wire damage 0.5 ||
	fail "the cable did not obey"
pair_mpiexec 2 "$MPI_TESTS/pt2pt" || fail "a job over a bad network failed"
lab/wire count | grep -vq ' 0 lost' || fail "nothing was lost"
grep -q o2g_take: $tracing/trace && "$REMOTE" b "grep -q o2g_take: $tracing/trace" ||
	fail "the drivers did not carry it"
cut_for 2
