# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# slow: it takes 30 seconds to tell a cut from a pause
# The driver in two machines, and a cable that stays out: an error that names the
# other side, not a hang, and both drivers can be unloaded.
. lab/tests/guest.inc
need_pair_driver

lab/wire delay 5
pair_mpiexec 2 "$PWD/$BUILD/examples/ring" >/tmp/out 2>&1 &
job=$!
sleep 3
lab/wire cut
wait $job
rc=$?
cat /tmp/out
[ $rc = 0 ] && fail "the job did not notice"
[ $rc = 124 ] && fail "the job hung"
expect /tmp/out 'lost rank [01] on [ab]'
lab/wire join
