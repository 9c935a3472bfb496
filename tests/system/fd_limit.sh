#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# No file descriptors left: a message with the remedy and an end, never a hang.
# Every limit is tried, so that each place that needs one runs out once.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/system/mpi_prog
export O2G_TCP_TIMEOUT=2 # what cannot be made in that time, cannot be made
failed=0 worked=0

for channel in tcp shm; do
	for limit in 5 7 9 11 13 15 17 19 24 32 64; do
		out=$TMP/$channel.$limit
		O2G_CHANNELS=$channel timeout 20 "$MPIEXEC" -n 4 sh -c \
			"ulimit -n $limit; exec '$prog' exchange 50" >"$out" 2>&1
		code=$?
		[ $code != 124 ] || { cat "$out"; fail "$channel, $limit: it hangs"; }
		[ $code -lt 128 ] || [ $code = 137 ] || [ $code = 143 ] ||
			{ cat "$out"; fail "$channel, $limit: it crashes: $code"; }
		if [ $code = 0 ]; then
			worked=$((worked + 1))
			continue
		fi
		failed=$((failed + 1))
		expect "$out" '[Tt]oo many open files|file descriptor|ulimit -n|error while loading shared'
	done
done
echo "$worked worked, $failed failed with a reason"
[ $worked -gt 0 ] || fail "no limit was enough"
[ $failed -gt 0 ] || fail "no limit was too low: this tests nothing"
