#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Signals to mpiexec reach all ranks.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

# start ARGUMENTS: in the background, as $pid, in a process group of its own.
start()
{
	: >"$TMP/out"
	set -m
	timeout -k 1 30 "$MPIEXEC" "$@" </dev/null >"$TMP/out" 2>"$TMP/err" &
	set +m
	pid=$!
	wait_for 5 ready || fail "the ranks do not start: $(cat "$TMP/err")"
	mpiexec=$(pgrep -P $pid)
}

ready()
{
	[ "$(grep -c ready "$TMP/out")" = 3 ]
}

ended()
{
	wait $pid
	rc=$?
}

for sig in INT TERM HUP USR1 USR2; do
	start -n 3 sh -c "trap 'echo got; exit 0' $sig; echo ready
		while :; do sleep 0.1; done"
	kill -$sig $mpiexec
	ended
	[ "$(grep -c got "$TMP/out")" = 3 ] || fail "SIG$sig did not reach all"
	expect_rc 0
done

# timeout(1) sends it twice, to mpiexec and to its process group: that is one.
timeout -s INT -k 5 1 "$MPIEXEC" -n 3 sh -c 'trap "sleep 0.5; echo got; exit 0" INT
	while :; do sleep 0.1; done' </dev/null >"$TMP/out" 2>"$TMP/err"
[ "$(grep -c got "$TMP/out")" = 3 ] || { cat "$TMP/err"; fail "no time to end after SIGINT"; }

# Ranks that do nothing about it die of it.
start -n 3 sh -c 'echo ready; exec sleep 20'
kill -INT $mpiexec
ended
expect_rc 130
start -n 3 sh -c 'echo ready; exec sleep 20'
kill -TERM $mpiexec
ended
expect_rc 143

# Ranks that refuse: the second signal ends them at once.
start -n 3 sh -c 'trap "" INT; echo ready; sleep 20; sleep 20'
kill -INT $mpiexec
sleep 0.4
kill -0 $mpiexec || fail "ended although the ranks ignore SIGINT"
begin=$(now_ms)
kill -INT $mpiexec
ended
expect_rc 130
[ $(($(now_ms) - begin)) -lt 1500 ] || fail "the second SIGINT took too long"

# Stopped and continued.
state()
{
	ps -o stat= -C sleep -o args= | grep " $mark\$" | cut -c 1 | sort -u
}
all_in()
{
	[ "$(state)" = "$1" ]
}
mark=$(mark)
start -n 3 sh -c "echo ready; exec sleep $mark"
kill -TSTP $mpiexec
wait_for 3 all_in T || fail "ranks are not stopped but: $(state)"
[ "$(ps -o stat= -p $mpiexec | cut -c 1)" = T ] || fail "mpiexec is not stopped"
kill -CONT $mpiexec
wait_for 3 all_in S || fail "ranks do not go on but: $(state)"
kill -TERM $mpiexec
ended
expect_rc 143
exit 0
