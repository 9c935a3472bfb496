# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# A cable out for three seconds delays a job, and does not end it.
. lab/tests/guest.inc
need_pair

# With 5 ms each way the job takes some ten seconds.
lab/wire delay 5
pair_mpiexec 2 "$PWD/$BUILD/examples/ring" >/tmp/out 2>&1 &
job=$!
sleep 3
lab/wire cut
sleep 3
kill -0 $job 2>/dev/null || { cat /tmp/out; fail "the job did not wait"; }
lab/wire join
wait $job || { cat /tmp/out; fail "the job failed"; }
