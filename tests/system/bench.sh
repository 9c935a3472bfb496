#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 180
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
bench -o "$TMP/dynamic.json" host-spawn-1 shm-connect shm-inter
expect "$TMP/out" 'spawn of 1, until all have answered, ms'
expect "$TMP/out" 'accept and connect, us'
expect "$TMP/out" '8 B between ranks that met at a port, over world, us'
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


# The fastest way of a peer counts; one that ends by no way has no ratio.
python3 - <<'END' >"$TMP/out" || { cat "$TMP/out"; fail "ways of the peers"; }
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "bench")
from driver import cases, results, table, ways
from driver.peers import DEFAULT, SPINS, YIELDS

def row(usec):
    return [{"size": 0, "usec": usec}]
r, case = results.Results(), "shm-barrier-16"
r.add(case, "o2g", row(10), 30, 1)
r.add(case, "openmpi/" + SPINS, row(500), 30, 1)
r.add(case, "openmpi/" + YIELDS, row(20), 30, 1)
r.fail(case, "openmpi/" + DEFAULT, results.NO_END.format(20))
r.fail(case, "mpich/" + DEFAULT, results.NO_END.format(20))
r.fail(case, "mpich/" + YIELDS, "exit code 1: no message")
for peer, tried in (("openmpi", (SPINS, YIELDS, DEFAULT)),
                    ("mpich", (DEFAULT, YIELDS))):
    ways.settle(r, case, peer, tried)
assert r.ways == {case: {"openmpi": YIELDS}}, r.ways
rows = table.table(r)
assert rows[0]["score"] == 0.5, rows
assert table.cell(rows[0], "openmpi") == "20 y", rows
assert table.cell(rows[0], "mpich") == "no end", rows
r.fail("tcp-nas-is-16", "mpich", results.NO_END.format(20))
r.add("tcp-nas-is-16", "o2g", [{"Mop/s": 100, "seconds": 1}], 30, 1)
assert all(x["score"] is None for x in table.rows_of(r) if "NAS" in x["text"])
END
expect "$TMP/out" '^  16 ranks, barrier, us +10 +no end +20 y +0.50x'
expect "$TMP/out" '^shm-barrier-16, MPICH .yielding.: exit code 1'
expect "$TMP/out" '^  shm: 16 ranks, barrier, us +10 +no end +no end'

# What is preloaded to MPICH yields where UCX has nothing new for the second time.
printf '%s\n' 'unsigned ucp_worker_progress(void *w);' \
	'unsigned ucp_worker_progress(void *w) { return *(int *)w; }' >"$TMP/ucp.c"
printf '%s\n' 'unsigned ucp_worker_progress(void *w);' 'static int yields;' \
	'int sched_yield(void) { return yields++, 0; }' \
	'int main(void) { int zero = 0, one = 1;' \
	'for (int i = 0; i < 3; i++) ucp_worker_progress(&zero);' \
	'ucp_worker_progress(&one); ucp_worker_progress(&zero);' \
	'return yields; }' >"$TMP/main.c"
cc -shared -fPIC -o "$TMP/libucp.so" "$TMP/ucp.c" &&
	cc -shared -fPIC -o "$TMP/yield.so" bench/yield.c -ldl &&
	cc -rdynamic -o "$TMP/main" "$TMP/main.c" "$TMP/libucp.so" -Wl,-rpath,"$TMP" ||
	fail "cc"
"$TMP/main"
[ $? = 0 ] || fail "a rank yields by itself"
LD_PRELOAD=$TMP/yield.so "$TMP/main"
[ $? = 2 ] || fail "a rank that waits does not yield, or too often"

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
