#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# What mpiexec and its proxy say, what they are called, and what they put up with.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

# A rank's own words come before the verdict: many, and the last without its end.
run -n 2 bash -c '[ $PMI_RANK = 1 ] || exec sleep 20
	for ((i = 0; i < 3000; i++)); do echo "a line of the rank"; done >&2
	printf "the last words" >&2
	echo "cmd=abort exitcode=3" >&$PMI_FD
	sleep 20'
expect_rc 3
[ "$(tail -n 1 "$TMP/err" | cut -d " " -f 1-3)" = "mpiexec: rank 1" ] ||
	fail "the verdict is not last: $(tail -n 2 "$TMP/err")"
[ "$(tail -n 2 "$TMP/err" | head -n 1)" = "the last words" ] ||
	fail "not before it: $(tail -n 3 "$TMP/err")"

# Each rank leads a session, and the proxy has its own name.
run -n 3 sh -c 'echo $(ps -o sid= -p $$) = $$; ps -o comm= -p $PPID'
expect_rc 0
[ "$(grep -c o2g-proxy "$TMP/out")" = 3 ] || fail "its name is $(cat "$TMP/out")"
awk '/=/ && $1 != $3 { exit 1 }' "$TMP/out" || fail "not its own session"

# What a rank or a host file says does not get to the terminal as it is.
run -n 1 bash -c 'printf "cmd=\033[31mred\n" >&$PMI_FD; sleep 0.3'
expect "$TMP/err" 'sent the PMI command "cmd=\?\[31mred"'
printf 'a\033]0;title\007b\n' >"$TMP/hosts"
run -f "$TMP/hosts" true
expect_rc 2
expect "$TMP/err" 'hosts:1: "a\?\]0;title\?b"'
run -hosts "$(printf 'ä\302\233x')" true
expect "$TMP/err" '"ä\?\?x" in the list'

# A rank that asks and asks, and never reads an answer, costs the proxy nothing.
run -n 1 bash -c 'proxy=$PPID
	timeout 2 bash -c "yes cmd=get kvsname=x key=o2g-secret >&$PMI_FD"
	grep VmRSS /proc/$proxy/status'
awk '/VmRSS/ { if ($2 > 20000) exit 1; seen = 1 } END { exit !seen }' "$TMP/out" ||
	fail "the proxy has grown: $(cat "$TMP/out")"

# SIGTSTP: a rank that handles it does, and is stopped; one that ignores it is not.
state()
{
	ps -o stat= -p "$(cat "$TMP/$1" 2>/dev/null)" 2>/dev/null | cut -c 1
}
is_in()
{
	[ "$(state "$1")" = "$2" ]
}
is_there()
{
	[ -s "$TMP/0" ] && [ -s "$TMP/1" ]
}
timeout 30 "$MPIEXEC" -n 2 bash -c '
	[ $PMI_RANK = 0 ] && trap "echo handled" TSTP || trap "" TSTP
	echo $$ >'"$TMP"'/$PMI_RANK.new; mv '"$TMP"'/$PMI_RANK.new '"$TMP"'/$PMI_RANK
	while :; do sleep 0.05; done' >"$TMP/out" 2>"$TMP/err" </dev/null &
job=$!
wait_for 5 is_there || fail "the ranks do not start"
mpiexec=$(pgrep -P $job)
kill -TSTP "$mpiexec"
wait_for 5 is_in 0 T || fail "the rank with a handler is not stopped: $(state 0)"
is_in 1 T && fail "the rank that ignores it is stopped"
kill -CONT "$mpiexec"
wait_for 5 grep -q handled "$TMP/out" || fail "the handler has not run"
wait_for 5 is_in 0 S || fail "it does not go on: $(state 0)"
kill "$mpiexec"
wait $job

# Without /proc.
unshare --mount true 2>/dev/null || exit 0
unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' - \
	timeout 20 "$MPIEXEC" -n 2 echo hello >"$TMP/out" 2>"$TMP/err"
rc=$?
expect_rc 0
expect_lines "$TMP/out" 2
exit 0
