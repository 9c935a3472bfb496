#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 240
# slow: many faults, each of which the emulator takes long for
# Shared memory served by the module: every call, and sequential consistency, between
# processes of one host by the driver's link and over TCP, and between namespaces.
. lab/tests/guest.inc
need_dsm
basic=$PWD/$BUILD/tests/dsm/basic litmus=$PWD/$BUILD/tests/dsm/litmus
rounds=${DSM_ROUNDS:-320}

# run WHERE RANKS PROGRAM...
run()
{
	local where=$1 n=$2 start=$SECONDS

	shift 2
	timeout -k 5 120 "$MPIEXEC" $hosts -timeout 110 -n "$n" "$@" >/tmp/out 2>&1 || {
		tail -n 20 /tmp/out
		fail "${1##*/} with $n processes, $where"
	}
	echo "${1##*/}, $n processes, $where: $((SECONDS - start)) s"
}

hosts=
for direct in 1 0; do
	echo $direct >/sys/module/o2g/parameters/direct
	[ $direct = 1 ] && where="by the link" || where="over TCP"
	run "$where" 1 "$basic"
	run "$where" 3 "$basic"
	run "$where" 4 "$litmus" $rounds
done
if netns_pair; then
	hosts="-agent $PWD/tests/netns-agent -hosts $NETNS_A,$NETNS_B -ppn 2"
	run "between namespaces" 4 "$litmus" $rounds
fi
exit 0
