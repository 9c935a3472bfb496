#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# bench/run: shared memory, hosts on a bridge, a worse cable; its file of results,
# a report of two, and no namespace left behind.
cd "$(dirname "$0")/../.." && . tests/lib.sh
command -v python3 >/dev/null || skip "python3 is not installed"
make_tmp
export BUILD

bench()
{
	timeout 90 bench/run --quick -m o2g "$@" >"$TMP/out" 2>&1 ||
		{ cat "$TMP/out"; fail "bench/run $*"; }
}

bench -o "$TMP/shm.json" shm-rate core-match_peers
expect "$TMP/out" '8 B message rate, M/s'
expect "$TMP/out" 'receives posted for 1,000 peers'
bench -o "$TMP/launch.json" host-launch-64
expect "$TMP/out" '64 ranks, from start to 5 allreduces, s'
expect "$TMP/out" '64 ranks, memory of a rank, MB'
timeout 60 bench/run --quick -m o2g,plain -o "$TMP/plain.json" shm-alltoall >"$TMP/out" 2>&1 ||
	{ cat "$TMP/out"; fail "with plain programs"; }
grep -A1 '"mpi": "plain"' "$TMP/plain.json" >"$TMP/out"
expect "$TMP/out" '"size": 65536'
bench/run --list >"$TMP/out" || fail "--list"
expect "$TMP/out" '^tcp-nas-is-16 +16 ranks'
bench/run -m nonsense shm-rate >"$TMP/out" 2>&1 && fail "an unknown MPI was accepted"
expect "$TMP/out" 'there is no nonsense here'
bench/run --base "$TMP" shm-rate >"$TMP/out" 2>&1 && fail "a base that is not built was accepted"
expect "$TMP/out" 'its programs are not built'
bench/run nonsense >"$TMP/out" 2>&1 && fail "an unknown case was accepted"
expect "$TMP/out" 'no case matches nonsense'

netns_possible || skip "needs root and network namespaces for the rest"
before=$(ip netns list | wc -l)
bench -o "$TMP/tcp.json" tcp-rate tcp-nas-is-4
expect "$TMP/out" 'NAS IS, 4 ranks, Mop/s'
[ "$(ip netns list | wc -l)" -le "$before" ] || fail "namespaces are left"
python3 - "$TMP/tcp.json" <<'END' || fail "the results lack something"
import json, sys
data = json.load(open(sys.argv[1]))
assert data["format"] == 2 and data["machine"]["cores"] >= 1
assert data["settings"]["network"]["hosts"] == 4 and not data["failures"]
nas = [m for m in data["measured"] if m["case"] == "tcp-nas-is-4"]
assert {m["column"] for m in nas} >= {"Mop/s", "seconds", "verified"}
assert all(m["values"] == [1] for m in nas if m["column"] == "verified")
END
bench/make-report "$TMP/tcp.json" "$TMP/shm.json" -o "$TMP/report.html" >"$TMP/out" 2>&1 ||
	{ cat "$TMP/out"; fail "make-report"; }

# A delay of 5 ms each way is seen, where the kernel offers one.
if timeout 60 bench/run --quick -m o2g --delay 5ms -o "$TMP/far.json" tcp-barrier \
	>"$TMP/out" 2>&1; then
	python3 - "$TMP/far.json" <<'END' || fail "the delay is not seen"
import json, sys
data = json.load(open(sys.argv[1]))
barrier = [m["median"] for m in data["measured"] if m["column"] == "usec"]
assert barrier and min(barrier) >= 5000, barrier
END
else
	expect "$TMP/out" 'this kernel does not offer netem'
fi
