#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# How many, which programs, labels; programs that are not MPI programs.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

run -n 4 echo hello
expect_rc 0
expect_lines "$TMP/out" 4
expect_lines "$TMP/err" 0

run -np 2 echo hello
expect_rc 0
expect_lines "$TMP/out" 2

run echo alone
expect_rc 0
expect_lines "$TMP/out" 1

run -n 3 sh -c 'echo $PMI_RANK of $PMI_SIZE'
expect_rc 0
sorted_is "0 of 3
1 of 3
2 of 3"

# Several programs: ranks go on counting, and each knows which it is.
run -n 2 "$PROG" : -n 1 "$PROG"
expect_rc 0
sorted_is "rank 0 of 3 app 0 universe 3 board ok
rank 1 of 3 app 0 universe 3 board ok
rank 2 of 3 app 1 universe 3 board ok"
run -n 1 echo a : -n 2 echo b : echo c
expect_rc 0
sorted_is "a
b
b
c"

run -l -n 3 sh -c 'echo one; echo two; echo bad >&2'
expect_rc 0
sorted_is "[0] one
[0] two
[1] one
[1] two
[2] one
[2] two"
[ "$(sort "$TMP/err")" = "[0] bad
[1] bad
[2] bad" ] || fail "labels on stderr"

# The start of a line, then another rank's: labelled, never on one line.
run -prepend-rank -n 2 sh -c 'printf "start $PMI_RANK"; sleep 0.3; echo " end"'
expect_rc 0
expect_not "$TMP/out" 'start 0.*start 1|start 1.*start 0'
expect "$TMP/out" '^\[0\] .*end'

# Long lines of several ranks do not mix.
run -n 4 sh -c 'for i in 1 2 3 4 5 6 7 8 9; do
	head -c 20000 /dev/zero | tr "\0" "$PMI_RANK"; echo; done'
expect_rc 0
expect_lines "$TMP/out" 36
[ "$(tr -s 0-3 <"$TMP/out" | sort | uniq -c | tr -s ' \n' ' ')" = \
	" 9 0 9 1 9 2 9 3 " ] || fail "lines are mixed"
[ "$(wc -c <"$TMP/out")" = $((36 * 20001)) ] || fail "bytes are lost"

# A prompt appears although its line is not finished.
mkfifo "$TMP/fifo"
exec 7<>"$TMP/fifo"
timeout 10 "$MPIEXEC" -n 1 sh -c 'printf "name? "; read x; echo "got $x"' \
	<"$TMP/fifo" >"$TMP/out" 2>"$TMP/err" &
wait_for 5 grep -q 'name?' "$TMP/out" || fail "the prompt does not appear"
expect_not "$TMP/out" got
echo answer >&7
wait
exec 7>&-
expect "$TMP/out" 'name\? got answer'

# Byte for byte.
head -c 3000000 /dev/urandom >"$TMP/random"
run -n 1 cat "$TMP/random"
expect_rc 0
cmp "$TMP/random" "$TMP/out" || fail "output is not what was written"

run --version
expect_rc 0
expect "$TMP/out" '^mpiexec \(O2G\) [0-9]+\.[0-9]+'
run --help
expect_rc 0
expect "$TMP/out" '^usage: mpiexec'
[ "$(wc -l <"$TMP/out")" -le 45 ] || fail "help is longer than a screen"
"$PWD/$BUILD/bin/mpirun" -n 2 true || fail "mpirun"

# Quick: 64 ranks that meet.
start=$(now_ms)
run -n 64 "$PROG" barriers 2
took=$(($(now_ms) - start))
expect_rc 0
expect_lines "$TMP/out" 64
[ $took -lt 3000 ] || fail "64 ranks took $took ms to start and end"

# More than the usual limit of open files allows, which the ranks keep.
(ulimit -Sn 256 && timeout 30 "$MPIEXEC" -n 100 sh -c 'ulimit -Sn') </dev/null \
	>"$TMP/out" 2>"$TMP/err"
rc=$?
expect_rc 0
[ "$(sort "$TMP/out" | uniq -c | tr -s ' ')" = " 100 256" ] ||
	fail "the limit of open files"

# Without standard descriptors.
timeout 10 "$MPIEXEC" -n 2 sh -c 'echo x' <&- >&- 2>&- ||
	fail "with stdin, stdout and stderr closed"
timeout 10 "$MPIEXEC" -n 2 "$PROG" board <&- 2>&- >"$TMP/out" ||
	fail "with stdin and stderr closed"
expect_lines "$TMP/out" 2
exit 0
