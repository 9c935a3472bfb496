#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A rank is killed while all access a file together: the others get an error and end,
# whatever they waited for, and what a completed sync covered is in the file.
# KILLED=100 bash tests/system/file_killed.sh for more.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$MPI_TESTS/file_killed
rounds=${KILLED:-6}
RANDOM=${KILLED_SEED:-$$}

for ((i = 0; i < rounds; i++)); do
	channel=$([ $((i % 2)) = 0 ] && echo shm || echo tcp)
	n=$((2 + RANDOM % 4))
	victim=$((RANDOM % n))
	us=$((1000 + RANDOM * 10))
	O2G_CHANNELS=$channel "$MPIEXEC" -disable-auto-cleanup -timeout 30 \
		-n $n "$prog" "$TMP/file" $us $victim >"$TMP/out" 2>&1
	code=$?
	gone=$(grep -c 'goes after' "$TMP/out")
	[ $code = 142 ] && [ "$gone" = $((n - 1)) ] || {
		cat "$TMP/out"
		fail "O2G_CHANNELS=$channel n $n us $us victim $victim: exit code $code, $gone ranks ended in order"
	}
	rm -f "$TMP/file"
done
exit 0
