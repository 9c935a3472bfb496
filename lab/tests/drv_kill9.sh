#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 240
# Rounds of: a job, kill -9 at a random moment, unload, load. ROUNDS in the
# environment as FUZZ_ROUNDS; 5 otherwise. Nothing may stay behind. And some rounds
# of two processes that use the driver directly, which are faster.
. lab/tests/guest.inc
need_driver

slabs()
{
	awk '/^(Slab|SUnreclaim|VmallocUsed|Percpu):/ { n += $2 } END { print n }' /proc/meminfo
}

rounds=${FUZZ_ROUNDS:-5}
RANDOM=${FUZZ_SEED:-$$}
for ((i = 1; i <= rounds; i++)); do
	O2G_CHANNELS=tcp "$MPIEXEC" -timeout 60 -n 2 "$PWD/$BUILD/examples/ring" \
		>/tmp/out 2>&1 &
	job=$!
	sleep 0.$((RANDOM % 9 + 1))
	[ $((RANDOM % 2)) = 0 ] && sleep 0.5
	victims=($(pgrep -x ring))
	[ ${#victims[@]} -gt 0 ] && kill -9 "${victims[RANDOM % ${#victims[@]}]}" 2>/dev/null
	echo "round $i: ${#victims[@]} ranks, after $SECONDS s"
	wait $job
	[ $? = 124 ] && { cat /tmp/out; fail "round $i: the job hung"; }
	wait_for 10 bash -c '! pgrep -x ring' || fail "round $i: a rank is left"
	unload_driver || fail "round $i"
	load_driver || fail "round $i: it does not load again"
	[ $i = 2 ] && before=$(slabs)
done
echo "kernel memory after round 2 and at the end, kB: ${before:-?} $(slabs)"
# A leak of even a page each round shows over many rounds.
[ "$rounds" -lt 100 ] || [ "$(slabs)" -lt $((before + rounds * 4)) ] ||
	fail "the kernel's memory grows"
unload_driver || fail "it does not unload"
for words in direct=1 direct=0; do
	"$BUILD/tests/driver/rounds" "$DRIVER" 20 "${FUZZ_SEED:-$$}" $words ||
		fail "rounds, $words"
done
