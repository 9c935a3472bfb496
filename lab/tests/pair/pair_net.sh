#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# Two machines: commands reach the other one, and a job runs over both.
. lab/tests/guest.inc
need_pair

echo "to b" | "$REMOTE" b cat | grep -qx "to b" || fail "input and output"
"$REMOTE" b "exit 3"
[ $? = 3 ] || fail "the exit code"
before=$(lab/wire count)
pair_mpiexec 2 "$MPI_TESTS/init" || fail "an MPI job over two machines failed"
[ "$before" != "$(lab/wire count)" ] || fail "it did not use the cable"
