#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 180
# Shared memory is sequentially consistent between processes: litmus tests with 2 to 4 of
# them, over shm, tcp and between namespaces. `make test-long` plays 100,000 rounds of each.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/dsm/litmus
rounds=1600
[ "${LONG:-0}" = 0 ] || rounds=100000
rounds=${LITMUS_ROUNDS:-$rounds}

wheres=(shm tcp)
netns_possible && netns_pair && wheres+=(shm,tcp)

for where in "${wheres[@]}"; do
	hosts=
	[ $where != shm,tcp ] ||
		hosts="-agent $PWD/tests/netns-agent -hosts $NETNS_A,$NETNS_B -ppn 2"
	for n in 2 3 4; do
		[ $n != 3 ] || [ "${LONG:-0}" != 0 ] || continue
		O2G_CHANNELS=$where "$MPIEXEC" $hosts -n $n "$prog" $rounds ||
			fail "litmus over $where with $n processes"
	done
done
exit 0
