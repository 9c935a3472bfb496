#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# What ranks print: in whole lines, and soon.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

# What rank $1 prints, as a pattern.
line_of()
{
	echo "$1 [0-9]{7} 0{88}$1"
}

# torn: how many lines are not as a rank has printed them, with its label or none.
torn()
{
	LC_ALL=C grep -Evc "^((\[0\] )?$(line_of 0)|(\[1\] )?$(line_of 1))$" "$TMP/out"
}

# Lines are whole, however many come at once. Three attempts: a proxy that does not
# get the processor for long enough between two halves of a line tears it.
whole_lines()
{
	for _ in 1 2 3; do
		run "$@" -n 2 "$PROG" lines 200000
		expect_rc 0
		[ "$(torn)" = 0 ] && break
	done
	[ "$(torn)" = 0 ] || fail "$(torn) lines are torn"
	expect_lines "$TMP/out" 400000
}
whole_lines
whole_lines -l

# Nor are they when the reader pauses in the middle: the rest waits in the pipe.
for _ in 1 2 3; do
	timeout 20 "$MPIEXEC" -n 2 "$PROG" lines 50000 </dev/null |
		{ head -c 100; sleep 0.7; cat; } >"$TMP/out"
	[ "$(torn)" = 0 ] && break
done
expect_lines "$TMP/out" 100000
[ "$(torn)" = 0 ] || fail "a slow reader gets $(torn) lines that are torn"

# start ARGUMENTS: mpiexec in the background. The ranks read files in $TMP.
start()
{
	rm -f "$TMP"/on*
	: >"$TMP/out"
	timeout -k 2 20 "$MPIEXEC" "$@" </dev/null >"$TMP/out" 2>"$TMP/err" &
	pid=$!
}
ended()
{
	wait $pid
	rc=$?
	expect_rc 0
}
export TMP

# Pieces of a line appear while more and more of them come.
for piece in . '50 %%\r'; do
	start -n 1 sh -c "until [ -e $TMP/on ]; do printf '$piece'; sleep 0.03; done"
	wait_for 3 test -s "$TMP/out"
	seen=$(wc -c <"$TMP/out")
	touch "$TMP/on"
	ended
	[ "$seen" != 0 ] || fail "'$piece' is withheld"
done

# The start of a line, then another rank's: not on one line.
start -n 2 sh -c '[ $PMI_RANK = 0 ] && printf start
	until [ -e $TMP/on$PMI_RANK ]; do
		sleep 0.03
	done
	echo end $PMI_RANK'
wait_for 10 grep -q start "$TMP/out" || fail "the start of a line is withheld"
touch "$TMP/on1"
wait_for 10 grep -q 'end 1' "$TMP/out" || fail "nothing from rank 1"
touch "$TMP/on0"
ended
[ "$(cat "$TMP/out")" = "start
end 1
end 0" ] || fail "output is $(cat "$TMP/out")"

# When the reader of stderr goes after much was held back for it, the job goes on.
(timeout -k 2 10 "$MPIEXEC" -n 2 sh -c 'head -c 8000000 /dev/zero >&2; echo done' \
	</dev/null 2>&1 >"$TMP/out"; echo $? >"$TMP/rc") | sleep 0.7
rc=$(cat "$TMP/rc")
expect_rc 0
expect_lines "$TMP/out" 2
exit 0
