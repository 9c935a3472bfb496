#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A rank is killed at a random moment, in MPI_Init, in collectives of all kinds, in
# making communicators or in MPI_Finalize, and the job goes on: every other rank
# ends, whatever it waited for. Over shm, over tcp, and over both between namespaces.
# KILLED=500 bash tests/system/killed.sh for more.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$MPI_TESTS/killed
rounds=${KILLED:-10}
RANDOM=${KILLED_SEED:-$$}

wheres=(shm tcp)
netns_possible && netns_pair && wheres+=(shm,tcp)
for ((i = 0; i < rounds; i++)); do
	channel=${wheres[$((i % ${#wheres[@]}))]}
	hosts=
	[ $channel != shm,tcp ] ||
		hosts="-agent $PWD/tests/netns-agent -hosts $NETNS_A,$NETNS_B -ppn 4"
	n=$((2 + RANDOM % 7))
	victim=$((RANDOM % n))
	us=$((1 + RANDOM * RANDOM % (1 + 100000 * (1 + RANDOM % 4))))
	args="$RANDOM $us $victim $((RANDOM % 3))"
	[ $((RANDOM % 4)) != 0 ] || args="$args $((RANDOM % 200))"
	O2G_CHANNELS=$channel "$MPIEXEC" -disable-auto-cleanup -timeout 20 \
		$hosts -n $n "$prog" $args >"$TMP/out" 2>&1
	code=$?
	# Before all have met in MPI_Init there is no going on without it.
	grep -q 'and other ranks are waiting for it; the job is ended$' "$TMP/out" &&
		[ $code != 124 ] && continue
	gone=$(grep -c 'goes$' "$TMP/out")
	# 142: SIGALRM; 0: it came too late
	{ [ $code = 142 ] || [ $code = 0 ]; } && [ "$gone" -ge $((n - 1)) ] || {
		cat "$TMP/out"
		fail "O2G_CHANNELS=$channel mpiexec -disable-auto-cleanup -n $n killed $args: exit code $code, $gone ranks ended in order"
	}
done
exit 0
