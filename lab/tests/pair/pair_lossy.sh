#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# Frames are lost, late, doubled, damaged and out of order: the job does not
# notice.
. lab/tests/guest.inc
need_pair

lab/wire loss 1 && lab/wire delay 2 4 && lab/wire dup 1 && lab/wire damage 0.5 ||
	fail "the cable did not obey"
pair_mpiexec 2 "$MPI_TESTS/pt2pt" || fail "a job over a bad network failed"
lab/wire count | grep -vq ' 0 lost' || fail "nothing was lost"
