#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Nobody is left behind: not a child of a rank, not one in a session of its
# own, and not when mpiexec or a proxy is killed with SIGKILL.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

# Each rank, a child, and a grandchild that has left for a new session.
family()
{
	echo "setsid sh -c 'sleep $1 & sleep $1' & sleep $1 & echo ready; $2"
}

start()
{
	: >"$TMP/out"
	"$MPIEXEC" "$@" </dev/null >"$TMP/out" 2>"$TMP/err" &
	pid=$!
	wait_for 5 ready || fail "the ranks do not start: $(cat "$TMP/err")"
	sleep 0.1
	marked "$mark" ||
		fail "the test does not see its own processes"
}

ready()
{
	[ "$(grep -c ready "$TMP/out")" = 2 ]
}

at_exit()
{
	pkill -KILL -xf -- "sleep $mark"
}

mark=$(mark)
start -n 2 sh -c "$(family "$mark" "sleep 0.3; exit 0")"
wait $pid
none_marked "$mark" || fail "children of ranks outlive a job that ended well"

mark=$(mark)
start -n 2 sh -c "$(family "$mark" "sleep 0.3; exit 1")"
wait $pid
none_marked "$mark" || fail "children of ranks outlive a job that failed"

mark=$(mark)
start -n 2 sh -c "$(family "$mark" "trap '' TERM; sleep $mark")"
kill -9 $pid
wait $pid 2>/dev/null
wait_for 3 none_marked "$mark" || fail "kill -9 of mpiexec leaves processes"

mark=$(mark)
start -n 2 sh -c "$(family "$mark" "sleep $mark")"
kill -9 "$(pgrep -P $pid)"
wait $pid
rc=$?
expect_rc 1
expect "$TMP/err" '^mpiexec: lost host .*signal 9'
wait_for 2 none_marked "$mark" || fail "kill -9 of the proxy leaves processes"

# kill -9 of one rank from outside.
mark=$(mark)
start -n 2 sh -c "echo ready; exec sleep $mark"
begin=$(now_ms)
kill -9 "$(pgrep -xf -- "sleep $mark" | head -n 1)"
wait $pid
rc=$?
took=$(($(now_ms) - begin))
expect_rc 137
expect "$TMP/err" '^mpiexec: rank [01] on .* was killed by signal 9 \(Killed\); the job is ended$'
expect_lines "$TMP/err" 1
none_marked "$mark" || fail "the other rank is left"
[ $took -lt 1000 ] || fail "$took ms to end the job"
exit 0
