#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A host that vanishes without a word, as when its cable is pulled: those who wait
# for its ranks get an error, whether something is on its way to it or not. Several
# jobs have a rank there, and all of them wait when it happens.
cd "$(dirname "$0")/../.." && . tests/lib.sh
netns_possible || skip "network namespaces need root"
netns_pair || skip "cannot make network namespaces"
make_tmp
prog=$PWD/$BUILD/tests/system/mpi_prog
export O2G_CHANNELS=tcp O2G_TCP_SILENCE=6
declare -A pids lost

# job NAME READY LOST COMMAND...: one of two hosts, until it says that it is ready; and
# what rank 0 says when it has lost rank 1.
job()
{
	local name=$1 ready=$2

	lost[$name]=$3
	shift 3
	timeout 100 "$MPIEXEC" -disable-auto-cleanup -agent "$PWD/tests/netns-agent" \
		-hosts "$NETNS_A,$NETNS_B" -n 2 "$@" >"$TMP/$name" 2>&1 &
	pids[$name]=$!
	wait_for 15 grep -q "$ready" "$TMP/$name" || {
		cat "$TMP/$name"
		fail "$name: the job did not start"
	}
}

# call NAME CALL...: rank 0 is in it.
call()
{
	local name=$1

	shift
	job "$name" '^victim' '^rank 0: class [0-9]+: .*rank 1 on ' "$prog" victim 1 "$@"
}

call recv
call send send
# Rank 0 waits for the first word of rank 1, which is stopped.
O2G_TCP_TIMEOUT=2 job first_contact 'but its host has: waiting' 'lost rank 1 on ' \
	"$MPI_TESTS/slow_contact" stop
# With a socket for each direction.
if bpf_load 4 >/dev/null; then
	export O2G_CHANNELS=bpf O2G_BPF_SPLIT=1
	call bpf_recv
	call bpf_send send
fi

sleep 0.3
start=$(now_ms)
ip -n "$NETNS_B" link set "vb$$" down
for name in "${!pids[@]}"; do
	wait_for 25 grep -Eq "${lost[$name]}" "$TMP/$name" || {
		cat "$TMP/$name"
		fail "$name: rank 0 learned nothing in 25 s"
	}
	echo "$name: within $(($(now_ms) - start)) ms"
	# mpiexec may have ended it by now.
	kill -KILL "$(sed -n 's/^victim //p; s/^slow //p' "$TMP/$name")" 2>/dev/null
	wait "${pids[$name]}"
done
exit 0
