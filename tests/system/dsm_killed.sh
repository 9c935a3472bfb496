#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A process that shares memory is killed at a random moment: all others get an error or a
# SIGBUS and end. Over shm, over tcp, and over both between namespaces.
# DSM_KILLED=1000 bash tests/system/dsm_killed.sh for more rounds.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/dsm/killed
RANDOM=${KILLED_SEED:-$$}
rounds=12
[ "${LONG:-0}" = 0 ] || rounds=1000
rounds=${DSM_KILLED:-$rounds}

wheres=(shm tcp)
netns_possible && netns_pair && wheres+=(shm,tcp)

# try CHANNEL RANKS SEED MICROSECONDS
try()
{
	local channel=$1 n=$2 hosts= code gone

	shift 2
	[ $channel != shm,tcp ] ||
		hosts="-agent $PWD/tests/netns-agent -hosts $NETNS_A,$NETNS_B -ppn 2"
	O2G_CHANNELS=$channel timeout -k 5 40 "$MPIEXEC" -disable-auto-cleanup \
		-timeout 30 $hosts -n $n "$prog" "$@" >"$TMP/out" 2>&1
	code=$?
	gone=$(grep -c 'goes$' "$TMP/out")
	[ $code = 137 ] && [ "$gone" = $((n - 1)) ] || {
		cat "$TMP/out"
		fail "O2G_CHANNELS=$channel mpiexec -n $n killed $*: exit code $code, $gone processes ended in order"
	}
}

for ((i = 0; i < rounds; i++)); do
	try "${wheres[$((i % ${#wheres[@]}))]}" $((2 + RANDOM % 3)) \
		$RANDOM $((1 + RANDOM * 6))
done
exit 0
