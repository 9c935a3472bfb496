#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 3000
# slow: some minutes; dyn_spawn and dyn_connect have short forms of it
# A thousand pools of spawned workers by each way to start them, and 50 times two jobs of 8
# ranks, one of which loses a rank in the middle of anything. Nothing is left behind.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp

works()
{
	timeout 900 "$@" >"$TMP/out" 2>&1 && return
	tail -n 20 "$TMP/out" >&2
	fail "$*"
}

POOL=$TMP/pool # so that its processes can be counted
cp "$MPI_TESTS/dyn_pool" "$POOL"
works "$POOL" 1000 2 20
works "$MPIEXEC" -n 1 "$POOL" 1000 2 20
if command -v mpiexec.hydra >/dev/null; then
	works mpiexec.hydra -n 1 "$POOL" 1000 2 20
fi
none_left() { ! pgrep -f "^$1" >/dev/null; }
wait_for 10 none_left "$POOL" || fail "workers are left"

CHAOS=$TMP/chaos
cp "$MPI_TESTS/dyn_chaos" "$CHAOS"
for ((seed = 100; seed < 150; seed++)); do
	rm -f "$TMP/port"
	timeout 60 "$MPIEXEC" -n 8 "$CHAOS" doomed "$TMP/port" $seed \
		>"$TMP/one" 2>&1 &
	works "$MPIEXEC" -n 8 "$CHAOS" other "$TMP/port" $seed
	wait $!
	[ $? = 137 ] || fail "seed $seed: $(cat "$TMP/one")"
done
wait_for 10 none_left "$CHAOS" || fail "ranks are left"
exit 0
