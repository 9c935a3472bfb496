#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# On a terminal: typing reaches rank 0, Ctrl-C every rank, Ctrl-D ends input.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc
command -v python3 >/dev/null || skip "needs python3"

cat >"$TMP/on_tty.py" <<'END'
"""on_tty.py EXPECTED TYPED [EXPECTED TYPED ...] -- COMMAND: runs the command on a
terminal; types each text once the one before it has been seen."""
import os, pty, select, sys, time

cut = sys.argv.index("--")
steps, command = sys.argv[1:cut], sys.argv[cut + 1:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
seen, end = b"", time.time() + 15
while time.time() < end:
    if steps and steps[0].encode() in seen:
        seen = b""
        time.sleep(0.1)
        os.write(fd, steps[1].encode().decode("unicode_escape").encode())
        steps = steps[2:]
    if not select.select([fd], [], [], 0.1)[0]:
        continue
    try:
        data = os.read(fd, 4096)
    except OSError:
        data = b""
    if not data:
        break
    os.write(1, data)
    seen += data
else:
    os.kill(pid, 9)
    sys.exit(99)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END

# on_tty STEPS -- ARGUMENTS
on_tty()
{
	timeout 20 python3 "$TMP/on_tty.py" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	rc=$?
}

on_tty "name? " 'me\n' -- "$MPIEXEC" -n 2 sh -c \
	'[ $PMI_RANK = 0 ] && printf "name? " && read x && echo "hello $x"; exit 0'
expect_rc 0
expect "$TMP/out" 'hello me'

on_tty "ready" 'abc\n' "abc" '\x04' -- "$MPIEXEC" -n 1 sh -c 'echo ready; wc -l'
expect_rc 0
expect "$TMP/out" '^1.?$'

on_tty "ready" '\x03' -- "$MPIEXEC" -n 1 sh -c 'echo ready; exec sleep 20'
expect_rc 130
expect "$TMP/out" 'signal 2 \(Interrupt\) is passed on'

on_tty "ready" '\x03' "got" 'x' -- "$MPIEXEC" -n 2 sh -c \
	'trap "echo got; exit 0" INT; sleep 0.5; echo ready
	while :; do sleep 0.1; done'
expect_rc 0
[ "$(grep -c got "$TMP/out")" = 2 ] || fail "Ctrl-C did not reach both"

# The second one, when the ranks do not care for the first.
on_tty "ready" '\x03' "passed on" '\x03' -- "$MPIEXEC" -n 1 sh -c \
	'trap "" INT; echo ready; sleep 20; sleep 20'
expect_rc 130

# One terminal for both: a line of stderr does not go on where one of stdout stops.
on_tty "zzz" 'x' -- "$MPIEXEC" -n 1 sh -c \
	'printf "half a line"; sleep 0.4; echo error >&2; sleep 0.4; echo " and the rest"'
expect_rc 0
expect "$TMP/out" '^half a line.?$'
expect "$TMP/out" '^error.?$'
exit 0
