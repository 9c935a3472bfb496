#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A rank of four is killed at a random moment, and the job goes on, on the kernel
# engine: every other rank ends, whatever it waited for, and nothing stays behind in
# the driver. Over the driver alone, with and without its short way inside one host,
# and with shm beside it between two hosts. FUZZ_ROUNDS of them; 3 otherwise.
. lab/tests/guest.inc
need_driver
ip link set lo up
netns_pair || fail "no namespaces"
direct=/sys/module/o2g/parameters/direct
limit=60
[ ! -e /sys/kernel/debug/kmemleak ] || limit=180 # a slow kernel
rounds=${FUZZ_ROUNDS:-3}
RANDOM=${FUZZ_SEED:-$$}

unused()
{
	[ "$(cat /sys/module/o2g/refcnt)" = 0 ]
}

# kill_one TENTHS: it may be too early or too late; then the job ends by itself.
kill_one()
{
	local ranks

	wait_for 20 pgrep -x killed >/dev/null || return
	sleep "$(($1 / 10)).$(($1 % 10))"
	ranks=($(pgrep -x killed)) || return
	kill -9 "${ranks[RANDOM % ${#ranks[@]}]}" 2>/dev/null
}

# round NAME COMMAND...: 137, the others have ended in order; 0, it came too late.
round()
{
	local name=$1 code gone calls=$((20 + RANDOM % 400))
	local args="$RANDOM 0 0 $((RANDOM % 3)) $calls"

	shift
	"$@" "$MPI_TESTS/killed" $args >/tmp/out 2>&1 </dev/null &
	kill_one $((RANDOM % 25))
	wait $!
	code=$?
	gone=$(grep -c 'goes$' /tmp/out)
	echo "$name, killed $args: exit code $code, $gone in order, $SECONDS s"
	# Before all have met in MPI_Init there is no going on without it.
	grep -q 'and other ranks are waiting for it; the job is ended$' /tmp/out &&
		[ $code != 124 ] && return
	case $code.$gone in 137.3 | 137.4 | 0.4) return ;; esac
	cat /tmp/out
	fail "$name, killed $args: exit code $code, $gone ranks ended in order"
}

for ((i = 0; i < rounds; i++)); do
	job="$MPIEXEC -disable-auto-cleanup -timeout $limit -n 4"
	case $((i % 3)) in
	0 | 1)
		echo $((i % 3)) >$direct
		O2G_CHANNELS=tcp round "direct $((i % 3))" $job
		;;
	2)
		round nets $job -agent "$PWD/tests/netns-agent" \
			-hosts "$NETNS_A,$NETNS_B" -ppn 2
		;;
	esac
	wait_for 10 unused || fail "round $i: an endpoint stays open: $(cat /sys/module/o2g/refcnt)"
done
