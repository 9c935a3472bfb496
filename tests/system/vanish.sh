#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A host that vanishes without a word, as when its cable is pulled: those who wait
# for its ranks get an error, whether something is on its way to it or not.
cd "$(dirname "$0")/../.." && . tests/lib.sh
netns_possible || skip "network namespaces need root"
netns_pair || skip "cannot make network namespaces"
make_tmp
prog=$PWD/$BUILD/tests/system/mpi_prog
export O2G_CHANNELS=tcp O2G_TCP_SILENCE=6

# back: rank 1's host is there again.
back()
{
	ip -n "$NETNS_B" link set "vb$$" up
	netns_address "$NETNS_B" "vb$$" 2 2>/dev/null
	wait_for 5 netns_is_up "$NETNS_A" "va$$"
}

# vanish CALL...: rank 1's host goes away while rank 0 is in CALL.
vanish()
{
	local out=$TMP/out pid start took

	timeout 40 "$MPIEXEC" -disable-auto-cleanup \
		-agent "$PWD/tests/netns-agent" -hosts "$NETNS_A,$NETNS_B" \
		-n 2 "$prog" victim 1 "$@" >"$out" 2>&1 &
	pid=$!
	wait_for 10 grep -q '^victim' "$out" || {
		cat "$out"
		fail "the job did not start"
	}
	sleep 0.3
	start=$(now_ms)
	ip -n "$NETNS_B" link set "vb$$" down
	wait_for 25 grep -q '^rank 0: class' "$out" || {
		cat "$out"
		fail "rank 0 learned nothing in 25 s (${*:-recv})"
	}
	took=$(($(now_ms) - start))
	echo "${*:-recv}: $took ms"
	kill -KILL "$(sed -n 's/^victim //p' "$out")"
	wait $pid
	expect "$out" '^rank 0: class [0-9]+: .*rank 1 on '
	back
}

# The same while rank 0 waits for the first word of rank 1, which is stopped.
vanish_at_first_contact()
{
	local out=$TMP/out pid start

	O2G_TCP_TIMEOUT=2 timeout 40 "$MPIEXEC" -disable-auto-cleanup \
		-agent "$PWD/tests/netns-agent" -hosts "$NETNS_A,$NETNS_B" \
		-n 2 "$MPI_TESTS/slow_contact" stop >"$out" 2>&1 &
	pid=$!
	wait_for 15 grep -q 'but its host has: waiting' "$out" || {
		cat "$out"
		fail "rank 0 does not wait for rank 1"
	}
	start=$(now_ms)
	ip -n "$NETNS_B" link set "vb$$" down
	wait_for 25 grep -q 'lost rank 1 on ' "$out" || {
		cat "$out"
		fail "rank 0 learned nothing in 25 s (first contact)"
	}
	echo "first contact: $(($(now_ms) - start)) ms"
	kill -KILL "$(sed -n 's/^slow //p' "$out")"
	wait $pid
	back
}

vanish
vanish send
vanish_at_first_contact
# The same with a socket for each direction.
bpf_load 2 >/dev/null || exit 0
export O2G_CHANNELS=bpf O2G_BPF_SPLIT=1
vanish
vanish send
exit 0
