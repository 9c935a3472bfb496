#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A rank of a window is killed: while it holds a lock, as a target, in the middle of a
# fence or of an epoch of its own, or at a random moment. All others get an error and
# end. Over shm, over tcp, and over both between namespaces.
# WIN_KILLED=200 bash tests/system/win_killed.sh for more of the random ones.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$MPI_TESTS/win_killed
RANDOM=${KILLED_SEED:-$$}

wheres=(shm tcp)
netns_possible && netns_pair && wheres+=(shm,tcp)

# try CHANNEL RANKS ARGUMENTS...
try()
{
	local channel=$1 n=$2 hosts= code gone

	shift 2
	[ $channel != shm,tcp ] ||
		hosts="-agent $PWD/tests/netns-agent -hosts $NETNS_A,$NETNS_B -ppn 2"
	O2G_CHANNELS=$channel "$MPIEXEC" -disable-auto-cleanup -timeout 20 \
		$hosts -n $n "$prog" "$@" >"$TMP/out" 2>&1
	code=$?
	gone=$(grep -c 'goes$' "$TMP/out")
	{ [ $code = 137 ] || [ $code = 142 ]; } && [ "$gone" = $((n - 1)) ] || {
		cat "$TMP/out"
		fail "O2G_CHANNELS=$channel mpiexec -disable-auto-cleanup -n $n win_killed $*: exit code $code, $gone ranks ended in order"
	}
}

for channel in "${wheres[@]}"; do
	for what in holder target origin starter; do
		try $channel 4 $what
	done
done
for ((i = 0; i < ${WIN_KILLED:-6}; i++)); do
	try "${wheres[$((i % ${#wheres[@]}))]}" $((2 + RANDOM % 3)) random \
		$RANDOM $((1 + RANDOM * 6))
done
exit 0
