#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 200
# slow: many frames are lost, and late
# Shared memory served by the module in two machines, on a network that loses, delays,
# doubles and damages frames: every call, and no outcome that is forbidden.
. lab/tests/guest.inc
need_pair_driver
[ -f "$DSM_MODULE" ] || skip "there is no o2g_dsm for this kernel"
unload_modules()
{
	unload_dsm && "$REMOTE" b "rmmod o2g_dsm" && unload_both
}
trap 'rc=$?; lab/wire plain; unload_modules || rc=1; exit $rc' EXIT
insmod "$DSM_MODULE" && "$REMOTE" b "insmod '$PWD/$DSM_MODULE'" ||
	fail "o2g_dsm does not load"
export O2G_DSM=kernel O2G_ENGINE=user

lab/wire loss 1 && lab/wire delay 1 2 && lab/wire dup 1 && lab/wire damage 0.5 ||
	fail "the cable did not obey"
for run in basic "litmus 64"; do
	pair_mpiexec 3 "$PWD/$BUILD/tests/dsm/"$run >/tmp/out 2>&1 || {
		cat /tmp/out
		fail "$run over a bad network"
	}
done
lab/wire count | grep -vq ' 0 lost' || fail "nothing was lost"
