#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# A crash names rank, host, signal and address, and says from where, before mpiexec's
# verdict; the signal is what the program ends with.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc
prog=$MPI_TESTS/crash
host=$(hostname)
ulimit -c 0

# dies CODE SIGNAL WHAT
dies()
{
	run -n 2 "$prog" "$3"
	expect_rc "$1"
	expect "$TMP/err" "^o2g: rank 1 on $host: signal $2"
	expect "$TMP/err" 'crash\(.*\+0x[0-9a-f]+\) ?\[0x[0-9a-f]+\]$'
	[ "$(grep -c 'called from' "$TMP/err")" = 1 ] || fail "$3: told more than once"
	tail -n 1 "$TMP/err" | grep -q '^mpiexec: rank 1 on .* was killed by signal' ||
		fail "$3: the verdict is not last"
}
dies 139 '11 \(Segmentation fault\) at address 0x40; it was called from:$' segv
dies 134 '6 \(Aborted\); it was called from:$' abort
dies 139 '11 \(Segmentation fault\); it was called from:$' kill
dies 139 '11 \(Segmentation fault\) at address 0x[0-9a-f]+; ' overflow

# Not what the handler itself was doing.
run -n 2 "$prog" segv
grep -A1 'called from' "$TMP/err" | tail -n 1 | grep -q "$prog" ||
	fail "the first line is not the program's: $(cat "$TMP/err")"
# How to find the lines: a caller's is that of the call.
command=$(sed -n 's/^o2g: rank 1 on .*: lines, if compiled with -g: //p' "$TMP/err")
$command >"$TMP/lines" || fail "the command for lines: $command"
line=$(grep -n '/\* segv \*/$' tests/mpi/crash.c | cut -d: -f1)
expect "$TMP/lines" "^[a-z_]+ at .*crash.c:$line"
line=$(grep -n '/\* called \*/' tests/mpi/crash.c | cut -d: -f1)
expect "$TMP/lines" "^main at .*crash.c:$line"
# The program's own handler is left alone, and the setting turns ours off.
run -n 2 "$prog" own
expect_rc 7
expect "$TMP/err" 'handled by the program'
expect_not "$TMP/err" 'called from'
run -x O2G_BACKTRACE=0 -n 2 "$prog" segv
expect_rc 139
expect_not "$TMP/err" 'called from'
exit 0
