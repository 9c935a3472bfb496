#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# The programs for shared memory leave the sequential result with any number of processes,
# and `o2g dsm` shows what they do.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
bench=$PWD/$BUILD/bench/dsm

for run in "sor 130" "matmul 96" "lu 64" "isort 20000" "tsp 9" "water 200"; do
	for n in 1 2 3; do
		timeout 60 "$MPIEXEC" -n $n "$bench/"$run 1 >"$TMP/out" 2>&1 || {
			cat "$TMP/out"
			fail "$run with $n processes"
		}
		expect "$TMP/out" "^${run%% *} .* processes $n .* speedup"
	done
done
timeout 30 "$MPIEXEC" -n 2 "$bench/fetch" 200 >"$TMP/out" 2>&1 || {
	cat "$TMP/out"
	fail "fetch"
}

# A job that runs as long as it is looked at.
"$MPIEXEC" -n 2 "$bench/sor" 258 2000 >"$TMP/job" 2>&1 &
job=$!
at_exit()
{
	kill $job 2>/dev/null
	wait $job 2>/dev/null
}
# Between two runs there is no region: then it is looked for again.
shown()
{
	"$O2G" dsm -d 0.1 >"$TMP/out" 2>&1 && grep -q '^ *page 0x.*written by' "$TMP/out"
}
wait_for 20 shown || { cat "$TMP/out" "$TMP/job"; fail "o2g dsm shows nothing"; }
expect "$TMP/out" '^region run [0-9]+, 0\.5 MB'
expect "$TMP/out" '^ *[0-9]+ +[01] +[0-9]+ .*[0-9]'
expect "$TMP/out" '0x2[0-9a-f]+ \|.*\|$'
in_json()
{
	"$O2G" dsm -j -d 0.1 >"$TMP/out" 2>&1
}
wait_for 20 in_json || fail "o2g dsm -j"
expect "$TMP/out" '^\{"region": "run [0-9]+", "base": [0-9]+, "processes": \[\{"pid": .*"heat": \[[0-9, ]+\]\}$'
"$O2G" dsm -d nonsense >"$TMP/out" 2>&1 && fail "nonsense is taken for a number"
exit 0
