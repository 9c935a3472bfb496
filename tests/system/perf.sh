#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# o2g perf: every command runs with its data checked; columns and JSON agree.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
unset PMI_FD PMI_PORT PMIX_RANK
short="--reps 2 --rep-ms 1 --samples 20"

perf()
{
	timeout 30 "$O2G" perf "$@" >"$TMP/out" 2>"$TMP/err" ||
		{ cat "$TMP/out" "$TMP/err"; fail "o2g perf $*"; }
}

# The plain form: a line of parameters, titles, a row for each size.
perf latency --sizes 0,8:32,1k $short
expect "$TMP/out" '^# latency, 2 ranks, median of 2 x 1 ms, O2G'
expect "$TMP/out" '^ *size +usec +min +p50 +p90 +p99 +max$'
[ "$(awk 'NR > 2 { print $1 }' "$TMP/out" | xargs)" = "0 8 16 32 1024" ] ||
	fail "sizes are not 0 8 16 32 1024"
awk 'NR > 2 && !($3 <= $4 && $4 <= $5 && $5 <= $6 && $6 <= $7 && $2 > 0) { exit 1 }' \
	"$TMP/out" || fail "percentiles are not in order"

# The same as JSON.
perf latency --sizes 0,1M $short --json
python3 - "$TMP/out" <<'END' || fail "JSON"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert [row["size"] for row in rows] == [0, 1 << 20], rows
for row in rows:
    assert row["bench"] == "latency" and row["usec"] > 0
    assert row["min"] <= row["p50"] <= row["p99"] <= row["max"]
END
perf latency --sizes 8 --samples 0 --reps 2 --rep-ms 1
expect "$TMP/out" '^ *size +usec$'

perf -n 4 bandwidth --sizes 1k,64k --window 8 --pairs 2 --check $short
expect "$TMP/out" '^ *size +MB/s +Mmsg/s$'
perf bidirectional --sizes 64k --check $short
perf io --sizes 64k --check $short
perf io_mixed --sizes 64k --block 512 --check $short
perf io_cube --sizes 64k --check $short
perf io_append $short
perf io_overlap --sizes 64k $short
perf -n 3 rate --check $short
perf overlap --sizes 64k --check $short
expect "$TMP/out" 'hidden% +thread% +idle%$'
perf depth --sizes 1,100 --limit-ms 20
perf -n 4 incast --sizes 8,64k --check $short
perf -n 3 incast --sizes 8 --any 1 $short
perf idle --ms 100
perf flood --messages 2000 --sleep-ms 10
perf -n 3 startup
expect "$TMP/out" 'init ms +alltoall ms +MiB'
perf -n 5 launch
expect "$TMP/out" 'ready s +init s +allreduces s +MB a rank +MB most$'
awk 'NR == 3 && !($1 == 5 && $2 >= $3 && $3 > 0 && $5 > 0.1 && $6 >= $5) { exit 1 }' \
	"$TMP/out" || { cat "$TMP/out"; fail "launch: times or memory are wrong"; }

# Counted step by step, so it says the same each time, however busy the machine is.
export O2G_PROGRESS_THREAD=0
for channel in shm tcp; do
	for turn in 1 2 3 4 5; do
		O2G_CHANNELS=$channel perf instructions --trips 15 --warmup 300 --json
		cat "$TMP/out"
	done >"$TMP/counts"
	python3 - "$TMP/counts" <<'END' || fail "instructions over $channel"
import json, sys
turns = [json.loads(line) for line in open(sys.argv[1])]
# On a busy machine a rank may wait where it would have found its message.
a, b = sorted(turns, key=lambda turn: turn["instructions"])[:2]
assert a["instructions"] == a["receive"] + a["send"], a
assert a["receive"] > 100 and a["send"] > 100, a
assert abs(a["instructions"] - b["instructions"]) <= 0.01 * a["instructions"], (a, b)
END
done
unset O2G_PROGRESS_THREAD

for coll in barrier bcast reduce allreduce gather gatherv scatter scatterv \
	allgather allgatherv alltoall alltoallv reduce_scatter_block \
	reduce_scatter scan exscan ibarrier ibcast ireduce iallreduce iallgather \
	ialltoall ialltoallv; do
	sizes="--sizes 8,4k"
	case $coll in *barrier) sizes= ;; esac
	perf -n 3 $coll $sizes --check $short
	expect "$TMP/out" "^# $coll, 3 ranks"
done
for call in put get; do
	perf $call --sizes 8,64k --check $short
	O2G_CHANNELS=tcp perf -n 3 $call --sizes 8,64k,1M --check $short
	expect "$TMP/out" "^# $call, 3 ranks"
done

# It also starts the other way round, and a mistake is told.
timeout 20 "$MPIEXEC" -n 2 "$O2G" perf barrier $short >"$TMP/out" 2>&1 ||
	fail "mpiexec o2g perf"
expect "$TMP/out" '^# barrier, 2 ranks'
timeout 20 "$O2G" perf nonsense >"$TMP/out" 2>&1 && fail "nonsense was accepted"
expect "$TMP/out" 'there is no command "nonsense"'
timeout 20 "$O2G" perf -bind core latency >"$TMP/out" 2>&1
[ $? = 2 ] || fail "-bind was accepted"
timeout 20 "$O2G" perf latency --sizes 8x >"$TMP/out" 2>&1 && fail "8x was accepted"
expect "$TMP/out" 'sizes are written like'

# Any mpicc compiles the very same source.
for cc in "$BUILD/bin/mpicc" mpicc.mpich mpicc.openmpi; do
	command -v "$cc" >/dev/null || continue
	"$cc" -o "$TMP/perf" bench/perf/*.c 2>"$TMP/err" || { cat "$TMP/err"; fail "$cc"; }
done
exit 0
