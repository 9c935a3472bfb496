#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# The driver in two machines: the cable is cut while a job runs, and its ranks are killed.
# What they had to send keeps their connections in TCP, without a process. The driver is
# not needed for that: it unloads, and they end in order when the cable is back.
. lab/tests/guest.inc
need_pair_driver

connections="ss -Htan state fin-wait-1 | wc -l"
lab/wire delay 5
pair_mpiexec 2 "$PWD/$BUILD/examples/ring" >/tmp/out 2>&1 &
job=$!
sleep 4
lab/wire cut
kill_ranks="pkill -9 -x ring"
eval "$kill_ranks"
"$REMOTE" b "$kill_ranks"
wait $job && fail "the job did not notice"
orphans=$(($(eval "$connections") + $("$REMOTE" b "$connections")))
echo "connections without a process: $orphans"
[ "$orphans" -gt 0 ] || { cat /tmp/out; ss -tan; fail "there are none"; }
unload_both || fail "they keep the driver"
lab/wire plain
wait_for 60 bash -c "[ \$($connections) = 0 ]" || { ss -tan; fail "they do not end"; }
load_both || fail "it does not load again"
pair_mpiexec 2 "$MPI_TESTS/pt2pt" || fail "the next job"
